/// \file
/// How long bash_output and bash_input wait for a running call.
#pragma once

#include "bawn/contract/describe.hpp"
#include "bawn/shell/session.hpp"

#include <optional>
#include <string>

namespace bawn::shell {

struct FollowArguments {
  int yield_ms = 10'000;
  bool follow = false;
  std::optional<std::string> until;
  std::optional<int> settle_ms;

  static constexpr auto describe() {
    using contract::field;
    return contract::fields(
        field("yield_ms", &FollowArguments::yield_ms)
            .desc("Wait at most this many milliseconds for a running call to end")
            .with_default()
            .range(0, 45'000),
        field("follow", &FollowArguments::follow)
            .desc("Wait only until it prints something new")
            .with_default(),
        field("until", &FollowArguments::until)
            .desc("Wait only until what it prints matches this regular expression (RE2)"),
        field("settle_ms", &FollowArguments::settle_ms)
            .desc("With follow or until: then wait until nothing more was printed for this long")
            .range(1, 10'000));
  }
};

inline void apply(const FollowArguments& args, OutputRequest& request) {
  request.wait = Milliseconds(args.yield_ms);
  request.follow = args.follow;
  request.until = args.until;
  if (args.settle_ms) {
    request.settle = Milliseconds(*args.settle_ms);
  }
}

}  // namespace bawn::shell
