#include "changes.hpp"

#include "beside.hpp"
#include "denial.hpp"
#include "journal.hpp"
#include "making_way.hpp"
#include "paths.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
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

/// The failure of one change, explained and naming its path.
Error named(const Place& place, const FileChange& change, const Error& error) {
  Error why = explained(place, change.path, Access::Write, error);
  if (why.message().find(change.path) == std::string::npos) {
    why = why.wrap(shown_path(place, change.path));
  }
  return change.about.empty() ? why : why.wrap(change.about);
}

/// A rename's refusal as rename() words it, about both names.
Error about_both(const Error& error, const std::string& name, const FileChange& change) {
  const std::string& message = error.message();
  const std::size_t at = message.find(name);
  if (at == std::string::npos) {
    return error;
  }
  return Error(error.code(), message.substr(0, at) + *change.from + " to " + change.path +
                                 message.substr(at + name.size()))
      .with_cause(error);
}

/// The steps of one change, each only asked for.
Result<> try_change(const contract::Context& context, sandbox::FileAgent& files,
                    const MakingWay& way, const FileChange& change) {
  using Change = sandbox::FileAgent::Change;
  const std::string& source = change.from.value_or(change.path);
  if (!change.after) {
    return files.would_allow(context, change.path, Change::Remove);
  }
  const auto may_rename = [&](const std::string& name) -> Result<> {
    const auto allowed = files.would_allow(context, name, Change::Rename);
    return allowed ? Result<>() : std::unexpected(about_both(allowed.error(), name, change));
  };
  const bool below_a_file = way.replaces_a_file(change);
  if (below_a_file || way.replaces_a_directory(change)) {
    if (change.from) {
      BAWN_TRY(may_rename(*change.from));
    }
    // The removal of the file above asks about all below it.
    return below_a_file ? Result<>() : files.would_allow(context, change.path, Change::Rename);
  }
  if (!keeps_file(change)) {
    BAWN_TRY(files.would_allow(context, source, Change::Write));
  } else if (other_mode(change)) {
    BAWN_TRY(files.would_allow(context, source, Change::SetMode));
  }
  if (!change.from) {
    return {};
  }
  BAWN_TRY(may_rename(*change.from));
  return may_rename(change.path);
}

/// All changes, each only asked for.
Result<> try_all(const contract::Context& context, const Place& place, const MakingWay& way,
                 const std::vector<FileChange>& changes) {
  BAWN_TRY(way.try_emptying(context, place));
  for (const FileChange& change : changes) {
    if (auto allowed = try_change(context, *place.files, way, change); !allowed) {
      return std::unexpected(named(place, change, allowed.error()));
    }
  }
  return {};
}

class Changer {
 public:
  Changer(const contract::Context& context, const Place& place,
          const std::vector<FileChange>& changes)
      : context_(context),
        place_(place),
        changes_(changes),
        way_(changes),
        journal_(place),
        keep_old_(changes.size() > 1 || (!changes.empty() && changes.front().from)) {}

  Result<Committed> run(std::vector<GoneDirectory> bring_back,
                        const std::function<void()>& meanwhile) {
    if (way_.empties_directories()) {  // one that is taken back is a new one
      BAWN_TRY(try_all(context_, place_, way_, changes_));
    }
    staged_.resize(changes_.size());
    done_.resize(changes_.size());
    BAWN_TRY(each([&](std::size_t i) {
      return way_.goes_first(changes_[i]) ? remove_first(i) : Result<>();
    }));
    auto emptied = way_.remove_emptied(context_, place_, journal_);
    if (!emptied) {
      return fail(emptied.error());
    }
    journal_.end_first_steps();
    way_.expect_directories(journal_);
    if (auto made = make_directories(bring_back); !made) {
      return fail(made.error());
    }
    BAWN_TRY(each([&](std::size_t i) { return prepare(changes_[i], staged_[i], done_[i]); }));
    Beside beside(meanwhile, size_beside());
    BAWN_TRY(each([&](std::size_t i) {
      return way_.goes_first(changes_[i]) ? Result<>() : perform(changes_[i], staged_[i], done_[i]);
    }));
    journal_.finish();
    Committed committed{.files = std::move(done_),
                        .directories_gone = *std::move(emptied),
                        .directories_unlike = std::move(unlike_)};
    for (GoneDirectory& gone : drop_emptied(context_, place_, changes_)) {
      committed.directories_gone.push_back(std::move(gone));
    }
    beside.finish();
    return committed;
  }

 private:
  using Staged = std::unique_ptr<StagedFile>;

