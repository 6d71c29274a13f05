/// \file
/// The subcommands of the program `bawn`. Each adds its options to the application and, when it was
/// chosen, sets what main() will run.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace bawn::cli {

/// What main() runs after parsing; returns the exit status.
using Action = std::function<int()>;

void add_run(CLI::App& app, Action& chosen);
void add_mcp(CLI::App& app, Action& chosen);
void add_mcp_proxy(CLI::App& app, Action& chosen);
void add_call(CLI::App& app, Action& chosen);
void add_shell(CLI::App& app, Action& chosen);
void add_log(CLI::App& app, Action& chosen);
void add_reap(CLI::App& app, Action& chosen);
void add_policy(CLI::App& app, Action& chosen);
void add_doctor(CLI::App& app, Action& chosen);

/// Exit status of our own failures, as timeout(1) and env(1) use it.
inline constexpr int kOwnFailure = 125;
/// Exit status when `bawn run --timeout` or a call's own time limit ended it, as timeout(1) uses
/// it.
inline constexpr int kTimedOut = 124;
/// Exit status of `bawn call` for words that it does not understand.
inline constexpr int kWrongCallWords = 2;
/// Added to a signal's number: the exit status of a program that the signal ended, as shells do.
inline constexpr int kBySignal = 128;

}  // namespace bawn::cli
