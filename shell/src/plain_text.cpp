#include "plain_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace bawn::shell {

namespace {

constexpr std::array<std::string_view, 22> kReserved = {
    "if",  "then",   "else", "elif",     "fi",   "do",     "done", "case", "esac", "while", "until",
    "for", "select", "in",   "function", "time", "coproc", "[[",   "]]",   "!",    "{",     "}"};
constexpr int kMaxDepth = 16;

bool is_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_word(char c) noexcept {
  return is_name(c) || std::string_view("./=:,@%+-~^*?[]!").find(c) != std::string_view::npos;
}

/// One list of commands: the whole text, or what stands inside `$( )`.
struct List {
  int words = 0;               ///< words of the present command, assignments not counted
  bool begun = false;          ///< the present command has a word, redirection or assignment
  bool needs_command = false;  ///< after `&&`, `||`, `|`
  bool needs_target = false;   ///< after `>` and `<`
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) noexcept : text_(text) {}

  bool accept() noexcept { return list(false) && at_ == text_.size(); }

 private:
  [[nodiscard]] bool more() const noexcept { return at_ < text_.size(); }
  [[nodiscard]] char here() const noexcept { return more() ? text_[at_] : '\0'; }

  /// A list up to its closing parenthesis, which is taken, or to the end of the text.
  bool list(bool nested) noexcept {
    List state;
    while (more()) {
      const char c = here();
      bool fine = true;
      if (nested && c == ')') {
        ++at_;
        return state.begun && !state.needs_command && !state.needs_target;
      }
      if (c == ' ' || c == '\t') {
        ++at_;
      } else if (c == '\n') {
        fine = newline(state);
      } else if (c == ';' || c == '&' || c == '|') {
        fine = separator(state);
      } else if (c == '<' || c == '>') {
        fine = redirection(state);
      } else {
        fine = word(state);
      }
      if (!fine) {
        return false;
      }
    }
    return !nested && !state.needs_command && !state.needs_target;
  }

  /// After `&&`, `||` and `|` a newline may stand: needs_command goes on.
  bool newline(List& state) noexcept {
    ++at_;
    state.words = 0;
    state.begun = false;
    return !state.needs_target;
  }

  bool separator(List& state) noexcept {
    if (!state.begun || state.needs_target) {
      return false;
    }
    const char c = text_[at_++];
    const bool twice = here() == c;
    at_ += twice ? 1 : 0;
    const char next = here();
    if ((c == ';' && twice) || next == ';' || next == '&' || next == '|' ||
        (c == '&' && !twice && next == '>')) {
      return false;
    }
    state = List{.needs_command = c == '|' || (c == '&' && twice)};
    return true;
  }

  bool redirection(List& state) noexcept {
    if (state.needs_target) {
      return false;
    }
    const char c = text_[at_++];
    if (here() == c) {
      if (c == '<') {
        return false;  // a here-document
      }
      ++at_;
    }
    state.begun = true;
    if (here() == '&') {
      ++at_;
      const std::size_t begin = at_;
      while (here() >= '0' && here() <= '9') {
        ++at_;
      }
      const bool ends =
          !more() || std::string_view(" \t\n;|)").find(here()) != std::string_view::npos;
      return at_ > begin && ends;
    }
    state.needs_target = true;
    return !more() || std::string_view("<>|&(").find(here()) == std::string_view::npos;
  }

  bool word(List& state) noexcept {
    const std::size_t begin = at_;
    if (here() == '#') {
      return comment(state);
    }
    bool quoted = false;
    while (more()) {
      const char c = here();
      if (is_word(c)) {
        ++at_;
      } else if (c == '\\') {
        quoted = true;
        // A newline behind it joins lines; nothing behind it is an unfinished text.
        if (at_ + 1 >= text_.size() || text_[at_ + 1] == '\n') {
          return false;
        }
        at_ += 2;
      } else if (c == '$') {
        quoted = true;
        if (!expansion()) {
          return false;
        }
      } else if (c == '\'' || c == '"') {
        quoted = true;
        if (!quotation(c)) {
          return false;
        }
      } else {
        break;
      }
    }
    word_end_ = at_;
    return take_word(state, text_.substr(begin, at_ - begin), quoted);
  }

  bool take_word(List& state, std::string_view word, bool quoted) noexcept {
    if (word.empty() || begins_subscript(word)) {
      return false;
    }
    if (state.needs_target) {
      state.needs_target = false;
      // In "<2>&1" the 2 is no file but the descriptor of the second redirection.
      return here() != '<' && here() != '>';
    }
    // A reserved word counts wherever a command may begin, also behind redirections.
    if (!quoted && state.words == 0 &&
        std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end()) {
      return false;
    }
    // An assignment may be followed by a command, so it leaves the command position open.
    state.words += word.find('=') == std::string_view::npos ? 1 : 0;
    state.begun = true;
    state.needs_command = false;
    return true;
  }

  bool comment(const List& state) noexcept {
    if (state.needs_target || depth_ != 0 || at_ == word_end_) {
      return false;
    }
    at_ = std::min(text_.find('\n', at_), text_.size());
    return true;
  }

  /// "name[": the parser looks for the end of an array's subscript.
  static bool begins_subscript(std::string_view word) noexcept {
    const auto end = std::find_if_not(word.begin(), word.end(), is_name);
    return end != word.begin() && end != word.end() && *end == '[';
  }

  bool name() noexcept {
    const std::size_t begin = at_;
    while (is_name(here())) {
      ++at_;
    }
    return at_ != begin;
  }

  /// `$name`, `$?`, `${name}`, `$(list)`. All other forms are for the parser.
  bool expansion() noexcept {
    ++at_;
    const char c = here();
    if (c == '?' || c == '#' || c == '@' || c == '$' || c == '!') {
      ++at_;
      return true;
    }
    if (c == '{') {
      ++at_;
      if (!name() || here() != '}') {
        return false;
      }
      ++at_;
      return true;
    }
    if (c == '(') {
      ++at_;
      if (here() == '(' || depth_ >= kMaxDepth) {
        return false;
      }
      ++depth_;
      const bool fine = list(true);
      --depth_;
      return fine;
    }
    return name();
  }

  bool quotation(char quote) noexcept {
    ++at_;
    while (more() && here() != quote) {
      const char c = here();
      if (quote == '"' && c == '`') {
        return false;
      }
      if (quote == '"' && c == '$') {
        if (!expansion()) {
          return false;
        }
        continue;
      }
      at_ += quote == '"' && c == '\\' ? 2 : 1;
    }
    if (at_ >= text_.size()) {
      return false;
    }
    ++at_;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::size_t word_end_ = std::string_view::npos;  // where the last word ended: no comment there
};

}  // namespace

bool is_plain_text(std::string_view text) noexcept {
  return Scanner(text).accept();
}

}  // namespace bawn::shell
