/// \file
/// A container that somebody else started, for tests that join it.
#pragma once

#include "open_place.hpp"

#include <string>
#include <utility>
#include <vector>

namespace bawn::test {

class JoinedPlaceTest : public OpenPlace {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(OpenPlace::SetUp());
    if (IsSkipped()) {
      return;
    }
    theirs_ = fresh_name();
    setup_.bounds.existing = {theirs_};
  }
  void TearDown() override {
    OpenPlace::TearDown();
    if (!theirs_.empty()) {
      EXPECT_TRUE(setup_.engine->remove(contract::Context(), theirs_));
    }
  }
  void start_theirs(std::vector<std::string> options) {
    std::vector<std::string> words = {"run", "--detach", "--name", theirs_, "--network", "none"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {kImage, "sleep", "600"});
    const auto started = engine_says(std::move(words));
    ASSERT_EQ(started.exit_code, 0) << started.err;
  }
  container::PlaceSpec joining() const {
    container::PlaceSpec wanted;
    wanted.name = fresh_name();
    wanted.existing = theirs_;
    wanted.workspace = "";
    return wanted;
  }

  std::string theirs_;
};

}  // namespace bawn::test
