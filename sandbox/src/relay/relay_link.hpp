/// \file
/// The server's end of a relay's pipes: requests with their answers, the streams' local ends, and
/// the events that must wait until what was printed before them has been handed on.
#pragma once

#include "../warden_link.hpp"
#include "bawn/os/event_fd.hpp"
#include "bawn/sandbox/relay.hpp"
#include "frame_reader.hpp"
#include "local_stream.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace bawn::sandbox {

/// An answer as the place gave it; nothing of it has been checked.
struct RelayAnswer {
  relay_wire::Type type{};
  std::string payload;
  [[nodiscard]] wire::Reader reader() const noexcept {
    return {reinterpret_cast<const unsigned char*>(payload.data()), payload.size()};
  }
};

/// A new stream of a request, under the number that the request names.
struct NewStream {
  std::uint32_t id = 0;
  LocalStream end;
};

/// Threads: thread-safe. A thread of its own reads the pipe and moves the streams; it is the only
/// one that ends the link or takes streams away while others may be looking at them.
class RelayLink {
 public:
  RelayLink(os::UniqueFd to, os::UniqueFd from, os::EventFd wake, std::chrono::milliseconds limit);
  ~RelayLink();
  RelayLink(const RelayLink&) = delete;
  RelayLink& operator=(const RelayLink&) = delete;

  /// Says hello and waits for the other side's. Before start().
  [[nodiscard]] Result<RelayPlace> greet(const contract::Context& context);
  /// Starts the thread that reads. Errors: ResourceExhausted.
  [[nodiscard]] Result<> start();

  /// A number for a request, a stream or a session.
  [[nodiscard]] std::uint32_t next_id();
  /// Sends without waiting.
  void tell(relay_wire::Type type, std::uint32_t id, std::string_view payload);
  /// Sends a request and waits for its answer, which has the same number. `streams` are there once
  /// it is sent; they end when it is refused by the link itself.
  ///
  /// Errors: Closed, DeadlineExceeded. Blocking: at most `limit`.
  [[nodiscard]] Result<RelayAnswer> ask(relay_wire::Type type, std::uint32_t id,
                                        std::string_view payload,
                                        std::vector<NewStream> streams = {});
  [[nodiscard]] Result<RelayAnswer> ask_within(std::chrono::milliseconds limit,
                                               relay_wire::Type type, std::uint32_t id,
                                               std::string_view payload,
                                               std::vector<NewStream> streams = {});
  /// The same for a request that Done answers: its errno as an error named `call`, else what
  /// follows.
  [[nodiscard]] Result<RelayAnswer> ask_done(relay_wire::Type type, std::uint32_t id,
                                             std::string_view payload, std::string_view call,
                                             std::string_view what,
                                             std::vector<NewStream> streams = {});

  /// A session's end is told by its state.
  void add_session(std::uint32_t session, std::shared_ptr<ChildState> state);
  /// A child's exit is told by its state, once what its streams brought before it is handed on.
  void add_child(std::uint32_t id, std::uint32_t session, std::shared_ptr<ChildState> state,
                 std::vector<std::uint32_t> streams);
  void drop_child(std::uint32_t id);
  /// No more is wanted of a stream, or comes to it from here.
  void drop_stream(std::uint32_t id);
  /// Bytes under way to a stream's reader, or not read by it.
  [[nodiscard]] std::size_t unread(std::uint32_t stream);
  /// `write` is closed when the watch of that number is over, and the watch when its reader is.
  void add_watch(std::uint32_t id, os::UniqueFd write);

  [[nodiscard]] bool alive() const;
  [[nodiscard]] std::string why_lost() const;
  /// Gives the pipes up. What is handed on already stays readable.
  void close(std::string why);

  /// Takes in what came from the other side; false when that is not the protocol. For the thread,
  /// and for a fuzzer.
  [[nodiscard]] bool take_bytes(std::string_view bytes);

 private:
  struct Waiter {
    std::condition_variable changed;
    std::optional<RelayAnswer> answer;
  };
  struct RelayChild {
    std::uint32_t session = 0;
    std::shared_ptr<ChildState> state;
    std::vector<std::uint32_t> streams;
  };
  using Marks = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
  struct Held {
    bool is_exit = false;
    std::uint32_t id = 0;
    std::string payload;
    Marks marks;
  };
  struct PollSet;

  // All below with the lock.
  bool take(const RelayFrame& frame);
  bool take_answer(const RelayFrame& frame);
  bool take_data(std::uint32_t id, std::string_view bytes);
  bool take_credit(const RelayFrame& frame);
  void take_end(std::uint32_t id);
  bool take_event(const RelayFrame& frame);
  void take_lost(std::uint32_t session);
  [[nodiscard]] bool is_due(const Marks& marks) const;
  void happen(const Held& held);
  void retry_held();
  void after_delivery(std::uint32_t id, LocalStream& stream);
  void say_end(std::uint32_t id, LocalStream& stream);
  void queue(relay_wire::Type type, std::uint32_t id, std::string_view payload);
  void flush_queue();
  void lose(std::string why);

  // The thread's.
  void run();
  void gather(PollSet& set);
  void serve(const PollSet& set);
  void serve_stream(std::uint32_t id, short found);
  void read_pipe();

  const std::chrono::milliseconds limit_;
  FrameReader reader_;
  os::EventFd wake_;
  std::thread thread_;

  mutable std::mutex mutex_;
  os::UniqueFd to_;
  os::UniqueFd from_;
  std::string out_;  ///< from out_at_ on, not yet taken by the pipe
  std::size_t out_at_ = 0;
  bool broken_ = false;  ///< to_ takes no more
  bool lost_ = false;
  bool stopping_ = false;
  std::string why_;
  std::uint32_t last_id_ = 0;
  std::map<std::uint32_t, Waiter*> waiters_;
  std::map<std::uint32_t, LocalStream> streams_;
  std::map<std::uint32_t, std::shared_ptr<ChildState>> sessions_;
  std::map<std::uint32_t, RelayChild> children_;
  std::map<std::uint32_t, os::UniqueFd> watches_;
  std::deque<Held> held_;
};

}  // namespace bawn::sandbox
