/// \file
/// Landlock's own records of what it denied (Linux 6.15, ABI 7), read from the kernel's audit
/// stream. They are evidence: nobody but the kernel can write them.
///
/// They exist only where auditing is switched on, which is the administrator's to decide (bawn
/// never does it), and can be read only with CAP_AUDIT_READ in the first user namespace.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/sandbox/features.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::sandbox {

/// One denial as the kernel recorded it. Texts may hold any bytes: names are the command's choice.
struct AuditDenial {
  std::uint64_t number = 0;           ///< counts up from 1 in one AuditLog
  std::string domain;                 ///< of Landlock, hexadecimal
  std::vector<std::string> blockers;  ///< rights or scopes, as "fs.make_reg", "net.connect_tcp"
  std::string path;                   ///< empty when it is about none
  std::string address;                ///< "127.0.0.1:80"; empty when it is about none
  int target_pid = 0;                 ///< whom a signal or a trace was for; 0 = nobody
  /// Of the process, as the kernel numbers it; 0 and empty where the record of its system call is
  /// not written (auditing was switched on after the process had started, or a rule excludes it).
  int pid = 0;
  int parent_pid = 0;
  std::string program;  ///< absolute path

  /// "read", "write", "execute", "connect", "bind", "signal", "trace" or "mount".
  [[nodiscard]] std::string_view op() const noexcept;
};

/// {op, path | address | target_pid, layer, rule, evidence, pid, exe}.
[[nodiscard]] contract::Json to_json(const AuditDenial& denial);

/// The denials of one session's domains. Reads when it is asked: it has no thread of its own.
///
/// Threads: thread-safe.
class AuditLog {
 public:
  /// Joins the stream. To be called before the session's wall is built: a domain is told apart by
  /// the record of its making, which is written with its first denial.
  ///
  /// Errors: PermissionDenied (no CAP_AUDIT_READ), Unsupported (no audit in this kernel, or not in
  /// this network namespace).
  [[nodiscard]] static contract::Result<std::shared_ptr<AuditLog>> open();
  virtual ~AuditLog() = default;

  /// The process that makes the session's domains: the warden.
  virtual void follow(int pid) = 0;
  /// What was recorded after the denial of that number, oldest first; at most the newest 256 are
  /// kept. The kernel hands records over a little later than it denies: those of a call that has
  /// just ended may come with the next question.
  ///
  /// Blocking: one read per record that is there.
  [[nodiscard]] virtual std::vector<AuditDenial> denials(std::uint64_t after) = 0;
  /// Records that were lost because nobody asked in time.
  [[nodiscard]] virtual std::uint64_t lost() const noexcept = 0;
};

/// Whether denials are recorded here and can be read, and if not, why.
struct AuditState {
  Feature readable;           ///< the stream can be joined
  bool known = false;         ///< `enabled` could be asked (CAP_AUDIT_CONTROL)
  bool enabled = false;       ///< auditing is switched on
  bool has_landlock = false;  ///< the kernel's Landlock writes records (ABI 7)
};
/// Asks the kernel; changes nothing. Blocking: milliseconds, at most 2 s.
[[nodiscard]] AuditState audit_state(int landlock_abi);

}  // namespace bawn::sandbox
