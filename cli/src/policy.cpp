/// \file
/// `bawn policy`: what a policy is, whether a file is one, and what it says about a path or host.

#include "bawn/contract/quote.hpp"
#include "bawn/sandbox/explain.hpp"
#include "bawn/sandbox/policy_file.hpp"
#include "bawn/sandbox/wall.hpp"
#include "commands.hpp"
#include "policy_choice.hpp"
#include "program.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

namespace bawn::cli {
namespace {

using contract::Json;
using contract::Result;

struct PolicyOptions {
  WallOptions wall;
  std::string subject;
  std::uint16_t port = 443;
};

Result<int> show(const PolicyOptions& options) {
  const ChosenPolicy chosen = BAWN_TRY(choose_policy_with_sources(options.wall));
  Json json;
  json["policy_id"] = sandbox::policy_id(chosen.policy);
  json["files"] = chosen.files;
  json["policy"] = sandbox::to_json(chosen.policy);
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
  return 0;
}

/// Reads it as its place tells: a project's file over the policy, any other one as a policy.
Result<int> check(PolicyOptions options) {
  const std::filesystem::path file(options.subject);
  if (file.filename() == sandbox::kProjectPolicyName) {
    const auto base = BAWN_TRY(choose_policy_without_project(options.wall));
    const auto folder = file.has_parent_path() ? file.parent_path().string() : ".";
    const auto project = BAWN_TRY(sandbox::apply_project_policy(base, folder, std::nullopt));
    if (!project.found) {
      return contract::fail(contract::ErrorCode::NotFound,
                            fmt::format("there is no {}", options.subject));
    }
    fmt::print("{}: a project's policy over {}\n{}\n", contract::plain_or_quoted(options.subject),
               contract::plain_or_quoted(base.name), project.hash);
    if (!project.refused.empty()) {
      fmt::print("asks for more than {} gives, which needs --accept-project {}: {}\n",
                 contract::plain_or_quoted(base.name), project.hash,
                 fmt::join(project.refused, ", "));
    }
    return 0;
  }
  options.wall.policy = std::filesystem::absolute(file).string();
  const auto loaded =
      BAWN_TRY(sandbox::load_policy_file(options.wall.policy, options.wall.workspace));
  fmt::print("{}: the policy {}\n{}\n", contract::plain_or_quoted(options.subject),
             contract::plain_or_quoted(loaded.policy.name), sandbox::policy_id(loaded.policy));
  const auto plan = BAWN_TRY(sandbox::forecast_wall({.policy = loaded.policy,
                                                     .workspace = options.wall.workspace,
                                                     .session_dir = {},
                                                     .warden = {}}));
  fmt::print("here it would be held by {}: {}\n", plan.forecast.by,
             fmt::join(plan.forecast.guarantees, ", "));
  return 0;
}

void print_verdict(const char* what, const sandbox::Verdict& verdict) {
  fmt::print("{:<8} {:<4} {}\n", what, verdict.allowed ? "yes" : "no", verdict.rule);
}

bool is_path(const std::string& subject) {
  return subject.find('/') != std::string::npos || subject.starts_with('.') ||
         subject.starts_with('~');
}

Result<int> explain(const PolicyOptions& options) {
  const sandbox::Policy policy = BAWN_TRY(choose_policy(options.wall));
  if (!is_path(options.subject)) {
    fmt::print("{}\n", contract::plain_or_quoted(options.subject));
    print_verdict("connect",
                  BAWN_TRY(sandbox::explain_host(policy, options.subject, options.port)));
    return 0;
  }
  const auto place = BAWN_TRY(
      sandbox::survey(policy, options.wall.workspace, {}, sandbox::SurveyScope::MountsOnly));
  const std::string named =
      options.subject.starts_with("~/") ? place.home + options.subject.substr(1) : options.subject;
  std::error_code failed;
  const std::string path = std::filesystem::weakly_canonical(named, failed).string();
  if (failed || path.empty()) {
    return contract::fail(
        contract::ErrorCode::InvalidArgument,
        fmt::format("{} leads nowhere: {}", contract::plain_or_quoted(options.subject),
                    failed.message()));
  }
  const auto verdict = sandbox::explain_path(policy, place, path);
  fmt::print("{}\n", contract::plain_or_quoted(path));
  print_verdict("read", verdict.read);
  print_verdict("write", verdict.write);
  return 0;
}

Action action_of(const std::shared_ptr<PolicyOptions>& options,
                 Result<int> (*run)(const PolicyOptions&)) {
  return [options, run] {
    auto status = run(*options);
    if (!status) {
      tell_failure("bawn", status.error().message());
      return kOwnFailure;
    }
    return *status;
  };
}

}  // namespace

void add_policy(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<PolicyOptions>();
  CLI::App* command = app.add_subcommand("policy", "Show, check and explain policies");
  command->require_subcommand(1);
  CLI::App* shown =
      command->add_subcommand("show", "Print the effective policy and its id as JSON");
  CLI::App* checked = command->add_subcommand("check", "Read a policy file and say what is wrong");
  CLI::App* explained =
      command->add_subcommand("explain", "Say what the policy means for one path or host");
  for (CLI::App* one : {shown, checked, explained}) {
    add_wall_options(*one, options->wall);
  }
  checked->add_option("file", options->subject, "The file")->required();
  explained->add_option("subject", options->subject, "A path (with a slash) or a host")->required();
  explained->add_option("--port", options->port, "The port of the host")->capture_default_str();
  shown->callback([options, &chosen] { chosen = action_of(options, show); });
  checked->callback([options, &chosen] {
    chosen = action_of(options, [](const PolicyOptions& o) { return check(o); });
  });
  explained->callback([options, &chosen] { chosen = action_of(options, explain); });
}

}  // namespace bawn::cli
