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

}  // namespace

MakingWay::MakingWay(const std::vector<FileChange>& changes) {
  for (const FileChange& change : changes) {
    (change.after ? made_ : gone_).emplace(change.path, &change);
    add_directories_above(change.after ? above_made_ : above_gone_, change.path);
  }
}

const FileChange* MakingWay::above(const ByPath& changes, std::string_view path) {
  for (std::size_t end = path.rfind('/'); end != std::string_view::npos && end != 0;
       end = path.rfind('/', end - 1)) {
    if (const auto found = changes.find(path.substr(0, end)); found != changes.end()) {
      return found->second;
    }
  }
  return nullptr;
}

void MakingWay::add_directories_above(std::set<std::string_view>& all, std::string_view path) {
  for (std::size_t end = path.rfind('/'); end != std::string_view::npos && end != 0;
       end = path.rfind('/', end - 1)) {
    if (!all.insert(path.substr(0, end)).second) {
      return;
    }
  }
}

bool MakingWay::goes_first(const FileChange& change) const {
  return !change.after &&
         (above_made_.contains(change.path) || above(made_, change.path) != nullptr);
}

bool MakingWay::replaces_a_file(const FileChange& change) const {
  return change.after && above(gone_, change.path) != nullptr;
}

bool MakingWay::replaces_a_directory(const FileChange& change) const {
  return change.after && above_gone_.contains(change.path);
}

/// The directories between a file that goes and the name above it that a file gets, that one
/// included; deepest first.
std::vector<std::string> MakingWay::emptied() const {
  std::set<std::string> directories;
  for (const auto& [path, gone] : gone_) {
    const FileChange* const made = above(made_, path);
    for (std::string at = directory_of(gone->path);
         made != nullptr && at.size() >= made->path.size(); at = directory_of(at)) {
      directories.insert(at);
    }
  }
  return {directories.rbegin(), directories.rend()};
}

std::unexpected<Error> MakingWay::holds_more(const Place& place,
                                             const std::string& directory) const {
  const Error why(ErrorCode::InvalidArgument,
                  shown_path(place, directory) +
                      " is a directory that holds more than what this change removes, so no file "
                      "can take its place");
  const auto itself = made_.find(directory);
  const FileChange* const made = itself == made_.end() ? above(made_, directory) : itself->second;
  return std::unexpected(made == nullptr || made->about.empty() ? why : why.wrap(made->about));
}

Result<std::unique_ptr<sandbox::KeptFile>> MakingWay::displace(const contract::Context& context,
                                                               const Place& place,
                                                               const FileChange& change) const {
  const FileChange* const made = above(made_, change.path);
  if (made == nullptr) {
    return place.files->set_aside(context, change.path, change.before->status);
  }
  const std::string hidden = BAWN_TRY(hidden_name(directory_of(made->path)));
  BAWN_TRY(place.files->rename(context, change.path, hidden, Condition::absent(),
                               Condition::same(change.before->status)));
  return std::make_unique<DisplacedFile>(place.files, change.path, hidden, change.before->status);
}

Result<std::vector<GoneDirectory>> MakingWay::remove_emptied(const contract::Context& context,
                                                             const Place& place,
                                                             Journal& journal) const {
  std::vector<GoneDirectory> gone;
  for (const std::string& directory : emptied()) {
    const auto status = place.files->status(context, directory, FileAgent::Links::Keep);
    if (!status || status->type != sandbox::FileType::Directory) {
      continue;
    }
    // Known before: when the agent is ended over it, it may be gone.
    journal.add(Journal::DirectoryGone{{directory, *status}});
    if (auto removed = place.files->remove_directory(context, directory); !removed) {
      const auto* const failure = removed.error().find<sandbox::FileFailure>();
      return failure != nullptr && failure->errnum == ENOTEMPTY
                 ? holds_more(place, directory)
                 : std::unexpected(std::move(removed).error());
    }
    gone.push_back({directory, *status});
  }
  return gone;
}

void MakingWay::expect_directories(Journal& journal) const {
  for (const auto& [path, made] : made_) {
    if (const FileChange* const gone = above(gone_, path); gone != nullptr) {
      const auto levels = std::count(path.begin() + static_cast<std::ptrdiff_t>(gone->path.size()),
                                     path.end(), '/');
      journal.add_directories(directory_of(made->path), static_cast<int>(levels));
    }
  }
}

Result<> MakingWay::try_emptying(const contract::Context& context, const Place& place) const {
  const std::vector<std::string> directories = emptied();
  const std::set<std::string_view> going(directories.begin(), directories.end());
  for (const std::string& directory : directories) {
    sandbox::ListOptions options;
    do {
      auto page = place.files->list(context, directory, options);
      if (!page) {
        break;  // it is not there, or may not be read: rmdir(2) will tell
      }
      for (const sandbox::DirectoryEntry& entry : page->entries) {
        const std::string path = directory + "/" + entry.name;
        if (!going.contains(path) && !gone_.contains(path)) {
          return holds_more(place, directory);
        }
      }
      options.cursor = std::move(page->next);
    } while (!options.cursor.empty());
  }
  return {};
}

}  // namespace bawn::files
