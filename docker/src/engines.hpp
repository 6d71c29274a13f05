/// \file
/// The two ways to ask an engine.
#pragma once

#include "bawn/container/engine.hpp"

namespace bawn::container {

/// Bounds one request.
inline constexpr std::chrono::seconds kRequestLimit{30};

[[nodiscard]] inline contract::Context limited(const contract::Context& context) {
  return context.with_deadline(contract::Context::Clock::now() + kRequestLimit);
}

/// Over the socket's Docker-compatible API.
[[nodiscard]] std::shared_ptr<Engine> make_api_engine(EngineAddress address,
                                                      std::vector<std::string> environment);
/// Through the command line.
[[nodiscard]] std::shared_ptr<Engine> make_command_engine(EngineAddress address,
                                                          std::vector<std::string> environment);

}  // namespace bawn::container
