#include "lines.hpp"
#include "patch.hpp"
#include "quoted_name.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace bawn::files {

namespace {

using Lines = std::vector<std::string_view>;

constexpr std::string_view kNowhere = "/dev/null";
constexpr std::size_t kMaxNumber = 1'000'000'000;

/// "12" or "12,3" at the front of `text`, taken off it.
bool take_range(std::string_view& text, std::size_t& start, std::size_t& count) {
  const auto take = [&](std::size_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool found = error == std::errc() && number <= kMaxNumber;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return found;
  };
  count = 1;
  if (!take(start)) {
    return false;
  }
  if (!text.starts_with(',')) {
    return true;
  }
  text.remove_prefix(1);
  return take(count);
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) {
    return false;
  }
  text.remove_prefix(word.size());
  return true;
}

/// git's prefixes a/ b/, with diff.mnemonicPrefix i/ w/ c/ o/, and 1/ 2/ without an index.
bool has_git_prefix(std::string_view path) {
  constexpr std::string_view kLetters = "abiwco12";
  return path.size() > 2 && path[1] == '/' && kLetters.find(path[0]) != std::string_view::npos;
}

class UnifiedReader {
 public:
  explicit UnifiedReader(std::string_view text) : lines_(split_lines(text)) {}

  Result<Patch> run() {
    while (at_ < lines_.size()) {
      const std::string_view line = current();
      if (line.starts_with("diff --git ")) {
        BAWN_TRY(read_git_file());
      } else if (line.starts_with("--- ") && at_ + 1 < lines_.size() &&
                 without_line_end(lines_[at_ + 1]).starts_with("+++ ")) {
        BAWN_TRY(read_plain_file());
      } else if (line.starts_with("--- ") && !patch_.files.empty()) {
        return patch_error(at_ + 1, "expected a \"+++ \" line behind this one");
      } else if (line.starts_with("@@ -")) {
        return patch_error(at_ + 1,
                           "a hunk without a file: expected \"--- \" and \"+++ \" before it");
      } else if (line.starts_with("Binary files ") && line.ends_with(" differ")) {
        return binary();
      } else {
        ++at_;  // a commit message, a signature, "Only in …"
      }
    }
    if (patch_.files.empty()) {
      return patch_error(1,
                         "no file is changed by this patch: it has no \"---\" and \"+++\" lines");
    }
    return std::move(patch_);
  }

 private:
  [[nodiscard]] std::string_view current() const { return without_line_end(lines_[at_]); }

  [[nodiscard]] std::unexpected<Error> binary() const {
    return patch_error(
        at_ + 1, "binary changes cannot be applied; write_file or a command can make the file");
  }

  /// The name at the front of `text`: quoted, or up to a tab.
  Result<std::string> name_in(std::string_view text) const {
    if (text.starts_with('"')) {
      auto quoted = unquote_name(text);
      if (!quoted) {
        return patch_error(at_ + 1, "the quoted file name is not well-formed");
      }
      return std::move(quoted->name);
    }
    std::string name(text.substr(0, text.find('\t')));
    if (name.empty() || name.find('\0') != std::string::npos) {
      return patch_error(at_ + 1, "expected a file name");
    }
    return name;
  }

  /// The names of "diff --git a/x b/x": needed only where no other line has them, and then equal.
  std::string name_of_git_line(std::string_view rest) const {
    if (rest.starts_with('"')) {
      const auto quoted = unquote_name(rest);
      return quoted ? without_first_part(quoted->name).value_or("") : "";
    }
    // Names may hold blanks: the cut is where both sides name the same file.
    for (std::size_t cut = rest.find(' '); cut != std::string_view::npos;
         cut = rest.find(' ', cut + 1)) {
      const auto one = without_first_part(rest.substr(0, cut));
      const auto other = without_first_part(rest.substr(cut + 1));
      if (one && other && *one == *other) {
        return has_git_prefix(rest) ? *one : std::string(rest.substr(0, cut));
      }
    }
    return {};
  }

