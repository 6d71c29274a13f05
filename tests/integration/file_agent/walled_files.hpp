/// \file
/// A workspace, something outside of it and a secret, and a session's file agent around them, in
/// each mode of the wall. With BAWN_TEST_STREAM=pipes in the environment all of it stands behind a
/// relay, as in a container.
#pragma once

#include "../relay/relay_process.hpp"
#include "bawn/sandbox/file_agent.hpp"
#include "bawn/sandbox/wall.hpp"
#include "support/ordinary_user.hpp"
#include "support/requirements.hpp"
#include "support/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>

namespace bawn::test {

/// What holds a session.
struct WallMode {
  const char* name;
  const char* policy;
  const char* off;  ///< layers that are taken away
  bool best_effort;
  bool agent_holds;  ///< no layer holds paths
};

// For the names that ctest lists.
// NOLINTNEXTLINE(readability-identifier-naming)
inline void PrintTo(const WallMode& one, std::ostream* out) {
  *out << one.name;
}

inline const WallMode kAllLayers{"AllLayers", "workspace-write", "", false, false};
inline const WallMode kLandlock{"Landlock", "workspace-write", "namespaces", true, false};
inline const WallMode kNoLayer{"NoLayer", "workspace-write", "namespaces,landlock,seccomp", true,
                               true};
inline const WallMode kUnconfined{"Unconfined", "unconfined", "", false, true};

class WalledFiles : public testing::TestWithParam<WallMode> {
 protected:
  WalledFiles();
  void SetUp() override;
  void TearDown() override;

  /// Raises the wall; again after a change of the policy.
  void raise();

  [[nodiscard]] std::string in(const std::string& name) const { return workspace_ + "/" + name; }
  [[nodiscard]] std::string out(const std::string& name) const { return outside_ + "/" + name; }

  /// Stages, writes and commits.
  sandbox::Result<sandbox::CommittedFile> write(const std::string& path, const std::string& text,
                                                const sandbox::CommitOptions& options = {},
                                                bool make_parents = false);
  /// Opens and reads to the end.
  sandbox::Result<std::string> read(const std::string& path);
  /// Runs a shell text inside to its end; its output and errors.
  std::string shell(const std::string& text);

  /// Makes a file as the session's user has it.
  void put(const std::string& path, const std::string& text, unsigned mode = 0644) const;

  bool over_pipes_;  ///< the session is behind a relay

  contract::Context now_;  ///< never ends
  TempDir root_;
  std::string workspace_;
  std::string outside_;
  std::string secret_;  ///< a file
  sandbox::Policy policy_;
  std::unique_ptr<RelayProcess> relay_;
  sandbox::Wall wall_;
  std::shared_ptr<sandbox::FileAgent> files_;
};

/// The failure's kind of an error, or none.
std::optional<sandbox::FileFailure::Kind> kind_of(const sandbox::Error& error);
/// Its errno.
int errno_of(const sandbox::Error& error);

}  // namespace bawn::test
