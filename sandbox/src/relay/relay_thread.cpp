// The thread of one relay: reads the pipe, moves the streams, and lets held events happen.
#include "bawn/os/library_thread.hpp"
#include "relay_link.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace bawn::sandbox {

namespace {

using relay_wire::Type;

constexpr std::size_t kMostHeld = 4096;
constexpr std::size_t kReadSize = std::size_t{256} << 10U;
constexpr int kMostReads = 8;

std::string word(std::uint32_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

struct RelayLink::PollSet {
  enum class Of : unsigned char { Wake, From, To, Stream, Watch };
  struct Meaning {
    Of of;
    std::uint32_t id;
  };
  std::vector<pollfd> fds;
  std::vector<Meaning> meanings;
  void add(int fd, short events, Of of, std::uint32_t id = 0) {
    fds.push_back({fd, events, 0});
    meanings.push_back({of, id});
  }
};

Result<> RelayLink::start() {
  auto thread = os::joinable_library_thread([this] { run(); });
  if (!thread) {
    return std::unexpected(thread.error().wrap("a relay"));
  }
  thread_ = *std::move(thread);
  return {};
}

void RelayLink::run() {
  PollSet set;
  for (;;) {
    {
      const std::scoped_lock lock(mutex_);
      if (stopping_) {
        return;
      }
      if (broken_) {
        lose("the program at the other end of the pipes is gone");
      }
      gather(set);
    }
    if (::poll(set.fds.data(), set.fds.size(), -1) < 0) {
      continue;
    }
    serve(set);
  }
}

void RelayLink::gather(PollSet& set) {
  set.fds.clear();
  set.meanings.clear();
  set.add(wake_.get(), POLLIN, PollSet::Of::Wake);
  if (!lost_) {
    set.add(from_.get(), POLLIN, PollSet::Of::From);
    // POLLERR, which needs no asking, is the end of its reader.
    set.add(to_.get(), out_.empty() ? 0 : POLLOUT, PollSet::Of::To);
  }
  for (const auto& [id, stream] : streams_) {
    const short events = stream.events();
    // Output whose reader goes is told by POLLERR; the same of input would be told for ever.
    if (!stream.ended() && (events != 0 || stream.takes())) {
      set.add(stream.fd(), events, PollSet::Of::Stream, id);
    }
  }
  for (const auto& [id, write] : watches_) {
    set.add(write.get(), 0, PollSet::Of::Watch, id);
  }
}

void RelayLink::serve(const PollSet& set) {
  for (std::size_t at = 0; at < set.fds.size(); ++at) {
    const short found = set.fds[at].revents;
    const std::uint32_t id = set.meanings[at].id;
    if (found == 0) {
      continue;
    }
    switch (set.meanings[at].of) {
      case PollSet::Of::Wake:
        wake_.clear();
        break;
      case PollSet::Of::From:
        read_pipe();
        break;
      case PollSet::Of::To: {
        const std::scoped_lock lock(mutex_);
        broken_ = broken_ || (found & (POLLERR | POLLHUP)) != 0;
        if (!lost_ && !broken_) {
          flush_queue();
        }
        break;
      }
      case PollSet::Of::Stream:
        serve_stream(id, found);
        break;
      case PollSet::Of::Watch: {
        const std::scoped_lock lock(mutex_);
        if (watches_.erase(id) != 0) {
          queue(Type::Unwatch, id, {});
        }
        break;
      }
    }
  }
}

void RelayLink::read_pipe() {
  thread_local const std::unique_ptr<char[]> bytes =
      std::make_unique_for_overwrite<char[]>(kReadSize);
  for (int reads = 0; reads < kMostReads; ++reads) {
    const ssize_t count = ::read(from_.get(), bytes.get(), kReadSize);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
      return;
    }
    if (count <= 0) {
      close("the program at the other end of the pipes is gone");
      return;
    }
    if (!take_bytes({bytes.get(), static_cast<std::size_t>(count)})) {
      close("what came from the relay is not its protocol; the connection was given up");
      return;
    }
    if (static_cast<std::size_t>(count) < kReadSize) {
      return;
    }
  }
}

void RelayLink::serve_stream(std::uint32_t id, short found) {
  const std::scoped_lock lock(mutex_);
  const auto at = streams_.find(id);
  if (at == streams_.end() || at->second.ended()) {
    return;
  }
  LocalStream& stream = at->second;
  if (stream.gives() && stream.events() != 0 && (found & (POLLIN | POLLHUP | POLLERR)) != 0 &&
      !stream.end_said) {
    const std::string_view bytes = stream.fetch();
    if (!bytes.empty()) {
      queue(Type::Data, id, bytes);
    }
  }
  if (stream.takes() && (found & POLLOUT) != 0) {
    stream.deliver();
  } else if ((found & (POLLERR | POLLHUP)) != 0 && (stream.events() & POLLIN) == 0) {
    stream.shut();  // its reader is gone
  }
  after_delivery(id, stream);
}

bool RelayLink::take_bytes(std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  return reader_.feed(bytes, [this](const RelayFrame& frame) { return take(frame); });
}

bool RelayLink::take(const RelayFrame& frame) {
  if (lost_) {
    return true;
  }
  switch (frame.type) {
    case Type::Data:
      return take_data(frame.id, frame.payload);
    case Type::Credit:
      return take_credit(frame);
    case Type::End:
      take_end(frame.id);
      return frame.payload.empty();
    case Type::Exited:
    case Type::Report:
      return take_event(frame);
    case Type::Ended:
      watches_.erase(frame.id);
      return frame.payload.empty();
    case Type::Lost:
      take_lost(frame.id);
      return frame.payload.empty();
    case Type::Ready:
    case Type::SetupFailed:
    case Type::Answer:
    case Type::Spawned:
    case Type::Done:
      return take_answer(frame);
    default:
      return false;
  }
}

bool RelayLink::take_answer(const RelayFrame& frame) {
  const auto found = waiters_.find(frame.id);
  if (found != waiters_.end() && !found->second->answer) {
    found->second->answer = RelayAnswer{frame.type, std::string(frame.payload)};
    found->second->changed.notify_one();
  }
  // Else it is late: whoever asked has given up.
  return true;
}

bool RelayLink::take_data(std::uint32_t id, std::string_view bytes) {
  const auto found = streams_.find(id);
  if (found == streams_.end() || found->second.report || bytes.size() > relay_wire::kMaxData ||
      !found->second.receive(bytes)) {
    return false;
  }
  after_delivery(id, found->second);
  return true;
}

bool RelayLink::take_credit(const RelayFrame& frame) {
  std::uint32_t bytes = 0;
  const auto found = streams_.find(frame.id);
  if (frame.payload.size() != sizeof bytes) {
    return false;
  }
  frame.payload.copy(reinterpret_cast<char*>(&bytes), sizeof bytes);
  // It may be late for a stream that both sides have ended.
  return found == streams_.end() || found->second.give_credit(bytes);
}

void RelayLink::take_end(std::uint32_t id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) {
    return;
  }
  found->second.hear_end();
  // Of input whose reader is gone it can still be asked how much was not read.
  if (found->second.takes() || found->second.end_said) {
    after_delivery(id, found->second);
  }
}

