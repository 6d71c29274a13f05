#include "doctor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <iterator>
#include <string_view>
#include <utility>

namespace bawn::cli {
namespace {

using contract::Json;
using sandbox::Feature;
using sandbox::KernelFeatures;

std::array<std::pair<std::string_view, const Feature*>, 10> named_features(
    const KernelFeatures& f) {
  return {{{"seccomp", &f.seccomp},
           {"seccomp notification", &f.seccomp_notify},
           {"user namespace", &f.user_namespace},
           {"mount namespace", &f.mount_namespace},
           {"pid namespace", &f.pid_namespace},
           {"network namespace", &f.network_namespace},
           {"ipc namespace", &f.ipc_namespace},
           {"uts namespace", &f.uts_namespace},
           {"cgroup v2", &f.cgroup_v2},
           {"landlock audit", &f.audit}}};
}

Json to_json(const Attempt& attempt) {
  Json json = {{"name", attempt.name}, {"works", attempt.works}};
  if (!attempt.reason.empty()) {
    json["reason"] = attempt.reason;
  }
  if (attempt.report) {
    json["report"] = contract::to_json(*attempt.report);
  }
  return json;
}

Json to_json(const std::vector<Attempt>& attempts) {
  Json list = Json::array();
  for (const Attempt& attempt : attempts) {
    list.push_back(to_json(attempt));
  }
  return list;
}

Json to_json(const std::vector<EngineFinding>& engines) {
  Json list = Json::array();
  for (const EngineFinding& engine : engines) {
    Json one = {{"name", engine.name},
                {"where", engine.where},
                {"works", engine.works},
                {"version", engine.version},
                {"rootless", engine.rootless}};
    if (!engine.reason.empty()) {
      one["reason"] = engine.reason;
    }
    list.push_back(std::move(one));
  }
  return list;
}

void print_line(std::string& out, bool works, std::string_view name, std::string_view more) {
  fmt::format_to(std::back_inserter(out), "  {} {:<22}{}\n", works ? "yes" : "no ", name, more);
}

std::string landlock_words(const KernelFeatures& found) {
  if (found.landlock_abi == 0) {
    return found.landlock_reason;
  }
  return found.landlock_layers ? fmt::format("ABI {}, {} of 16 layers in use", found.landlock_abi,
                                             *found.landlock_layers)
                               : fmt::format("ABI {}", found.landlock_abi);
}

std::string cgroup_words(const KernelFeatures& found) {
  if (!found.cgroup_v2.available) {
    return found.cgroup_v2.reason;
  }
  std::string words = found.cgroup;
  if (!found.cgroup_controllers.empty()) {
    words += fmt::format(" with {}", fmt::join(found.cgroup_controllers, ", "));
  }
  return found.cgroup_reason.empty() ? words : words + "; " + found.cgroup_reason;
}

std::string summary(const Attempt& attempt) {
  if (!attempt.report) {
    return attempt.reason;
  }
  std::string text = attempt.report->by;
  if (!attempt.report->guarantees.empty()) {
    text += fmt::format("; holds {}", fmt::join(attempt.report->guarantees, ", "));
  }
  return text;
}

}  // namespace

Json to_json(const Findings& findings) {
  const KernelFeatures& found = findings.features;
  Json features = {{"kernel", found.kernel}, {"machine", found.machine}, {"root", found.is_root}};
  features["landlock_abi"] = found.landlock_abi;
  if (found.landlock_layers) {
    features["landlock_layers"] = *found.landlock_layers;
  }
  features["cgroup_controllers"] = found.cgroup_controllers;
  for (const auto& [name, feature] : named_features(found)) {
    features[std::string(name)] = {{"available", feature->available}, {"reason", feature->reason}};
  }
  return {{"features", features},
          {"layers", to_json(findings.layers)},
          {"presets", to_json(findings.presets)},
          {"engines", to_json(findings.engines)}};
}

std::string to_text(const Findings& findings) {
  const KernelFeatures& found = findings.features;
  std::string out =
      fmt::format("bawn on Linux {} ({}), started by {}\n\nkernel offers\n", found.kernel,
                  found.machine, found.is_root ? "root" : "an ordinary user");
  print_line(out, found.landlock_abi > 0, "landlock", landlock_words(found));
  for (const auto& [name, feature] : named_features(found)) {
    print_line(out, feature->available, name,
               feature == &found.cgroup_v2 ? cgroup_words(found) : feature->reason);
  }
  out += "\nlayers, each raised alone\n";
  for (const Attempt& attempt : findings.layers) {
    print_line(out, attempt.works, attempt.name, attempt.works ? "" : attempt.reason);
  }
  out += "\npolicies, raised whole\n";
  for (const Attempt& attempt : findings.presets) {
    print_line(out, attempt.works, attempt.name, summary(attempt));
  }
  out += "\ncontainer engines\n";
  for (const EngineFinding& engine : findings.engines) {
    print_line(out, engine.works, engine.name,
               engine.works ? fmt::format("{}{} at {}", engine.version,
                                          engine.rootless ? ", rootless" : "", engine.where)
                            : engine.reason);
  }
  if (findings.engines.empty()) {
    print_line(out, false, "podman or docker", "neither is in PATH or has a socket here");
  }
  return out;
}

}  // namespace bawn::cli
