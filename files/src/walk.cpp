#include "walk.hpp"

#include "denial.hpp"
#include "ignore_rules.hpp"
#include "load.hpp"
#include "paths.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bawn::files {

namespace {

using sandbox::DirectoryEntry;
using sandbox::FileType;

constexpr std::size_t kMaxFiles = 2'000'000;
constexpr int kMaxDepth = 512;
constexpr std::size_t kMaxRuleFile = std::size_t{4} * 1024 * 1024;

class Walker {
 public:
  Walker(const contract::Context& context, const Place& place, const WalkOptions& options)
      : context_(context), place_(place), options_(options) {}

  Result<Walk> run(const std::string& root) {
    root_ = normal_path(root);
    if (!options_.ignored) {
      enter_parents();
    }
    const auto walked = walk(root_, 0);
    if (!walked && !walk_.late) {
      return std::unexpected(walked.error());
    }
    std::sort(walk_.files.begin(), walk_.files.end());
    return std::move(walk_);
  }

 private:
  /// Rules are asked with paths without the leading slash.
  static std::string key_of(const std::string& directory) {
    return directory == "/" ? std::string() : directory.substr(1);
  }

  [[nodiscard]] std::string text_of(const std::string& path) const {
    const auto loaded = load_if_there(context_, place_, path, kMaxRuleFile);
    return loaded && *loaded ? (*loaded)->bytes : std::string();
  }

  /// The rules of a directory. git follows no link here (2.32).
  [[nodiscard]] IgnoreRules rules_of(const std::string& directory) const {
    const std::string path = (directory == "/" ? "" : directory) + "/.gitignore";
    const auto status = place_.files->status(context_, path, sandbox::FileAgent::Links::Keep);
    return status && status->type == FileType::Regular ? IgnoreRules::parse(text_of(path))
                                                       : IgnoreRules();
  }

  [[nodiscard]] bool is_repository(const std::string& directory) const {
    return place_.files->status(context_, directory + "/.git", sandbox::FileAgent::Links::Follow)
        .has_value();
  }

  /// Where a repository keeps its own rules: in .git, or where the file .git of a worktree leads.
  [[nodiscard]] std::string exclude_path(const std::string& directory) const {
    const std::string link = text_of(directory + "/.git");
    constexpr std::string_view kWord = "gitdir: ";
    if (!link.starts_with(kWord)) {
      return directory + "/.git/info/exclude";
    }
    const auto line = [](const std::string& text) { return text.substr(0, text.find('\n')); };
    const auto from = [](const std::string& base, const std::string& path) {
      return path.starts_with('/') ? path : base + "/" + path;
    };
    const std::string own = from(directory, line(link.substr(kWord.size())));
    const std::string common = line(text_of(own + "/commondir"));
    return (common.empty() ? own : from(own, common)) + "/info/exclude";
  }

  void enter_repository(const std::string& directory) {
    in_repository_ = true;
    rules_ = IgnoreStack();
    rules_.push(key_of(directory), IgnoreRules::parse(text_of(exclude_path(directory))));
  }

  /// The repository that the root is in, and the rule files on the way down to it.
  void enter_parents() {
    std::vector<std::string> way;
    for (std::string at = root_; !at.empty() && at != "/"; at = at.substr(0, at.rfind('/'))) {
      way.push_back(at);
    }
    const auto top = std::find_if(way.begin(), way.end(),
                                  [&](const std::string& at) { return is_repository(at); });
    if (top == way.end()) {
      return;
    }
    enter_repository(*top);
    for (auto at = std::make_reverse_iterator(top + 1); at != way.rend(); ++at) {
      if (*at != root_) {
        rules_.push(key_of(*at), rules_of(*at));
      }
    }
  }

