/// \file
/// What the programs do alike: read their words, serve, and say what went wrong.
#pragma once

#include "bawn/contract/error.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace bawn::cli {

/// Parses and serves. The exit status: that of `serve`, or kOwnFailure with one sentence on
/// standard error under the program's name. Help and the version go to standard output.
[[nodiscard]] int run_program(CLI::App& app, int argc, char** argv,
                              const std::function<contract::Result<int>()>& serve);

/// Says what went wrong on standard error, under the program's name, in characters that a terminal
/// does not obey: the sentence may repeat words of whoever.
void tell_failure(std::string_view program, std::string_view sentence);

/// The exit status of a program that would end with `status`: kOwnFailure instead of 0, with a
/// sentence on standard error, when something of its standard output could not be written.
[[nodiscard]] int with_output_written(int status, const std::string& program);

}  // namespace bawn::cli
