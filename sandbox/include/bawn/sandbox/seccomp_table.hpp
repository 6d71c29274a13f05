/// \file
/// The system call filter as a table for people: what is refused, when, with which error, and why.
#pragma once

#include <string>
#include <vector>

namespace bawn::sandbox {

struct SeccompLine {
  std::string call;       ///< name of the system call
  int number = -1;        ///< of newer calls, which have one number everywhere; else -1
  std::string condition;  ///< on its arguments, "arg0 & 0x10000000 == 0x10000000"; empty = always
  std::string error;      ///< name of the errno that the caller gets
  std::string when;       ///< in which sessions, in words; empty = in all
  std::string reason;
};

/// All rules, in their order. They do not depend on a policy, and each session has those whose
/// `when` holds in it.
[[nodiscard]] std::vector<SeccompLine> seccomp_table();

}  // namespace bawn::sandbox
