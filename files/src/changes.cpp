#include "changes.hpp"

#include "attributes.hpp"
#include "denial.hpp"
#include "journal.hpp"
#include "paths.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

namespace bawn::files {

namespace {

using sandbox::Condition;
using sandbox::FileStatus;
using sandbox::StagedFile;

constexpr std::uint32_t kBits = 0777;

bool same_bytes(const FileChange& change) {
  return change.before && change.after && change.before->bytes == *change.after;
}

bool other_mode(const FileChange& change) {
  return change.mode && change.before && (change.before->status.mode & kBits) != *change.mode;
}

/// The file itself can stay: its content does.
bool keeps_file(const FileChange& change) {
  return (change.from || other_mode(change)) && same_bytes(change);
}

class Changer {
 public:
  Changer(const contract::Context& context, const Place& place,
          const std::vector<FileChange>& changes)
      : context_(context),
        place_(place),
        changes_(changes),
        journal_(place),
        keep_old_(changes.size() > 1 || (!changes.empty() && changes.front().from)) {}

  Result<std::vector<FileChanged>> run(const std::function<void()>& meanwhile) {
    for (const FileChange& change : changes_) {
      if (auto ready = prepare(change); !ready) {
        staged_.clear();
        return std::unexpected(journal_.take_back(context_, named(change, ready.error())));
      }
    }
    meanwhile();
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (auto done = perform(changes_[i], staged_[i], done_[i]); !done) {
        staged_.clear();
        return std::unexpected(journal_.take_back(context_, named(changes_[i], done.error())));
      }
    }
    journal_.finish();
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      remove_directories(context_, place_, directory_of(changes_[i].from.value_or(done_[i].target)),
                         changes_[i].drop_parents);
    }
    return std::move(done_);
  }

 private:
  using Staged = std::unique_ptr<StagedFile>;

  [[nodiscard]] Error named(const FileChange& change, const Error& error) const {
    const Error why = explained(place_, change.path, Access::Write, error);
    return why.message().find(change.path) == std::string::npos
               ? why.wrap(shown_path(place_, change.path))
               : why;
  }

  /// Everything that can fail without having touched a name.
  Result<> prepare(const FileChange& change) {
    FileChanged& done = done_.emplace_back();
    Staged& staged = staged_.emplace_back();
    if (change.from && change.make_parents) {
      const std::string directory = directory_of(change.path);
      done.parents_made =
          BAWN_TRY(place_.files->make_directory(context_, directory, {.parents = true}));
      journal_.add_directories(directory, done.parents_made);
    }
    if (!change.after || keeps_file(change)) {
      return {};
    }
    // New content of a file that moves is written where it is, over what it keeps.
    staged = BAWN_TRY(stage_bytes(context_, place_, change.from.value_or(change.path),
                                  *change.after, change.make_parents && !change.from));
    journal_.add_directories(directory_of(staged->target()), staged->parents_made());
    done.parents_made += staged->parents_made();
    if (change.like) {
      done.attributes_kept = set_attributes(staged->fd(), change.like->attributes);
    }
    return change.mtime_ns ? set_mtime(staged->fd(), *change.mtime_ns) : Result<>();
  }

  Result<> perform(const FileChange& change, Staged& staged, FileChanged& done) {
    if (!change.after) {
      auto old = BAWN_TRY(place_.files->set_aside(context_, change.path, change.before->status));
      done.target = old->target();
      journal_.add(Journal::Removed{std::move(old)});
      return {};
    }
    if (staged != nullptr) {
      BAWN_TRY(commit(change, *staged, done));
    } else if (other_mode(change)) {
      BAWN_TRY(set_mode(change, done));
    }
    return change.from ? move(change, done) : Result<>();
  }

  Result<> commit(const FileChange& change, StagedFile& staged, FileChanged& done) {
    const Condition condition =
        change.before ? Condition::same(change.before->status) : Condition::absent();
    std::optional<std::uint32_t> mode = change.mode;
    if (change.before && !other_mode(change)) {
      mode.reset();  // the agent keeps it, with what else belongs to it
    }
    auto committed = BAWN_TRY(staged.commit(
        context_, {.condition = condition, .mode = mode, .durable = true, .keep_old = keep_old_}));
    done.target = staged.target();
    done.status = committed.status;
    done.owner_kept = committed.owner_kept;
    done.attributes_kept = done.attributes_kept && committed.attributes_kept;
    done.durable = committed.durable;
    if (change.before) {
      journal_.add(Journal::Replaced{staged.target(), std::move(committed.old), &*change.before,
                                     committed.status});
    } else {
      journal_.add(Journal::Made{staged.target(), committed.status});
    }
    return {};
  }

  Result<> set_mode(const FileChange& change, FileChanged& done) {
    const std::string& path = change.from.value_or(change.path);
    const auto now =
        BAWN_TRY(place_.files->status(context_, path, sandbox::FileAgent::Links::Follow));
    if (now != change.before->status) {
      return contract::fail(ErrorCode::Busy,
                            path + " is not what it was when it was read; read it again");
    }
    done.status = BAWN_TRY(place_.files->set_mode(context_, path, *change.mode));
    done.target = path;
    journal_.add(Journal::Moded{path, now.mode & kBits});
    return {};
  }

  /// The rename itself; by a copy where two file systems are concerned.
  Result<> move(const FileChange& change, FileChanged& done) {
    const FileStatus source = done.status.value_or(change.before->status);
    const auto renamed = place_.files->rename(context_, *change.from, change.path,
                                              Condition::absent(), Condition::same(source));
    if (!renamed) {
      const auto* const failure = renamed.error().find<sandbox::FileFailure>();
      const bool copies = failure != nullptr && failure->errnum == EXDEV;
      return copies ? copy(change, source, done) : renamed;
    }
    done.target = change.path;
    done.status =
        BAWN_TRY(place_.files->status(context_, change.path, sandbox::FileAgent::Links::Keep));
    journal_.add(Journal::Renamed{*change.from, change.path, *done.status});
    return {};
  }

  Result<> copy(const FileChange& change, const FileStatus& source, FileChanged& done) {
    const auto staged = BAWN_TRY(stage_bytes(context_, place_, change.path, *change.after, false));
    done.attributes_kept =
        set_attributes(staged->fd(), change.before->attributes) && done.attributes_kept;
    BAWN_TRY(set_mtime(staged->fd(), change.mtime_ns.value_or(source.mtime_ns)));
    const auto committed = BAWN_TRY(
        staged->commit(context_, {.condition = Condition::absent(), .mode = source.mode & kBits}));
    done.target = staged->target();
    done.status = committed.status;
    done.durable = committed.durable;
    done.owner_kept = committed.status.uid == source.uid && committed.status.gid == source.gid;
    journal_.add(Journal::Made{staged->target(), committed.status});
    journal_.add(
        Journal::Removed{BAWN_TRY(place_.files->set_aside(context_, *change.from, source))});
    return {};
  }

  const contract::Context& context_;
  const Place& place_;
  const std::vector<FileChange>& changes_;
  Journal journal_;
  bool keep_old_;
  std::vector<Staged> staged_;
  std::vector<FileChanged> done_;
};

}  // namespace

Result<std::vector<FileChanged>> commit_changes(const contract::Context& context,
                                                const Place& place,
                                                const std::vector<FileChange>& changes,
                                                const std::function<void()>& meanwhile) {
  return Changer(context, place, changes).run(meanwhile);
}

}  // namespace bawn::files
