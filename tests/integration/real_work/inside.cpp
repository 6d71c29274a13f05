#include "inside.hpp"

#include <unistd.h>

#include <ostream>
#include <stdexcept>

namespace bawn::test {
namespace {

constexpr unsigned kOrdinaryUid = 12345;

/// The program under test; CMake names it.
constexpr const char* kBawn = BAWN_PROGRAM;

}  // namespace

std::string to_string(Starter starter) {
  return starter == Starter::Caller ? "Caller" : "OrdinaryUser";
}

void PrintTo(Starter starter, std::ostream* out) {
  *out << to_string(starter);
}

Inside::Inside(Starter starter) {
  if (starter == Starter::OrdinaryUser) {
    uid_ = kOrdinaryUid;
  }
  for (const char* name : {"workspace", "home", "runtime"}) {
    std::filesystem::create_directory(root_.path() / name);
  }
  std::filesystem::permissions(root_.path(), std::filesystem::perms::others_exec,
                               std::filesystem::perm_options::add);
  std::filesystem::permissions(root_.path() / "runtime", std::filesystem::perms::owner_all);
  give_away(root_.path());
}

std::string Inside::missing() const {
  if (uid_ == 0) {
    return "";
  }
  if (::geteuid() != 0) {
    return "only root can start bawn as another user";
  }
  const auto reach = run_program({.argv = {"test", "-x", kBawn}, .uid = uid_});
  return reach.exit_code == 0 ? "" : std::string("another user cannot reach ") + kBawn;
}

void Inside::give_away(const std::filesystem::path& path) const {
  if (uid_ == 0 || ::geteuid() != 0) {
    return;
  }
  if (::lchown(path.c_str(), uid_, uid_) != 0) {
    throw std::runtime_error("cannot give away " + path.string());
  }
  if (std::filesystem::is_directory(std::filesystem::symlink_status(path))) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      give_away(entry.path());
    }
  }
}

void Inside::write(const std::string& name, const std::string& text) const {
  root_.write("workspace/" + name, text);
  give_away(workspace());  // the directories on the way as well
}

void Inside::copy(const std::filesystem::path& from, const std::string& name) const {
  std::filesystem::copy(from, workspace() / name, std::filesystem::copy_options::recursive);
  give_away(workspace() / name);
}

std::string Inside::report() const {
  return read_file(root_.path() / "report.json");
}

ProgramResult Inside::prepare(const std::string& script) const {
  return run_program({.argv = {"/bin/bash", "-euo", "pipefail", "-c", script},
                      .directory = root_.path(),
                      .env = {{"HOME", root_.path() / "home"}},
                      .uid = uid_});
}

ProgramResult Inside::run(const std::string& script) const {
  const std::string report_file = root_.path() / "report.json";
  ProgramResult result = run_program(
      {.argv = {kBawn, "run", "--policy", "workspace-write", "--workspace", workspace(), "--report",
                report_file, "--", "/bin/bash", "-euo", "pipefail", "-c", script},
       .directory = workspace(),
       .env = {{"HOME", root_.path() / "home"}, {"BAWN_RUNTIME_DIR", root_.path() / "runtime"}},
       .uid = uid_});
  if (report().find("\"confined\":true") == std::string::npos) {
    result.exit_code = -1;
    result.err.insert(0, "the report does not say that this was confined: " + report() + "\n");
  }
  return result;
}

}  // namespace bawn::test
