#include "patch_apply.hpp"

#include "line_buffer.hpp"
#include "lines.hpp"
#include "near_miss.hpp"
#include "text_encoding.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace bawn::files {

namespace {

constexpr std::size_t kMaxCompared = 100'000'000;  ///< lines compared or moved, of one file

std::string_view core(std::string_view line) {
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) {
    line.remove_suffix(1);
  }
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front())) != 0) {
    line.remove_prefix(1);
  }
  return line;
}

/// How two lines are compared.
enum class Likeness { Exact, ExactBody, IgnoreBlanks };

bool alike(std::string_view here, std::string_view wanted, Likeness likeness) {
  switch (likeness) {
    case Likeness::Exact:
      return here == wanted;
    case Likeness::ExactBody:  // the last line may lack its line end
      return here == wanted || (!here.ends_with('\n') && here == without_line_end(wanted));
    case Likeness::IgnoreBlanks:
      return core(here) == core(wanted);
  }
  return false;
}

class Applier {
 public:
  Applier(std::string_view path, std::string_view before, const ApplyOptions& options)
      : path_(path),
        options_(options),
        lines_(split_lines(before)),
        line_end_(line_ending_of(before) == LineEnding::CrLf ? "\r\n" : "\n"),
        final_newline_(before.empty() || before.ends_with('\n')) {}

  Result<PatchedText> run(const std::vector<Hunk>& hunks) {
    for (const Hunk& hunk : hunks) {
      BAWN_TRY(hunk.numbered ? apply_numbered(hunk) : apply_marked(hunk));
    }
    const bool marked = !hunks.empty() && !hunks.front().numbered;
    for (std::size_t at = 0; at < lines_.size(); ++at) {
      // The marked form cannot say that a last line has no line end; lines put behind it need one.
      if (marked && !result_.text.empty() && !result_.text.ends_with('\n')) {
        result_.text.append(line_end_);
      }
      result_.text.append(lines_[at].text);
    }
    if (marked && !final_newline_) {
      result_.text.resize(without_line_end(result_.text).size());
    }
    return std::move(result_);
  }

 private:
  using Body = std::vector<const PatchLine*>;

  [[nodiscard]] std::unexpected<Error> error(const Hunk& hunk, const std::string& problem) const {
    return patch_error(hunk.patch_line, fmt::format("{}: {}", path_, problem));
  }

  static std::size_t leading_context(const Body& body) {
    const auto end = std::find_if(body.begin(), body.end(), [](const PatchLine* line) {
      return line->kind != PatchLine::Kind::Context;
    });
    return static_cast<std::size_t>(end - body.begin());
  }

  static std::size_t trailing_context(const Body& body) {
    const auto end = std::find_if(body.rbegin(), body.rend(), [](const PatchLine* line) {
      return line->kind != PatchLine::Kind::Context;
    });
    return static_cast<std::size_t>(end - body.rbegin());
  }

  static std::vector<std::string_view> old_lines(const Body& body) {
    std::vector<std::string_view> lines;
    for (const PatchLine* line : body) {
      if (line->kind != PatchLine::Kind::Add) {
        lines.emplace_back(line->text);
      }
    }
    return lines;
  }

