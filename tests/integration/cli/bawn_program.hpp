/// \file
/// The built program `bawn` as a test sees it.
#pragma once

#include "bawn/contract/json.hpp"
#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

#include <string>
#include <vector>

namespace bawn::test {

/// A user without rights, for tests that root runs.
inline constexpr unsigned kOrdinaryUser = 12345;

/// `bawn run` in `workspace` with `options`, running `command` through sh.
inline ProgramRun run_in(const TempDir& workspace, const std::string& command,
                         std::vector<std::string> options = {}) {
  std::vector<std::string> argv = {BAWN_PROGRAM, "run", "--workspace", workspace.path().string()};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.insert(argv.end(), {"--", "sh", "-c", command});
  return {.argv = argv, .input = {}, .directory = workspace.path().string(), .env = {}, .uid = 0};
}

/// `script` through sh in `workspace`; its `$0` is the program.
inline ProgramResult run_script(const TempDir& workspace, const std::string& script) {
  return run_program({.argv = {"sh", "-c", script, BAWN_PROGRAM},
                      .input = {},
                      .directory = workspace.path().string(),
                      .env = {},
                      .uid = 0});
}

/// The report that `--report` wrote, or null when it is no JSON.
inline contract::Json read_report(const std::string& path) {
  const auto json = contract::parse_json(read_file(path));
  return json ? *json : contract::Json();
}

/// The layer of that name in a report, or null.
inline contract::Json layer_of(const contract::Json& report, const std::string& name) {
  for (const auto& layer : report.value("layers", contract::Json::array())) {
    if (layer.value("name", "") == name) {
      return layer;
    }
  }
  return {};
}

}  // namespace bawn::test
