/// \file
/// What waits to be written to one HTTP request's client: the way from the calls' threads to the
/// thread of the connections.
#pragma once

#include "outlet.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::mcp {

/// Threads: thread-safe.
class HttpOutlet final : public Outlet {
 public:
  struct Answer {
    std::string line;
    HttpStatus status = HttpStatus::Ok;
  };
  /// Everything that came since the last time.
  struct Taken {
    std::vector<std::string> messages;
    std::optional<Answer> answer;
    bool withdrawn = false;
    bool overflowed = false;  ///< the client is too slow: close it
  };

  /// `streams`: the client takes other messages than the answer. `wake` is called whenever there is
  /// something to take or a tick to come, on any thread; it must not block.
  HttpOutlet(bool streams, std::size_t max_bytes, std::function<void()> wake);

  [[nodiscard]] Taken take();
  /// The answer is there.
  [[nodiscard]] bool answered();
  /// When Peer::tick() is due; none when it was not asked for.
  [[nodiscard]] std::optional<Clock::time_point> tick_due();
  void clear_tick();
  /// Nobody takes any more: everything from now on is dropped, and `wake` is not called.
  void close();

  void send(std::string line) override;
  void send_droppable(std::string_view key, std::string line) override;
  void answer(std::string line, HttpStatus status) override;
  void withdrawn() override;
  void tick_by(Clock::time_point time) override;

 private:
  struct Waiting {
    std::string line;
    std::string key;  // empty: must arrive
  };
  void push(Waiting waiting);
  void wake() const;  // under mutex_

  const bool streams_;
  const std::size_t max_bytes_;
  std::mutex mutex_;
  std::function<void()> wake_;
  std::deque<Waiting> waiting_;
  std::size_t bytes_ = 0;
  std::optional<Answer> answer_;
  bool withdrawn_ = false;
  bool overflowed_ = false;
  std::optional<Clock::time_point> tick_;
};

/// A legacy session's own messages, which go to its GET stream while there is one.
///
/// Threads: thread-safe.
class SessionOutlet final : public Outlet {
 public:
  /// The stream from now on; null for none. The one before is told to end.
  void attach(const std::shared_ptr<HttpOutlet>& stream);

  void send(std::string line) override;
  void send_droppable(std::string_view key, std::string line) override;
  void tick_by(Clock::time_point /*time*/) override {}

 private:
  [[nodiscard]] std::shared_ptr<HttpOutlet> stream() const;
  mutable std::mutex mutex_;
  std::weak_ptr<HttpOutlet> stream_;
};

}  // namespace bawn::mcp
