#include "bawn/sandbox/policy.hpp"
#include "bawn/sandbox/seccomp_table.hpp"
#include "bawn/sandbox/wall.hpp"
#include "doctor.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <iterator>
#include <string>

namespace bawn::cli {
namespace {

using contract::Json;

Json to_json(const sandbox::SeccompLine& line) {
  return {
      {"call", line.call},           {"number_from", line.number < 0 ? Json() : Json(line.number)},
      {"condition", line.condition}, {"error", line.error},
      {"when", line.when},           {"reason", line.reason}};
}

/// The program that a session in the current directory would get: [code, jt, jf, k] each.
Json program_here() {
  const auto policy = sandbox::preset("workspace-write");
  if (!policy) {
    return nullptr;
  }
  const auto plan = sandbox::forecast_wall(
      {.policy = *policy, .workspace = ".", .session_dir = {}, .warden = {}});
  if (!plan) {
    return {{"error", plan.error().message()}};
  }
  Json program = Json::array();
  for (const sandbox::BpfInstruction& step : plan->seccomp.program) {
    program.push_back({step.code, step.jt, step.jf, step.k});
  }
  return program;
}

}  // namespace

int print_seccomp(bool as_json) {
  std::string text;
  if (as_json) {
    Json rules = Json::array();
    for (const sandbox::SeccompLine& line : sandbox::seccomp_table()) {
      rules.push_back(to_json(line));
    }
    text = contract::dump_json({{"default", "allow"},
                                {"other_architectures", "kill"},
                                {"x32", "ENOSYS"},
                                {"rules", rules},
                                {"program", program_here()}}) +
           "\n";
  } else {
    text =
        "Everything is allowed but these. Calls by another ABI of the machine kill the process; "
        "x32 gets ENOSYS.\n\n";
    for (const sandbox::SeccompLine& line : sandbox::seccomp_table()) {
      fmt::format_to(std::back_inserter(text), "{:<19} {:<16} {}{}# {}\n", line.call, line.error,
                     line.condition.empty() ? "" : "if " + line.condition + " ",
                     line.when.empty() ? "" : line.when + " ", line.reason);
    }
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace bawn::cli
