#include "shell_choice.hpp"

#include <fmt/format.h>

namespace bawn::cli {

contract::Result<> choose_shell(const std::string& word, shell::SessionConfig& config) {
  if (word == "auto") {
    config.shell = shell::ShellKind::Auto;
  } else if (word == "bash") {
    config.shell = shell::ShellKind::Bash;
  } else if (word == "sh") {
    config.shell = shell::ShellKind::Sh;
  } else if (!word.starts_with('/')) {
    return contract::fail(
        contract::ErrorCode::InvalidArgument,
        fmt::format("--shell takes auto, bash, sh or an absolute path, not {:?}", word));
  } else if (word.substr(word.rfind('/') + 1).starts_with("bash")) {
    config.shell = shell::ShellKind::Bash;
    config.bash = word;
  } else {
    config.shell = shell::ShellKind::Sh;
    config.sh = word;
  }
  return {};
}

}  // namespace bawn::cli
