/// \file
/// Wardens at the other end of a plain pair of pipes, where no descriptor can be passed: inside a
/// container (`podman run -i IMAGE bawn-warden --pipes`), behind an engine's command line, on
/// another machine. One Relay is one such pair; any number of sessions (up to 32) run behind it.
///
/// Start the program whose standard input and output the relay speaks through, hand its ends of
/// them to `connect`, and then name the relay wherever a warden is started
/// (`Warden::Options::relay`). Each warden is the same program with the same requests as on this
/// machine; what flows through a child's descriptors comes as frames, against credit, and lands in
/// ordinary local pipes. When this process ends, or closes the pipes, the relay ends with
/// everything behind it.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"
#include "bawn/sandbox/plan.hpp"
#include "bawn/sandbox/warden.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bawn::sandbox {

/// What the relay said of the place it stands in. A place is not trusted: these are its words.
struct RelayPlace {
  int pid = 0;  ///< of the relay there
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  int landlock_abi = 0;  ///< 0 = none
  std::string kernel;    ///< release
  /// Its clock since boot minus ours, nanoseconds, rather too small than too large.
  std::int64_t clock_offset_ns = 0;
};

/// Threads: thread-safe. Destroying the last reference ends everything behind the pipes.
class Relay {
 public:
  struct Options {
    /// How long the other end may take to its first word: an engine starts a container first.
    std::chrono::milliseconds hello_limit{60000};
    /// And to any later answer.
    std::chrono::milliseconds answer_limit{10000};
  };

  /// Speaks with `bawn-warden --pipes`: `to` is the writing end of its standard input, `from` the
  /// reading end of its standard output. Either may be a pipe or a socket.
  ///
  /// Errors: Closed (it ended before its first word; look at the program's standard error),
  /// DeadlineExceeded, Cancelled, Unsupported (another version), ResourceExhausted, Internal (what
  /// came is not the protocol).
  /// Blocking: until the first word, at most `hello_limit`; `context` ends it earlier.
  static Result<std::shared_ptr<Relay>> connect(os::UniqueFd to, os::UniqueFd from,
                                                const contract::Context& context,
                                                const Options& options);
  static Result<std::shared_ptr<Relay>> connect(os::UniqueFd to, os::UniqueFd from);

  virtual ~Relay() = default;

  [[nodiscard]] virtual const RelayPlace& place() const noexcept = 0;

  /// Starts stub and warden there. What Warden::start() does with Options::relay.
  ///
  /// Errors: as Warden::start; Unsupported for a plan with a proxy or with supervised connections,
  /// which need descriptors to come back.
  [[nodiscard]] virtual Result<std::shared_ptr<Warden>> start(const SessionPlan& plan) = 0;

  /// A directory for one session, as shell::Session uses it: r/ with what commands may read, w/
  /// with what they may write, for commands that run as uid:gid. The relay removes it when it ends.
  ///
  /// Errors: what mkdir(2) gave there.
  [[nodiscard]] virtual Result<> make_session_directory(const std::string& path, std::uint32_t uid,
                                                        std::uint32_t gid) = 0;
  /// Removes it with all in it. Never fails: what stays goes with the place.
  virtual void remove_session_directory(const std::string& path) noexcept = 0;
  /// A new file of that mode. Errors: AlreadyExists and others of open(2).
  [[nodiscard]] virtual Result<> write_file(const std::string& path, mode_t mode,
                                            std::string_view bytes) = 0;
  /// A regular file's contents; links are not followed.
  ///
  /// Errors: NotFound, ResourceExhausted (it has more than `limit` bytes; at most 1 MiB).
  [[nodiscard]] virtual Result<std::string> read_file(const std::string& path,
                                                      std::size_t limit) = 0;
  virtual void remove_file(const std::string& path) noexcept = 0;

  enum class FifoKind : std::uint32_t {
    Output = 1,  ///< commands write, we read; ends with its last writer
    Report = 2,  ///< commands write, we read; never ends. What is written to it comes after all
                 ///< that was printed before to the Output FIFOs of its session
    Input = 3,   ///< commands read, we write
  };
  /// Makes a FIFO there and gives the local descriptor that stands for our end: reading for Output
  /// and Report, writing for Input, not blocking. Closing it gives the other end up. `session` is a
  /// warden of this relay, whose end ends the FIFO.
  [[nodiscard]] virtual Result<os::UniqueFd> make_fifo(const Warden& session,
                                                       const std::string& path, mode_t mode,
                                                       FifoKind kind) = 0;
  /// False once the pipes have ended or brought something that is not the protocol.
  [[nodiscard]] virtual bool alive() const noexcept = 0;
  /// Why it is not alive, one sentence; empty while it is.
  [[nodiscard]] virtual std::string why_lost() const = 0;
  /// Closes the pipes: the relay and all sessions behind it end. Idempotent, does not wait for
  /// them: wait for the program that holds the other end.
  virtual void close() noexcept = 0;
};

}  // namespace bawn::sandbox
