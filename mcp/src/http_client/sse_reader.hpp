/// \file
/// Server-sent events out of a stream of bytes. Source: HTML Living Standard, 9.2.6.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bawn::mcp {

class SseReader {
 public:
  explicit SseReader(std::size_t max_event_bytes) : max_(max_event_bytes) {}

  void feed(std::string_view bytes) { buffer_ += bytes; }
  /// The data of the next event that has any; none until more was fed.
  [[nodiscard]] std::optional<std::string> next();

  /// The id of the last event; empty when they have none.
  [[nodiscard]] const std::string& last_id() const noexcept { return last_id_; }
  /// How long to wait before the stream is taken up again, where the server said.
  [[nodiscard]] std::optional<std::chrono::milliseconds> retry() const noexcept { return retry_; }
  /// An event has more bytes than allowed; nothing more is given.
  [[nodiscard]] bool too_long() const noexcept { return too_long_; }
  /// A new stream begins: drops an event that broke off.
  void restart();

 private:
  [[nodiscard]] std::optional<std::string> line();
  void take_field(std::string_view line);

  const std::size_t max_;
  std::string buffer_;
  std::string data_;
  bool has_data_ = false;
  bool begun_ = false;
  bool too_long_ = false;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
};

}  // namespace bawn::mcp
