/// \file
/// Container engines of this machine: finding them, asking them, removing containers.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::container {

using contract::Error;
using contract::ErrorCode;
using contract::Json;
using contract::Result;

enum class EngineKind { Podman, Docker };
[[nodiscard]] std::string_view to_string(EngineKind kind) noexcept;

/// Where an engine was found. Nothing of it was started or asked yet.
struct EngineAddress {
  EngineKind kind = EngineKind::Podman;
  std::string command;  ///< absolute path of its command line; empty when there is none
  std::string socket;   ///< of its API, absolute; empty when there is none
  std::string remote;   ///< an address of another machine, as DOCKER_HOST has it; empty when local
  std::vector<std::string> options{};  ///< of its command line, that lead it to this very engine
};

/// What an engine says about itself.
struct EngineVersion {
  std::string version;    ///< "4.3.1"
  std::string api;        ///< Docker-compatible API version, "1.41"; empty when only the command
                          ///< line was asked
  bool rootless = false;  ///< it runs as an ordinary user
  /// It sees the files of this machine, and this machine its processes. A guess from what it says
  /// of itself; false for every engine that is reached over a network.
  bool shares_files = true;
};

/// The engines that this environment leads to, Podman first: their commands in PATH, the sockets
/// that DOCKER_HOST and CONTAINER_HOST name, and the usual ones (/run/podman/podman.sock,
/// /run/docker.sock, and below XDG_RUNTIME_DIR).
///
/// `environment` is "NAME=value". Blocking: some stat(2) calls.
[[nodiscard]] std::vector<EngineAddress> find_engines(const std::vector<std::string>& environment);

/// One engine. Requests go to the Docker-compatible API on its socket where that answers, else to
/// its command line, which takes about a hundred times longer.
///
/// Errors of every request: Closed (the engine does not answer), Cancelled, DeadlineExceeded,
/// Internal (an answer that cannot be read). Blocking: bounded by 30 s, or the context. Threads:
/// thread-safe.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Errors: Unsupported when there is neither a socket that answers nor a command.
  static Result<std::shared_ptr<Engine>> connect(const contract::Context& context,
                                                 EngineAddress address,
                                                 std::vector<std::string> environment);

  [[nodiscard]] const EngineAddress& address() const noexcept { return address_; }
  [[nodiscard]] const std::vector<std::string>& environment() const noexcept {
    return environment_;
  }
  /// "podman" or "docker", for sentences.
  [[nodiscard]] std::string name() const { return std::string(to_string(address_.kind)); }
  /// True when requests go over the socket.
  [[nodiscard]] virtual bool uses_socket() const noexcept = 0;

  [[nodiscard]] virtual Result<EngineVersion> version(const contract::Context& context) = 0;
  [[nodiscard]] virtual Result<bool> has_image(const contract::Context& context,
                                               const std::string& image) = 0;
  /// The container as the Docker API describes it (HostConfig, Config, State …); none when there
  /// is no such container.
  [[nodiscard]] virtual Result<std::optional<Json>> inspect(const contract::Context& context,
                                                            const std::string& container) = 0;
  /// Ids of all containers, running or not, that carry `label` ("NAME" or "NAME=VALUE").
  [[nodiscard]] virtual Result<std::vector<std::string>> list(const contract::Context& context,
                                                              const std::string& label) = 0;
  /// Ends and removes a container with its anonymous volumes. None is no error.
  [[nodiscard]] virtual Result<> remove(const contract::Context& context,
                                        const std::string& container) = 0;

 protected:
  Engine(EngineAddress address, std::vector<std::string> environment)
      : address_(std::move(address)), environment_(std::move(environment)) {}

 private:
  EngineAddress address_;
  std::vector<std::string> environment_;
};

}  // namespace bawn::container
