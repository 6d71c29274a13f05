/// \file
/// `bawn doctor`: what works on this machine, tried for real, and why the rest does not.
#pragma once

#include "bawn/contract/confinement.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/sandbox/features.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bawn::cli {

/// One layer alone, or one preset, raised for real around an empty directory.
struct Attempt {
  std::string name;
  bool works = false;
  std::string reason;  ///< why not, one sentence; empty when it works
  std::optional<contract::Confinement> report;
};

/// A container engine that this environment leads to, asked for its version.
struct EngineFinding {
  std::string name;    ///< "podman" or "docker"
  std::string where;   ///< its socket, its command, or the address of another machine
  bool works = false;  ///< it answered, and containers can be opened with it
  std::string version;
  bool rootless = false;
  std::string reason;  ///< why not, one sentence; empty when it works
};

struct Findings {
  sandbox::KernelFeatures features;
  std::vector<Attempt> layers;
  std::vector<Attempt> presets;
  std::vector<EngineFinding> engines;
};

/// Tries everything. Blocking: some tens of milliseconds, and what container engines take to
/// answer.
[[nodiscard]] contract::Result<Findings> examine();

/// Whether the kernel's records of denials can be read, in words; the exit status.
int print_audit(bool as_json);
/// The table of the system call filter; with `as_json` also the program of the default policy here.
int print_seccomp(bool as_json);

[[nodiscard]] contract::Json to_json(const Findings& findings);
[[nodiscard]] std::string to_text(const Findings& findings);

}  // namespace bawn::cli
