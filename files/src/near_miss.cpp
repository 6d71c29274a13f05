#include "near_miss.hpp"

#include "diff.hpp"
#include "lines.hpp"
#include "text_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <unordered_map>
#include <vector>

namespace bawn::files {

namespace {

constexpr std::size_t kMaxLines = 200'000;  ///< of the text that are compared
constexpr std::size_t kMaxWantedLines = 400;
constexpr std::size_t kMaxFuzzyLines = 40'000;
constexpr std::size_t kMaxDiffBytes = 4096;

using Lines = std::vector<std::string_view>;

/// The start of the window that most of the wanted lines vote for; none without any equal line.
std::optional<std::size_t> by_votes(const Lines& lines, const Lines& wanted) {
  // Of a brace alone there are many; where there is nothing else it must do.
  const bool any_long = std::any_of(wanted.begin(), wanted.end(),
                                    [](std::string_view line) { return folded(line).size() >= 2; });
  const std::size_t least = any_long ? 2 : 1;
  std::unordered_map<std::string, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::string form = folded(wanted[i]);
    if (form.size() >= least) {
      places[std::move(form)].push_back(i);
    }
  }
  std::map<std::size_t, std::size_t> votes;
  const std::size_t most = std::min(lines.size(), kMaxLines);
  for (std::size_t at = 0; at < most; ++at) {
    const auto found = places.find(folded(lines[at]));
    if (found == places.end()) {
      continue;
    }
    for (const std::size_t i : found->second) {
      if (i <= at) {
        ++votes[at - i];
      }
    }
  }
  const auto best = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return best == votes.end() ? std::nullopt : std::optional(best->first);
}

/// The place that differs in line ends alone; for texts of blanks, which have nothing to vote by.
std::optional<std::size_t> by_line_ends(std::string_view text, std::string_view wanted) {
  if (text.find('\r') == std::string_view::npos && wanted.find('\r') == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string plain = with_lf(text);
  const std::size_t at = plain.find(with_lf(wanted));
  return at == std::string::npos ? std::nullopt : std::optional(line_number_at(plain, at) - 1);
}

/// The first line with the wanted one somewhere in it.
std::optional<std::size_t> by_part(const Lines& lines, const Lines& wanted) {
  const std::string form = wanted.size() == 1 ? folded(wanted.front()) : std::string();
  if (form.size() < 2) {
    return std::nullopt;
  }
  for (std::size_t at = 0; at < std::min(lines.size(), kMaxFuzzyLines); ++at) {
    if (folded(lines[at]).find(form) != std::string::npos) {
      return at;
    }
  }
  return std::nullopt;
}

using Pairs = std::bitset<4096>;

Pairs letter_pairs(std::string_view line) {
  Pairs pairs;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    pairs.set(
        ((static_cast<unsigned char>(line[i]) * 61U) ^ static_cast<unsigned char>(line[i + 1])) &
        4095U);
  }
  return pairs;
}

/// The line most like the longest wanted one, by shared pairs of letters.
std::optional<std::size_t> by_likeness(const Lines& lines, const Lines& wanted) {
  const auto longest =
      std::max_element(wanted.begin(), wanted.end(), [](std::string_view a, std::string_view b) {
        return squeezed(a).size() < squeezed(b).size();
      });
  const std::string form = folded(*longest).substr(0, 400);
  if (form.size() < 4) {
    return std::nullopt;
  }
  const Pairs pairs = letter_pairs(form);
  double best = 0.6;  // less alike than this tells the reader nothing
  std::optional<std::size_t> place;
  for (std::size_t at = 0; at < std::min(lines.size(), kMaxFuzzyLines); ++at) {
    const Pairs other = letter_pairs(folded(lines[at].substr(0, 500)));
    const std::size_t sum = pairs.count() + other.count();
    const double score =
        sum == 0 ? 0.0
                 : 2.0 * static_cast<double>((pairs & other).count()) / static_cast<double>(sum);
    if (score > best) {
      best = score;
      place = at;
    }
  }
  const auto index = static_cast<std::size_t>(longest - wanted.begin());
  return place && *place >= index ? std::optional(*place - index) : std::nullopt;
}

/// Whether `wanted` is within `here` after the same change to both.
template <class Form>
bool same_under(std::string_view here, std::string_view wanted, const Form& form) {
  return form(here).find(form(wanted)) != std::string::npos;
}

/// The lines without a number and a tab at the start of each; none when not all have them.
std::optional<std::string> without_numbers(std::string_view text) {
  std::string bare;
  for (std::string_view line : split_lines(text)) {
    const std::size_t digits = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t tab = line.find_first_not_of("0123456789", digits);
    if (tab == digits || tab == std::string_view::npos || line[tab] != '\t') {
      return std::nullopt;
    }
    bare += line.substr(tab + 1);
  }
  return bare;
}

/// What a wanted text has that is not seen; U+FFFD may be the file's own only by chance.
std::string unwritable_or_mark(std::string_view wanted) {
  const std::string what = unwritable_part(wanted);
  return what.empty() ? "U+FFFD" : what;
}

std::string reason_of(std::string_view here, std::string_view wanted, std::string_view name) {
  if (here.find(wanted) != std::string_view::npos) {
    return wanted.ends_with('\n')
               ? "only white space at the start of a line differs"
               : fmt::format("{} ends there without a newline, and the file goes on", name);
  }
  if (wanted.ends_with('\n') && !here.ends_with('\n') && here.ends_with(without_line_end(wanted))) {
    return fmt::format("only the last newline differs: the file ends without one, {} with one",
                       name);
  }
  if (same_under(here, wanted, with_lf)) {
    return here.find("\r\n") != std::string_view::npos
               ? "only line ends differ: the file has CRLF there"
               : fmt::format("only line ends differ: {} has CRLF", name);
  }
  if (same_under(here, wanted, writable_part)) {
    const std::string what = unwritable_part(here);
    return what.empty()
               ? fmt::format("{} has {} that the file has not", name, unwritable_or_mark(wanted))
               : fmt::format(
                     "the file has {} there; leave them out of {}, or change that place "
                     "with a command",
                     what, name);
  }
  if (same_under(here, wanted, trimmed_ends)) {
    return "only white space at line ends differs";
  }
  if (same_under(here, wanted, untabbed)) {
    const bool tabs_here = here.find('\t') != std::string_view::npos;
    const bool tabs_wanted = wanted.find('\t') != std::string_view::npos;
    if (tabs_here && !tabs_wanted) {
      return fmt::format("only white space differs: the file has tabs where {} has spaces", name);
    }
    if (!tabs_here && tabs_wanted) {
      return fmt::format("only white space differs: the file has spaces where {} has tabs", name);
    }
    return "only the amount of white space differs";
  }
  if (same_under(here, wanted, squeezed)) {
    return "only white space differs (line breaks or indentation)";
  }
  if (same_under(here, wanted, plain_marks)) {
    return "only quotes, dashes or special blanks differ (typographic against plain ones)";
  }
  if (same_under(here, wanted, folded)) {
    return "only upper and lower case, quotes or white space differ";
  }
  if (wanted.find("\\n") != std::string_view::npos ||
      wanted.find("\\\"") != std::string_view::npos) {
    return fmt::format("the text differs; {} has backslash escapes, which are taken as they stand",
                       name);
  }
  return "the text differs";
}

/// Blanks made visible where they are what differs: tabs, and blanks at the line's end.
std::string visible_blanks(std::string_view text) {
  std::string out;
  for (const std::string_view line : split_lines(text)) {
    std::size_t end = line.size();
    while (end > 0 && is_blank(line[end - 1])) {
      --end;
    }
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      const std::string_view shown = c == '\t'              ? "→"
                                     : c == '\r'            ? "␍"
                                     : c == ' ' && i >= end ? "·"
                                                            : std::string_view(&line[i], 1);
      out.append(shown);
    }
  }
  return out;
}

