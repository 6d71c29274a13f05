/// \file
/// `bawn run` with a list of hosts, and a server of this machine that the list names.
#pragma once

#include "bawn/contract/json.hpp"
#include "support/peer_process.hpp"
#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace bawn::test {

/// Who starts bawn, and what the machine is made to lack.
struct WallMode {
  const char* name;
  unsigned uid;
  const char* features_off;
};

// For the names that ctest lists.
// NOLINTNEXTLINE(readability-identifier-naming)
inline void PrintTo(const WallMode& one, std::ostream* out) {
  *out << one.name;
}

[[nodiscard]] std::vector<WallMode> wall_modes();

/// python3's file server on 127.0.0.1, at a port of its own choice.
class FileServer {
 public:
  explicit FileServer(const std::string& directory);
  [[nodiscard]] int port() const { return port_; }

 private:
  std::optional<PeerProcess> process_;
  int port_ = 0;
};

struct Walled {
  ProgramResult result;
  contract::Json report;
};

class WalledNetwork {
 public:
  explicit WalledNetwork(const WallMode& mode);

  /// What the server serves.
  [[nodiscard]] std::string site() const { return (root_.path() / "site").string(); }
  [[nodiscard]] int port() const { return server_->port(); }
  void serve() { server_.emplace(site()); }
  /// Shell text inside, under the preset with these hosts; "files.test" leads to the server.
  [[nodiscard]] Walled run(const std::string& text, const std::vector<std::string>& hosts,
                           const std::string& preset = "workspace-net") const;
  /// The same outside of any wall.
  [[nodiscard]] ProgramResult outside(const std::string& text) const;

 private:
  void write_policy(const std::vector<std::string>& hosts, const std::string& preset) const;

  WallMode mode_;
  TempDir root_;
  std::optional<FileServer> server_;
};

/// The skipping part of a test of that mode.
#define BAWN_REQUIRE_MODE(mode)           \
  do {                                    \
    BAWN_REQUIRE("landlock");             \
    BAWN_REQUIRE("seccomp");              \
    BAWN_REQUIRE("python3");              \
    if ((mode).features_off[0] == '\0') { \
      BAWN_REQUIRE("user-namespaces");    \
    }                                     \
    if ((mode).uid != ::geteuid()) {      \
      BAWN_REQUIRE("root");               \
    }                                     \
  } while (false)

}  // namespace bawn::test
