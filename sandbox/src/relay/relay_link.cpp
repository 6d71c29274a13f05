#include "relay_link.hpp"

#include "../wire_encode.hpp"
#include "bawn/os/poll.hpp"
#include "bawn/os/quiet_write.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace bawn::sandbox {

namespace {

using relay_wire::Type;

std::string frame_of(Type type, std::uint32_t id, std::string_view payload) {
  const wire::Header header{static_cast<std::uint32_t>(type), id,
                            static_cast<std::uint32_t>(payload.size())};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(payload);
  return bytes;
}

std::string word(std::uint32_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

Result<RelayPlace> read_hello(const RelayAnswer& hello) {
  wire::Reader in = hello.reader();
  const std::uint32_t magic = in.u32();
  const std::uint32_t version = in.u32();
  if (hello.type != Type::Hello || !in.ok() || magic != relay_wire::kMagic) {
    return contract::fail(ErrorCode::Internal,
                          "what answers on the pipes is not bawn-warden --pipes");
  }
  if (version != relay_wire::kVersion) {
    return contract::fail(
        ErrorCode::Unsupported,
        fmt::format("the bawn-warden there speaks version {} of the pipes' protocol, this bawn "
                    "version {}; use the bawn-warden that came with this bawn",
                    version, relay_wire::kVersion));
  }
  RelayPlace place;
  place.pid = in.i32();
  place.uid = in.u32();
  place.gid = in.u32();
  place.landlock_abi = in.i32();
  const std::uint64_t boot_ns = in.u64();
  place.kernel = in.text();
  if (!in.finished()) {
    return contract::fail(ErrorCode::Internal, "the relay's first word is malformed");
  }
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto now_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
                      static_cast<std::uint64_t>(now.tv_nsec);
  // A little early rather than late: the word was under way for a moment.
  place.clock_offset_ns = static_cast<std::int64_t>(boot_ns - now_ns);
  return place;
}

}  // namespace

RelayLink::RelayLink(os::UniqueFd to, os::UniqueFd from, os::EventFd wake,
                     std::chrono::milliseconds limit)
    : limit_(limit), wake_(std::move(wake)), to_(std::move(to)), from_(std::move(from)) {
  (void)::fcntl(to_.get(), F_SETFL, O_NONBLOCK);
  (void)::fcntl(from_.get(), F_SETFL, O_NONBLOCK);
}

RelayLink::~RelayLink() {
  close("the relay was closed");
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.signal();
  if (thread_.joinable()) {
    thread_.join();
  }
}

Result<RelayPlace> RelayLink::greet(const contract::Context& context) {
  wire::Writer hello;
  hello.u32(relay_wire::kMagic).u32(relay_wire::kVersion);
  tell(Type::Hello, 0, hello.data());
  std::optional<RelayAnswer> answer;
  while (!answer) {
    BAWN_TRY(os::wait_readable(from_.get(), context));
    // The other side sends nothing more before it is asked, so that this is all there is.
    std::array<char, 4096> bytes;
    const ssize_t count = ::read(from_.get(), bytes.data(), bytes.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
      continue;
    }
    const auto take = [&](const RelayFrame& frame) {
      answer = RelayAnswer{frame.type, std::string(frame.payload)};
      return true;
    };
    if (count <= 0) {
      return contract::fail(
          ErrorCode::Closed,
          "the program at the other end of the pipes ended before its first word");
    }
    if (!reader_.feed({bytes.data(), static_cast<std::size_t>(count)}, take)) {
      return contract::fail(ErrorCode::Internal,
                            "what answers on the pipes is not bawn-warden --pipes");
    }
  }
  return read_hello(*answer);
}

std::uint32_t RelayLink::next_id() {
  const std::scoped_lock lock(mutex_);
  return ++last_id_;
}

void RelayLink::queue(Type type, std::uint32_t id, std::string_view payload) {
  if (lost_ || broken_) {
    return;
  }
  if (out_at_ == out_.size()) {
    out_.clear();
    out_at_ = 0;
  }
  const bool idle = out_.empty();
  out_ += frame_of(type, id, payload);
  if (idle) {
    flush_queue();
  }
  if (!out_.empty()) {
    wake_.signal();
  }
}

void RelayLink::flush_queue() {
  while (out_at_ < out_.size()) {
    const long count = os::write_quietly(to_.get(), out_.data() + out_at_, out_.size() - out_at_);
    if (count < 0) {
      if (errno != EAGAIN) {
        broken_ =
            true;  // the thread draws the conclusions: its callers are in the middle of things
        wake_.signal();
      }
      return;
    }
    out_at_ += static_cast<std::size_t>(count);
  }
  out_.clear();
  out_at_ = 0;
}

void RelayLink::tell(Type type, std::uint32_t id, std::string_view payload) {
  const std::scoped_lock lock(mutex_);
  queue(type, id, payload);
}

Result<RelayAnswer> RelayLink::ask(Type type, std::uint32_t id, std::string_view payload,
                                   std::vector<NewStream> streams) {
  return ask_within(limit_, type, id, payload, std::move(streams));
}

Result<RelayAnswer> RelayLink::ask_within(std::chrono::milliseconds limit, Type type,
                                          std::uint32_t id, std::string_view payload,
                                          std::vector<NewStream> streams) {
  Waiter waiter;
  std::unique_lock lock(mutex_);
  if (!lost_) {
    for (NewStream& stream : streams) {
      streams_.emplace(stream.id, std::move(stream.end));
    }
    waiters_.emplace(id, &waiter);
    queue(type, id, payload);
    if (!streams.empty()) {
      wake_.signal();  // its descriptors are to be waited for
    }
    (void)waiter.changed.wait_for(lock, limit, [&] { return waiter.answer || lost_; });
    waiters_.erase(id);
  }
  if (waiter.answer) {
    return *std::move(waiter.answer);
  }
  if (lost_) {
    return contract::fail(ErrorCode::Closed, why_);
  }
  return contract::fail(
      ErrorCode::DeadlineExceeded,
      fmt::format("the relay did not answer within {} ms; close it", limit.count()));
}

Result<RelayAnswer> RelayLink::ask_done(Type type, std::uint32_t id, std::string_view payload,
                                        std::string_view call, std::string_view what,
                                        std::vector<NewStream> streams) {
  RelayAnswer answer = BAWN_TRY(ask(type, id, payload, std::move(streams)));
  wire::Reader in = answer.reader();
  const int errnum = in.i32();
  (void)in.u32();
  if (answer.type != Type::Done || !in.ok()) {
    return contract::fail(ErrorCode::Internal, "the relay's answer is malformed");
  }
  if (errnum != 0) {
    return std::unexpected(Error::from_errno(errnum, call, what));
  }
  return answer;
}

void RelayLink::add_session(std::uint32_t session, std::shared_ptr<ChildState> state) {
  const std::scoped_lock lock(mutex_);
  if (lost_) {
    state->lose();
  } else {
    sessions_.emplace(session, std::move(state));
  }
}

void RelayLink::add_child(std::uint32_t id, std::uint32_t session,
                          std::shared_ptr<ChildState> state, std::vector<std::uint32_t> streams) {
  const std::scoped_lock lock(mutex_);
  if (lost_ || !sessions_.contains(session)) {
    state->lose();
  } else {
    children_.emplace(id, RelayChild{session, std::move(state), std::move(streams)});
  }
}

void RelayLink::drop_child(std::uint32_t id) {
  const std::scoped_lock lock(mutex_);
  children_.erase(id);
}

void RelayLink::drop_stream(std::uint32_t id) {
  const std::scoped_lock lock(mutex_);
  const auto found = streams_.find(id);
  if (found != streams_.end()) {
    found->second.shut();
    say_end(id, found->second);
    retry_held();
  }
}

std::size_t RelayLink::unread(std::uint32_t stream) {
  const std::uint32_t id = next_id();
  std::size_t here = 0;
  Waiter waiter;
  std::unique_lock lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end() || lost_) {
    return 0;
  }
  // In one step with the question: what the thread sends later is counted here, all else there.
  here = found->second.waiting();
  waiters_.emplace(id, &waiter);
  queue(Type::Unread, id, word(stream));
  (void)waiter.changed.wait_for(lock, limit_, [&] { return waiter.answer || lost_; });
  waiters_.erase(id);
  if (!waiter.answer || waiter.answer->type != Type::Done) {
    return here;
  }
  wire::Reader in = waiter.answer->reader();
  const std::uint32_t errnum = in.u32();
  const std::uint32_t there = in.u32();
  return here + (errnum == 0 && in.ok() ? there : 0);
}

