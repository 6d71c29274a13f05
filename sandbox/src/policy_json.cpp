#include "bawn/sandbox/policy.hpp"

namespace bawn::sandbox {
namespace {

Json limit(const std::optional<std::uint64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const Limits& limits) {
  Json json;
  json["processes"] = limit(limits.processes);
  json["memory_bytes"] = limit(limits.memory_bytes);
  json["file_size_bytes"] = limit(limits.file_size_bytes);
  json["open_files"] = limit(limits.open_files);
  json["tmp_bytes"] = limit(limits.tmp_bytes);
  json["session_memory_bytes"] = limit(limits.session_memory_bytes);
  json["cpu_percent"] = limit(limits.cpu_percent);
  return json;
}

}  // namespace

Json to_json(const Policy& policy) {
  Json require = Json::array();
  for (const Guarantee guarantee : policy.require) {
    require.push_back(to_string(guarantee));
  }
  Json json;
  json["name"] = policy.name;
  json["enforce"] = policy.enforce;
  json["write_workspace"] = policy.write_workspace;
  json["write"] = policy.write;
  json["secrets"] = policy.secrets;
  json["protected_names"] = policy.protected_names;
  json["env_allow"] = policy.env_allow;
  json["network"] = to_string(policy.network);
  json["hosts"] = policy.hosts;
  json["host_addresses"] = policy.host_addresses;
  json["landlock"] = to_string(policy.landlock);
  json["seccomp"] = to_string(policy.seccomp);
  json["namespaces"] = to_string(policy.namespaces);
  json["hygiene"] = to_string(policy.hygiene);
  json["cgroup"] = to_string(policy.cgroup);
  json["require"] = std::move(require);
  json["best_effort"] = policy.best_effort;
  json["run_as"] = to_string(policy.run_as);
  json["limits"] = to_json(policy.limits);
  return json;
}

}  // namespace bawn::sandbox