  Result<std::vector<DirectoryEntry>> entries_of(const std::string& directory) {
    std::vector<DirectoryEntry> entries;
    sandbox::ListOptions options{.with_status = options_.max_file_bytes != 0};
    do {
      auto page = BAWN_TRY(place_.files->list(context_, directory, options));
      std::move(page.entries.begin(), page.entries.end(), std::back_inserter(entries));
      options.cursor = std::move(page.next);
    } while (!options.cursor.empty());
    return entries;
  }

  Result<> walk(const std::string& directory, int depth) {
    if (context_.ended_at(contract::Context::Clock::now())) {
      walk_.late = !context_.cancelled();
      return context_.cancelled()
                 ? contract::fail(ErrorCode::Cancelled, "the search was cancelled")
                 : contract::fail(ErrorCode::DeadlineExceeded, "the search's time is over");
    }
    auto entries = entries_of(directory);
    if (!entries && context_.ended_at(contract::Context::Clock::now()) && !context_.cancelled()) {
      walk_.late = true;
      return std::unexpected(entries.error());
    }
    if (!entries) {
      if (depth == 0) {
        return std::unexpected(explained(place_, directory, Access::Read, entries.error()));
      }
      walk_.notes.push_back(entries.error().message());
      return {};
    }
    const IgnoreStack outer = rules_;
    const bool outer_repository = in_repository_;
    enter_rules(directory, *entries, depth);
    for (const DirectoryEntry& entry : *entries) {
      BAWN_TRY(visit(directory, entry, depth));
    }
    rules_ = outer;
    in_repository_ = outer_repository;
    return {};
  }

  void enter_rules(const std::string& directory, const std::vector<DirectoryEntry>& entries,
                   int depth) {
    const auto has = [&](std::string_view name) {
      return std::any_of(entries.begin(), entries.end(),
                         [&](const DirectoryEntry& entry) { return entry.name == name; });
    };
    if (options_.ignored) {
      return;
    }
    if (depth > 0 && has(".git")) {
      enter_repository(directory);
    }
    if (in_repository_ && has(".gitignore")) {
      rules_.push(key_of(directory), rules_of(directory));
    }
  }

  Result<> visit(const std::string& directory, const DirectoryEntry& entry, int depth) {
    if (entry.name == ".git" || (!options_.hidden && entry.name.starts_with('.'))) {
      return {};
    }
    const std::string path = (directory == "/" ? "" : directory) + "/" + entry.name;
    FileType type = entry.type;
    if (type == FileType::Unknown) {
      const auto status = place_.files->status(context_, path, sandbox::FileAgent::Links::Keep);
      type = status ? status->type : type;
    }
    if ((type != FileType::Directory && type != FileType::Regular) ||
        (in_repository_ &&
         rules_.ignores(std::string_view(path).substr(1), type == FileType::Directory))) {
      return {};
    }
    if (type == FileType::Directory) {
      if (depth == kMaxDepth) {
        walk_.notes.push_back(
            fmt::format("{}: more than {} levels down, not visited; name a "
                        "directory on the way as path",
                        to_valid_utf8(path), kMaxDepth));
        return {};
      }
      return walk(path, depth + 1);
    }
    if (options_.max_file_bytes != 0 && entry.status &&
        entry.status->size > options_.max_file_bytes) {
      return {};
    }
    if (walk_.files.size() == kMaxFiles) {
      return contract::fail(
          ErrorCode::ResourceExhausted,
          fmt::format("more than {} files; choose a smaller directory", kMaxFiles));
    }
    walk_.files.push_back(path.substr(root_ == "/" ? 1 : root_.size() + 1));
    return {};
  }

  const contract::Context& context_;
  const Place& place_;
  WalkOptions options_;
  std::string root_;
  IgnoreStack rules_;
  bool in_repository_ = false;
  Walk walk_;
};

}  // namespace

Result<Walk> walk_files(const contract::Context& context, const Place& place,
                        const std::string& root, const WalkOptions& options) {
  return Walker(context, place, options).run(root);
}

}  // namespace bawn::files
