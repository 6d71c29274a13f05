/// \file
/// The file tools of one session behind a relay on this machine.
#pragma once

#include "../relay/relay_process.hpp"
#include "bawn/sandbox/wall.hpp"
#include "file_server.hpp"
#include "one_place.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace bawn::test {

class RelayedTools {
 public:
  /// BAWN_TEST_STREAM=pipes is in the environment.
  static bool wanted();
  RelayedTools(const std::filesystem::path& policy, const std::filesystem::path& workspace,
               const std::filesystem::path& state);
  ~RelayedTools();
  RelayedTools(const RelayedTools&) = delete;
  RelayedTools& operator=(const RelayedTools&) = delete;

  ToolAnswer call(const std::string& tool, const contract::Json& arguments) const;

 private:
  RelayProcess relay_{BAWN_WARDEN};
  sandbox::Wall wall_;
  std::optional<PlaceTools> tools_;
};

}  // namespace bawn::test
