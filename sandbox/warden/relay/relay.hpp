/// \file
/// The relay: what `bawn-warden --pipes` is. It is the server's hand in a place that no descriptor
/// reaches (a container, mostly as its main process): it starts a stub and a warden for each
/// session with the plan that the server sent, makes the pipes, FIFOs and terminals that the server
/// would make on its own machine, and moves what flows through them as frames (relay_wire.hpp).
///
/// It stands outside the sessions' walls, as the server does, is not dumpable, and trusts nobody
/// but the two pipes: their end is its end, and with it that of every session. Fixed tables, no
/// heap; the queue of an input stream is mapped when the stream is made. It writes to the server
/// blocking: the server always reads, since credit bounds what it must keep.
#pragma once

#include "relay_wire.hpp"
#include "warden.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace bawn::sandbox::warden::relay {

using relay_wire::FifoKind;
using relay_wire::Type;

inline constexpr std::size_t kMaxSessions = 32;
inline constexpr std::size_t kMaxChildren = 1024;
inline constexpr std::size_t kMaxStreams = 1024;
inline constexpr std::size_t kMaxWatched = 1024;
inline constexpr int kNoFd = -1;

// frames.cpp
/// The numbers of the two pipes.
inline constexpr int kFromServer = 4;
inline constexpr int kToServer = 5;
/// Sends one frame made of two parts. False when the server is gone.
bool tell(Type type, std::uint32_t id, const void* first, std::size_t first_length,
          const void* second = nullptr, std::size_t second_length = 0) noexcept;
/// Done with an errno and a value.
bool tell_done(std::uint32_t request, int errnum, std::uint32_t value = 0) noexcept;
/// Receives a whole frame; the payload is the callee's and valid until the next. False at the end.
bool hear(wire::Header& header, const unsigned char*& payload) noexcept;

// sessions.cpp
struct Session {
  std::uint32_t id = 0;  ///< 0 = free
  int stream = kNoFd;    ///< to the warden
  pid_t stub = 0;        ///< 0 once reaped
};
Session* find_session(std::uint32_t id) noexcept;
extern Session sessions[kMaxSessions];
bool open_session(std::uint32_t id, const unsigned char* plan, std::size_t size) noexcept;
bool close_session(std::uint32_t id, bool kill_it) noexcept;
/// Takes in one frame of a warden. False when the server is gone.
bool hear_warden(Session& session) noexcept;
/// Collects stubs that have ended.
bool reap_stubs() noexcept;
/// Ends all sessions and waits until they are gone.
void end_sessions() noexcept;

// children.cpp
struct Child {
  std::uint32_t id = 0;  ///< the request's; 0 = free
  std::uint32_t session = 0;
  int go = kNoFd;
  bool spawned = false;   ///< the warden answered
  bool placed = false;    ///< its word about the directory came
  bool answered = false;  ///< the server knows
  int inside = 0;
  std::uint64_t start_time = 0;
  int chdir_errno = 0;
  std::uint32_t in = 0;  ///< streams
  std::uint32_t out = 0;
  std::uint32_t err = 0;
};
extern Child children[kMaxChildren];
bool spawn_child(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept;
bool let_go(std::uint32_t request, bool execute) noexcept;
/// The child's word about its directory, or its end.
bool hear_child(Child& child) noexcept;
bool child_spawned(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept;
bool child_refused(std::uint32_t request) noexcept;
bool child_exited(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept;
void forget_children(std::uint32_t session) noexcept;

// streams.cpp
struct Stream {
  std::uint32_t id = 0;  ///< 0 = free
  std::uint32_t session = 0;
  int fd = kNoFd;
  bool sends = false;  ///< to the server
  bool takes = false;  ///< from the server
  bool report = false;
  bool fifo = false;  ///< no end before its first writer
  bool end_sent = false;
  bool end_heard = false;
  std::uint32_t credit = 0;
  std::uint64_t sent = 0;          ///< bytes
  unsigned char* queue = nullptr;  ///< kInputWindow bytes, a ring
  std::uint32_t head = 0;
  std::uint32_t queued = 0;
  bool of_agent = false;  ///< the other end is a file agent's
  int agent = kNoFd;      ///< its pidfd
  int passed = kNoFd;     ///< the file that it passed last
};
extern Stream streams[kMaxStreams];
Stream* find_stream(std::uint32_t id) noexcept;
/// Takes `fd`, which must not block. Null when there is no room; then the caller closes `fd`.
Stream* add_stream(std::uint32_t id, std::uint32_t session, int fd, bool sends,
                   bool takes) noexcept;
/// What poll(2) is to look for; 0 = nothing now.
short stream_events(const Stream& stream) noexcept;
/// Acts on what it found. False when the server is gone.
bool serve_stream(Stream& stream, short found) noexcept;
bool take_data(std::uint32_t id, const unsigned char* bytes, std::size_t size) noexcept;
bool take_credit(std::uint32_t id, std::uint32_t bytes) noexcept;
bool take_end(std::uint32_t id) noexcept;
bool resize(std::uint32_t id, std::uint32_t columns, std::uint32_t rows) noexcept;
/// Bytes sent to that stream which its reader has not taken.
std::uint32_t unread_of(const Stream& stream) noexcept;
/// Sends what is in the streams of an event now, as far as credit goes, and packs the marks of what
/// is left: `out` and `err`, and every FIFO of the session.
bool flush(std::uint32_t session, std::uint32_t out, std::uint32_t err, Packer& marks) noexcept;
/// The session is gone: ends its streams.
bool end_streams(std::uint32_t session) noexcept;
/// Takes a stream away before anybody heard of it.
void drop_stream(std::uint32_t id) noexcept;

// agents.cpp: file agents.
bool start_agent(std::uint32_t id, const unsigned char* payload, std::size_t size) noexcept;
/// The warden's answer; takes the process's pidfd over.
void agent_started(std::uint32_t id, int& pidfd) noexcept;
bool agent_refused(std::uint32_t id) noexcept;
/// read(2) that keeps a descriptor which comes along.
ssize_t read_agent(Stream& stream, void* buffer, std::size_t size) noexcept;
bool set_attributes(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept;
/// Ends the agent, also one that hangs, and lets go of what it passed.
void end_agent(Stream& stream) noexcept;

// files.cpp: each answers the request.
bool make_directory(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept;
bool write_file(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept;
bool make_fifo(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept;
bool read_file(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept;
bool remove_file(const unsigned char* payload, std::size_t size) noexcept;
bool remove_directory(const unsigned char* payload, std::size_t size) noexcept;
/// Removes what Directory made and nobody removed.
void remove_directories() noexcept;

// watches.cpp
struct Watched {
  std::uint32_t id = 0;  ///< 0 = free
  int pidfd = kNoFd;
};
extern Watched watched[kMaxWatched];
bool watch(std::uint32_t request, const unsigned char* payload, std::size_t size) noexcept;
void unwatch(std::uint32_t request) noexcept;
/// One of the processes has ended.
bool watched_ended(std::uint32_t request) noexcept;

// serve.cpp
/// What the relay was started with: its own is 0, its sessions' is this.
extern mode_t given_umask;
/// The relay's whole life.
[[noreturn]] void run() noexcept;

}  // namespace bawn::sandbox::warden::relay