  /// Whether what is done meanwhile is worth a thread.
  [[nodiscard]] Beside::Size size_beside() const {
    constexpr std::size_t kWorthIt = std::size_t{128} * 1024;
    std::size_t bytes = 0;
    for (const FileChange& change : changes_) {
      bytes += change.before ? change.before->bytes.size() : 0;
      bytes += change.after ? change.after->size() : 0;
    }
    return bytes >= kWorthIt ? Beside::Size::Large : Beside::Size::Small;
  }

  /// Takes everything back.
  std::unexpected<Error> fail(const Error& why) {
    staged_.clear();
    return std::unexpected(journal_.take_back(context_, why));
  }

  /// One step of every change.
  template <class Step>
  Result<> each(const Step& step) {
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (auto done = step(i); !done) {
        return fail(named(place_, changes_[i], done.error()));
      }
    }
    return {};
  }

  /// Those that are to come back, the outer ones first.
  Result<> make_directories(std::vector<GoneDirectory>& bring_back) {
    std::ranges::sort(bring_back, {}, &GoneDirectory::path);
    for (const GoneDirectory& directory : bring_back) {
      const auto count = make_again(context_, place_, directory);
      if (!count) {
        return std::unexpected(explained(place_, directory.path, Access::Write, count.error()));
      }
      note_directories(directory.path, *count);
      if (*count > 0 && came_back_changed(context_, place_, directory)) {
        unlike_.push_back(directory.path);
      }
    }
    return {};
  }

  /// The last `count` directories of a path are new.
  void note_directories(std::string directory, int count) {
    journal_.add_directories(directory, count);
    for (; count > 0; --count) {
      made_.insert(directory);
      directory = directory_of(directory);
    }
  }

  [[nodiscard]] int new_parents_of(const std::string& path) const {
    int count = 0;
    for (std::string at = directory_of(path); made_.contains(at); at = directory_of(at)) {
      ++count;
    }
    return count;
  }

  Result<> remove_first(std::size_t i) {
    auto old = BAWN_TRY(way_.displace(context_, place_, changes_[i]));
    done_[i].target = old->target();
    journal_.add(Journal::Removed{std::move(old)});
    return {};
  }

  /// Everything that can fail without having touched a name.
  Result<> prepare(const FileChange& change, Staged& staged, FileChanged& done) {
    if (change.from && change.make_parents) {
      const std::string directory = directory_of(change.path);
      note_directories(directory, BAWN_TRY(place_.files->make_directory(context_, directory,
                                                                        {.parents = true})));
      done.parents_made = new_parents_of(change.path);
    }
    if (!change.after || keeps_file(change)) {
      return {};
    }
    // New content of a file that moves is written where it is, over what it keeps.
    staged = BAWN_TRY(stage_bytes(context_, place_, change.from.value_or(change.path),
                                  *change.after, change.make_parents && !change.from));
    note_directories(directory_of(staged->target()), staged->parents_made());
    if (!change.from) {
      done.parents_made = new_parents_of(staged->target());
    }
    if (change.like) {
      done.attributes_kept = staged->set_attributes(change.like->attributes);
    }
    return change.mtime_ns ? staged->set_mtime(*change.mtime_ns) : Result<>();
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
        staged->set_attributes(change.before->attributes) && done.attributes_kept;
    BAWN_TRY(staged->set_mtime(change.mtime_ns.value_or(source.mtime_ns)));
    const auto committed = BAWN_TRY(
        staged->commit(context_, {.condition = Condition::absent(), .mode = source.mode & kBits}));
    done.target = staged->target();
    done.status = committed.status;
    done.durable = committed.durable;
    done.attributes_kept = done.attributes_kept && committed.attributes_kept;
    done.owner_kept = committed.status.uid == source.uid && committed.status.gid == source.gid;
    journal_.add(Journal::Made{staged->target(), committed.status});
    journal_.add(
        Journal::Removed{BAWN_TRY(place_.files->set_aside(context_, *change.from, source))});
    return {};
  }

  const contract::Context& context_;
  const Place& place_;
  const std::vector<FileChange>& changes_;
  MakingWay way_;
  Journal journal_;
  bool keep_old_;
  std::vector<Staged> staged_;
  std::vector<FileChanged> done_;
  std::set<std::string> made_;       ///< directories
  std::vector<std::string> unlike_;  ///< of them those that are not what they were
};

}  // namespace

Result<Committed> commit_changes(const contract::Context& context, const Place& place,
                                 const std::vector<FileChange>& changes,
                                 std::vector<GoneDirectory> bring_back,
                                 const std::function<void()>& meanwhile) {
  return Changer(context, place, changes).run(std::move(bring_back), meanwhile);
}

Result<> try_changes(const contract::Context& context, const Place& place,
                     const std::vector<FileChange>& changes) {
  return try_all(context, place, MakingWay(changes), changes);
}

}  // namespace bawn::files
