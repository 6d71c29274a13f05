#include "bawn/container/engine.hpp"

#include "command.hpp"
#include "engines.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace bawn::container {
namespace {

constexpr std::string_view kUnix = "unix://";

bool is_socket(const std::string& path) {
  struct stat found{};
  return !path.empty() && ::stat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode);
}

/// What the variable that names an engine says: a socket here, or an address elsewhere.
void follow_variable(const std::string& value, EngineAddress& address) {
  if (value.starts_with(kUnix)) {
    address.socket = value.substr(kUnix.size());
  } else if (!value.empty()) {
    address.remote = value;
  }
  if (!value.empty() && address.kind == EngineKind::Podman) {
    address.options = {"--remote", "--url", value};
  }
}

std::string first_socket(const std::vector<std::string>& paths) {
  const auto found = std::ranges::find_if(paths, is_socket);
  return found == paths.end() ? std::string() : *found;
}

EngineAddress find_podman(const std::vector<std::string>& environment) {
  EngineAddress address{.kind = EngineKind::Podman,
                        .command = find_in_path(environment, "podman"),
                        .socket = {},
                        .remote = {}};
  follow_variable(variable(environment, "CONTAINER_HOST"), address);
  const std::string runtime = variable(environment, "XDG_RUNTIME_DIR");
  if (address.socket.empty() && address.remote.empty()) {
    // Root's own service is another engine than an ordinary user's.
    address.socket =
        ::geteuid() == 0
            ? first_socket({"/run/podman/podman.sock"})
            : first_socket({runtime.empty() ? std::string() : runtime + "/podman/podman.sock"});
  }
  return address;
}

EngineAddress find_docker(const std::vector<std::string>& environment) {
  EngineAddress address{.kind = EngineKind::Docker,
                        .command = find_in_path(environment, "docker"),
                        .socket = {},
                        .remote = {}};
  follow_variable(variable(environment, "DOCKER_HOST"), address);
  const std::string runtime = variable(environment, "XDG_RUNTIME_DIR");
  if (address.socket.empty() && address.remote.empty()) {
    address.socket = first_socket({runtime.empty() ? std::string() : runtime + "/docker.sock",
                                   "/run/docker.sock", "/var/run/docker.sock"});
  }
  // Not what a context of the command's own settings says.
  if (!address.socket.empty()) {
    address.options = {"--host", std::string(kUnix) + address.socket};
  } else if (!address.remote.empty()) {
    address.options = {"--host", address.remote};
  }
  return address;
}

}  // namespace

std::string_view to_string(EngineKind kind) noexcept {
  return kind == EngineKind::Podman ? "podman" : "docker";
}

std::vector<EngineAddress> find_engines(const std::vector<std::string>& environment) {
  std::vector<EngineAddress> found;
  for (EngineAddress& address : std::array{find_podman(environment), find_docker(environment)}) {
    // Docker's command without a daemon's address leads nowhere; Podman's needs none.
    const bool leads = address.kind == EngineKind::Podman
                           ? !address.command.empty() || !address.socket.empty()
                           : !address.socket.empty() || !address.remote.empty();
    if (leads) {
      found.push_back(std::move(address));
    }
  }
  return found;
}

Result<std::shared_ptr<Engine>> Engine::connect(const contract::Context& context,
                                                EngineAddress address,
                                                std::vector<std::string> environment) {
  if (!address.socket.empty()) {
    auto over_socket = make_api_engine(address, environment);
    const auto answered = over_socket->version(context);
    if (answered || address.command.empty() || address.kind == EngineKind::Docker) {
      return answered ? Result<std::shared_ptr<Engine>>(std::move(over_socket))
                      : std::unexpected(answered.error());
    }
  }
  if (address.command.empty()) {
    return contract::fail(
        ErrorCode::Unsupported,
        fmt::format("there is no {0} here: neither its command in PATH nor a socket; install {0}, "
                    "or set {1}",
                    to_string(address.kind),
                    address.kind == EngineKind::Podman ? "CONTAINER_HOST" : "DOCKER_HOST"));
  }
  return make_command_engine(std::move(address), std::move(environment));
}

}  // namespace bawn::container
