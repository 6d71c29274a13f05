/// \file
/// What a server's sessions are and how many, as options of its command line.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/shell/session_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bawn::cli {

/// Absent ones have the defaults of PoolLimits and SessionLimits.
struct LimitOptions {
  std::optional<std::size_t> sessions = std::nullopt;
  std::optional<std::size_t> calls = std::nullopt;    ///< beside the shell, in each session
  std::optional<std::uint64_t> spool = std::nullopt;  ///< bytes on disk, all sessions together
  std::optional<std::string> idle = std::nullopt;     ///< a duration
  std::vector<std::string> joinable{};                ///< containers of others that may be joined
  std::optional<std::string> shell = std::nullopt;    ///< see choose_shell()
};

void add_limit_options(CLI::App& command, LimitOptions& options);

/// Errors: InvalidArgument for a duration that is none.
[[nodiscard]] contract::Result<shell::PoolLimits> pool_limits(const LimitOptions& options);

/// The options as words of a command line, for a program that takes them over.
[[nodiscard]] std::vector<std::string> words_of(const LimitOptions& options);

}  // namespace bawn::cli
