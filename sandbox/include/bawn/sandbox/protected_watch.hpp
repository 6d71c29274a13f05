/// \file
/// What became of protected names that no layer can hold: those that were not there when the
/// session started, and all of them without mounts. A look after each call tells; it takes nothing
/// away.
#pragma once

#include "bawn/sandbox/plan.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bawn::sandbox {

/// One protected name that is not what it was at the look before.
struct ProtectedChange {
  enum class Kind { Appeared, Changed, Removed };
  std::string path;  ///< absolute, on the host
  Kind kind = Kind::Appeared;
  friend bool operator==(const ProtectedChange&, const ProtectedChange&) = default;
};

/// "appeared", "changed" or "removed".
[[nodiscard]] std::string_view to_string(ProtectedChange::Kind kind) noexcept;

/// Remembers the protected names of a session's writable roots and says what changed.
///
/// A name that appeared, was changed or went counts no matter who did it: a look cannot tell a
/// command from an editor that works in the same tree. Directories are compared to a depth of 3 and
/// 256 entries. Links are never followed.
///
/// Threads: thread-safe.
class ProtectedWatch {
 public:
  /// Takes the first look. `held` tells that what exists has read-only binds, so that only the
  /// names themselves need a look, not what lies in them. Null when there is nothing to watch.
  [[nodiscard]] static std::shared_ptr<ProtectedWatch> start(const Place& place, bool held);

  ~ProtectedWatch();
  ProtectedWatch(const ProtectedWatch&) = delete;
  ProtectedWatch& operator=(const ProtectedWatch&) = delete;

  /// What changed since the look before. At most one entry for each name.
  ///
  /// Blocking: one file status for each directory that holds names, and one for each name in those
  /// whose content changed.
  [[nodiscard]] std::vector<ProtectedChange> look();

 private:
  struct Impl;
  explicit ProtectedWatch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bawn::sandbox
