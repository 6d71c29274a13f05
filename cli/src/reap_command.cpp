/// \file
/// `bawn reap`: ends what servers that are gone left running, and says what that was.

#include "bawn/contract/json.hpp"
#include "bawn/contract/quote.hpp"
#include "commands.hpp"
#include "reap.hpp"
#include "runtime_dir.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace bawn::cli {
namespace {

struct ReapOptions {
  bool dry_run = false;
  bool json = false;
};

contract::Json to_json(const std::vector<LeftBehind>& found) {
  contract::Json list = contract::Json::array();
  for (const LeftBehind& left : found) {
    list.push_back({{"what", left.what},
                    {"pid", left.process.pid},
                    {"start_time", left.process.start_time},
                    {"session", left.session},
                    {"server_pid", left.server.pid},
                    {"ended", left.ended}});
  }
  return {{"left_behind", list}};
}

void print(const std::vector<LeftBehind>& found, bool dry_run) {
  for (const LeftBehind& left : found) {
    if (left.what == "container") {
      fmt::print("{} container {}, opened by server {}, which is gone\n",
                 left.ended ? "removed"
                 : dry_run  ? "would remove"
                            : "could not remove",
                 contract::quote(left.session), left.server.pid);
      continue;
    }
    const char* word = left.ended ? "ended" : dry_run ? "would end" : "could not end";
    fmt::print("{} {} {} of session {}, started by server {}, which is gone\n", word, left.what,
               left.process.pid, contract::quote(left.session), left.server.pid);
  }
  if (found.empty()) {
    fmt::print("nothing was left behind\n");
  }
}

int reap_now(const ReapOptions& options) {
  const auto folder = runtime_dir();
  if (!folder) {
    fmt::print(stderr, "bawn: {}\n", folder.error().message());
    return kOwnFailure;
  }
  const auto found =
      end_left_behind(*folder + "/records", options.dry_run ? Reap::OnlyLook : Reap::End);
  if (options.json) {
    fmt::print("{}\n", contract::dump_json(to_json(found)));
  } else {
    print(found, options.dry_run);
  }
  for (const LeftBehind& left : found) {
    if (!left.ended && !options.dry_run) {
      return 1;
    }
  }
  return 0;
}

}  // namespace

void add_reap(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ReapOptions>();
  CLI::App* command =
      app.add_subcommand("reap", "End what servers that are gone left running, by their records");
  command->add_flag("--dry-run", options->dry_run, "Only say what would be ended");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &chosen] { chosen = [options] { return reap_now(*options); }; });
}

}  // namespace bawn::cli
