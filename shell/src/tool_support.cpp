#include "tool_support.hpp"

#include "bawn/contract/encode.hpp"
#include "bawn/contract/record.hpp"
#include "process_record.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace bawn::shell {

ToolSupport::ToolSupport(std::shared_ptr<SessionPool> pool, ToolOptions options)
    : pool_(std::move(pool)), options_(std::move(options)) {}

Result<std::string> ToolSupport::key(const contract::Context& context,
                                     const std::optional<std::string>& name) const {
  auto found = pool_->key_of(context, name, options_.default_session);
  return found ? found : std::unexpected(refusal(found.error()));
}

Result<std::shared_ptr<Session>> ToolSupport::session(
    const contract::Context& context, const std::optional<std::string>& name) const {
  return pool_->get(BAWN_TRY(key(context, name)));
}

Result<std::shared_ptr<Session>> ToolSupport::running(
    const contract::Context& context, const std::optional<std::string>& name) const {
  auto found = pool_->find(BAWN_TRY(key(context, name)));
  if (found == nullptr) {
    return contract::fail(ErrorCode::NotFound,
                          fmt::format("session {} does not run; bash or exec starts it",
                                      name.value_or(options_.default_session)));
  }
  return found;
}

std::vector<Denial> ToolSupport::denials(const Session& session, const CallResult& result) const {
  std::vector<Denial> refused = confirmed_denials(result);
  if (session.elsewhere()) {
    return refused;  // the policy and the files of this machine say nothing about that place
  }
  auto possible =
      possible_denials(result, {.policy = &session.policy(),
                                .confinement = &session.confinement(),
                                .workspace = session.workspace(),
                                .home = session.identity().home,
                                .cwd = result.cwd.empty() ? session.workspace() : result.cwd,
                                .uid = session.identity().uid,
                                .gid = session.identity().gid});
  std::move(possible.begin(), possible.end(), std::back_inserter(refused));
  return refused;
}

contract::Outcome ToolSupport::outcome(const Session& session,
                                       const std::optional<std::string>& name,
                                       CallResult result) const {
  result.session = name.value_or(options_.default_session);
  const std::vector<Denial> refused = denials(session, result);
  contract::ToolResult made = contract::text_result(to_text(
      result, refused, {.usual_cwd = session.workspace(), .readable_later = !options_.one_call}));
  auto structured = contract::encode(to_entry(result, refused));
  if (!structured) {
    return structured.error();
  }
  made.structured = *std::move(structured);
  made.confinement = session.confinement();
  if (result.record) {
    made.details = std::make_shared<contract::RecordDetails>(
        contract::Record{.name_space = kProcessRecord, .data = *std::move(result.record)});
  }
  return made;
}

namespace {

struct NamedSession {
  std::optional<std::string> name;
  bool asks_for_more = false;
};

/// What arguments say of the session, before they are checked.
NamedSession session_in(std::string_view args) {
  NamedSession found;
  if (const auto parsed = contract::parse_json(args.empty() ? "{}" : args);
      parsed && parsed->is_object()) {
    if (const auto name = parsed->find("session"); name != parsed->end() && name->is_string()) {
      found.name = name->get<std::string>();
    }
    found.asks_for_more = parsed->contains("request") && !(*parsed)["request"].is_null();
  }
  return found;
}

}  // namespace

contract::Confinement ToolSupport::confined(const contract::Context& context,
                                            std::string_view args) const {
  const NamedSession named = session_in(args);
  const auto found = key(context, named.name);
  contract::Confinement report = pool_->confinement(found ? *found : std::string());
  if (named.asks_for_more) {
    report.notes.emplace_back(
        "The call asks for more than this policy gives; it runs, in a wall of its own, only if "
        "that is granted.");
  }
  return report;
}

std::vector<std::string> ToolSupport::shell_of(const contract::Context& context,
                                               std::string_view args) const {
  const NamedSession named = session_in(args);
  if (named.asks_for_more) {
    return {};  // it waits for somebody's answer and then runs in a wall of its own
  }
  const auto found = key(context, named.name);
  return found ? std::vector<std::string>{"shell:" + *found} : std::vector<std::string>();
}

std::vector<contract::ToolPtr> make_shell_tools(std::shared_ptr<SessionPool> pool,
                                                const ToolOptions& options) {
  const auto support = std::make_shared<const ToolSupport>(std::move(pool), options);
  std::vector<contract::ToolPtr> tools;
  for (const auto& make : {make_bash_tool, make_output_tool, make_input_tool, make_kill_tool,
                           make_restart_tool, make_exec_tool}) {
    // Names, schemas and options are constants of this library; the tests make each tool.
    if (auto tool = make(support)) {
      tools.push_back(*std::move(tool));
    }
  }
  return tools;
}

contract::ToolOptions tool_options(const SupportPtr& support, contract::Annotations annotations) {
  contract::ToolOptions options;
  options.annotations = std::move(annotations);
  options.confined = [support](const contract::Context& context, std::string_view args) {
    return support->confined(context, args);
  };
  options.additional_properties = false;
  return options;
}

}  // namespace bawn::shell
