/// \file
/// Runs a program to its end for a test and keeps what it printed.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace bawn::test {

struct ProgramRun {
  std::vector<std::string> argv{};
  std::string input{};                       ///< its standard input
  std::string directory{};                   ///< where it starts; empty = here
  std::map<std::string, std::string> env{};  ///< added to this process's environment
  unsigned uid = 0;                          ///< when started by root and not 0: run as this user
};

struct ProgramResult {
  int exit_code = -1;  ///< -1 when a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
};

/// Blocks until the program and everything holding its output pipes ended. A program that cannot be
/// started gives exit code 127 and the reason in `err`.
ProgramResult run_program(const ProgramRun& run);

}  // namespace bawn::test
