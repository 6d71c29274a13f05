/// \file
/// The attacks as data: what is tried, and with which errno the wall must answer. A letter and a
/// number in front of a name are those of the same attack in the table that `./x probe` prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bawn::test {

class Arena;

/// What an attack needs, or where it cannot be held.
enum Trait : unsigned {
  /// Only root can do it outside the wall, so that only root's control can show that it works.
  kRootOnly = 1U << 0U,
  /// Without namespaces no layer of these kernels can hold it; docs/limits.md names it.
  kNeedsNamespaces = 1U << 1U,
  /// The machine may not have it at all: a failing control skips instead of failing.
  kMayBeAbsent = 1U << 2U,
  /// bawn is started with descriptors 7 (OUT/file), 8 (OUT) and 9 (a connection to PORT) open.
  kInherits = 1U << 3U,
};

struct Attack {
  std::string name;
  /// Python statements, with what prelude.py has. Raises OSError when denied, or calls held(word).
  std::string code;
  /// Names of the errnos, or words, that count as held.
  std::vector<std::string> held_by;
  unsigned traits = 0;
  /// Evidence on the host's side. With it, "done" inside is held when there is no evidence (it
  /// happened to something of the session's own), and the control must leave some.
  bool (*happened)(const Arena&) = nullptr;
  /// A preset, or the text of a policy.
  std::string policy = "workspace-write";

  [[nodiscard]] bool has(Trait trait) const { return (traits & trait) != 0; }
};

/// Errnos by which each kind of act is refused.
namespace errnos {
inline const std::vector<std::string> kWrite = {"EACCES", "EROFS", "EPERM"};
/// The filter says "not supported", so that cp and tar go on without attributes.
inline const std::vector<std::string> kAttribute = {"EACCES", "EROFS", "EPERM", "ENOTSUP"};
inline const std::vector<std::string> kLink = {"EACCES", "EROFS", "EPERM", "EXDEV"};
inline const std::vector<std::string> kRead = {"EACCES", "ENOENT", "EPERM"};
inline const std::vector<std::string> kProcess = {"ESRCH", "EPERM"};
inline const std::vector<std::string> kProcFile = {"EACCES", "ENOENT", "EPERM"};
inline const std::vector<std::string> kConnection = {
    "ECONNREFUSED", "ENETUNREACH", "EACCES", "EPERM", "EAFNOSUPPORT", "ENOENT", "EADDRNOTAVAIL"};
inline const std::vector<std::string> kFamily = {"EAFNOSUPPORT", "EPERM", "EACCES",
                                                 "EPROTONOSUPPORT"};
inline const std::vector<std::string> kSyscall = {"EPERM", "ENOSYS"};
}  // namespace errnos

[[nodiscard]] std::vector<Attack> file_attacks();
[[nodiscard]] std::vector<Attack> attribute_attacks();
[[nodiscard]] std::vector<Attack> mount_attacks();
[[nodiscard]] std::vector<Attack> secret_attacks();
[[nodiscard]] std::vector<Attack> process_attacks();
[[nodiscard]] std::vector<Attack> ipc_attacks();
[[nodiscard]] std::vector<Attack> network_attacks();
[[nodiscard]] std::vector<Attack> terminal_attacks();
[[nodiscard]] std::vector<Attack> workspace_attacks();
[[nodiscard]] std::vector<Attack> limit_attacks();
[[nodiscard]] std::vector<Attack> kernel_attacks();

[[nodiscard]] std::vector<Attack> attacks();

}  // namespace bawn::test
