#include "changes.hpp"

#include "denial.hpp"
#include "paths.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

namespace bawn::files {

namespace {

using sandbox::Condition;
using sandbox::StagedFile;

Result<> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote < 0) {
      if (errno == EINTR) {
        continue;
      }
      return std::unexpected(Error::from_errno(errno, "write", "cannot write the new content"));
    }
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

Result<> set_mtime(int fd, std::int64_t mtime_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
                             {.tv_sec = mtime_ns / kSecond, .tv_nsec = mtime_ns % kSecond}};
  if (futimens(fd, times) != 0) {
    return std::unexpected(Error::from_errno(errno, "futimens", "cannot set the file's time"));
  }
  return {};
}

class Changer {
 public:
  Changer(const contract::Context& context, const Place& place,
          const std::vector<FileChange>& changes)
      : context_(context), place_(place), changes_(changes) {}

  Result<std::vector<FileChanged>> run() {
    for (const FileChange& change : changes_) {
      staged_.push_back(nullptr);
      if (change.after) {
        auto staged = stage(context_, change.path, *change.after, change.make_parents);
        if (staged && change.mtime_ns) {
          if (auto set = set_mtime((*staged)->fd(), *change.mtime_ns); !set) {
            return std::unexpected(named(change, set.error()));
          }
        }
        if (!staged) {
          return std::unexpected(named(change, staged.error()));
        }
        staged_.back() = *std::move(staged);
      }
    }
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      auto done = commit(i);
      if (!done) {
        return std::unexpected(put_back(i, named(changes_[i], done.error())));
      }
      done_.push_back(*std::move(done));
    }
    return std::move(done_);
  }

 private:
  using Staged = Result<std::unique_ptr<StagedFile>>;

  [[nodiscard]] Error named(const FileChange& change, const Error& error) const {
    const Error why = explained(place_, change.path, Access::Write, error);
    return why.message().find(change.path) == std::string::npos
               ? why.wrap(shown_path(place_, change.path))
               : why;
  }

  Staged stage(const contract::Context& context, const std::string& path, std::string_view bytes,
               bool make_parents) const {
    auto staged = BAWN_TRY(place_.files->stage(context, path, {.make_parents = make_parents}));
    BAWN_TRY(write_all(staged->fd(), bytes));
    return staged;
  }

  Result<FileChanged> commit(std::size_t index) {
    const FileChange& change = changes_[index];
    const Condition condition =
        change.before ? Condition::same(change.before->status) : Condition::absent();
    FileChanged changed;
    if (!change.after) {
      BAWN_TRY(place_.files->remove_file(context_, change.path, condition));
      return changed;
    }
    StagedFile& staged = *staged_[index];
    changed.target = staged.target();
    changed.parents_made = staged.parents_made();
    std::optional<std::uint32_t> mode = change.mode;
    if (mode && change.before && (change.before->status.mode & 0777U) == *mode) {
      mode.reset();  // the agent keeps it, with what else belongs to it
    }
    const auto committed =
        BAWN_TRY(staged.commit(context_, {.condition = condition, .mode = mode, .durable = true}));
    changed.status = committed.status;
    changed.owner_kept = committed.owner_kept;
    changed.attributes_kept = committed.attributes_kept;
    changed.durable = committed.durable;
    return changed;
  }

  /// Undoes the first `count` changes, newest first, whatever became of the call's context.
  Error put_back(std::size_t count, Error why) {
    std::vector<std::string> stuck;
    const contract::Context context = context_.detached();
    for (std::size_t i = count; i-- > 0;) {
      if (!put_back_one(context, changes_[i], done_[i])) {
        stuck.push_back(shown_path(place_, changes_[i].path));
      }
    }
    if (!stuck.empty()) {
      return why.wrap(fmt::format("not everything could be put back: {} {} the new content",
                                  fmt::join(stuck, ", "), stuck.size() == 1 ? "has" : "have"));
    }
    const auto* const failure = why.find<sandbox::FileFailure>();
    const bool unknown = failure != nullptr && failure->kind == sandbox::FileFailure::Kind::Late;
    return count == 0 || unknown ? why : why.wrap("nothing was changed");
  }

  Result<> put_back_one(const contract::Context& context, const FileChange& change,
                        const FileChanged& done) const {
    if (!change.before) {
      return place_.files->remove_file(context, change.path, Condition::same(*done.status));
    }
    const auto staged = BAWN_TRY(stage(context, change.path, change.before->bytes, false));
    BAWN_TRY(set_mtime(staged->fd(), change.before->status.mtime_ns));
    const Condition condition = done.status ? Condition::same(*done.status) : Condition::absent();
    BAWN_TRY(staged->commit(
        context,
        {.condition = condition, .mode = change.before->status.mode & 0777U, .durable = true}));
    return {};
  }

  const contract::Context& context_;
  const Place& place_;
  const std::vector<FileChange>& changes_;
  std::vector<std::unique_ptr<StagedFile>> staged_;
  std::vector<FileChanged> done_;
};

}  // namespace

Result<std::vector<FileChanged>> commit_changes(const contract::Context& context,
                                                const Place& place,
                                                const std::vector<FileChange>& changes) {
  return Changer(context, place, changes).run();
}

}  // namespace bawn::files
