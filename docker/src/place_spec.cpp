#include "bawn/container/place_spec.hpp"

#include "bawn/contract/quote.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace bawn::container {
namespace {

/// What Docker and Podman leave a container by default, without making devices and raw sockets:
/// none of these reaches out of it.
constexpr std::array<std::string_view, 12> kHarmless = {
    "AUDIT_WRITE",      "CHOWN",   "DAC_OVERRIDE", "FOWNER",  "FSETID", "KILL",
    "NET_BIND_SERVICE", "SETFCAP", "SETGID",       "SETPCAP", "SETUID", "SYS_CHROOT"};

std::unexpected<Error> bad(std::string sentence) {
  return contract::fail(ErrorCode::InvalidArgument, std::move(sentence));
}

std::unexpected<Error> forbidden(std::string sentence) {
  return contract::fail(ErrorCode::PermissionDenied, std::move(sentence));
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char letter) {
    return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f;
  });
}

/// Engines take mounts as comma-separated words.
Result<> check_path(const char* what, const std::string& path) {
  if (path.empty() || has_control(path) || path.find(',') != std::string::npos ||
      path.find('"') != std::string::npos) {
    return bad(
        fmt::format("{} {} is no path that a container engine can be given: it must not be "
                    "empty or have commas, quotes or control characters",
                    what, contract::quote(path)));
  }
  return {};
}

Result<> check_inside(const char* what, const std::string& path) {
  BAWN_TRY(check_path(what, path));
  const bool plain = path.front() == '/' && path.find("//") == std::string::npos &&
                     (path + "/").find("/../") == std::string::npos &&
                     (path + "/").find("/./") == std::string::npos;
  if (!plain) {
    return bad(
        fmt::format("{} {} must be an absolute path without \"..\"", what, contract::quote(path)));
  }
  for (const char* const taken : {"/proc", "/sys", "/dev", "/.bawn"}) {
    if ((path + "/").starts_with(std::string(taken) + "/")) {
      return bad(fmt::format("{} {} lies in {}, which belongs to the container itself", what,
                             contract::quote(path), taken));
    }
  }
  if (path == "/") {
    return bad(fmt::format("{} must not be \"/\"", what));
  }
  return {};
}

Result<> check_mounts(const PlaceSpec& spec, const PlaceBounds& bounds) {
  std::vector<std::string> targets;
  for (const Mount& mount : spec.mounts) {
    BAWN_TRY(check_path("the mount source", mount.source));
    BAWN_TRY(check_inside("the mount target", mount.target));
    if (std::ranges::find(targets, mount.target) != targets.end()) {
      return bad(fmt::format("two mounts have the target {}", contract::quote(mount.target)));
    }
    targets.push_back(mount.target);
    if (!mount.read_only && !bounds.write_workspace) {
      return forbidden(fmt::format(
          "the server's policy writes nothing, so {} can only be mounted with \"read_only\"",
          contract::quote(mount.source)));
    }
  }
  return {};
}

Result<> check_limits(const PlaceLimits& limits) {
  constexpr std::uint64_t kLeastMemory = std::uint64_t{16} << 20U;
  if (limits.memory_bytes < kLeastMemory || limits.tmp_bytes < 4096) {
    return bad("a container needs at least 16 MiB of memory and 4096 bytes for temporary files");
  }
  if (limits.processes < 8 || limits.processes > 32768) {
    return bad("the limit of processes lies between 8 and 32768");
  }
  if (!(limits.cpus >= 0.01 && limits.cpus <= 1024)) {
    return bad("the limit of processors lies between 0.01 and 1024");
  }
  return {};
}

Result<> check_capabilities(const std::vector<std::string>& capabilities) {
  for (const std::string& name : capabilities) {
    if (std::ranges::find(kHarmless, name) == kHarmless.end()) {
      return forbidden(
          fmt::format("the capability {} is not given to containers; those that can be kept are {}",
                      contract::quote(name), fmt::join(kHarmless, ", ")));
    }
  }
  return {};
}

