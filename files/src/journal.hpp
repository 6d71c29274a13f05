/// \file
/// The steps of a change that were done, so that they can be taken back.
#pragma once

#include "bawn/files/place.hpp"
#include "directories.hpp"
#include "load.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bawn::files {

/// A staged file with its content, synced by its commit. Errors: the agent's; of write(2).
[[nodiscard]] Result<std::unique_ptr<sandbox::StagedFile>> stage_bytes(
    const contract::Context& context, const Place& place, const std::string& path,
    std::string_view bytes, bool make_parents);

/// What was done, oldest first.
class Journal {
 public:
  /// A name got new content; `old` is the file that it had, or null where that could not be kept.
  struct Replaced {
    std::string path;
    std::unique_ptr<sandbox::KeptFile> old;
    const LoadedFile* before;
    sandbox::FileStatus now;
  };
  struct Made {
    std::string path;
    sandbox::FileStatus now;
  };
  struct Removed {
    std::unique_ptr<sandbox::KeptFile> old;
  };
  struct Renamed {
    std::string from;
    std::string to;
    sandbox::FileStatus now;
  };
  struct Moded {
    std::string path;
    std::uint32_t mode;  ///< that it had
  };
  struct DirectoryGone {
    GoneDirectory directory;
  };
  using Step = std::variant<Replaced, Made, Removed, Renamed, Moded, DirectoryGone>;

  Journal(const Place& place) : place_(place) {}
  /// `step`: one of the alternatives of Step.
  template <class One>
  void add(One step) {
    steps_.emplace_back(std::move(step));
  }
  /// What was added so far went before any directory was made.
  void end_first_steps() { first_steps_ = steps_.size(); }
  /// The last `count` directories of `directory` were made on the way.
  void add_directories(std::string directory, int count);

  /// Takes everything back, newest first, whatever became of the call's context; `why` is the
  /// failure, told with what could not be taken back.
  [[nodiscard]] Error take_back(const contract::Context& context, Error why);
  /// Makes it final: old files that were kept go.
  void finish() { steps_.clear(); }

 private:
  Result<> undo(const contract::Context& context, Step& step) const;

  struct Directories {
    std::string path;
    int count;
  };
  const Place& place_;
  std::vector<Step> steps_;
  std::size_t first_steps_ = 0;
  std::vector<Directories> directories_;
};

/// Removes up to `count` directories, `directory` and those above it, as long as they are empty.
void remove_directories(const contract::Context& context, const Place& place, std::string directory,
                        int count);
/// The directory of an absolute path.
[[nodiscard]] std::string directory_of(const std::string& path);

}  // namespace bawn::files
