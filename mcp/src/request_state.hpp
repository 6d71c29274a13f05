/// \file
/// The opaque state that a modern client echoes with its answers, authenticated: altered, foreign
/// or spent ones are recognised before anything is looked up. Source: MCP 2026-07-28, multi
/// round-trip requests, security; RFC 2104 (HMAC).
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace bawn::mcp {

/// What a state stands for.
struct StateTicket {
  std::uint64_t call = 0;   ///< the waiting call
  std::uint64_t round = 0;  ///< which of its questions
  std::chrono::steady_clock::time_point expires{};
};

/// True when both are equal, in a time that depends on `b`'s length only.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

/// HMAC-SHA-256 as 64 hex digits.
[[nodiscard]] std::string hmac_sha256_hex(std::string_view key, std::string_view message);

/// Makes and checks states under a key of this process.
///
/// Threads: thread-safe (immutable).
class StateSeal {
 public:
  /// A random key. Without randomness (never seen since Linux 3.17) no state can be made and
  /// none is accepted.
  StateSeal();

  [[nodiscard]] bool usable() const noexcept { return !key_.empty(); }
  /// `bound` is what the state belongs to beside the ticket: the principal, and the request that
  /// must come again word for word.
  [[nodiscard]] std::string seal(const StateTicket& ticket, std::string_view bound) const;
  /// None when it was not made here for `bound`. Whether it is expired or spent is for the caller.
  [[nodiscard]] std::optional<StateTicket> open(std::string_view state,
                                                std::string_view bound) const;

 private:
  std::string key_;
  /// Times are told from here on: the clock's own zero is the machine's start, which is nobody's
  /// business.
  std::chrono::steady_clock::time_point born_ = std::chrono::steady_clock::now();
};

}  // namespace bawn::mcp
