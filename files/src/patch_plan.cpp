#include "patch_plan.hpp"

#include "paths.hpp"
#include "text_encoding.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

namespace bawn::files {

namespace {

using Kind = FilePatch::Kind;

class Planner {
 public:
  Planner(const Patch& patch, const ReadContent& read, const ApplyOptions& options)
      : patch_(patch), read_(read), options_(options) {}

  Result<PatchPlan> run() {
    for (const FilePatch& file : patch_.files) {
      if (file.kind == Kind::Delete || file.kind == Kind::Rename) {
        leaving_.insert(file.old_path);
      }
      if (file.kind == Kind::Rename) {
        renamed_.insert(file.old_path);
      }
    }
    for (const FilePatch& file : patch_.files) {
      BAWN_TRY(plan(file));
    }
    find_moves();
    for (const std::string& path : order_) {
      BAWN_TRY(check_no_file_above(path));
    }
    for (const std::string& path : order_) {
      State& state = states_.at(path);
      if (const auto move = moves_.find(path); move != moves_.end()) {
        plan_.changes.push_back({.path = path,
                                 .before = states_.at(move->second).before,
                                 .after = std::move(state.now),
                                 .from = move->second,
                                 .patch_line = state.patch_line});
      } else if (state.before != state.now && !moved_.contains(path)) {
        plan_.changes.push_back({.path = path,
                                 .before = state.before,
                                 .after = std::move(state.now),
                                 .patch_line = state.patch_line});
      }
    }
    return std::move(plan_);
  }

 private:
  struct State {
    std::optional<FileContent> before;
    std::optional<FileContent> now;
    std::size_t patch_line = 0;
  };

  Result<> check_no_file_above(const std::string& path) const {
    const State& state = states_.at(path);
    for (std::size_t end = path.rfind('/'); state.now && end != std::string::npos && end != 0;
         end = path.rfind('/', end - 1)) {
      const auto above = states_.find(path.substr(0, end));
      if (above != states_.end() && above->second.now) {
        return patch_error(state.patch_line,
                           fmt::format("{}: {} is a file and no directory", path, above->first));
      }
    }
    return {};
  }

  /// Renames after which the old name is free and before which the new one was: there the file can
  /// be renamed. In swaps and chains the names stay and their contents change, and a file whose own
  /// name becomes a directory goes and comes.
  void find_moves() {
    for (const PatchedFile& file : plan_.files) {
      if (file.kind != Kind::Rename || file.from.empty()) {
        continue;
      }
      const State& from = states_.at(file.from);
      const State& to = states_.at(file.path);
      const bool crossed = lies_below(file.path, file.from) || lies_below(file.from, file.path);
      if (!crossed && from.before && !from.now && !to.before && to.now &&
          moved_.insert(file.from).second && !moves_.emplace(file.path, file.from).second) {
        moved_.erase(file.from);
      }
    }
  }

  static std::unexpected<Error> error(const FilePatch& file, const std::string& path,
                                      std::string_view problem) {
    return patch_error(file.patch_line, fmt::format("{}: {}", path, problem));
  }

  Result<State*> state_of(const std::string& path, std::size_t patch_line) {
    const auto known = states_.find(path);
    if (known != states_.end()) {
      return &known->second;
    }
    auto content = read_(path);
    if (!content) {
      return std::unexpected(content.error().wrap(fmt::format("patch line {}", patch_line)));
    }
    order_.push_back(path);
    State& state = states_[path];
    state.before = *content;
    state.now = *std::move(content);
    state.patch_line = patch_line;
    return &state;
  }

  Result<> plan(const FilePatch& file) {
    State* from = BAWN_TRY(state_of(file.old_path, file.patch_line));
    const bool moves = file.kind == Kind::Rename || file.kind == Kind::Copy;
    PatchedFile done{.kind = file.kind, .path = file.new_path, .from = {}, .places = {}};
    FileContent base;
    if (file.kind == Kind::Add) {
      // In git's form a rename further down may give the name free.
      if (from->now && (patch_.marked || !renamed_.contains(file.new_path))) {
        return error(file, file.new_path, "the file exists already");
      }
    } else {
      // Renames and copies of git's form do not depend on the order of their files.
      const auto& source = moves && !patch_.marked ? from->before : from->now;
      if (!source) {
        return error(file, file.old_path, "no such file");
      }
      base = *source;
    }
    FileContent made{.bytes = {}, .mode = file.new_mode.value_or(base.mode)};
    if (file.kind == Kind::Delete && file.hunks.empty()) {
      from->now.reset();  // the marked form names no content; git's empty file has none
      if (!patch_.marked && !base.bytes.empty()) {
        return error(file, file.old_path, "the patch removes an empty file, but this one is not");
      }
    } else {
      auto patched = BAWN_TRY(apply(file, base.bytes));
      made.bytes = std::move(patched.text);
      done.places = std::move(patched.places);
    }
    if (file.kind == Kind::Delete) {
      if (!made.bytes.empty()) {
        return error(file, file.old_path, "the file has more lines than the patch removes");
      }
      from->now.reset();
    } else if (moves && file.new_path != file.old_path) {
      done.from = file.old_path;
      State* to = BAWN_TRY(state_of(file.new_path, file.patch_line));
      if (to->now && (patch_.marked || !leaving_.contains(file.new_path))) {
        return error(file, file.new_path, "the file exists already");
      }
      to->now = std::move(made);
      if (file.kind == Kind::Rename) {
        State& old = states_.at(file.old_path);
        // Another part may have put a new file there already.
        if (old.now == old.before) {
          old.now.reset();
        }
      }
    } else {
      from->now = std::move(made);
    }
    plan_.files.push_back(std::move(done));
    return {};
  }

  /// Bytes first, as git does; then as text, for files that are not UTF-8 to a reader.
  Result<PatchedText> apply(const FilePatch& file, const std::string& bytes) {
    const std::string& path = file.old_path;
    auto raw = apply_hunks(path, bytes, file.hunks, options_);
    if (raw) {
      return raw;
    }
    auto decoded = decode_text(bytes);
    if (!decoded || decoded->style.encoding == Encoding::Utf8) {
      return raw;
    }
    auto text = BAWN_TRY(apply_hunks(path, decoded->text, file.hunks, options_));
    auto encoded = encode_text(std::move(text.text), decoded->style.encoding);
    if (!encoded) {
      return error(file, path, encoded.error().message());
    }
    text.text = *std::move(encoded);
    return text;
  }

  const Patch& patch_;
  const ReadContent& read_;
  ApplyOptions options_;
  std::set<std::string> leaving_;
  std::set<std::string> renamed_;
  std::map<std::string, State> states_;
  std::vector<std::string> order_;
  std::map<std::string, std::string> moves_;  ///< new path, old path
  std::set<std::string> moved_;               ///< old paths
  PatchPlan plan_;
};

}  // namespace

Result<PatchPlan> plan_patch(const Patch& patch, const ReadContent& read,
                             const ApplyOptions& options) {
  return Planner(patch, read, options).run();
}

}  // namespace bawn::files
