#include "plain_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace bawn::shell {

namespace {

constexpr std::array<std::string_view, 20> kReserved = {
    "if",    "then", "else",   "elif", "fi",       "do",   "done",   "case", "esac", "while",
    "until", "for",  "select", "in",   "function", "time", "coproc", "[[",   "]]",   "!"};

bool is_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_word(char c) noexcept {
  return is_name(c) || std::string_view("./=:,@%+-~^*?[]!").find(c) != std::string_view::npos;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) noexcept : text_(text) {}

  bool accept() noexcept {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool fine = c == ' ' || c == '\t'              ? (++at_, true)
                        : c == '\n'                        ? newline()
                        : c == ';' || c == '&' || c == '|' ? separator()
                        : c == '<' || c == '>'             ? redirection()
                                                           : command_word();
      if (!fine) {
        return false;
      }
    }
    return !needs_command_ && !needs_target_;
  }

 private:
  bool newline() noexcept {
    ++at_;
    if (needs_target_) {
      return false;
    }
    words_ = 0;
    redirected_ = false;
    return true;  // after `&&`, `||` and `|` a newline may stand: needs_command_ goes on
  }

  bool separator() noexcept {
    if ((words_ == 0 && !redirected_) || needs_target_) {
      return false;
    }
    const char c = text_[at_++];
    const bool twice = at_ < text_.size() && text_[at_] == c;
    if (twice) {
      ++at_;
    }
    const char next = at_ < text_.size() ? text_[at_] : '\0';
    if ((c == ';' && twice) || next == ';' || next == '&' || next == '|' ||
        (c == '&' && !twice && next == '>')) {
      return false;
    }
    needs_command_ = c == '|' || (c == '&' && twice);
    words_ = 0;
    redirected_ = false;
    return true;
  }

  bool redirection() noexcept {
    if (needs_target_) {
      return false;
    }
    const char c = text_[at_++];
    if (at_ < text_.size() && text_[at_] == c) {
      if (c == '<') {
        return false;  // a here-document
      }
      ++at_;
    }
    if (at_ < text_.size() && text_[at_] == '&') {
      ++at_;
      const std::size_t begin = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
        ++at_;
      }
      redirected_ = true;
      return at_ > begin && (at_ == text_.size() || !is_word(text_[at_]));
    }
    needs_target_ = true;
    redirected_ = true;
    return at_ == text_.size() ||
           std::string_view("<>|&").find(text_[at_]) == std::string_view::npos;
  }

  bool command_word() noexcept {
    const std::size_t begin = at_;
    bool quoted = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_word(c)) {
        ++at_;
      } else if (c == '$') {
        if (!variable()) {
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
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) {
      return false;  // a character that only the parser understands
    }
    if (begins_subscript(word)) {
      return false;
    }
    if (needs_target_) {
      needs_target_ = false;
      // In "<2>&1" the 2 is no file but the descriptor of the second redirection.
      return at_ == text_.size() || (text_[at_] != '<' && text_[at_] != '>');
    }
    // A reserved word counts wherever a command may begin, also behind redirections.
    if (!quoted && words_ == 0 &&
        std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end()) {
      return false;
    }
    // An assignment may be followed by a command, so it leaves the command position open.
    words_ += word.find('=') == std::string_view::npos ? 1 : 0;
    redirected_ = true;
    needs_command_ = false;
    return true;
  }

  /// "name[": the parser looks for the end of an array's subscript.
  static bool begins_subscript(std::string_view word) noexcept {
    const auto end = std::find_if_not(word.begin(), word.end(), is_name);
    return end != word.begin() && end != word.end() && *end == '[';
  }

  /// `$name` or `$?`; what begins with `$(`, `${`, `$'` and the like is not plain.
  bool variable() noexcept {
    ++at_;
    if (at_ == text_.size()) {
      return false;
    }
    if (text_[at_] == '?' || text_[at_] == '#' || text_[at_] == '@') {
      ++at_;
      return true;
    }
    if (!is_name(text_[at_])) {
      return false;
    }
    while (at_ < text_.size() && is_name(text_[at_])) {
      ++at_;
    }
    return true;
  }

  bool quotation(char quote) noexcept {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote) {
      const char c = text_[at_];
      if (quote == '"' && (c == '\\' || c == '`')) {
        return false;
      }
      if (quote == '"' && c == '$') {
        if (!variable()) {
          return false;
        }
        continue;
      }
      ++at_;
    }
    if (at_ == text_.size()) {
      return false;
    }
    ++at_;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int words_ = 0;               // words of the present command, assignments not counted
  bool redirected_ = false;     // the present command has a redirection or an assignment
  bool needs_command_ = false;  // after `&&`, `||`, `|`
  bool needs_target_ = false;   // after `>` and `<`
};

}  // namespace

bool is_plain_text(std::string_view text) noexcept {
  return Scanner(text).accept();
}

}  // namespace bawn::shell
