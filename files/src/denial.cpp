#include "denial.hpp"

#include "bawn/sandbox/roots.hpp"
#include "paths.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace bawn::files {

namespace {

bool is_within(std::string_view path, std::string_view root) {
  return path == root || root == "/" || (path.starts_with(root) && path[root.size()] == '/');
}

std::string expand(const Place& place, const std::string& path) {
  return path.starts_with("~/") ? place.home + path.substr(1) : path;
}

std::optional<std::string> rule_for(const Place& place, const std::string& path, Access access) {
  const sandbox::Policy& policy = place.policy;
  for (const std::string& secret : policy.secrets) {
    if (is_within(path, expand(place, secret))) {
      return fmt::format("secrets: {}; credentials are kept unreadable", secret);
    }
  }
  if (access == Access::Read) {
    return std::nullopt;
  }
  const std::vector<std::string> roots =
      sandbox::writable_roots(policy, place.workspace, place.home);
  for (const std::string& root : roots) {
    for (const std::string& name : policy.protected_names) {
      if (is_within(path, root + "/" + name)) {
        return fmt::format("protected: {}; the user must change it", name);
      }
    }
  }
  const bool writable = is_within(path, "/tmp") || sandbox::lies_in_any(path, roots);
  if (writable) {
    return std::nullopt;
  }
  return roots.empty() ? std::string("nothing but the private /tmp is writable")
                       : fmt::format(
                             "writable: {}; write below one of these or /tmp, or ask for a "
                             "wider policy",
                             fmt::join(roots, ", "));
}

}  // namespace

std::optional<std::string> why_hidden(const Place& place, std::string_view absolute) {
  return place.policy.enforce ? rule_for(place, normal_path(absolute), Access::Read) : std::nullopt;
}

Error hidden(const Place& place, std::string_view shown, std::string_view rule) {
  return Error(ErrorCode::PermissionDenied,
               fmt::format("{} is hidden here (possibly by the wall, policy {}: {})", shown,
                           place.policy.name, rule));
}

Error explained(const Place& place, std::string_view absolute, Access access, const Error& error) {
  const auto* failure = error.find<sandbox::FileFailure>();
  // A secret file that a mount hides looks like a device.
  const bool masked = failure != nullptr &&
                      failure->kind == sandbox::FileFailure::Kind::NotRegular &&
                      failure->type == sandbox::FileType::CharacterDevice;
  if ((!error.is(ErrorCode::PermissionDenied) && !masked) || !place.policy.enforce) {
    return error;
  }
  const auto rule = rule_for(place, normal_path(absolute), access);
  if (!rule || (masked && !rule->starts_with("secrets"))) {
    return error;
  }
  if (masked) {
    return hidden(place, absolute, *rule).with_cause(error);
  }
  return Error(ErrorCode::PermissionDenied,
               fmt::format("{} (possibly refused by the wall, policy {}: {})", error.message(),
                           place.policy.name, *rule))
      .with_cause(error);
}

}  // namespace bawn::files
