/// \file
/// The one way out: whole lines, never interleaved, never waiting for the client.
#pragma once

#include "unique_fd.hpp"

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace bawn::mcp {

/// Writes lines at once as far as the descriptor takes them and queues the rest.
///
/// Threads: thread-safe; nothing blocks.
class LineWriter {
 public:
  /// What the caller has to do next.
  enum class State {
    Clear,    ///< nothing waits
    Waiting,  ///< call flush() when the descriptor is writable
    Broken,   ///< the client closed its end; everything from now on is dropped
  };

  /// `fd` is the descriptor to write to; see open_output() for how it avoids blocking.
  LineWriter(UniqueFd fd, std::size_t max_waiting_bytes);

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  /// Adds the newline. A line that must arrive is always taken.
  State send(std::string line);
  /// A line that may be lost: it replaces a waiting one of the same key, and is dropped when the
  /// queue is full.
  State send_droppable(std::string_view key, std::string line);
  State flush();
  /// The client's end is known to be gone, or nothing further may be written.
  void close();

  /// True while more waits than the limit: the time to stop reading further requests.
  [[nodiscard]] bool full() const;
  [[nodiscard]] bool clear() const;

 private:
  struct Waiting {
    std::string line;
    std::string key;  // empty: must arrive
  };
  enum class Way { Nonblocking, Socket, SmallChunks };

  State push(Waiting waiting);  // all under mutex_
  State write_front();
  State give_up();
  void drop_droppable();
  [[nodiscard]] ssize_t write_some(std::string_view bytes) const;
  bool grow_pipe(std::size_t waiting);

  const UniqueFd fd_;
  const std::size_t limit_;
  Way way_ = Way::SmallChunks;
  mutable std::mutex mutex_;
  std::deque<Waiting> queue_;
  std::size_t offset_ = 0;  // into the first line
  std::size_t bytes_ = 0;   // of all waiting lines
  bool broken_ = false;
  bool grown_ = false;
};

}  // namespace bawn::mcp
