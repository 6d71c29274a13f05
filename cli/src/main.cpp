/// \file
/// The program `bawn`: parses the command line and runs the chosen subcommand.

#include "commands.hpp"
#include "program.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

namespace {

/// Whoever started us may have closed a standard stream. Left so, the next descriptor that we open
/// would take its number and go on to the command, or receive what was meant for a stream. Standard
/// output stays one that cannot be written, so that nobody takes lost output for a success.
void fill_standard_streams() {
  for (const int fd : {0, 1, 2}) {
    const int mode = fd == STDOUT_FILENO ? O_RDONLY : O_RDWR;
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", mode) != fd) {  // NOLINT: to be inherited
      std::_Exit(bawn::cli::kOwnFailure);
    }
  }
}

/// A umask that takes its own user's access away would make files that neither we nor the session
/// can use; the rest of it is the user's choice and goes on to commands.
void keep_own_access() {
  const mode_t mask = ::umask(077);
  ::umask(mask & 077);
}

struct Subcommand {
  std::string_view name;
  void (*add)(CLI::App& app, bawn::cli::Action& chosen);
  int wrong_words = bawn::cli::kOwnFailure;  ///< exit status for words that it does not know
};

constexpr Subcommand kSubcommands[] = {{"run", bawn::cli::add_run},
                                       {"mcp", bawn::cli::add_mcp},
                                       {"mcp-proxy", bawn::cli::add_mcp_proxy},
                                       {"call", bawn::cli::add_call, bawn::cli::kWrongCallWords},
                                       {"shell", bawn::cli::add_shell},
                                       {"log", bawn::cli::add_log},
                                       {"reap", bawn::cli::add_reap},
                                       {"policy", bawn::cli::add_policy},
                                       {"doctor", bawn::cli::add_doctor}};

/// Null when the first word names none.
const Subcommand* named_by(std::string_view first_word) {
  const auto* const named = std::ranges::find(kSubcommands, first_word, &Subcommand::name);
  return named != std::ranges::end(kSubcommands) ? named : nullptr;
}

/// Only the one that is named when one is: making the options of all costs as much as the rest of a
/// start.
void add_subcommands(CLI::App& app, const Subcommand* named, bawn::cli::Action& chosen) {
  for (const Subcommand& each : kSubcommands) {
    if (named == nullptr || named == &each) {
      each.add(app, chosen);
    }
  }
}

int run_chosen(int argc, char** argv) {
  CLI::App app(
      "A bash and its tools inside a wall, and a report of exactly how each call was confined.",
      "bawn");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("bawn ") + BAWN_VERSION);

  bawn::cli::Action chosen;
  const Subcommand* const named = named_by(argc > 1 ? argv[1] : "");
  add_subcommands(app, named, chosen);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      return app.exit(error);  // help or the version, on standard output
    }
    const std::string program = named != nullptr ? "bawn " + std::string(named->name) : "bawn";
    const std::string_view first = argc > 1 ? argv[1] : "";
    const bool unknown = named == nullptr && !first.empty() && !first.starts_with('-');
    bawn::cli::tell_failure("bawn",
                            fmt::format("{}; `{} --help` lists what there is",
                                        unknown ? fmt::format("there is no subcommand {}", first)
                                                : std::string(error.what()),
                                        program));
    return named != nullptr ? named->wrong_words : bawn::cli::kOwnFailure;
  }
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_streams();
  keep_own_access();
  try {
    return bawn::cli::with_output_written(run_chosen(argc, argv), "bawn");
  } catch (const std::exception& error) {
    bawn::cli::tell_failure("bawn", error.what());
    return bawn::cli::kOwnFailure;
  }
}