void RelayLink::after_delivery(std::uint32_t id, LocalStream& stream) {
  if (const std::uint32_t owed = stream.take_owed(); owed > 0 && !lost_) {
    queue(Type::Credit, id, word(owed));
  }
  if (stream.ended()) {
    say_end(id, stream);
  }
  if (!held_.empty()) {
    retry_held();
  }
}

void RelayLink::say_end(std::uint32_t id, LocalStream& stream) {
  if (!stream.end_said) {
    stream.end_said = true;
    queue(Type::End, id, {});
  }
  if (stream.end_heard || lost_) {
    streams_.erase(id);
  }
}

bool RelayLink::take_event(const RelayFrame& frame) {
  wire::Reader in(reinterpret_cast<const unsigned char*>(frame.payload.data()),
                  frame.payload.size());
  Held held{frame.type == Type::Exited, frame.id, {}, {}};
  const std::uint32_t count = in.count(sizeof(std::uint32_t) + sizeof(std::uint64_t));
  for (std::uint32_t at = 0; at < count; ++at) {
    const std::uint32_t stream = in.u32();
    held.marks.emplace_back(stream, in.u64());
  }
  const std::size_t head = sizeof(std::uint32_t) + std::size_t{count} * 12;
  if (!in.ok() || held_.size() >= kMostHeld) {
    return false;
  }
  held.payload = frame.payload.substr(head);
  std::uint32_t session = 0;
  if (held.is_exit) {
    const auto child = children_.find(frame.id);
    if (child == children_.end()) {
      return true;  // nobody waits for it any more
    }
    session = child->second.session;
    for (const std::uint32_t id : child->second.streams) {
      const auto stream = streams_.find(id);
      if (stream != streams_.end()) {
        held.marks.emplace_back(id, stream->second.received());
      }
    }
  } else {
    const auto stream = streams_.find(frame.id);
    if (stream == streams_.end() || !stream->second.report ||
        held.payload.size() > relay_wire::kMaxData) {
      return false;
    }
    session = stream->second.session();
  }
  for (const auto& [id, stream] : streams_) {
    if (stream.fifo && stream.session() == session) {
      held.marks.emplace_back(id, stream.received());
    }
  }
  const bool behind_another = std::ranges::any_of(held_, [&](const Held& other) {
    return !other.is_exit && !held.is_exit && other.id == held.id;
  });
  if (!behind_another && is_due(held.marks)) {
    happen(held);
  } else {
    held_.push_back(std::move(held));
  }
  return true;
}

