#include "sh_state.hpp"

#include "variable_name.hpp"

#include <algorithm>
#include <array>

namespace bawn::shell {

namespace {

// Set by every shell for itself: carried over they would be wrong, or refused.
constexpr std::array<std::string_view, 13> kOwn = {
    "BAWN_CALL", "BAWN_EXEC", "EPOCHREALTIME", "EPOCHSECONDS", "FUNCNAME", "HISTCMD", "LINENO",
    "OPTIND",    "PPID",      "RANDOM",        "SECONDS",      "SRANDOM",  "_"};

constexpr std::array<std::string_view, 4> kKeptOptions = {"allexport", "noclobber", "noglob",
                                                          "notify"};
constexpr std::array<std::string_view, 5> kPoisonous = {"errexit", "nounset", "pipefail", "verbose",
                                                        "xtrace"};
constexpr std::string_view kScriptPrefix = "__b_";

/// Where the word that begins at `at` ends: at the first newline outside of quotes.
std::size_t end_of_word(std::string_view text, std::size_t at) noexcept {
  char quote = 0;
  bool dollar = false;  // $'…' knows backslashes
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\' && (quote == 0 || quote == '"' || dollar)) {
      ++at;
    } else if (quote != 0) {
      quote = c == quote ? '\0' : quote;
      dollar = dollar && quote != 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
      dollar = c == '\'' && at > 0 && text[at - 1] == '$';
    } else if (c == '\n') {
      break;
    }
  }
  return std::min(at, text.size());
}

/// Takes entries "NAME[=WORD]" and marks of sections from a text.
class Lines {
 public:
  explicit Lines(std::string_view text) : left_(text) {}

  struct Entry {
    std::string_view name;
    std::string_view word;
    bool has_word = false;
  };
  [[nodiscard]] bool at_end() const noexcept { return left_.empty(); }
  [[nodiscard]] std::string_view rest() const noexcept { return left_; }

  /// One line as it is.
  std::string_view line() {
    const std::string_view found = left_.substr(0, left_.find('\n'));
    left_.remove_prefix(std::min(found.size() + 1, left_.size()));
    return found;
  }
  /// What stands before the name: the command that would make it so, and its options.
  void skip_command() {
    for (const std::string_view command :
         {"alias ", "export ", "readonly ", "typeset ", "declare "}) {
      if (left_.starts_with(command)) {
        left_.remove_prefix(command.size());
        break;
      }
    }
    while (left_.starts_with('-')) {
      left_.remove_prefix(std::min(left_.find_first_of(" \n"), left_.size() - 1) + 1);
    }
  }
  Entry entry() {
    const std::size_t stop = std::min(left_.find_first_of("=\n"), left_.size());
    Entry found{.name = left_.substr(0, stop), .word = {}, .has_word = false};
    std::size_t end = stop;
    if (stop < left_.size() && left_[stop] == '=') {
      end = end_of_word(left_, stop + 1);
      found.word = left_.substr(stop + 1, end - stop - 1);
      found.has_word = true;
    }
    left_.remove_prefix(std::min(end + 1, left_.size()));
    return found;
  }

 private:
  std::string_view left_;
};

void take_variable(ShState& state, const Lines::Entry& entry) {
  if (entry.name == "__b_directory") {
    state.directory = unquoted(entry.word);
  } else if (entry.name == "__b_missing") {
    state.directory_missing = !unquoted(entry.word).empty();
  } else if (entry.name == "__b_began") {
    state.began = !unquoted(entry.word).empty();
  }
  // An array has no form that a POSIX shell could read.
  const bool usable =
      entry.has_word && !entry.word.starts_with('(') && is_variable_name(entry.name);
  if (usable && !entry.name.starts_with(kScriptPrefix) &&
      std::ranges::find(kOwn, entry.name) == kOwn.end()) {
    state.variables.emplace(entry.name, entry.word);
  }
}

void take_option(ShState& state, std::string_view line) {
  constexpr std::string_view kOn = "set -o ";
  if (!line.starts_with(kOn)) {
    return;
  }
  const std::string_view name = line.substr(kOn.size());
  if (std::ranges::find(kKeptOptions, name) != kKeptOptions.end() ||
      std::ranges::find(kPoisonous, name) != kPoisonous.end()) {
    state.options.emplace(name);
  }
}

/// False for what is no mark of a section.
bool take_mark(std::string_view line, std::string& section) {
  constexpr std::array<std::string_view, 7> kSections = {
      "#options", "#variables", "#exports", "#readonly", "#aliases", "#umask", "#functions"};
  if (std::ranges::find(kSections, line) == kSections.end()) {
    return false;
  }
  section = line;
  return true;
}

void take_entry(ShState& state, const std::string& section, Lines& lines) {
  if (section == "#options") {
    take_option(state, lines.line());
  } else if (section == "#variables") {
    take_variable(state, lines.entry());
  } else if (section == "#aliases") {
    lines.skip_command();
    const Lines::Entry entry = lines.entry();
    if (entry.has_word && !entry.name.empty()) {
      state.aliases.emplace(entry.name, entry.word);
    }
  } else if (section == "#umask") {
    state.mask = lines.line();
  } else {
    const bool exports = section == "#exports";
    lines.skip_command();
    const Lines::Entry entry = lines.entry();
    if (is_variable_name(entry.name) && !entry.name.starts_with(kScriptPrefix) &&
        std::ranges::find(kOwn, entry.name) == kOwn.end()) {
      (exports ? state.exported : state.read_only).emplace(entry.name);
    }
  }
}

}  // namespace

std::string_view sh_state_end() noexcept {
  return "#end\n";
}

std::string unquoted(std::string_view word) {
  std::string value;
  char quote = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    if (c == '\\' && quote != '\'' && i + 1 < word.size()) {
      value += word[++i];
    } else if (quote != 0 ? c == quote : c == '\'' || c == '"') {
      quote = quote == 0 ? c : '\0';
    } else {
      value += c;
    }
  }
  return value;
}

std::vector<std::string> ShState::poisonous() const {
  std::vector<std::string> found;
  for (const std::string_view name : kPoisonous) {
    if (options.contains(std::string(name))) {
      found.emplace_back(name);
    }
  }
  return found;
}

std::optional<ShState> parse_sh_state(std::string_view text) {
  if (!text.ends_with(sh_state_end())) {
    return std::nullopt;
  }
  text.remove_suffix(sh_state_end().size());
  ShState state;
  Lines lines(text);
  std::string section;
  while (!lines.at_end()) {
    Lines ahead = lines;
    if (take_mark(ahead.line(), section)) {
      lines = ahead;
      if (section == "#functions") {
        state.functions = lines.rest();
        break;
      }
    } else {
      take_entry(state, section, lines);
    }
  }
  return section == "#functions" ? std::optional(std::move(state)) : std::nullopt;
}

}  // namespace bawn::shell
