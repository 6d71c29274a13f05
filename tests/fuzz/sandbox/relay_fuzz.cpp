/// \file
/// What the server reads from a relay, which may be in other hands: nothing is kept beyond what
/// credit allows, and no child ends that was not started.
#include "bawn/os/memfd.hpp"
#include "bawn/os/pipe.hpp"
#include "relay_link.hpp"
#include "require.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

using namespace bawn::sandbox;
using bawn::fuzz::require;
using bawn::os::EventFd;
using bawn::os::Pipe;
using bawn::os::UniqueFd;

namespace {

constexpr std::chrono::milliseconds kNoWait{0};

UniqueFd null_device() {
  return UniqueFd(::open("/dev/null", O_WRONLY | O_CLOEXEC));
}

/// The first word of a relay.
void greet(std::string_view bytes) {
  auto from = Pipe::make();
  auto wake = EventFd::make();
  require(from && wake, "no descriptors");
  if (::write(from->write.get(), bytes.data(), bytes.size()) !=
      static_cast<ssize_t>(bytes.size())) {
    return;
  }
  from->write.reset();
  RelayLink link(null_device(), std::move(from->read), *std::move(wake), kNoWait);
  (void)link.greet(bawn::contract::Context());
}

/// All that comes later, with a session, a child and streams of every kind that it may name: 1
/// to 6.
void serve(std::string_view bytes) {
  auto from = Pipe::make();
  auto wake = EventFd::make();
  require(from && wake, "no descriptors");
  RelayLink link(null_device(), std::move(from->read), *std::move(wake), kNoWait);
  const auto state = [] { return std::make_shared<ChildState>(*EventFd::make()); };
  const auto session = state();
  const auto child = state();
  link.add_session(1, session);
  link.add_child(2, 1, child, {3});
  std::vector<UniqueFd> kept;
  std::vector<NewStream> streams;
  for (std::uint32_t id = 3; id <= 6; ++id) {
    auto pipe = Pipe::make();
    require(pipe.has_value(), "no descriptors");
    const bool input = id == 6;
    auto end = LocalStream::make(1, input ? LocalStream::Way::Input : LocalStream::Way::Output,
                                 std::move(input ? pipe->read : pipe->write));
    require(end.has_value(), "a pipe that cannot be used");
    end->fifo = id == 4;
    end->report = id == 5;
    kept.push_back(std::move(input ? pipe->write : pipe->read));
    streams.push_back({id, *std::move(end)});
  }
  (void)link.ask(relay_wire::Type::Watch, 7, {}, std::move(streams));
  const bool sound = link.take_bytes(bytes);
  if (sound) {
    (void)link.take_bytes(bytes);
  }
  require(!child->status() || !child->lost(), "a child that has ended and is lost");
  require(link.alive(), "only the thread may give the link up");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.empty()) {
    return 0;
  }
  if (bytes.front() == 'h') {
    greet(bytes.substr(1));
  } else {
    serve(bytes.substr(1));
  }
  return 0;
}
