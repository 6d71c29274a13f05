#include "read_back.hpp"

#include "bawn/os/procfs.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace bawn::container {
namespace {

/// By number, as linux/capability.h counts them.
constexpr std::array<std::string_view, 41> kCapabilities = {"chown",
                                                            "dac_override",
                                                            "dac_read_search",
                                                            "fowner",
                                                            "fsetid",
                                                            "kill",
                                                            "setgid",
                                                            "setuid",
                                                            "setpcap",
                                                            "linux_immutable",
                                                            "net_bind_service",
                                                            "net_broadcast",
                                                            "net_admin",
                                                            "net_raw",
                                                            "ipc_lock",
                                                            "ipc_owner",
                                                            "sys_module",
                                                            "sys_rawio",
                                                            "sys_chroot",
                                                            "sys_ptrace",
                                                            "sys_pacct",
                                                            "sys_admin",
                                                            "sys_boot",
                                                            "sys_nice",
                                                            "sys_resource",
                                                            "sys_time",
                                                            "sys_tty_config",
                                                            "mknod",
                                                            "lease",
                                                            "audit_write",
                                                            "audit_control",
                                                            "setfcap",
                                                            "mac_override",
                                                            "mac_admin",
                                                            "syslog",
                                                            "wake_alarm",
                                                            "block_suspend",
                                                            "audit_read",
                                                            "perfmon",
                                                            "bpf",
                                                            "checkpoint_restore"};

std::string_view line_of(std::string_view text, std::string_view name) {
  const std::size_t at = text.starts_with(name) ? 0 : text.find("\n" + std::string(name));
  if (at == std::string_view::npos) {
    return {};
  }
  std::string_view line = text.substr(at == 0 ? name.size() : at + 1 + name.size());
  line = line.substr(0, line.find('\n'));
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line;
}

std::uint64_t number(std::string_view text, int base) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

void read_status(int pid, PlaceFacts& facts) {
  const auto status = os::read_proc_file(fmt::format("/proc/{}/status", pid));
  if (!status) {
    return;
  }
  const std::uint64_t bounding = number(line_of(*status, "CapBnd:"), 16);
  for (std::size_t at = 0; at < kCapabilities.size(); ++at) {
    if ((bounding >> at & 1U) != 0) {
      facts.capabilities.emplace_back(kCapabilities[at]);
    }
  }
  facts.no_new_privileges = line_of(*status, "NoNewPrivs:") == "1";
  facts.engine_seccomp = line_of(*status, "Seccomp:") == "2";
}

/// The smaller one; files hold a number or "max".
void lower(std::optional<std::uint64_t>& limit, const std::string& file) {
  constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60U;  // cgroup v1 shows a huge number
  const auto text = os::read_proc_file(file);
  if (!text || text->empty() || text->starts_with("max")) {
    return;
  }
  const std::uint64_t value = number(*text, 10);
  if (value < kNoLimit && !text->starts_with("-")) {
    limit = limit ? std::min(*limit, value) : value;
  }
}

void lower_cpus(std::optional<double>& cpus, std::uint64_t quota, std::uint64_t period) {
  if (quota > 0 && period > 0) {
    const double value = static_cast<double>(quota) / static_cast<double>(period);
    cpus = cpus ? std::min(*cpus, value) : value;
  }
}

void read_group(const std::string& folder, PlaceFacts& facts) {
  lower(facts.memory_bytes, folder + "/memory.max");
  lower(facts.memory_bytes, folder + "/memory.limit_in_bytes");
  lower(facts.processes, folder + "/pids.max");
  std::optional<std::uint64_t> quota;
  std::optional<std::uint64_t> period;
  lower(quota, folder + "/cpu.cfs_quota_us");
  lower(period, folder + "/cpu.cfs_period_us");
  lower_cpus(facts.cpus, quota.value_or(0), period.value_or(0));
  if (const auto both = os::read_proc_file(folder + "/cpu.max");
      both && !both->starts_with("max")) {
    const std::size_t blank = both->find(' ');
    lower_cpus(
        facts.cpus, number(*both, 10),
        blank == std::string::npos ? 0 : number(std::string_view(*both).substr(blank + 1), 10));
  }
}

/// Limits of every group from the process's own up to the root hold together.
void read_groups(int pid, PlaceFacts& facts) {
  const auto groups = os::read_proc_file(fmt::format("/proc/{}/cgroup", pid));
  std::string_view rest = groups ? std::string_view(*groups) : std::string_view();
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) {
      continue;
    }
    const std::string controllers(line.substr(first + 1, second - first - 1));
    for (std::string path(line.substr(second + 1)); path.size() > 1; path.resize(path.rfind('/'))) {
      read_group(fmt::format("/sys/fs/cgroup/{}{}", controllers, path), facts);
    }
  }
}

std::uint64_t network_of(const std::string& process) {
  struct stat found{};
  return ::stat(fmt::format("/proc/{}/ns/net", process).c_str(), &found) == 0 ? found.st_ino : 0;
}

}  // namespace

PlaceFacts read_back(int pid) {
  PlaceFacts facts;
  read_status(pid, facts);
  read_groups(pid, facts);
  struct statvfs root{};
  facts.read_only_root = ::statvfs(fmt::format("/proc/{}/root/", pid).c_str(), &root) == 0 &&
                         (root.f_flag & ST_RDONLY) != 0;
  const std::uint64_t network = network_of(std::to_string(pid));
  facts.own_network = network != 0 && network != network_of("self");
  return facts;
}

std::vector<std::string> name_missing(const PlaceFacts& facts, const PlaceSpec& spec,
                                      bool rootless) {
  std::vector<std::string> missing;
  const auto name = [&](bool when, std::string sentence) {
    if (when) {
      missing.push_back(std::move(sentence));
    }
  };
  name(!facts.memory_bytes, "memory is not limited by the engine");
  name(!facts.processes, "the number of processes is not limited by the engine");
  name(!facts.cpus, "processor time is not limited by the engine");
  name(!facts.engine_seccomp, "the engine has no seccomp filter around the container");
  name(!facts.no_new_privileges, "the engine did not set no_new_privs");
  name(*spec.uid == 0 && !rootless,
       "commands run as the machine's root, held by capabilities alone");
  name(!facts.capabilities.empty(),
       fmt::format("{} capabilities are left to the container", facts.capabilities.size()));
  return missing;
}

}  // namespace bawn::container