Result<> check_words(const PlaceSpec& spec) {
  for (const auto& [name, value] : spec.labels) {
    if (name.empty() || name.starts_with("bawn.") || name.find('=') != std::string::npos ||
        has_control(name) || has_control(value)) {
      return bad(
          fmt::format("the label {} cannot be set: names have no \"=\" and do not begin "
                      "with \"bawn.\", and neither they nor values have control characters",
                      contract::quote(name)));
    }
  }
  for (const auto& [name, value] : spec.environment) {
    if (name.empty() || name.find('=') != std::string::npos || has_control(name) ||
        value.find('\0') != std::string::npos) {
      return bad(fmt::format("the environment variable {} cannot be set", contract::quote(name)));
    }
  }
  return {};
}

/// Empty: the container's own. "/" is as good a directory there as any other.
Result<> check_joined_workspace(const std::string& workspace) {
  return workspace.empty() || workspace == "/" ? Result<>()
                                               : check_inside("the workspace", workspace);
}

/// A container of somebody else may reach anything: only whoever runs the server knows.
Result<> check_existing(const PlaceSpec& spec, const PlaceBounds& bounds) {
  if (!spec.image.empty()) {
    return bad("give either \"image\" or \"attach\": a container that is there has its image");
  }
  if (std::ranges::find(bounds.existing, spec.existing) == bounds.existing.end()) {
    return forbidden(fmt::format(
        "the container {} is not one that this server may join; whoever runs it allows that "
        "with --join-container",
        contract::quote(spec.existing)));
  }
  if (!spec.mounts.empty() || !spec.capabilities.empty() || !spec.labels.empty() ||
      !spec.seccomp_profile.empty() || spec.network != PlaceNetwork::None) {
    return bad(
        "a container that is there keeps what it has: leave out mounts, network, capabilities, "
        "labels and seccomp_profile, or open one of your own from an image");
  }
  BAWN_TRY(check_joined_workspace(spec.workspace));
  return check_words(spec);
}

}  // namespace

Result<> check_place_name(const std::string& name) {
  constexpr std::string_view kFirst =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const bool fits = name.size() >= 2 && name.size() <= 48 &&
                    kFirst.find(name.front()) != std::string_view::npos &&
                    name.find_first_not_of(std::string(kFirst) + "_.-") == std::string::npos;
  if (!fits) {
    return bad(
        fmt::format("a container's name has 2 to 48 letters, digits, '_', '.' or '-' and "
                    "begins with a letter or digit: {} does not",
                    contract::quote(name)));
  }
  return {};
}

Result<> check(const PlaceSpec& spec, const PlaceBounds& bounds) {
  BAWN_TRY(check_place_name(spec.name));
  if (!spec.existing.empty()) {
    return check_existing(spec, bounds);
  }
  if (spec.image.empty() || spec.image.front() == '-' || has_control(spec.image) ||
      spec.image.find(' ') != std::string::npos) {
    return bad(fmt::format("{} is no name of an image", contract::quote(spec.image)));
  }
  BAWN_TRY(check_inside("the workspace", spec.workspace));
  BAWN_TRY(check_mounts(spec, bounds));
  BAWN_TRY(check_limits(spec.limits));
  BAWN_TRY(check_capabilities(spec.capabilities));
  if (!spec.seccomp_profile.empty()) {
    BAWN_TRY(check_path("the seccomp profile", spec.seccomp_profile));
    if (spec.seccomp_profile == "unconfined") {
      return forbidden(
          "a container without the engine's seccomp profile is not opened; leave "
          "\"seccomp_profile\" out, or name a profile's file");
    }
  }
  if (spec.network != PlaceNetwork::None && !bounds.network) {
    return forbidden(
        "the server's policy opens no network, so its containers have none; start "
        "bawn with the policy open-net to allow \"bridge\"");
  }
  return check_words(spec);
}

}  // namespace bawn::container
