/// \file
/// Lines typed by a person: editing, history and completion by libedit where it is installed and
/// standard input is a terminal, plain lines elsewhere.
#pragma once

#include "person_call.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bawn::cli {

/// Completions of a word, each as the whole word; for paths with their directory. Names that are no
/// plain words are left out: a command may have chosen them, and they would be typed unquoted.
using Completer = std::function<std::vector<std::string>(const std::string& word)>;

/// Threads: for the main thread.
class LineEditor {
 public:
  enum class End { Line, Interrupted, EndOfInput };
  struct Typed {
    End end = End::EndOfInput;
    std::string text;  ///< without the line end
  };

  /// libedit's when it can be had, else one that reads plain lines and prints no prompt unless
  /// standard input is a terminal. `interrupts` outlives the editor.
  static std::unique_ptr<LineEditor> make(Completer completer, const Interrupts& interrupts);
  virtual ~LineEditor() = default;

  /// Blocks until a line was typed. Ctrl-C gives Interrupted and drops what was typed, whether it
  /// was typed at this prompt or since the last command ended.
  [[nodiscard]] virtual Typed read(const std::string& prompt) = 0;
  /// Remembers a whole command for the arrow keys; kept in memory only.
  virtual void remember(const std::string& command) = 0;
  /// Why there is no editing; empty when there is, or when nobody would miss it.
  [[nodiscard]] virtual std::string limits() const { return {}; }
};

/// The last word of a command line as far as blanks tell; quotes are not looked at.
[[nodiscard]] std::string last_word(const std::string& text);
/// Whether the name means itself in bash without quotes, and prints as itself on a terminal.
[[nodiscard]] bool is_plain_word(const std::string& name);
/// What all of `words` begin with.
[[nodiscard]] std::string common_prefix(const std::vector<std::string>& words);

}  // namespace bawn::cli
