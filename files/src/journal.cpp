#include "journal.hpp"

#include "paths.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace bawn::files {

namespace {

using sandbox::Condition;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

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

/// Lets the disk begin with what fsync(2) will wait for. Where that cannot be had it begins later.
void begin_writing_back(int fd, std::size_t size) {
  constexpr std::size_t kWorthIt = std::size_t{64} * 1024;
  if (size >= kWorthIt) {
    static_cast<void>(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE));
  }
}

/// What is wrong where a step could not be taken back.
std::string left_behind(const Place& place, const Journal::Step& step) {
  const auto old_at = [](const std::unique_ptr<sandbox::KeptFile>& old) {
    return old == nullptr ? std::string("") : "; the old file is " + old->hidden_path();
  };
  return std::visit(
      Overloaded{
          [&](const Journal::Replaced& done) {
            return shown_path(place, done.path) + " has the new content" + old_at(done.old);
          },
          [&](const Journal::Made& done) { return shown_path(place, done.path) + " is new"; },
          [&](const Journal::Removed& done) {
            return shown_path(place, done.old->target()) + " is gone" + old_at(done.old);
          },
          [&](const Journal::Renamed& done) {
            return fmt::format("{} has become {}", shown_path(place, done.from),
                               shown_path(place, done.to));
          },
          [&](const Journal::Moded& done) {
            return shown_path(place, done.path) + " has the new mode";
          },
          [&](const Journal::DirectoryGone& done) {
            return "the directory " + shown_path(place, done.directory.path) + " is gone";
          }},
      step);
}

}  // namespace

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

Result<std::unique_ptr<sandbox::StagedFile>> stage_bytes(const contract::Context& context,
                                                         const Place& place,
                                                         const std::string& path,
                                                         std::string_view bytes,
                                                         bool make_parents) {
  auto staged = BAWN_TRY(place.files->stage(context, path, {.make_parents = make_parents}));
  if (auto written = write_all(staged->fd(), bytes); !written) {
    const std::string directory = directory_of(staged->target());
    const int made = staged->parents_made();
    staged.reset();
    remove_directories(context.detached(), place, directory, made);
    return std::unexpected(written.error());
  }
  begin_writing_back(staged->fd(), bytes.size());
  return staged;
}

void remove_directories(const contract::Context& context, const Place& place, std::string directory,
                        int count) {
  for (; count > 0; --count) {
    const auto removed = place.files->remove_directory(context, directory);
    if (!removed && removed.error().code() != ErrorCode::NotFound) {
      return;
    }
    directory = directory_of(directory);
  }
}

void Journal::add_directories(std::string directory, int count) {
  if (count > 0) {
    directories_.push_back({std::move(directory), count});
  }
}

Result<> Journal::undo(const contract::Context& context, Step& step) const {
  sandbox::FileAgent& files = *place_.files;
  return std::visit(
      Overloaded{[&](Replaced& done) -> Result<> {
                   if (done.old != nullptr) {
                     return done.old->put_back(context, Condition::same_content(done.now));
                   }
                   const auto staged =
                       BAWN_TRY(stage_bytes(context, place_, done.path, done.before->bytes, false));
                   BAWN_TRY(staged->set_mtime(done.before->status.mtime_ns));
                   (void)BAWN_TRY(
                       staged->commit(context, {.condition = Condition::same_content(done.now),
                                                .mode = done.before->status.mode & 0777U}));
                   return {};
                 },
                 [&](Made& done) -> Result<> {
                   return files.remove_file(context, done.path, Condition::same_content(done.now));
                 },
                 [&](Removed& done) -> Result<> {
                   return done.old->put_back(context, Condition::absent());
                 },
                 [&](Renamed& done) -> Result<> {
                   return files.rename(context, done.to, done.from, Condition::absent(),
                                       Condition::same_content(done.now));
                 },
                 [&](Moded& done) -> Result<> {
                   (void)BAWN_TRY(files.set_mode(context, done.path, done.mode));
                   return {};
                 },
                 [&](DirectoryGone& done) -> Result<> {
                   (void)BAWN_TRY(make_again(context, place_, done.directory));
                   return {};
                 }},
      step);
}

Error Journal::take_back(const contract::Context& context, Error why) {
  std::vector<std::string> stuck;
  const contract::Context lasting = context.detached();
  // Directories that were made stand where the files were that went first.
  const auto first = steps_.begin() + static_cast<std::ptrdiff_t>(first_steps_);
  const auto take = [&](auto from, auto to) {
    for (auto step = from; step != to; ++step) {
      if (!undo(lasting, *step)) {
        stuck.push_back(left_behind(place_, *step));
      }
    }
  };
  take(steps_.rbegin(), std::make_reverse_iterator(first));
  for (auto made = directories_.rbegin(); made != directories_.rend(); ++made) {
    remove_directories(lasting, place_, made->path, made->count);
  }
  take(std::make_reverse_iterator(first), steps_.rend());
  const bool was_empty = steps_.empty();
  steps_.clear();
  directories_.clear();
  if (!stuck.empty()) {
    return why.wrap(
        fmt::format("not everything could be put back: {}", fmt::join(stuck, ", and ")));
  }
  const auto* const failure = why.find<sandbox::FileFailure>();
  const bool unknown = failure != nullptr && failure->kind == sandbox::FileFailure::Kind::Late;
  return was_empty || unknown ? why : why.wrap("nothing was changed");
}

}  // namespace bawn::files
