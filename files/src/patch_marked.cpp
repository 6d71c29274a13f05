#include "lines.hpp"
#include "patch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace bawn::files {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.remove_suffix(1);
  }
  return text;
}

/// "-1,3 +1,4 @@ …": line numbers of the other form, which say nothing here.
bool is_range(std::string_view anchor) {
  const std::size_t end = anchor.find(" @@");
  return anchor.starts_with('-') && end != std::string_view::npos &&
         anchor.substr(0, end).find_first_not_of("-+, 0123456789") == std::string_view::npos;
}

class MarkedReader {
 public:
  explicit MarkedReader(std::string_view text) : lines_(split_lines(text)) {}

  Result<Patch> run() {
    patch_.marked = true;
    while (at_ < lines_.size() && trimmed(lines_[at_]).empty()) {
      ++at_;
    }
    if (at_ == lines_.size() || trimmed(lines_[at_]) != "*** Begin Patch") {
      return patch_error(at_ + 1, "expected \"*** Begin Patch\"");
    }
    for (++at_; at_ < lines_.size();) {
      const std::string_view line = without_line_end(lines_[at_]);
      if (trimmed(line) == "*** End Patch") {
        return finish();
      }
      if (trimmed(line).empty()) {
        ++at_;
      } else if (line.starts_with("*** Add File: ")) {
        BAWN_TRY(read_add(line.substr(14)));
      } else if (line.starts_with("*** Delete File: ")) {
        BAWN_TRY(begin_file(FilePatch::Kind::Delete, line.substr(17)));
      } else if (line.starts_with("*** Update File: ")) {
        BAWN_TRY(read_update(line.substr(17)));
      } else {
        return patch_error(at_ + 1,
                           "expected \"*** Add File: PATH\", \"*** Update File: PATH\", "
                           "\"*** Delete File: PATH\" or \"*** End Patch\"");
      }
    }
    return patch_error(lines_.size(),
                       "\"*** End Patch\" is missing; the patch may have been cut off");
  }

 private:
  Result<Patch> finish() {
    for (++at_; at_ < lines_.size(); ++at_) {
      if (!trimmed(lines_[at_]).empty()) {
        return patch_error(at_ + 1, "text behind \"*** End Patch\"; one patch at a time");
      }
    }
    if (patch_.files.empty()) {
      return patch_error(lines_.size(), "the patch changes no file");
    }
    return std::move(patch_);
  }

  Result<> begin_file(FilePatch::Kind kind, std::string_view path) {
    path = trimmed(path);
    if (path.empty() || path.find('\0') != std::string_view::npos) {
      return patch_error(at_ + 1, "expected a file name");
    }
    FilePatch file;
    file.kind = kind;
    file.patch_line = at_ + 1;
    file.old_path = path;
    file.new_path = path;
    patch_.files.push_back(std::move(file));
    ++at_;
    return {};
  }

  /// Lines that begin a new section of the patch.
  [[nodiscard]] bool at_section() const {
    const std::string_view line = without_line_end(lines_[at_]);
    return line.starts_with("*** Add File: ") || line.starts_with("*** Delete File: ") ||
           line.starts_with("*** Update File: ") || trimmed(line) == "*** End Patch";
  }

  static std::string content(std::string_view line) {
    return std::string(line) + (line.ends_with('\n') ? "" : "\n");
  }

  Result<> read_add(std::string_view path) {
    BAWN_TRY(begin_file(FilePatch::Kind::Add, path));
    Hunk hunk;
    hunk.patch_line = at_ + 1;
    for (; at_ < lines_.size() && !at_section(); ++at_) {
      if (!lines_[at_].starts_with('+')) {
        return patch_error(at_ + 1, "each line of a new file begins with \"+\"");
      }
      hunk.lines.push_back({PatchLine::Kind::Add, content(lines_[at_].substr(1))});
    }
    if (!hunk.lines.empty()) {
      patch_.files.back().hunks.push_back(std::move(hunk));
    }
    return {};
  }

  Result<> read_update(std::string_view path) {
    BAWN_TRY(begin_file(FilePatch::Kind::Modify, path));
    const std::size_t index = patch_.files.size() - 1;
    if (at_ < lines_.size() && lines_[at_].starts_with("*** Move to: ")) {
      const std::string_view to = trimmed(lines_[at_].substr(13));
      if (to.empty()) {
        return patch_error(at_ + 1, "expected a file name");
      }
      patch_.files[index].new_path = to;
      patch_.files[index].kind = FilePatch::Kind::Rename;
      ++at_;
    }
    while (at_ < lines_.size() && !at_section()) {
      Hunk hunk = BAWN_TRY(read_hunk());
      patch_.files[index].hunks.push_back(std::move(hunk));
    }
    const FilePatch& file = patch_.files[index];
    if (file.hunks.empty() && file.kind == FilePatch::Kind::Modify) {
      return patch_error(file.patch_line, "the file is named but nothing in it is changed");
    }
    return {};
  }

  Result<Hunk> read_hunk() {
    Hunk hunk;
    hunk.patch_line = at_ + 1;
    for (; at_ < lines_.size() && lines_[at_].starts_with("@@"); ++at_) {
      const std::string_view anchor = trimmed(lines_[at_].substr(2));
      if (!anchor.empty() && !is_range(anchor)) {
        hunk.anchors.emplace_back(anchor);
      }
    }
    for (; at_ < lines_.size() && !at_section() && !lines_[at_].starts_with("@@"); ++at_) {
      const std::string_view line = lines_[at_];
      if (trimmed(line) == "*** End of File") {
        hunk.at_end = true;
        ++at_;
        break;
      }
      const char mark = line[0];
      if (mark == '\n' || line == "\r\n") {
        hunk.lines.push_back({PatchLine::Kind::Context, std::string(line)});
      } else if (mark == ' ' || mark == '+' || mark == '-') {
        hunk.lines.push_back({mark == ' '   ? PatchLine::Kind::Context
                              : mark == '+' ? PatchLine::Kind::Add
                                            : PatchLine::Kind::Remove,
                              content(line.substr(1))});
      } else {
        return patch_error(at_ + 1,
                           "each line of a hunk begins with \" \", \"+\", \"-\" or \"@@\"");
      }
    }
    // A blank line before the next section is the writer's, not the file's.
    while (at_ < lines_.size() && at_section() && !hunk.lines.empty() &&
           without_line_end(hunk.lines.back().text).empty() && lines_[at_ - 1][0] != ' ' &&
           hunk.lines.back().kind == PatchLine::Kind::Context) {
      hunk.lines.pop_back();
    }
    const bool changes =
        std::any_of(hunk.lines.begin(), hunk.lines.end(),
                    [](const PatchLine& line) { return line.kind != PatchLine::Kind::Context; });
    if (!changes) {
      return patch_error(hunk.patch_line, "this hunk has no \"+\" and no \"-\" line");
    }
    return hunk;
  }

  std::vector<std::string_view> lines_;
  std::size_t at_ = 0;
  Patch patch_;
};

}  // namespace

Result<Patch> parse_marked_patch(std::string_view text) {
  return MarkedReader(text).run();
}

}  // namespace bawn::files
