/// \file
/// Sessions whose environment is that of the user's login shell, taken once and inside the wall.
#pragma once

#include "bawn/container/place_pool.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::cli {

/// Whether sessions begin with what the user's profile sets.
enum class LoginEnvironment { No, Yes };

/// A pool whose first session is preceded by one that runs `bash --login` and is closed again. What
/// that one exports goes into the environment of all sessions on the host, through the policy's
/// choice of names as the server's own variables do. If it fails or takes longer than ten seconds,
/// sessions begin without it and standard error says so.
///
/// Threads: thread-safe.
class LoginPool final : public container::PlacePool {
 public:
  LoginPool(shell::SessionConfig config, const shell::PoolLimits& limits,
            container::PoolSetup setup)
      : PlacePool(std::move(config), limits, std::move(setup)) {}

 protected:
  [[nodiscard]] contract::Result<std::shared_ptr<shell::Session>> start(
      shell::SessionConfig config) override;

 private:
  std::mutex mutex_;
  bool taken_ = false;
  std::vector<std::string> variables_;
};

/// The "NAME=value" entries of env(1)'s `-0` output, without those that are one shell's own (PWD,
/// SHLVL, `_`, ...).
[[nodiscard]] std::vector<std::string> login_variables(std::string_view output);

/// `environment` with `variables` in the place of those of the same name.
[[nodiscard]] std::vector<std::string> merged(std::vector<std::string> environment,
                                              const std::vector<std::string>& variables);

}  // namespace bawn::cli