  Result<std::optional<std::uint32_t>> mode_in(std::string_view digits) const {
    std::uint32_t mode = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), mode, 8);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      return patch_error(at_ + 1, "expected a file mode such as 100644");
    }
    switch (mode & 0170000U) {
      case 0100000U:
        return std::optional(mode & 0777U);
      case 0120000U:
        return patch_error(at_ + 1,
                           "symbolic links cannot be patched; make the link with a command");
      case 0160000U:
        return patch_error(at_ + 1, "submodules cannot be patched; use git for them");
      default:
        return patch_error(at_ + 1, "expected the mode of a regular file, 100644 or 100755");
    }
  }

  struct Header {
    FilePatch file;
    bool has_change = false;  ///< said by extended lines
    std::string from;         ///< of rename and copy
    std::string to;
  };

  /// One extended header line; false when it is none.
  Result<bool> read_extended(Header& header) {
    std::string_view line = current();
    FilePatch& file = header.file;
    const auto change = [&](FilePatch::Kind kind) {
      file.kind = kind;
      header.has_change = true;
    };
    if (take_word(line, "old mode ")) {
      file.old_mode = BAWN_TRY(mode_in(line));
    } else if (take_word(line, "new mode ")) {
      file.new_mode = BAWN_TRY(mode_in(line));
      header.has_change = true;
    } else if (take_word(line, "deleted file mode ")) {
      file.old_mode = BAWN_TRY(mode_in(line));
      change(FilePatch::Kind::Delete);
    } else if (take_word(line, "new file mode ")) {
      file.new_mode = BAWN_TRY(mode_in(line));
      change(FilePatch::Kind::Add);
    } else if (take_word(line, "rename from ") || take_word(line, "rename old ")) {
      header.from = BAWN_TRY(name_in(line));
      change(FilePatch::Kind::Rename);
    } else if (take_word(line, "rename to ") || take_word(line, "rename new ")) {
      header.to = BAWN_TRY(name_in(line));
    } else if (take_word(line, "copy from ")) {
      header.from = BAWN_TRY(name_in(line));
      change(FilePatch::Kind::Copy);
    } else if (take_word(line, "copy to ")) {
      header.to = BAWN_TRY(name_in(line));
    } else if (take_word(line, "index ")) {
      if (const std::size_t blank = line.rfind(' '); blank != std::string_view::npos) {
        file.old_mode = BAWN_TRY(mode_in(line.substr(blank + 1)));
      }
    } else if (!line.starts_with("similarity index ") &&
               !line.starts_with("dissimilarity index ")) {
      return false;
    }
    return true;
  }

  Result<> read_git_file() {
    Header header;
    header.file.patch_line = at_ + 1;
    const std::string shared = name_of_git_line(current().substr(11));
    for (++at_; at_ < lines_.size(); ++at_) {
      if (!BAWN_TRY(read_extended(header))) {
        break;
      }
    }
    const bool moves =
        header.file.kind == FilePatch::Kind::Rename || header.file.kind == FilePatch::Kind::Copy;
    if (moves && (header.from.empty() || header.to.empty())) {
      return patch_error(header.file.patch_line, "a rename or copy needs both its names");
    }
    header.file.old_path = moves ? header.from : shared;
    header.file.new_path = moves ? header.to : shared;
    if (at_ < lines_.size() &&
        (current().starts_with("GIT binary patch") || current().starts_with("Binary files "))) {
      return binary();
    }
    const bool has_names = at_ + 1 < lines_.size() && current().starts_with("--- ") &&
                           without_line_end(lines_[at_ + 1]).starts_with("+++ ");
    if (has_names) {
      BAWN_TRY(read_names(header.file, true));
      BAWN_TRY(read_hunks(header.file));
    } else if (!header.has_change) {
      return patch_error(header.file.patch_line,
                         "nothing is said about this file: no mode, no name, "
                         "no \"---\" and \"+++\" lines");
    }
    return keep(std::move(header.file));
  }

  Result<> read_plain_file() {
    FilePatch file;
    file.patch_line = at_ + 1;
    BAWN_TRY(read_names(file, false));
    BAWN_TRY(read_hunks(file));
    if (file.hunks.empty()) {
      return patch_error(file.patch_line, "no hunk (\"@@ -…\") follows these names");
    }
    return keep(std::move(file));
  }

  /// The "---" and "+++" lines.
  Result<> read_names(FilePatch& file, bool from_git) {
    const std::string before = BAWN_TRY(name_in(current().substr(4)));
    ++at_;
    const std::string after = BAWN_TRY(name_in(current().substr(4)));
    ++at_;
    const bool none_before = before == kNowhere;
    const bool none_after = after == kNowhere;
    if (none_before && none_after) {
      return patch_error(at_, "both names are /dev/null");
    }
    const bool prefixed =
        (none_before || has_git_prefix(before)) && (none_after || has_git_prefix(after));
    const auto name = [&](const std::string& path) { return prefixed ? path.substr(2) : path; };
    const std::string old_name = none_before ? name(after) : name(before);
    const std::string new_name = none_after ? name(before) : name(after);
    const bool moves = file.kind == FilePatch::Kind::Rename || file.kind == FilePatch::Kind::Copy;
    if (moves && (old_name != file.old_path || new_name != file.new_path)) {
      return patch_error(at_ - 1, "these names are not those of the rename or copy above");
    }
    if (!moves) {
      // Without a rename the new name counts; `diff -u x.orig x` names two.
      if (from_git && !none_before && !none_after && old_name != new_name) {
        return patch_error(at_ - 1, "both names must be the same where no rename is said");
      }
      file.new_path = new_name;
      file.old_path = new_name;
    }
    if (!from_git || file.kind == FilePatch::Kind::Modify) {
      file.kind = none_before  ? FilePatch::Kind::Add
                  : none_after ? FilePatch::Kind::Delete
                               : file.kind;
    }
    if ((file.kind == FilePatch::Kind::Add) != none_before && from_git) {
      return patch_error(at_ - 1, "a new file's old name must be /dev/null, and only a new file's");
    }
    if ((file.kind == FilePatch::Kind::Delete) != none_after && from_git) {
      return patch_error(at_,
                         "a deleted file's new name must be /dev/null, and only a deleted file's");
    }
    return {};
  }

  Result<> read_hunks(FilePatch& file) {
    while (at_ < lines_.size() && current().starts_with("@@")) {
      file.hunks.push_back(BAWN_TRY(read_hunk()));
      const bool whole = file.kind == FilePatch::Kind::Add || file.kind == FilePatch::Kind::Delete;
      const auto wrong =
          file.kind == FilePatch::Kind::Add ? PatchLine::Kind::Remove : PatchLine::Kind::Add;
      for (const PatchLine& line : file.hunks.back().lines) {
        if (whole && (line.kind == wrong || line.kind == PatchLine::Kind::Context)) {
          return patch_error(file.hunks.back().patch_line,
                             file.kind == FilePatch::Kind::Add
                                 ? "a new file has only \"+\" lines"
                                 : "a deleted file has only \"-\" lines");
        }
      }
    }
    if (at_ == lines_.size()) {
      return {};
    }
    const std::string_view behind = current();
    const bool looks_like_more = behind.starts_with('+') || behind.starts_with(' ') ||
                                 (behind.starts_with('-') && !behind.starts_with("--"));
    if (looks_like_more && !file.hunks.empty()) {
      return patch_error(at_ + 1,
                         "this line is behind the end of its hunk: the counts in its \"@@\" "
                         "line are too small");
    }
    return {};
  }

  Result<Hunk> read_hunk() {
    Hunk hunk;
    hunk.patch_line = at_ + 1;
    hunk.numbered = true;
    std::size_t old_count = 0;
    std::size_t new_count = 0;
    std::string_view head = current();
    if (!take_word(head, "@@ -") || !take_range(head, hunk.old_start, old_count) ||
        !take_word(head, " +") || !take_range(head, hunk.new_start, new_count) ||
        !take_word(head, " @@")) {
      return patch_error(at_ + 1, "expected \"@@ -LINE,COUNT +LINE,COUNT @@\"");
    }
    std::size_t old_seen = 0;
    std::size_t new_seen = 0;
    for (++at_; old_seen < old_count || new_seen < new_count; ++at_) {
      if (!BAWN_TRY(read_hunk_line(hunk, old_seen, new_seen)) || old_seen > old_count ||
          new_seen > new_count) {
        return patch_error(
            at_ + 1,
            fmt::format("the hunk at patch line {} says {} old and {} new lines, which this "
                        "does not agree with; give the right counts, or use the form \"*** "
                        "Begin Patch\", which has none",
                        hunk.patch_line, old_count, new_count));
      }
    }
    if (at_ < lines_.size() && lines_[at_].starts_with('\\')) {
      static_cast<void>(BAWN_TRY(read_hunk_line(hunk, old_seen, new_seen)));
      ++at_;
    }
    return hunk;
  }

  /// One line of a hunk's body; false for one that cannot be.
  Result<bool> read_hunk_line(Hunk& hunk, std::size_t& old_seen, std::size_t& new_seen) const {
    if (at_ == lines_.size()) {
      return false;
    }
    const std::string_view line = lines_[at_];
    const auto add = [&](PatchLine::Kind kind, std::string_view text) {
      hunk.lines.push_back({kind, std::string(text) + (text.ends_with('\n') ? "" : "\n")});
      old_seen += kind == PatchLine::Kind::Add ? 0 : 1;
      new_seen += kind == PatchLine::Kind::Remove ? 0 : 1;
    };
    switch (line[0]) {
      case ' ':
        add(PatchLine::Kind::Context, line.substr(1));
        return true;
      case '-':
        add(PatchLine::Kind::Remove, line.substr(1));
        return true;
      case '+':
        add(PatchLine::Kind::Add, line.substr(1));
        return true;
      case '\n':  // GNU diff leaves the blank of an empty line out
        add(PatchLine::Kind::Context, line);
        return true;
      case '\\':
        if (hunk.lines.empty() || !hunk.lines.back().text.ends_with('\n')) {
          return false;  // nothing before it, or said twice
        }
        hunk.lines.back().text.pop_back();
        return true;
      default:
        return false;
    }
  }

  Result<> keep(FilePatch file) {
    if (file.new_path.empty() || file.old_path.empty()) {
      return patch_error(file.patch_line, "the file's name cannot be read from this line");
    }
    patch_.files.push_back(std::move(file));
    return {};
  }

  Lines lines_;
  std::size_t at_ = 0;
  Patch patch_;
};

}  // namespace

Result<Patch> parse_unified_patch(std::string_view text) {
  return UnifiedReader(text).run();
}

}  // namespace bawn::files
