#include "denials.hpp"

#include "bawn/contract/quote.hpp"
#include "bawn/sandbox/roots.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

namespace bawn::shell {

namespace {

constexpr std::size_t kMaxDenials = 16;
constexpr std::array<std::string_view, 3> kRefusals = {"Permission denied", "Read-only file system",
                                                       "Operation not permitted"};
constexpr std::array<std::string_view, 6> kNoNetwork = {"Could not resolve host",
                                                        "Temporary failure in name resolution",
                                                        "Network is unreachable",
                                                        "Name or service not known",
                                                        "Address family not supported by protocol",
                                                        "nodename nor servname"};

bool contains_any(std::string_view line, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return line.find(word) != std::string_view::npos;
  });
}

bool is_within(const std::string& path, const std::string& root) {
  return path == root || root == "/" || (path.starts_with(root) && path[root.size()] == '/');
}

/// What stands in quotes, or else the part before the refusal: "touch: cannot touch 'x': …",
/// "bash: line 1: x: …", "PermissionError: [Errno 13] …: 'x'".
std::string path_in(std::string_view line) {
  for (const auto& [open, close] : {std::pair<std::string_view, std::string_view>{"'", "'"},
                                    {"\"", "\""},
                                    {"\xE2\x80\x98", "\xE2\x80\x99"}}) {
    const std::size_t begin = line.find(open);
    const std::size_t end =
        begin == std::string_view::npos ? begin : line.find(close, begin + open.size());
    if (end != std::string_view::npos) {
      return std::string(line.substr(begin + open.size(), end - begin - open.size()));
    }
  }
  for (const std::string_view refusal : kRefusals) {
    const std::size_t at = line.find(refusal);
    if (at == std::string_view::npos || at < 2) {
      continue;
    }
    std::string_view before = line.substr(0, at);
    while (before.ends_with(' ') || before.ends_with(':')) {
      before.remove_suffix(1);
    }
    const std::size_t begin = before.rfind(": ");
    std::string_view path = begin == std::string_view::npos ? before : before.substr(begin + 2);
    for (const std::string_view word : {"cannot create ", "cannot open ", "can't open "}) {
      path.remove_prefix(path.starts_with(word) ? word.size() : 0);
    }
    return std::string(path);
  }
  return {};
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool mode_allows(const struct stat& status, const DenialContext& context, mode_t bit) {
  const mode_t mode = status.st_uid == context.uid   ? status.st_mode >> 6U
                      : status.st_gid == context.gid ? status.st_mode >> 3U
                                                     : status.st_mode;
  return (mode & bit) != 0;
}

/// Whether plain permissions would let the command's user do it, as far as they can be seen.
bool permissions_allow(const std::string& path, const DenialContext& context, bool write) {
  struct stat status{};
  if (stat(path.c_str(), &status) == 0) {
    return mode_allows(status, context, write ? 2 : 4);
  }
  const std::string parent = std::filesystem::path(path).parent_path();
  return stat(parent.c_str(), &status) == 0 && mode_allows(status, context, 2);
}

std::string expand(const std::string& path, const std::string& home) {
  return path.starts_with("~/") ? home + path.substr(1) : path;
}

/// Each target once: a program that tries again says nothing new.
void add(std::vector<Denial>& denials, Denial denial) {
  const bool known = std::any_of(denials.begin(), denials.end(), [&](const Denial& other) {
    return other.op == denial.op && other.target == denial.target;
  });
  if (!known && denials.size() < kMaxDenials) {
    denials.push_back(std::move(denial));
  }
}

/// The host numbers of processes that were seen to be the call's, and of what they started as far
/// as the kernel's records say.
std::set<int> call_tree(const CallResult& result) {
  std::set<int> pids;
  for (const Survivor& process : result.survivors) {
    pids.insert(process.pid);
  }
  // Of exec only: the shell of an earlier call is the same process, and records may come late.
  if (result.record && result.record->is_object() && result.record->contains("pgid")) {
    pids.insert(result.record->value("pid", 0));
  }
  for (const sandbox::AuditDenial& denial : result.recorded_denials) {
    if (denial.pid != 0 && pids.contains(denial.parent_pid)) {
      pids.insert(denial.pid);
    }
  }
  pids.erase(0);
  return pids;
}

Denial from_record(const sandbox::AuditDenial& recorded, const std::set<int>& tree) {
  std::string target = !recorded.path.empty() ? recorded.path : recorded.address;
  if (target.empty() && recorded.target_pid != 0) {
    target = fmt::format("process {}", recorded.target_pid);
  }
  return {
      .op = std::string(recorded.op()),
      .target = contract::plain_or_quoted(target),
      .layer = "landlock",
      .rule = fmt::format("{}", fmt::join(recorded.blockers, ", ")),
      .hint = "The kernel refused it under this policy; ask for a wider one where it is needed.",
      .evidence = "audit",
      .confirmed = true,
      .of_call = tree.contains(recorded.pid),
      .pid = recorded.pid,
      .program = contract::plain_or_quoted(recorded.program)};
}

std::optional<Denial> judge_path(const std::string& path, const DenialContext& context) {
  const sandbox::Policy& policy = *context.policy;
  Denial denial;
  denial.target = path;
  denial.layer = context.confinement->by;
  for (const std::string& secret : policy.secrets) {
    if (is_within(path, expand(secret, context.home))) {
      denial.op = "read";
      denial.rule = fmt::format("secrets: {}", secret);
      denial.hint = "The policy keeps credentials unreadable; ask the user for what is needed.";
      return denial;
    }
  }
  const std::vector<std::string> roots =
      sandbox::writable_roots(policy, context.workspace, context.home);
  const bool writable =
      sandbox::lies_in_any(path, roots) || is_within(path, "/tmp") || is_within(path, "/dev");
  denial.op = "write";
  if (!writable) {
    if (!permissions_allow(path, context, true)) {
      return std::nullopt;
    }
    denial.rule = roots.empty() ? std::string("nothing but the private /tmp is writable")
                                : fmt::format("writable: {}", fmt::join(roots, ", "));
    denial.hint = roots.empty() ? "Write below /tmp, or ask for a policy that may write."
                                : "Write below one of these or /tmp, or ask for a wider policy.";
    return denial;
  }
  for (const std::string& root : roots) {
    for (const std::string& name : policy.protected_names) {
      if (is_within(path, root + "/" + name)) {
        denial.rule = fmt::format("protected: {}", name);
        denial.hint = "The policy keeps this name read-only; ask the user to change it.";
        return denial;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> refused_paths(std::string_view text) {
  std::vector<std::string> paths;
  for (const std::string_view line : lines_of(text)) {
    if (paths.size() == kMaxDenials || !contains_any(line, kRefusals)) {
      continue;
    }
    std::string path = path_in(line);
    if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end()) {
      paths.push_back(std::move(path));
    }
  }
  return paths;
}

bool refuses_program(const std::string& program, const sandbox::Policy& policy,
                     const std::string& home) {
  const std::string path = std::filesystem::path(program).lexically_normal();
  return policy.enforce && std::ranges::any_of(policy.secrets, [&](const std::string& secret) {
           return is_within(path, expand(secret, home));
         });
}

std::vector<Denial> confirmed_denials(const CallResult& result) {
  std::vector<Denial> denials;
  for (const sandbox::EgressDecision& decision : result.refused_connections) {
    const bool is_bind = decision.via == sandbox::EgressVia::Bind;
    Denial denial{.op = is_bind ? "bind" : "connect",
                  .target = fmt::format("{}:{}", decision.host, decision.port),
                  .layer = "network",
                  .rule = decision.rule,
                  .hint = is_bind ? "Listen on 127.0.0.1."
                                  : "Ask the user to name this host and port in the policy.",
                  .evidence = std::string(decision.evidence()),
                  .confirmed = true,
                  .program = {}};
    add(denials, std::move(denial));
  }
  const std::set<int> tree = call_tree(result);
  for (const sandbox::AuditDenial& recorded : result.recorded_denials) {
    add(denials, from_record(recorded, tree));
  }
  return denials;
}

std::vector<Denial> possible_denials(const CallResult& result, const DenialContext& context) {
  const bool failed = result.state == CallState::Finished && result.exit_code.value_or(0) != 0;
  if (!failed || context.policy == nullptr || !context.policy->enforce) {
    return {};
  }
  std::vector<Denial> denials;
  for (const std::string_view text :
       {std::string_view(result.err.text), std::string_view(result.out.text)}) {
    for (const std::string& written : refused_paths(text)) {
      const std::filesystem::path whole =
          std::filesystem::path(context.cwd) / expand(written, context.home);
      if (auto denial = judge_path(whole.lexically_normal(), context)) {
        denials.push_back(*std::move(denial));
      }
    }
    if (context.policy->network == sandbox::Network::None && contains_any(text, kNoNetwork)) {
      denials.push_back({.op = "connect",
                         .target = "network",
                         .layer = context.confinement->by,
                         .rule = "network: none",
                         .hint = "This session has no network; ask for a policy that has.",
                         .program = {}});
    }
    if (!denials.empty()) {
      break;
    }
  }
  return denials;
}

}  // namespace bawn::shell