  bool matches(std::size_t at, const std::vector<std::string_view>& wanted, Likeness likeness) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      ++compared_;
      if (lines_[at + i].taken || !alike(lines_[at + i].text, wanted[i], likeness)) {
        return false;
      }
    }
    return true;
  }

  /// The matching place nearest to `start`: there, then by turns one further down and one further
  /// up.
  std::optional<std::size_t> nearest(const std::vector<std::string_view>& wanted,
                                     std::size_t start) {
    if (wanted.size() > lines_.size()) {
      return std::nullopt;
    }
    const std::size_t last = lines_.size() - wanted.size();
    const std::size_t from = std::min(start, lines_.size());
    for (std::size_t distance = 0; distance <= lines_.size(); ++distance) {
      if (from + distance <= last && matches(from + distance, wanted, Likeness::Exact)) {
        return from + distance;
      }
      if (distance != 0 && distance <= from && from - distance <= last &&
          matches(from - distance, wanted, Likeness::Exact)) {
        return from - distance;
      }
      if (compared_ > kMaxCompared) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  std::optional<std::size_t> find_numbered(const Hunk& hunk, const Body& body, bool whole) {
    const auto wanted = old_lines(body);
    // A hunk from line 1 belongs to the beginning, and one that ends without context to the end.
    const bool at_beginning = whole && hunk.old_start <= 1;
    const bool at_end = whole && trailing_context(body) == 0;
    if (!at_beginning && !at_end) {
      return nearest(wanted, hunk.new_start == 0 ? 0 : hunk.new_start - 1);
    }
    if (wanted.size() > lines_.size() ||
        (at_beginning && at_end && wanted.size() != lines_.size())) {
      return std::nullopt;
    }
    const std::size_t at = at_beginning ? 0 : lines_.size() - wanted.size();
    return matches(at, wanted, Likeness::Exact) ? std::optional(at) : std::nullopt;
  }

  Result<> apply_numbered(const Hunk& hunk) {
    Body body;
    for (const PatchLine& line : hunk.lines) {
      body.push_back(&line);
    }
    for (unsigned fuzz = 0; fuzz <= options_.fuzz; ++fuzz) {
      const std::size_t head = std::min<std::size_t>(fuzz, leading_context(body));
      const std::size_t tail = std::min<std::size_t>(fuzz, trailing_context(body));
      if (head + tail >= body.size() || (fuzz != 0 && head + tail == 0)) {
        break;
      }
      const Body part(body.begin() + static_cast<std::ptrdiff_t>(head),
                      body.end() - static_cast<std::ptrdiff_t>(tail));
      if (old_lines(part).empty() && fuzz != 0) {
        break;  // without any line to match it would go anywhere
      }
      if (const auto at = find_numbered(hunk, part, fuzz == 0)) {
        const auto expected =
            static_cast<std::ptrdiff_t>(std::max<std::size_t>(hunk.new_start, 1) - 1 + head);
        put(hunk, part, *at, static_cast<std::ptrdiff_t>(*at) - expected, fuzz);
        return {};
      }
    }
    if (compared_ > kMaxCompared) {
      return error(hunk, "finding its place would take too long");
    }
    return error(hunk, "the hunk does not apply" + why_not(hunk, body));
  }

  [[nodiscard]] std::string why_not(const Hunk& hunk, const Body& body) const {
    std::string wanted;
    for (const std::string_view line : old_lines(body)) {
      wanted.append(line);
    }
    std::string here;
    for (std::size_t at = 0; at < lines_.size(); ++at) {
      here.append(lines_[at].text);
    }
    const std::string place =
        hunk.numbered ? fmt::format(" at line {} nor near it", hunk.old_start) : std::string();
    if (wanted.empty()) {
      return place + ": it adds to an empty file, and this one is not empty";
    }
    if (here.empty()) {
      return place + ": the file is empty";
    }
    if (here.starts_with(wanted) || here.find("\n" + wanted) != std::string::npos) {
      return place +
             (hunk.numbered
                  ? ": its lines are there, but not where they must be: a hunk from line 1, or "
                    "without context at its end, must stand at the file's beginning or end, and "
                    "hunks cannot overlap"
                  : ": its lines are only before the place that was reached; put hunks in the "
                    "order of the file");
    }
    const auto miss = find_near_miss(here, wanted, "the patch");
    return miss ? fmt::format("{}; nearest is lines {} to {}: {}\n(- patch, + the file)\n{}", place,
                              miss->first_line, miss->last_line, miss->reason, miss->diff)
                : place + ": nothing in the file is like its lines";
  }

  /// Writes the hunk's lines to their place. Context lines stay as the file has them.
  void put(const Hunk& hunk, const Body& body, std::size_t at, std::ptrdiff_t offset,
           unsigned fuzz) {
    std::vector<LineBuffer::Line> fresh;
    std::size_t old_at = at;
    for (const PatchLine* line : body) {
      if (line->kind != PatchLine::Kind::Add) {
        if (line->kind == PatchLine::Kind::Context) {
          fresh.push_back({.text = lines_[old_at].text, .taken = hunk.numbered});
        }
        ++old_at;
      } else {
        fresh.push_back({.text = line->text, .taken = hunk.numbered});
      }
    }
    compared_ += lines_.replace(at, old_at - at, fresh);
    cursor_ = at + fresh.size();
    result_.places.push_back(
        {.patch_line = hunk.patch_line, .line = at + 1, .offset = offset, .fuzz = fuzz});
  }

  std::optional<std::size_t> find_anchor(const std::string& anchor) const {
    for (const Likeness likeness : {Likeness::Exact, Likeness::IgnoreBlanks}) {
      for (std::size_t at = cursor_; at < lines_.size(); ++at) {
        if (alike(without_line_end(lines_[at].text), anchor, likeness)) {
          return at;
        }
      }
    }
    return std::nullopt;
  }

  std::vector<std::size_t> marked_places(const Hunk& hunk,
                                         const std::vector<std::string_view>& wanted,
                                         Likeness likeness) {
    std::vector<std::size_t> places;
    if (wanted.size() > lines_.size()) {
      return places;
    }
    const std::size_t last = lines_.size() - wanted.size();
    for (std::size_t at = hunk.at_end ? last : cursor_; at >= cursor_ && at <= last; ++at) {
      if (compared_ > kMaxCompared || places.size() == 8) {
        break;
      }
      if (matches(at, wanted, likeness)) {
        places.push_back(at);
      }
    }
    return places;
  }

  Result<> apply_marked(const Hunk& hunk) {
    for (const std::string& anchor : hunk.anchors) {
      const auto at = find_anchor(anchor);
      if (!at) {
        return error(hunk, fmt::format("the line \"@@ {}\" names is not in the file behind line {}",
                                       anchor, cursor_));
      }
      cursor_ = *at + 1;
    }
    Body body;
    for (const PatchLine& line : hunk.lines) {
      body.push_back(&line);
    }
    const auto wanted = old_lines(body);
    if (wanted.empty()) {
      put(hunk, body, hunk.anchors.empty() || hunk.at_end ? lines_.size() : cursor_, 0, 0);
      return {};
    }
    std::vector<std::size_t> places = marked_places(hunk, wanted, Likeness::ExactBody);
    const unsigned fuzz = places.empty() && options_.fuzz != 0 ? 1 : 0;
    if (fuzz != 0) {
      places = marked_places(hunk, wanted, Likeness::IgnoreBlanks);
    }
    if (compared_ > kMaxCompared) {
      return error(hunk, "finding its place would take too long");
    }
    if (places.empty()) {
      return error(hunk, "the hunk's lines are not in the file" + why_not(hunk, body));
    }
    if (places.size() > 1 && hunk.anchors.empty()) {
      std::transform(places.begin(), places.end(), places.begin(),
                     [](std::size_t at) { return at + 1; });
      return error(hunk,
                   fmt::format("the hunk's lines are in the file more than once (lines {}); add "
                               "context, or name the function before it in a \"@@ \" line",
                               fmt::join(places, ", ")));
    }
    put(hunk, body, places.front(), 0, fuzz);
    return {};
  }

  std::string_view path_;
  ApplyOptions options_;
  LineBuffer lines_;
  std::string_view line_end_;
  bool final_newline_;
  std::size_t cursor_ = 0;
  std::size_t compared_ = 0;
  PatchedText result_;
};

/// Hunks with CRLF line ends, when none of their lines has one.
std::optional<std::vector<Hunk>> as_crlf(const std::vector<Hunk>& hunks) {
  std::vector<Hunk> changed = hunks;
  for (Hunk& hunk : changed) {
    for (PatchLine& line : hunk.lines) {
      if (line.text.ends_with("\r\n")) {
        return std::nullopt;
      }
      line.text = with_line_ending(line.text, LineEnding::CrLf);
    }
  }
  return changed;
}

}  // namespace

Result<PatchedText> apply_hunks(std::string_view path, std::string_view before,
                                const std::vector<Hunk>& hunks, const ApplyOptions& options) {
  const bool crlf = line_ending_of(before) == LineEnding::CrLf;
  const auto changed = crlf ? as_crlf(hunks) : std::nullopt;
  const std::vector<Hunk>& used = changed ? *changed : hunks;
  return Applier(path, before, options).run(used);
}

}  // namespace bawn::files
