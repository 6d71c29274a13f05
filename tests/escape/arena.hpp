/// \file
/// What there is to attack: an outside tree, a workspace that is a repository, a home with secrets,
/// a process, and listening sockets; all of them this test's own.
#pragma once

#include "support/temp_dir.hpp"

#include <string>

namespace bawn::test {

class Arena {
 public:
  /// Everything belongs to `uid`.
  explicit Arena(unsigned uid);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  [[nodiscard]] std::string workspace() const { return (root_.path() / "ws").string(); }
  [[nodiscard]] std::string home() const { return (root_.path() / "home").string(); }
  /// Python that sets the names which the attacks use.
  [[nodiscard]] std::string prelude() const;

 private:
  TempDir root_;
  int victim_ = -1;
  int tcp_ = -1;
  int unix_path_ = -1;
  int unix_abstract_ = -1;
  int port_ = 0;
};

}  // namespace bawn::test
