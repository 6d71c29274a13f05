#include "making_way.hpp"

#include "paths.hpp"

#include <fmt/format.h>

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

namespace bawn::files {

namespace {

using sandbox::Condition;
using sandbox::FileAgent;
using sandbox::FileStatus;

/// A file under a hidden name outside of its directory, which is to go.
class DisplacedFile final : public sandbox::KeptFile {
 public:
  DisplacedFile(std::shared_ptr<FileAgent> files, std::string target, std::string hidden,
                const FileStatus& status)
      : files_(std::move(files)),
        target_(std::move(target)),
        hidden_(std::move(hidden)),
        status_(status) {}
  ~DisplacedFile() override {
    // An agent that is ended over it has a successor.
    for (int tries = 0; !decided_ && tries < 2; ++tries) {
      const auto removed =
          files_->remove_file(contract::Context(), hidden_, Condition::same_content(status_));
      const auto* const failure = removed ? nullptr : removed.error().find<sandbox::FileFailure>();
      decided_ = failure == nullptr || failure->kind != sandbox::FileFailure::Kind::Lost;
    }
  }
  DisplacedFile(const DisplacedFile&) = delete;
  DisplacedFile& operator=(const DisplacedFile&) = delete;

  [[nodiscard]] const std::string& target() const noexcept override { return target_; }
  [[nodiscard]] std::string hidden_path() const override { return hidden_; }
  [[nodiscard]] Result<> put_back(const contract::Context& context,
                                  const Condition& there) override {
    decided_ = true;
    return files_->rename(context, hidden_, target_, there, Condition::same_content(status_));
  }

 private:
  std::shared_ptr<FileAgent> files_;
  std::string target_;
  std::string hidden_;
  FileStatus status_;
  bool decided_ = false;
};

/// A name in `directory` that no program looks for.
Result<std::string> hidden_name(const std::string& directory) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) {
    return std::unexpected(Error::from_errno(errno, "getrandom", "cannot make up a name"));
  }
  return fmt::format("{}/.~{:016x}.tmp", directory == "/" ? "" : directory, number);
}

/// The directories between a file that goes and the name above it that a file gets, that one
/// included; deepest first.
std::vector<std::string> emptied(const std::vector<FileChange>& changes) {
  std::set<std::string> directories;
  for (const FileChange& made : changes) {
    for (const FileChange& gone : changes) {
      if (made.after && !gone.after && lies_below(gone.path, made.path)) {
        for (std::string at = directory_of(gone.path); at.size() >= made.path.size();
             at = directory_of(at)) {
          directories.insert(at);
        }
      }
    }
  }
  return {directories.rbegin(), directories.rend()};
}

std::unexpected<Error> holds_more(const Place& place, const std::vector<FileChange>& changes,
                                  const std::string& directory) {
  const Error why(ErrorCode::InvalidArgument,
                  shown_path(place, directory) +
                      " is a directory that holds more than what this change removes, so no file "
                      "can take its place");
  const auto made = std::ranges::find_if(changes, [&](const FileChange& change) {
    return change.after && (change.path == directory || lies_below(directory, change.path));
  });
  return std::unexpected(made == changes.end() || made->about.empty() ? why
                                                                      : why.wrap(made->about));
}

}  // namespace

bool goes_first(const std::vector<FileChange>& changes, const FileChange& change) {
  return !change.after && std::ranges::any_of(changes, [&](const FileChange& other) {
    return other.after &&
           (lies_below(other.path, change.path) || lies_below(change.path, other.path));
  });
}

bool comes_after(const std::vector<FileChange>& changes, const FileChange& change) {
  return change.after && std::ranges::any_of(changes, [&](const FileChange& other) {
           return !other.after &&
                  (lies_below(other.path, change.path) || lies_below(change.path, other.path));
         });
}

Result<std::unique_ptr<sandbox::KeptFile>> displace(const contract::Context& context,
                                                    const Place& place,
                                                    const std::vector<FileChange>& changes,
                                                    const FileChange& change) {
  const auto above = std::ranges::find_if(changes, [&](const FileChange& other) {
    return other.after && lies_below(change.path, other.path);
  });
  if (above == changes.end()) {
    return place.files->set_aside(context, change.path, change.before->status);
  }
  const std::string hidden = BAWN_TRY(hidden_name(directory_of(above->path)));
  BAWN_TRY(place.files->rename(context, change.path, hidden, Condition::absent(),
                               Condition::same(change.before->status)));
  return std::make_unique<DisplacedFile>(place.files, change.path, hidden, change.before->status);
}

Result<> remove_emptied(const contract::Context& context, const Place& place,
                        const std::vector<FileChange>& changes, Journal& journal) {
  for (const std::string& directory : emptied(changes)) {
    const auto status = place.files->status(context, directory, FileAgent::Links::Keep);
    if (!status || status->type != sandbox::FileType::Directory) {
      continue;
    }
    // Known before: when the agent is ended over it, it may be gone.
    journal.add(Journal::DirectoryGone{directory, status->mode & 0777U});
    if (auto removed = place.files->remove_directory(context, directory); !removed) {
      const auto* const failure = removed.error().find<sandbox::FileFailure>();
      return failure != nullptr && failure->errnum == ENOTEMPTY
                 ? holds_more(place, changes, directory)
                 : std::move(removed);
    }
  }
  return {};
}

void expect_directories(const std::vector<FileChange>& changes, Journal& journal) {
  for (const FileChange& made : changes) {
    for (const FileChange& gone : changes) {
      if (made.after && !gone.after && lies_below(made.path, gone.path)) {
        const auto levels =
            std::count(made.path.begin() + static_cast<std::ptrdiff_t>(gone.path.size()),
                       made.path.end(), '/');
        journal.add_directories(directory_of(made.path), static_cast<int>(levels));
      }
    }
  }
}

Result<> try_emptying(const contract::Context& context, const Place& place,
                      const std::vector<FileChange>& changes) {
  const std::vector<std::string> directories = emptied(changes);
  std::set<std::string> going(directories.begin(), directories.end());
  for (const FileChange& change : changes) {
    if (!change.after) {
      going.insert(change.path);
    }
  }
  for (const std::string& directory : directories) {
    sandbox::ListOptions options;
    do {
      auto page = place.files->list(context, directory, options);
      if (!page) {
        break;  // it is not there, or may not be read: rmdir(2) will tell
      }
      for (const sandbox::DirectoryEntry& entry : page->entries) {
        if (!going.contains(directory + "/" + entry.name)) {
          return holds_more(place, changes, directory);
        }
      }
      options.cursor = std::move(page->next);
    } while (!options.cursor.empty());
  }
  return {};
}

}  // namespace bawn::files