bool RelayLink::is_due(const Marks& marks) const {
  return std::ranges::all_of(marks, [this](const auto& mark) {
    const auto stream = streams_.find(mark.first);
    return stream == streams_.end() || stream->second.ended() ||
           stream->second.delivered() >= mark.second;
  });
}

void RelayLink::happen(const Held& held) {
  if (!held.is_exit) {
    const auto stream = streams_.find(held.id);
    if (stream != streams_.end() && stream->second.receive(held.payload)) {
      if (const std::uint32_t owed = stream->second.take_owed(); owed > 0) {
        queue(Type::Credit, held.id, word(owed));
      }
    }
    return;
  }
  const auto child = children_.find(held.id);
  if (child == children_.end()) {
    return;
  }
  const auto state = std::move(child->second.state);
  children_.erase(child);
  Frame frame;
  frame.payload = held.payload;
  state->end(exit_status(frame));
}

void RelayLink::retry_held() {
  std::vector<std::uint32_t> blocked;  // report streams of which an earlier part still waits
  for (auto at = held_.begin(); at != held_.end();) {
    const bool ordered = !at->is_exit && std::ranges::find(blocked, at->id) != blocked.end();
    if (ordered || !is_due(at->marks)) {
      if (!at->is_exit) {
        blocked.push_back(at->id);
      }
      ++at;
      continue;
    }
    happen(*at);
    at = held_.erase(at);
  }
}

void RelayLink::take_lost(std::uint32_t session) {
  // What is known is told, though not all that was printed before may have been handed on.
  for (const Held& held : held_) {
    const auto child = held.is_exit ? children_.find(held.id) : children_.end();
    if (child != children_.end() && child->second.session == session) {
      happen(held);
    }
  }
  for (auto child = children_.begin(); child != children_.end();) {
    if (child->second.session == session) {
      child->second.state->lose();
      child = children_.erase(child);
    } else {
      ++child;
    }
  }
  for (auto at = streams_.begin(); at != streams_.end();) {
    auto& [id, stream] = *at++;  // say_end may take it away
    if (stream.session() == session && stream.end_heard && stream.ended()) {
      say_end(id, stream);
    }
  }
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) {
    found->second->lose();
    sessions_.erase(found);
  }
}

}  // namespace bawn::sandbox