std::string small_diff(std::string_view wanted, std::string_view here) {
  std::string before(wanted);
  std::string after(here);
  for (std::string* text : {&before, &after}) {
    *text += text->ends_with('\n') ? "" : "\n";
  }
  const bool blanks = squeezed(wanted) == squeezed(here);
  const UnifiedDiff diff = unified_diff("wanted", "file", blanks ? visible_blanks(before) : before,
                                        blanks ? visible_blanks(after) : after,
                                        {.context = 1, .max_bytes = kMaxDiffBytes});
  const std::size_t body = diff.text.find("@@");
  return body == std::string::npos ? std::string() : diff.text.substr(body);
}

}  // namespace

std::optional<NearMiss> find_near_miss(std::string_view text, std::string_view wanted,
                                       std::string_view name) {
  const Lines lines = split_lines(text);
  Lines wanted_lines = split_lines(wanted);
  wanted_lines.resize(std::min(wanted_lines.size(), kMaxWantedLines));
  if (lines.empty() || wanted_lines.empty()) {
    return std::nullopt;
  }
  auto start = by_line_ends(text, wanted);
  if (!start) {
    start = by_votes(lines, wanted_lines);
  }
  if (!start) {
    start = by_part(lines, wanted_lines);
  }
  if (!start) {
    start = by_likeness(lines, wanted_lines);
  }
  if (!start) {
    return std::nullopt;
  }
  const std::size_t end = std::min(*start + wanted_lines.size(), lines.size());
  const auto* const from = lines[*start].data();
  const std::string_view here(
      from, static_cast<std::size_t>(lines[end - 1].data() + lines[end - 1].size() - from));
  NearMiss miss;
  miss.first_line = *start + 1;
  miss.last_line = end;
  miss.reason = reason_of(here, wanted, name);
  miss.diff = small_diff(wanted, here);
  return miss;
}

std::string describe_near_miss(std::string_view text, std::string_view wanted) {
  if (const auto bare = without_numbers(wanted);
      bare && !bare->empty() && text.find(*bare) != std::string_view::npos) {
    return ": it has the line numbers that read_file shows; leave them out, and the tab behind "
           "each";
  }
  const auto miss = find_near_miss(text, wanted);
  if (!miss) {
    return wanted.find("\xEF\xBF\xBD") == std::string_view::npos
               ? ", nor anything like it; read the file again"
               : ": it has U+FFFD, which is shown for bytes that are not UTF-8; leave such places "
                 "out of it, or change them with a command";
  }
  const std::string place = miss->first_line == miss->last_line
                                ? fmt::format("line {}", miss->first_line)
                                : fmt::format("lines {} to {}", miss->first_line, miss->last_line);
  return fmt::format("; nearest is {}: {}\n(- old_string, + the file)\n{}", place, miss->reason,
                     miss->diff);
}

}  // namespace bawn::files
