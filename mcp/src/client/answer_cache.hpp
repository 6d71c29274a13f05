/// \file
/// Lists and resources that a server said may be used again for a while.
/// Source: MCP 2026-07-28, server utilities, caching.
#pragma once

#include "client/channel.hpp"
#include "json_rpc.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace bawn::mcp {

/// How long an answer may be used again, and by whom.
class Freshness {
 public:
  using Clock = Channel::Clock;

  /// Of an answer that came now. Without a `ttlMs` that is a number of milliseconds above zero, it
  /// may not be used again; without `cacheScope` "public", only under the same authorization.
  Freshness(const Json& result, std::chrono::milliseconds max_age);
  /// Of this and `other` together, such as the pages of one list.
  void narrow(const Freshness& other);

  [[nodiscard]] bool fresh() const { return Clock::now() < until_; }
  [[nodiscard]] Clock::time_point until() const noexcept { return until_; }
  [[nodiscard]] bool is_public() const noexcept { return public_; }

 private:
  Clock::time_point until_;
  bool public_;
};

/// What a request asks for, beside what stands in every request.
struct AnswerKey {
  std::string method;
  std::string uri{};  ///< of `resources/read`
  auto operator<=>(const AnswerKey&) const = default;
};

/// Threads: thread-safe.
class AnswerCache {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20U;
  static constexpr std::size_t kMostAnswers = 256;

  /// An answer that is still fresh. `authorization` tells callers apart who may get other answers.
  [[nodiscard]] std::optional<Json> find(const AnswerKey& key, std::uint64_t authorization);

  /// How often something was forgotten. To be read before the request is sent: what the server told
  /// of a change meanwhile may not be in the answer.
  [[nodiscard]] std::uint64_t generation() const;
  /// Keeps it unless something was forgotten since `generation`. Those that end first make room.
  void keep(const AnswerKey& key, Json answer, const Freshness& freshness,
            std::uint64_t authorization, std::uint64_t generation);

  void forget(std::string_view method);
  void forget(const AnswerKey& key);

 private:
  struct Kept {
    Json answer;
    Freshness freshness;
    std::uint64_t authorization;
    std::size_t bytes;
  };
  using Answers = std::map<AnswerKey, Kept>;
  Answers::iterator drop(Answers::iterator at);

  mutable std::mutex mutex_;
  Answers answers_;
  std::size_t bytes_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace bawn::mcp
