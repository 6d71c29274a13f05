#include "answer.hpp"
#include "bawn/contract/lower_case.hpp"
#include "read_back.hpp"

#include <algorithm>
#include <string_view>

namespace bawn::container {
namespace {

/// What Docker leaves a container that asks for nothing else.
constexpr std::array<std::string_view, 14> kUsual = {
    "chown",   "dac_override", "fowner",           "fsetid",     "kill",  "setgid",      "setuid",
    "setpcap", "net_raw",      "net_bind_service", "sys_chroot", "mknod", "audit_write", "setfcap"};

std::uint64_t number_at(const Json& answer, std::string_view pointer) {
  const Json& found = value_at(answer, pointer);
  return found.is_number_integer() && found.get<std::int64_t>() > 0 ? found.get<std::uint64_t>()
                                                                    : 0;
}

bool flag_at(const Json& answer, std::string_view pointer) {
  const Json& found = value_at(answer, pointer);
  return found.is_boolean() && found.get<bool>();
}

/// "CAP_CHOWN" and "CHOWN" as "chown".
std::vector<std::string> names_at(const Json& answer, std::string_view pointer) {
  std::vector<std::string> names;
  for (const Json& entry : list_at(answer, pointer)) {
    const std::string name =
        contract::lower_case(entry.is_string() ? entry.get<std::string>() : std::string());
    names.push_back(name.starts_with("cap_") ? name.substr(4) : name);
  }
  return names;
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> capabilities_of(const Json& inspected) {
  if (flag_at(inspected, "/HostConfig/Privileged")) {
    return {"all"};
  }
  const auto dropped = names_at(inspected, "/HostConfig/CapDrop");
  std::vector<std::string> left = names_at(inspected, "/HostConfig/CapAdd");
  if (!has(dropped, "all")) {
    for (const std::string_view name : kUsual) {
      if (!has(dropped, name) && !has(left, name)) {
        left.emplace_back(name);
      }
    }
  }
  return left;
}

void read_security(const Json& inspected, PlaceFacts& facts) {
  facts.engine_seccomp = !flag_at(inspected, "/HostConfig/Privileged");
  for (const Json& entry : list_at(inspected, "/HostConfig/SecurityOpt")) {
    const std::string option = entry.is_string() ? entry.get<std::string>() : std::string();
    if (option == "seccomp=unconfined" || option == "seccomp:unconfined") {
      facts.engine_seccomp = false;
    }
    facts.no_new_privileges = facts.no_new_privileges || option == "no-new-privileges" ||
                              option == "no-new-privileges:true" ||
                              option == "no-new-privileges=true";
  }
}

}  // namespace

PlaceFacts facts_of(const Json& inspected) {
  PlaceFacts facts;
  const auto limit = [&](std::string_view pointer) {
    const std::uint64_t value = number_at(inspected, pointer);
    return value > 0 ? std::optional(value) : std::nullopt;
  };
  facts.memory_bytes = limit("/HostConfig/Memory");
  facts.processes = limit("/HostConfig/PidsLimit");
  if (const auto nano = limit("/HostConfig/NanoCpus")) {
    facts.cpus = static_cast<double>(*nano) / 1e9;
  } else if (const auto quota = limit("/HostConfig/CpuQuota")) {
    facts.cpus = static_cast<double>(*quota) /
                 static_cast<double>(limit("/HostConfig/CpuPeriod").value_or(100000));
  }
  facts.read_only_root = flag_at(inspected, "/HostConfig/ReadonlyRootfs");
  facts.capabilities = capabilities_of(inspected);
  read_security(inspected, facts);
  const std::string network = text_at(inspected, "/HostConfig/NetworkMode");
  facts.own_network = !network.empty() && network != "host" && !network.starts_with("container:") &&
                      !network.starts_with("ns:");
  return facts;
}

std::vector<std::string> writable_places_of(const Json& inspected) {
  if (!flag_at(inspected, "/HostConfig/ReadonlyRootfs")) {
    return {"/"};
  }
  std::vector<std::string> places = {"/tmp", "/var/tmp", "/run", "/dev/shm"};
  for (const Json& mount : list_at(inspected, "/Mounts")) {
    std::string target = text_at(mount, "/Destination");
    if (flag_at(mount, "/RW") && target.starts_with('/')) {
      places.push_back(std::move(target));
    }
  }
  const Json& temporary = value_at(inspected, "/HostConfig/Tmpfs");
  if (temporary.is_object()) {
    for (const auto& [target, options] : temporary.items()) {
      if (target.starts_with('/')) {
        places.push_back(target);
      }
    }
  }
  return places;
}

}  // namespace bawn::container