void RelayLink::add_watch(std::uint32_t id, os::UniqueFd write) {
  const std::scoped_lock lock(mutex_);
  if (!lost_) {
    watches_.emplace(id, std::move(write));
  }
}

bool RelayLink::alive() const {
  const std::scoped_lock lock(mutex_);
  return !lost_;
}

std::string RelayLink::why_lost() const {
  const std::scoped_lock lock(mutex_);
  return why_;
}

void RelayLink::close(std::string why) {
  const std::scoped_lock lock(mutex_);
  lose(std::move(why));
}

void RelayLink::lose(std::string why) {
  if (std::exchange(lost_, true)) {
    return;
  }
  why_ = std::move(why);
  to_.reset();
  out_.clear();
  out_at_ = 0;
  for (const auto& [id, waiter] : waiters_) {
    waiter->changed.notify_one();
  }
  for (const auto& [id, session] : std::exchange(sessions_, {})) {
    session->lose();
  }
  for (const auto& [id, child] : std::exchange(children_, {})) {
    child.state->lose();
  }
  watches_.clear();
  held_.clear();
  // What came is still handed on; then the readers see the end.
  for (auto& [id, stream] : streams_) {
    stream.end_said = true;
    stream.hear_end();
  }
  std::erase_if(streams_, [](const auto& entry) { return entry.second.ended(); });
  wake_.signal();
}

}  // namespace bawn::sandbox
