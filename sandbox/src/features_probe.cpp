// The probe for real: bawn-warden tries each namespace in throw-away processes and says how it
// went.
#include "features_probe.hpp"

#include "bawn/os/pidfd.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/os/spawn.hpp"
#include "bawn/sandbox/audit.hpp"
#include "bawn/sandbox/features.hpp"
#include "bawn/sandbox/inside.hpp"
#include "cgroup_leaf.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace bawn::sandbox {
namespace {

using contract::Result;

Feature ask_audit(int landlock_abi) {
  const AuditState state = audit_state(landlock_abi);
  if (!state.has_landlock) {
    return {false, "Landlock writes records from ABI 7 (Linux 6.15) on"};
  }
  if (!state.readable.available) {
    return state.readable;
  }
  return state.enabled ? Feature{true, ""}
                       : Feature{false, "auditing is switched off; bawn doctor --audit says more"};
}

/// The features that a line of the probe speaks about: without /proc or tmpfs of its own neither
/// mount nor PID namespaces are of use.
std::vector<Feature*> named(KernelFeatures& features, std::string_view name) {
  if (name == "user") {
    return {&features.user_namespace};
  }
  if (name == "mount" || name == "tmpfs") {
    return {&features.mount_namespace};
  }
  if (name == "proc") {
    return {&features.mount_namespace, &features.pid_namespace};
  }
  if (name == "pid") {
    return {&features.pid_namespace};
  }
  if (name == "net") {
    return {&features.network_namespace};
  }
  if (name == "ipc") {
    return {&features.ipc_namespace};
  }
  if (name == "listener") {
    return {&features.seccomp_notify};
  }
  if (name == "uts") {
    return {&features.uts_namespace};
  }
  return {};
}

/// "fail ERRNO STEP" as a reason.
std::string reason_of(std::string_view name, std::string_view verdict) {
  verdict.remove_prefix(std::strlen("fail "));
  int errnum = 0;
  const auto parsed = std::from_chars(verdict.data(), verdict.data() + verdict.size(), errnum);
  const std::string_view step(
      parsed.ptr, static_cast<std::size_t>(verdict.data() + verdict.size() - parsed.ptr));
  std::string reason =
      fmt::format("a trial {}{} failed at{}: {}", name == "listener" ? "seccomp " : "",
                  name == "listener" ? "listener" : fmt::format("{} namespace", name), step,
                  std::strerror(errnum));
  if (name == "proc" && errnum == EPERM) {
    // mount_too_revealing() in the kernel: nobody sees more of /proc inside than outside.
    reason +=
        "; a container that hides parts of /proc allows no other (podman run --security-opt "
        "unmask=ALL, docker run --security-opt systempaths=unconfined)";
  }
  return reason;
}

/// Makes a cgroup as a session's and removes it.
void try_cgroup(KernelFeatures& features) {
  CgroupPlan plan;
  plan.parent = features.cgroup;
  // Without controllers: to give them on would move this process and change the parent for good.
  if (const auto leaf = CgroupLeaf::make(plan); !leaf) {
    features.cgroup_v2 = {false, leaf.error().message()};
    features.cgroup_controllers.clear();
  }
}

}  // namespace

Result<std::string> ask_probe_program(const std::string& question) {
  os::Pipe pipe = BAWN_TRY(os::Pipe::make());
  os::SpawnOptions options;
  options.program = BAWN_TRY(find_warden_program({}));
  options.argv = {"bawn-warden", question};
  options.fds = {{pipe.write.get(), STDOUT_FILENO}};
  const os::Pidfd child = BAWN_TRY(os::spawn(options));
  pipe.write.reset();
  std::string text;
  std::array<char, 1024> buffer;
  for (;;) {
    const ssize_t got = ::read(pipe.read.get(), buffer.data(), buffer.size());
    if (got > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      break;
    }
  }
  // Its output ended with it, or it closed it early; either way nothing more is wanted of it.
  (void)child.signal(SIGKILL);
  pollfd gone{child.get(), POLLIN, 0};
  (void)::poll(&gone, 1, -1);
  (void)child.reap();
  return text;
}

void apply_probe(KernelFeatures& features, std::string_view output) {
  while (!output.empty()) {
    const std::size_t end = output.find('\n');
    const std::string_view line = output.substr(0, end);
    output = end == std::string_view::npos ? std::string_view{} : output.substr(end + 1);
    const std::size_t space = line.find(' ');
    if (int layers = 0;
        line.starts_with("layers ") &&
        std::from_chars(line.data() + space + 1, line.data() + line.size(), layers).ec ==
            std::errc()) {
      features.landlock_layers = layers;
      continue;
    }
    if (space == std::string_view::npos || !line.substr(space + 1).starts_with("fail ")) {
      continue;
    }
    const std::string_view name = line.substr(0, space);
    for (Feature* feature : named(features, name)) {
      *feature = {false, reason_of(name, line.substr(space + 1))};
    }
  }
}

KernelFeatures probe_features() {
  KernelFeatures features = assume_features();
  if (features.cgroup_v2.available) {
    try_cgroup(features);
  }
  features.audit = ask_audit(features.landlock_abi);
  if (!features.user_namespace.available && !features.seccomp_notify.available) {
    return features;
  }
  const auto output = ask_probe_program("--probe");
  if (output && !output->empty()) {
    apply_probe(features, *output);
    return features;
  }
  const std::string reason =
      fmt::format("namespaces could not be tried: {}",
                  output ? "the probe said nothing" : output.error().message());
  for (Feature* feature :
       {&features.user_namespace, &features.mount_namespace, &features.pid_namespace,
        &features.network_namespace, &features.ipc_namespace, &features.uts_namespace}) {
    *feature = {false, reason};
  }
  return features;
}

}  // namespace bawn::sandbox
