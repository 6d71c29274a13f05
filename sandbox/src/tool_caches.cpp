#include "tool_caches.hpp"

#include "paths.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace bawn::sandbox {
namespace {

struct Known {
  const char* variable;
  const char* usual;   ///< below the home
  const char* own;     ///< below the private cache directory
  bool holds_sources;  ///< a build without a network needs what is in it
};

/// pip, uv, ccache, sccache, go build, yarn 1, deno and most others follow XDG_CACHE_HOME.
constexpr std::array kCaches = {
    Known{"XDG_CACHE_HOME", ".cache", "", false},
    Known{"npm_config_cache", ".npm", "/npm", false},
    Known{"GRADLE_USER_HOME", ".gradle", "/gradle", false},
    Known{"GOMODCACHE", "go/pkg/mod", "/go-mod", true},
    Known{"CARGO_HOME", ".cargo", "/cargo", true},
    Known{"PNPM_HOME", ".local/share/pnpm", "/pnpm", true},
    Known{"YARN_GLOBAL_FOLDER", ".yarn/berry", "/yarn", true},
    Known{"NUGET_PACKAGES", ".nuget/packages", "/nuget", true},
    Known{"BUN_INSTALL_CACHE_DIR", ".bun/install/cache", "/bun", true},
};

bool is_writable(const SessionPlan& plan, const std::string& path) {
  std::vector<std::string> roots;
  for (const FilePlan::Root& root : plan.files.roots) {
    if (root.writable && root.path != plan.tmp) {
      roots.push_back(root.path);
    }
  }
  return is_within_any(path, roots);
}

/// Maven 3.9 takes options from a variable, and reads what it lacks from a second repository.
ToolCache maven(const SessionPlan& plan) {
  const std::string usual = plan.home + "/.m2/repository";
  if (is_writable(plan, usual)) {
    return {"MAVEN_ARGS", ToolCache::Kind::Shared, {}};
  }
  return {"MAVEN_ARGS", ToolCache::Kind::Private,
          fmt::format("-Dmaven.repo.local={}/.cache/maven -Dmaven.repo.local.tail={}", plan.tmp,
                      usual)};
}

}  // namespace

std::vector<ToolCache> tool_caches(const Policy& policy, const SessionPlan& plan) {
  std::vector<ToolCache> caches;
  if (!policy.enforce) {
    return caches;
  }
  const bool reaches_out = policy.network == Network::Full || policy.network == Network::AllowList;
  for (const Known& known : kCaches) {
    if (is_writable(plan, fmt::format("{}/{}", plan.home, known.usual))) {
      caches.push_back({known.variable, ToolCache::Kind::Shared, {}});
    } else if (known.holds_sources && !reaches_out) {
      caches.push_back({known.variable, ToolCache::Kind::ReadOnly, {}});
    } else {
      caches.push_back({known.variable, ToolCache::Kind::Private,
                        fmt::format("{}/.cache{}", plan.tmp, known.own)});
    }
  }
  caches.push_back(maven(plan));
  return caches;
}

std::vector<std::string> describe_caches(const std::vector<ToolCache>& caches) {
  std::array<std::vector<std::string>, 3> names;
  for (const ToolCache& cache : caches) {
    names[static_cast<std::size_t>(cache.kind)].push_back(cache.variable);
  }
  static constexpr std::array kSentences = {
      "caches of build tools in the private temporary directory: {}",
      "caches of build tools that are the user's own and read-only: {}",
      "caches of build tools shared with programs outside, because the policy lets them be "
      "written: {}"};
  std::vector<std::string> sentences;
  for (std::size_t kind = 0; kind < names.size(); ++kind) {
    if (!names[kind].empty()) {
      sentences.push_back(
          fmt::format(fmt::runtime(kSentences[kind]), fmt::join(names[kind], ", ")));
    }
  }
  return sentences;
}

}  // namespace bawn::sandbox
