/// \file
/// Old contents of changed files, for undo.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"
#include "directories.hpp"
#include "load.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::files {

/// One path of a change: what it was and what it became.
struct UndoFile {
  std::string path;                    ///< absolute, as it was asked for
  std::string target;                  ///< the same with links resolved at that time
  std::optional<std::string> from{};   ///< where it was renamed from
  std::optional<LoadedFile> before{};  ///< none: it was not there
  struct New {
    std::string etag;
    sandbox::FileStatus status;
  };
  std::optional<New> after{};  ///< none: it is not there any more
  int parents_made = 0;        ///< directories above `target` that were made for it
};

/// A changing call.
struct UndoChange {
  std::string call;  ///< its id, given by the store
  std::string session;
  std::string tool;
  std::vector<UndoFile> files;
  std::vector<GoneDirectory> directories{};  ///< that it took away
};

/// Keeps changes of all sessions up to a number and a size, and drops the oldest first. The bytes
/// lie in one file without a name: nobody else can open it, and it is gone with this process.
///
/// Threads: thread-safe.
class UndoStore {
 public:
  struct Limits {
    std::size_t bytes = 0;
    std::size_t changes = 0;
  };
  /// Errors: the errno of making the file in `directory`.
  static Result<std::shared_ptr<UndoStore>> make(const std::string& directory,
                                                 const Limits& limits);

  /// Old contents that are in the store already, of a change that is yet to be made. Their room is
  /// given back unless keep() takes them.
  class Stored {
   public:
    Stored(Stored&& other) noexcept;
    Stored& operator=(Stored&& other) noexcept;
    ~Stored();

   private:
    friend class UndoStore;
    Stored() = default;
    UndoStore* store_ = nullptr;  ///< null: not in the store yet, or taken
    std::uint64_t offset_ = 0;
    std::uint64_t size_ = 0;
    std::vector<std::size_t> sizes_;
  };

  /// Stores contents in the order of a change's files, dropping the oldest changes for them. None
  /// when they are too large to be kept, or could not be written.
  [[nodiscard]] std::optional<Stored> store(const std::vector<std::string_view>& contents);
  /// Keeps a change, whose contents are those stored, and returns its id, "change-7".
  [[nodiscard]] std::string keep(Stored stored, UndoChange change);
  /// The change of that id and session, with its bytes read back.
  ///
  /// Errors: NotFound, saying which are kept, or what took it back already; Internal.
  [[nodiscard]] Result<UndoChange> find(const std::string& session, const std::string& call) const;
  /// The paths that a change was about, as they were asked for; empty for one that is not kept.
  [[nodiscard]] std::vector<std::string> paths_of(const std::string& call) const;
  /// Forgets a change that the change `by` took back: what was undone cannot be undone again. The
  /// files that `by` made stand for those that were there before, so that earlier changes of them
  /// can be taken back as well.
  void undone(const std::string& session, const std::string& call, const std::string& by);

 private:
  struct Kept {
    UndoChange change;  ///< the bytes of its files are in the file
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::vector<std::size_t> sizes;
  };
  UndoStore(os::UniqueFd file, const Limits& limits);
  void release(std::uint64_t offset, std::uint64_t size) const;
  void make_room(std::uint64_t size);
  void give_up(const Stored& stored);
  [[nodiscard]] std::list<Kept>::iterator kept(const std::string& session, const std::string& call);
  void stand_in(const Kept& undone, const Kept& by);

  const os::UniqueFd file_;
  const Limits limits_;
  mutable std::mutex mutex_;
  std::list<Kept> kept_;  ///< oldest first
  struct Undone {
    std::string session;
    std::string call;
    std::string by;
  };
  std::deque<Undone> undone_;  ///< the newest ones, oldest first
  std::size_t stored_ = 0;     ///< that are neither kept nor given up
  std::uint64_t end_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t next_id_ = 1;
};

}  // namespace bawn::files
