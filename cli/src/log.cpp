/// \file
/// `bawn log`: the calls that this user's servers answered, with how each was confined.

#include "bawn/contract/json.hpp"
#include "bawn/contract/quote.hpp"
#include "commands.hpp"
#include "json_lines.hpp"
#include "log_reader.hpp"
#include "runtime_dir.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace bawn::cli {
namespace {

using contract::Json;
using contract::Result;

struct LogOptions {
  bool json = false;
  bool follow = false;
  std::string session;
  std::size_t last = 50;
};

std::string member(const Json& line, const char* name) {
  const auto found = line.find(name);
  if (found == line.end() || found->is_null()) {
    return "-";
  }
  // Handles and names are ours, but the file may be anybody's who is this user.
  return found->is_string() ? found->get<std::string>() : contract::dump_json(*found);
}

std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      c = '?';
    }
  }
  return text;
}

std::string time_text(const Json& line) {
  const std::time_t seconds = line.value("time_ms", std::int64_t{0}) / 1000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return {text.data(), size};
}

std::string outcome_text(const Json& line) {
  if (line.contains("error")) {
    return "error " + member(line, "error");
  }
  if (member(line, "state") == "running") {
    return "running";
  }
  if (member(line, "state") == "lost") {
    return "lost with its server";
  }
  const std::string reason = member(line, "reason");
  if (reason == "exited") {
    return "exit " + member(line, "exit_code");
  }
  if (reason == "signalled") {
    return "signal " + member(line, "signal");
  }
  return reason == "-" ? "ok" : reason;
}

void print_line(const Json& line) {
  // A call that was refused before it began has no report.
  const std::string by = !line.contains("confined")      ? "-"
                         : line.value("confined", false) ? member(line, "by")
                                                         : "NOT CONFINED";
  std::string text =
      fmt::format("{}  {:<12} {:<10} {:<12} {:<14} {:>9} ms  {} ({})", time_text(line),
                  member(line, "session"), member(line, "call"), member(line, "tool"),
                  outcome_text(line), member(line, "duration_ms"), by, member(line, "policy"));
  fmt::print("{}\n", printable(std::move(text)));
  const auto denials = line.find("denials");
  if (denials == line.end() || !denials->is_array()) {
    return;
  }
  for (const Json& denial : *denials) {
    if (denial.is_object()) {
      fmt::print("    {}: {} {} ({})\n", printable(member(denial, "evidence")),
                 printable(member(denial, "op")), contract::quote(member(denial, "target")),
                 printable(member(denial, "rule")));
    }
  }
}

void print_all(const std::vector<Json>& lines, const LogOptions& options, std::size_t last) {
  std::vector<const Json*> chosen;
  for (const Json& line : lines) {
    if (options.session.empty() || member(line, "session") == options.session) {
      chosen.push_back(&line);
    }
  }
  const std::size_t first = chosen.size() > last ? chosen.size() - last : 0;
  for (std::size_t i = first; i < chosen.size(); ++i) {
    if (options.json) {
      fmt::print("{}\n", contract::dump_json(*chosen[i]));
    } else {
      print_line(*chosen[i]);
    }
  }
  std::fflush(stdout);
}

Result<> show(const LogOptions& options) {
  const std::string folder = BAWN_TRY(runtime_dir()) + "/log";
  if (options.follow) {
    BAWN_TRY(own_file_in(folder));  // so that there is something to follow before the first server
  }
  LogReader reader(folder);
  std::vector<Json> calls = merge_calls(reader.read_new());
  mark_lost(calls);
  print_all(calls, options, options.last);
  while (options.follow) {
    BAWN_TRY(reader.wait());
    print_all(reader.read_new(), options, SIZE_MAX);
    if (std::ferror(stdout) != 0) {
      break;  // whoever read us is gone
    }
  }
  return {};
}

}  // namespace

void add_log(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<LogOptions>();
  CLI::App* command = app.add_subcommand(
      "log", "List the calls that servers of this user answered, and how each was confined");
  command->add_flag("--json", options->json, "Print one line of JSON for each call");
  command->add_flag("--follow,-f", options->follow, "Go on with what comes");
  command->add_option("--session", options->session, "Only calls of this session");
  command->add_option("--last,-n", options->last, "How many calls to begin with")
      ->capture_default_str();
  command->callback([options, &chosen] {
    chosen = [options] {
      const auto shown = show(*options);
      if (!shown) {
        fmt::print(stderr, "bawn: {}\n", shown.error().message());
        return kOwnFailure;
      }
      return 0;
    };
  });
}

}  // namespace bawn::cli
