/// \file
/// `bawn shell`: a person's session over the same confined bash that programs get, line by line.

#include "bawn/contract/context.hpp"
#include "bawn/shell/session_pool.hpp"
#include "commands.hpp"
#include "line_editor.hpp"
#include "person_call.hpp"
#include "policy_choice.hpp"
#include "session_setup.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bawn::cli {
namespace {

using contract::Result;

constexpr const char* kPrompt = "bawn$ ";
constexpr const char* kMore = "> ";

/// File names as the shell itself would complete them, seen from inside the wall.
std::vector<std::string> complete_path(shell::Session& session, const std::string& cwd,
                                       const std::string& word) {
  shell::ExecRequest request;
  request.argv = {"bash", "-c",
                  R"(compgen -f -- "$1" | while IFS= read -r f; do
  if [ -d "$f" ]; then printf '%s/\n' "$f"; else printf '%s\n' "$f"; fi; done)",
                  "bawn", word};
  request.cwd = cwd;
  request.timeout = shell::Milliseconds(2000);
  const auto found = session.exec(contract::Context(), std::move(request));
  std::vector<std::string> names;
  if (!found) {
    return names;
  }
  const std::string& text = found->out.text;
  std::size_t at = 0;
  for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
    names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

class PersonShell {
 public:
  PersonShell(std::shared_ptr<shell::Session> session, const Interrupts& interrupts, bool quiet)
      : session_(std::move(session)),
        interrupts_(interrupts),
        quiet_(quiet),
        cwd_(session_->workspace()),
        editor_(LineEditor::make(
            [this](const std::string& word) { return complete_path(*session_, cwd_, word); },
            interrupts)) {
    if (const std::string limits = editor_->limits(); !limits.empty()) {
      fmt::print(stderr, "bawn: {}\n", limits);
    }
  }

  /// The exit status of the last command, as a shell's own.
  int run() {
    int status = 0;
    std::string text;
    for (;;) {
      const auto typed = editor_->read(text.empty() ? kPrompt : kMore);
      if (typed.end == LineEditor::End::Interrupted) {
        text.clear();
        continue;
      }
      if (typed.end == LineEditor::End::EndOfInput) {
        return text.empty() ? status : answer(std::exchange(text, {}), true).status;
      }
      text += text.empty() ? typed.text : "\n" + typed.text;
      const Answer given = answer(text, false);
      if (given.incomplete) {
        continue;
      }
      editor_->remember(text);
      text.clear();
      status = given.status;
      if (given.leave) {
        return status;
      }
    }
  }

 private:
  struct Answer {
    int status = 0;
    bool incomplete = false;  ///< more lines are to come; nothing ran
    bool leave = false;       ///< the person ended the shell
  };

  Answer answer(const std::string& text, bool last) {
    const auto result = run_for_person(*session_, interrupts_, text);
    if (!result) {
      fmt::print(stderr, "bawn: {}\n", result.error().message());
      return {.status = kOwnFailure, .incomplete = false, .leave = !session_->alive()};
    }
    if (is_incomplete(*result) && !last) {
      return {.status = 0, .incomplete = true, .leave = false};
    }
    cwd_ = result->cwd_missing || result->cwd.empty() ? cwd_ : result->cwd;
    if (!quiet_) {
      fmt::print(stderr, "{}\n", report_line(*result, session_->confinement()));
    }
    const bool left = result->shell_restarted && result->reason == shell::Reason::Exited;
    return {.status = status_of(*result), .incomplete = false, .leave = left};
  }

  std::shared_ptr<shell::Session> session_;
  const Interrupts& interrupts_;
  bool quiet_;
  std::string cwd_;
  std::unique_ptr<LineEditor> editor_;
};

Result<int> serve_person(const WallOptions& options, bool quiet) {
  const auto interrupts = BAWN_TRY(Interrupts::catch_them());
  shell::SessionPool pool(BAWN_TRY(configure_sessions(options)));
  auto session = BAWN_TRY(pool.get("main"));
  int status = 0;
  {
    PersonShell person(std::move(session), *interrupts, quiet);
    status = person.run();
  }
  pool.close_all();
  return status;
}

}  // namespace

void add_shell(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<WallOptions>();
  auto quiet = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("shell", "Type into a confined bash, line by line");
  add_wall_options(*command, *options);
  command->add_flag("--quiet,-q", *quiet, "No report line after each command");
  command->callback([options, quiet, &chosen] {
    chosen = [options, quiet] {
      auto status = serve_person(*options, *quiet);
      if (!status) {
        fmt::print(stderr, "bawn: {}\n", status.error().message());
        return kOwnFailure;
      }
      return *status;
    };
  });
}

}  // namespace bawn::cli
