/// \file
/// The stdio transport: one JSON-RPC message a line, one client, which owns the process.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/mcp/server.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace bawn::mcp {

/// Where the lines come from and go to, and how it ends.
struct StdioOptions {
  int in_fd = 0;   ///< duplicated; the caller's descriptor is left alone
  int out_fd = 1;  ///< duplicated
  /// Points descriptor 0 at /dev/null and 1 at 2 once the duplicates exist, so that nothing else in
  /// the process can read the client's messages or write between the answers.
  bool take_standard_streams = true;
  /// Blocks SIGTERM, SIGINT and SIGHUP in the calling thread, takes them as the end, and ignores
  /// SIGPIPE. Call serve_stdio() before any other thread exists, or have them block these too.
  bool handle_signals = true;
  /// Ends when the process that started this one is gone, even if the pipes stay open.
  bool watch_parent = true;

  std::size_t max_line_bytes = 10U << 20U;      ///< of one incoming message
  std::size_t max_outgoing_bytes = 8U << 20U;   ///< waiting for a slow client; see serve_stdio()
  std::chrono::milliseconds eof_grace{1500};    ///< for running calls once the client is gone
  std::chrono::milliseconds cancel_grace{300};  ///< and for what they return after cancellation

  /// The parent of every call's context: what a host puts here (recorder, session, caller, …) is
  /// found by the tools.
  contract::Context context{};
};

/// Why serving ended.
enum class StdioEndCause { EndOfInput, Signal, OutputClosed, ParentGone };

/// How serving ended.
struct StdioEnd {
  StdioEndCause cause = StdioEndCause::EndOfInput;
  /// Calls whose tool did not return even after cancellation. Their threads still use the tools:
  /// when there are any, leave the process by `std::_Exit`.
  std::size_t abandoned_calls = 0;
};

/// Serves one client until its input ends, it closes the output, a signal comes or the parent dies.
///
/// Calls run side by side, each on a thread while it runs; reading never waits for one. An answer
/// is written by the thread that has it, without blocking; what the client does not take at once
/// is queued. Of what is queued, progress is replaced or dropped first; above
/// `max_outgoing_bytes` no further message is read until the client has caught up, and no answer is
/// ever dropped.
///
/// At the end, running calls get `eof_grace`, are then cancelled (`CancelReason::Closed`) and get
/// `cancel_grace` more; their answers are still written.
///
/// Errors: InvalidArgument when a descriptor is not open; a system call's error when one of the
/// kernel objects for waiting cannot be had.
/// Blocking: until the end.
/// Threads: one server may serve several pairs of descriptors at once, but only one may have
/// `take_standard_streams` or `handle_signals` set.
[[nodiscard]] contract::Result<StdioEnd> serve_stdio(const Server& server,
                                                     const StdioOptions& options);

/// How serve_socket() serves.
struct SocketOptions {
  std::string path{};            ///< of the unix socket
  std::size_t max_clients = 64;  ///< further ones wait to be accepted
  /// For each client, whose descriptors, session and standard streams are set here. Of its fields
  /// that concern the process `handle_signals` alone counts: TERM, INT and HUP end all clients.
  StdioOptions each{};
};

/// The same framing for any number of clients at a unix socket of mode 0600: each connection is one
/// client, with a session of its own, and ends as on stdio. Only programs of this user and of root
/// are served. `on_ready` is called once, when clients can connect.
///
/// Errors: InvalidArgument for a path that is too long; a system call's error, EADDRINUSE where
/// somebody serves already.
/// Blocking: until a signal comes or `each.context` is cancelled.
[[nodiscard]] contract::Result<StdioEnd> serve_socket(const Server& server,
                                                      const SocketOptions& options,
                                                      const std::function<void()>& on_ready = {});

}  // namespace bawn::mcp
