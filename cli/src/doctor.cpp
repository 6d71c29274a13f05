#include "doctor.hpp"

#include "bawn/container/engine.hpp"
#include "bawn/sandbox/policy.hpp"
#include "bawn/sandbox/wall.hpp"
#include "commands.hpp"
#include "environment.hpp"
#include "program.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

namespace bawn::cli {
namespace {

using contract::Error;
using contract::Result;
using sandbox::LayerMode;
using sandbox::Policy;

/// An empty directory for the time of the examination.
class Scratch {
 public:
  static Result<Scratch> make() {
    Scratch scratch;
    scratch.path_ = "/tmp/bawn-doctor-XXXXXX";
    if (::mkdtemp(scratch.path_.data()) == nullptr) {
      scratch.path_.clear();
      return std::unexpected(
          Error::from_errno(errno, "mkdtemp", "cannot make a directory in /tmp"));
    }
    return scratch;
  }
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    if (!path_.empty()) {
      ::rmdir(path_.c_str());
    }
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Scratch() = default;
  std::string path_;
};

Attempt attempt(std::string name, Policy policy, const std::string& workspace) {
  Attempt tried{.name = std::move(name), .works = false, .reason = {}, .report = {}};
  auto wall = sandbox::raise_wall(
      {.policy = std::move(policy), .workspace = workspace, .session_dir = {}, .warden = {}});
  if (wall) {
    tried.works = true;
    tried.report = wall->warden->report();
  } else {
    tried.reason = wall.error().message();
  }
  return tried;
}

/// The default policy with one layer demanded and the others left out.
Policy only(LayerMode Policy::* layer, const Policy& base) {
  Policy policy = base;
  policy.landlock = policy.seccomp = policy.namespaces = policy.hygiene = policy.cgroup =
      LayerMode::Off;
  policy.*layer = LayerMode::Required;
  policy.require.clear();
  return policy;
}

EngineFinding ask(container::EngineAddress address, const std::vector<std::string>& environment) {
  EngineFinding finding{.name = std::string(to_string(address.kind)),
                        .where = address.remote.empty()
                                     ? address.socket.empty() ? address.command : address.socket
                                     : address.remote,
                        .works = false,
                        .version = {},
                        .rootless = false,
                        .reason = {}};
  const contract::Context context;
  const bool remote = !address.remote.empty();
  const bool command = !address.command.empty();
  const auto engine = container::Engine::connect(context, std::move(address), environment);
  const auto version = engine ? (*engine)->version(context)
                              : Result<container::EngineVersion>(std::unexpected(engine.error()));
  if (!version) {
    finding.reason = version.error().message();
    return finding;
  }
  finding.version = version->version;
  finding.rootless = version->rootless;
  finding.works = !remote && command;
  if (!finding.works) {
    finding.reason = remote ? "containers are opened on this machine only"
                            : "its command, which starts containers, is not in PATH";
  }
  return finding;
}

int print_findings(bool as_json) {
  auto findings = examine();
  if (!findings) {
    tell_failure("bawn", findings.error().message());
    return kOwnFailure;
  }
  const std::string text =
      as_json ? contract::dump_json(to_json(*findings)) + "\n" : to_text(*findings);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

Result<Findings> examine() {
  const Scratch scratch = BAWN_TRY(Scratch::make());
  const Policy base = BAWN_TRY(sandbox::preset("workspace-write"));
  Findings findings;
  findings.features = sandbox::probe_features();
  findings.layers.push_back(attempt("landlock", only(&Policy::landlock, base), scratch.path()));
  findings.layers.push_back(attempt("seccomp", only(&Policy::seccomp, base), scratch.path()));
  findings.layers.push_back(attempt("namespaces", only(&Policy::namespaces, base), scratch.path()));
  findings.layers.push_back(attempt("hygiene", only(&Policy::hygiene, base), scratch.path()));
  findings.layers.push_back(attempt("cgroup", only(&Policy::cgroup, base), scratch.path()));
  for (const std::string& name : sandbox::preset_names()) {
    auto policy = sandbox::preset(name);
    if (policy && policy->enforce) {
      findings.presets.push_back(attempt(name, *std::move(policy), scratch.path()));
    }
  }
  const std::vector<std::string> environment = own_environment();
  for (container::EngineAddress& address : container::find_engines(environment)) {
    findings.engines.push_back(ask(std::move(address), environment));
  }
  return findings;
}

void add_doctor(CLI::App& app, Action& chosen) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("doctor", "Try each layer of the wall on this machine");
  command->add_flag("--json", *as_json, "Print one JSON document");
  auto audit = std::make_shared<bool>(false);
  auto seccomp = std::make_shared<bool>(false);
  CLI::Option* about_audit = command->add_flag(
      "--audit", *audit, "Say whether the kernel records denials, and how to switch that on");
  command
      ->add_flag("--seccomp", *seccomp,
                 "Print the system call filter: each rule with its reason; with --json the program")
      ->excludes(about_audit);
  command->callback([=, &chosen] {
    chosen = [=] {
      return *audit     ? print_audit(*as_json)
             : *seccomp ? print_seccomp(*as_json)
                        : print_findings(*as_json);
    };
  });
}

}  // namespace bawn::cli
