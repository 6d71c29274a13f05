#include "aside.hpp"

#include "driver_script.hpp"
#include "random_name.hpp"

#include <algorithm>
#include <utility>

namespace bawn::shell {

namespace {

const char* why_apart(const BashRequest& request) {
  return request.read_only ? "The call may change nothing: it ran in a shell of its own under one "
                             "more Landlock layer, and what it set does not flow back."
         : request.terminal
             ? "The call has a terminal and a shell of its own; what it sets does not "
               "flow back."
             : "The call runs in a shell of its own beside the shell; what it sets "
               "does not flow back.";
}

}  // namespace

Variables with_terminal(Variables variables) {
  const auto sets = [&](const std::string& name) {
    return std::ranges::any_of(variables, [&](const auto& one) { return one.first == name; });
  };
  if (!sets("TERM")) {
    variables.emplace_back("TERM", "xterm");
  }
  return variables;
}

void apply(const BashRequest& request, Launch& launch) {
  launch.input = request.input;
  launch.input_open = request.input_open;
  launch.terminal = request.terminal;
  launch.read_only = request.read_only;
  launch.limits = {.timeout = request.timeout,
                   .on_timeout = request.on_timeout,
                   .output_limit = request.output_limit};
  if (request.aside()) {
    launch.notes.emplace_back(why_apart(request));
  }
}

Result<Launch> aside_launch(Session::Impl& session, const BashRequest& request,
                            const CallRecord& record, const std::string& state) {
  const SessionFiles& dir = session.dir;
  Launch launch;
  launch.files = random_name(8);
  AsideSettings settings{
      .state = {},
      .later = {},
      .text = dir.read_side() + launch.files + ".t",
      .statuses = dir.write_side() + launch.files + ".q",
      .marker = record.id,
      .directory = session.absolute(request.cwd),
      .variables = request.terminal ? with_terminal(request.environment) : request.environment};
  if (!state.empty()) {
    settings.state = dir.read_side() + launch.files + ".s";
    settings.later = dir.read_side() + launch.files + ".l";
    const StateParts parts = parts_of_state(state);
    BAWN_TRY(dir.write_text(launch.files + ".s", parts.first));
    BAWN_TRY(dir.write_text(launch.files + ".l", parts.later));
  }
  BAWN_TRY(dir.write_text(launch.files + ".t", request.command, text_trailer(true)));
  BAWN_TRY(dir.write_text(launch.files, aside_script(settings)));
  launch.statuses = BAWN_TRY(dir.make_state_file(launch.files + ".q"));
  launch.argv = {session.bash_path, "--norc", "--noprofile", dir.read_side() + launch.files};
  launch.environment = session.environment;
  launch.cwd = session.config.workspace;
  apply(request, launch);
  return launch;
}

}  // namespace bawn::shell
