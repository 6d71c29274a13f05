/// \file
/// A `bawn mcp` whose file tools are tried, behind one mode of the wall, beside places that it must
/// not reach. With BAWN_TEST_STREAM=pipes in the environment the same tools act behind a relay, as
/// in a container, without the server.
#pragma once

#include "bawn/contract/json.hpp"
#include "support/ordinary_user.hpp"
#include "support/peer_process.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bawn::test {

/// How the wall is built.
struct WallMode {
  const char* name;
  const char* policy;    ///< members of a policy file, as JSON
  const char* need;      ///< for BAWN_REQUIRE; empty = nothing
  bool confined = true;  ///< some layer holds paths
};

inline constexpr WallMode kAllLayers{"AllLayers", R"("extends":"workspace-write")", "landlock"};
inline constexpr WallMode kLandlockOnly{
    "LandlockOnly", R"("extends":"workspace-write","namespaces":"off")", "landlock"};
inline constexpr WallMode kNoLayer{
    "NoLayer",
    R"("extends":"workspace-write","namespaces":"off","landlock":"off","best_effort":true)", "",
    false};

/// One result of a tool.
struct ToolAnswer {
  bool failed = true;
  std::string text;
  contract::Json structured;
};

class RelayedTools;

class FileServer {
 public:
  explicit FileServer(const WallMode& mode);
  ~FileServer();
  FileServer(const FileServer&) = delete;
  FileServer& operator=(const FileServer&) = delete;

  ToolAnswer call(const std::string& tool, const contract::Json& arguments);
  [[nodiscard]] std::filesystem::path in(const std::string& name) const;
  [[nodiscard]] std::filesystem::path out(const std::string& name) const;
  [[nodiscard]] std::filesystem::path secret() const { return root_.path() / "secret" / "key"; }
  /// Makes a file of the workspace that belongs to whom the tools act as.
  void put(const std::string& name, const std::string& bytes, unsigned mode = 0644) const;
  [[nodiscard]] bool started() const { return peer_.has_value() || relayed_ != nullptr; }
  /// Sends calls without waiting for answers; the answers in the order of the calls.
  std::vector<ToolAnswer> call_at_once(
      const std::vector<std::pair<std::string, contract::Json>>& calls);

 private:
  static ToolAnswer answer_in(const contract::Json& message);

  TempDir root_{visible_base()};
  std::optional<McpPeer> peer_;
  std::unique_ptr<RelayedTools> relayed_;
};

}  // namespace bawn::test
