#include "run_arguments.hpp"

#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace bawn::container {
namespace {

class Words {
 public:
  void add(std::string word) { words_.push_back(std::move(word)); }
  void add(const char* option, std::string value) {
    words_.emplace_back(option);
    words_.push_back(std::move(value));
  }
  std::vector<std::string> take() { return std::move(words_); }

 private:
  std::vector<std::string> words_;
};

std::string bind_mount(const std::string& source, const std::string& target, bool read_only) {
  return fmt::format("type=bind,source={},target={}{}", source, target,
                     read_only ? ",readonly" : "");
}

bool is_mounted(const PlaceSpec& spec, const std::string& path) {
  return std::ranges::any_of(spec.mounts, [&](const Mount& mount) { return mount.target == path; });
}

void add_walls(Words& words, const PlaceSpec& spec, const RunSetup& setup) {
  words.add("--network", spec.network == PlaceNetwork::None ? "none" : "bridge");
  words.add("--cap-drop", "ALL");
  for (const std::string& name : spec.capabilities) {
    words.add("--cap-add", name);
  }
  words.add("--security-opt", "no-new-privileges");
  if (!spec.seccomp_profile.empty()) {
    words.add("--security-opt", "seccomp=" + spec.seccomp_profile);
  }
  if (spec.read_only_root) {
    words.add("--read-only");
    if (setup.engine == EngineKind::Podman) {
      words.add("--read-only-tmpfs=false");  // its own choice would be writable places we list not
    }
  }
  if (setup.rootless && *spec.uid != 0) {
    words.add("--userns", "keep-id");
  }
  words.add("--user", fmt::format("{}:{}", *spec.uid, *spec.gid));
}

void add_limits(Words& words, const PlaceSpec& spec, const RunSetup& setup) {
  const PlaceLimits& limits = spec.limits;
  words.add("--memory", std::to_string(limits.memory_bytes));
  words.add("--pids-limit", std::to_string(limits.processes));
  words.add("--cpus", fmt::format("{:.2f}", limits.cpus));
  words.add("--ulimit", fmt::format("nofile={0}:{0}", setup.open_files));
  words.add("--ulimit", fmt::format("nproc={0}:{0}", setup.threads));
  words.add("--ulimit", "core=0:0");
  for (const std::string& path : temporary_places(spec)) {
    words.add("--tmpfs",
              fmt::format("{}:rw,exec,nosuid,nodev,mode=1777,size={}", path, limits.tmp_bytes));
  }
}

constexpr const char* kWardenFolder = "/.bawn";
/// What engines ask for at most; podman lowers its own number of threads to this first.
constexpr std::uint64_t kMostThreads = 32768;
constexpr std::uint64_t kMostFiles = 65536;

std::uint64_t hard_limit(__rlimit_resource resource, std::uint64_t most) {
  rlimit limit{};
  return ::getrlimit(resource, &limit) == 0 ? std::min<std::uint64_t>(limit.rlim_max, most) : most;
}

}  // namespace

RunSetup own_setup(EngineKind engine, bool rootless, std::string id) {
  return {.engine = engine,
          .rootless = rootless,
          .id = std::move(id),
          .directory = {},
          .warden = {},
          .without_warden = false,
          .open_files = hard_limit(RLIMIT_NOFILE, kMostFiles),
          .threads = hard_limit(RLIMIT_NPROC, kMostThreads)};
}

std::string socket_of(const std::string& directory) {
  return directory + "/socket";
}

std::vector<std::string> temporary_places(const PlaceSpec& spec) {
  std::vector<std::string> paths;
  for (const char* const path : {"/tmp", "/var/tmp"}) {
    if (!is_mounted(spec, path) && (spec.read_only_root || std::string_view(path) == "/tmp")) {
      paths.emplace_back(path);
    }
  }
  if (!is_mounted(spec, spec.workspace)) {
    paths.push_back(spec.workspace);
  }
  return paths;
}

std::vector<std::string> writable_places(const PlaceSpec& spec) {
  if (!spec.read_only_root) {
    return {"/"};
  }
  std::vector<std::string> places = temporary_places(spec);
  for (const Mount& mount : spec.mounts) {
    if (!mount.read_only) {
      places.push_back(mount.target);
    }
  }
  return places;
}

std::vector<std::string> run_arguments(const PlaceSpec& spec, const std::vector<HeldMount>& mounts,
                                       const RunSetup& setup) {
  Words words;
  const bool copied = setup.directory.empty();
  words.add(copied ? "create" : "run");
  words.add("--rm");
  words.add("--interactive");
  words.add("--name", spec.name);
  words.add("--label", fmt::format("{}={}", kPlaceLabel, setup.id));
  for (const auto& [name, value] : spec.labels) {
    words.add("--label", fmt::format("{}={}", name, value));
  }
  words.add("--pull", "never");
  words.add("--log-driver", "none");
  words.add("--workdir", "/");
  words.add("--entrypoint", setup.without_warden ? "/bin/sh" : kWardenInside);
  add_walls(words, spec, setup);
  add_limits(words, spec, setup);
  if (copied && !setup.without_warden) {
    words.add("--volume", kWardenFolder);  // an engine copies nothing to a read-only root
  } else if (!copied) {
    words.add("--mount", bind_mount(setup.warden, kWardenInside, true));
    words.add("--mount", bind_mount(setup.directory, setup.directory, false));
  }
  for (const HeldMount& mount : mounts) {
    words.add("--mount", bind_mount(mount.source, mount.target, mount.read_only));
  }
  words.add(spec.image);
  if (setup.without_warden) {
    words.add("-c", "echo; while read -r line; do :; done");
  } else if (copied) {
    words.add("--pipes");
  } else {
    words.add("--main", socket_of(setup.directory));
  }
  return words.take();
}

}  // namespace bawn::container
