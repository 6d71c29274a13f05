#include "line_editor.hpp"

#include <fmt/format.h>

#include <dlfcn.h>
#include <histedit.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <string_view>
#include <tuple>
#include <utility>

namespace bawn::cli {
namespace {

class PlainLines final : public LineEditor {
 public:
  PlainLines(bool terminal, const Interrupts& interrupts)
      : terminal_(terminal), interrupts_(interrupts) {}

  Typed read(const std::string& prompt) override {
    if (terminal_) {
      fmt::print("{}", prompt);
      std::fflush(stdout);
    }
    Typed typed;
    for (;;) {
      pollfd waiting[] = {{STDIN_FILENO, POLLIN, 0}, {interrupts_.fd(), POLLIN, 0}};
      if (::poll(waiting, 2, -1) < 0) {
        continue;
      }
      if (interrupts_.take()) {
        end_line();
        return {.end = End::Interrupted, .text = {}};
      }
      char byte = 0;
      // One byte at a time: what stands behind the line may be meant for somebody else.
      const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        typed.end = typed.text.empty() ? End::EndOfInput : End::Line;
        return typed;
      }
      if (byte == '\n') {
        typed.end = End::Line;
        return typed;
      }
      typed.text += byte;
    }
  }
  void remember(const std::string& /*command*/) override {}
  [[nodiscard]] std::string limits() const override {
    return terminal_ ? "libedit.so.2 is not installed: no history and no completion" : "";
  }

 private:
  /// Behind the "^C" that the terminal itself has shown.
  void end_line() const {
    if (terminal_) {
      fmt::print("\n");
    }
  }

  bool terminal_;
  const Interrupts& interrupts_;
};

/// While it lives the terminal sends no signal for Ctrl-C: it is a key like any other, from before
/// the prompt is seen until the line is read.
class InterruptIsKey {
 public:
  InterruptIsKey() { set(false); }
  ~InterruptIsKey() { set(true); }
  InterruptIsKey(const InterruptIsKey&) = delete;
  InterruptIsKey& operator=(const InterruptIsKey&) = delete;

 private:
  static void set(bool signals) {
    termios mode{};
    if (::tcgetattr(STDIN_FILENO, &mode) != 0) {
      return;  // the terminal is gone; reading says so
    }
    mode.c_lflag = signals ? mode.c_lflag | ISIG : mode.c_lflag & ~static_cast<tcflag_t>(ISIG);
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
  }
};

/// libedit's functions, loaded when a person's session begins, so that no other subcommand pays.
struct Library {
  void* handle = nullptr;
  decltype(&::el_init) init = nullptr;
  decltype(&::el_end) end = nullptr;
  decltype(&::el_set) set = nullptr;
  decltype(&::el_gets) gets = nullptr;
  decltype(&::el_line) line = nullptr;
  decltype(&::el_insertstr) insert = nullptr;
  decltype(&::history_init) history_init = nullptr;
  decltype(&::history_end) history_end = nullptr;
  decltype(&::history) history = nullptr;

  bool load() {
    handle = ::dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    return handle != nullptr && find(init, "el_init") && find(end, "el_end") &&
           find(set, "el_set") && find(gets, "el_gets") && find(line, "el_line") &&
           find(insert, "el_insertstr") && find(history_init, "history_init") &&
           find(history_end, "history_end") && find(history, "history");
  }

 private:
  template <class Function>
  bool find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(::dlsym(handle, name));
    return function != nullptr;
  }
};

class LibeditLines final : public LineEditor {
 public:
  LibeditLines(const Library& library, Completer completer, const Interrupts& interrupts)
      : library_(library), completer_(std::move(completer)), interrupts_(interrupts) {
    std::setlocale(LC_CTYPE, "");
    edit_ = library_.init("bawn", stdin, stdout, stderr);
    history_ = library_.history_init();
    HistEvent event{};
    library_.history(history_, &event, H_SETSIZE, 1000);
    current_ = this;
    library_.set(edit_, EL_PROMPT, &LibeditLines::prompt_of);
    library_.set(edit_, EL_EDITOR, "emacs");
    library_.set(edit_, EL_SIGNAL, 0);
    library_.set(edit_, EL_HIST, library_.history, history_);
    library_.set(edit_, EL_ADDFN, "bawn-complete", "Complete a path", &LibeditLines::complete);
    library_.set(edit_, EL_BIND, "^I", "bawn-complete", nullptr);
    library_.set(edit_, EL_SETTY, "-d", "-isig", nullptr);
    library_.set(edit_, EL_ADDFN, "bawn-interrupt", "Drop the line", &LibeditLines::interrupt);
    library_.set(edit_, EL_BIND, "^C", "bawn-interrupt", nullptr);
  }
  ~LibeditLines() override {
    library_.history_end(history_);
    library_.end(edit_);
  }
  LibeditLines(const LibeditLines&) = delete;
  LibeditLines& operator=(const LibeditLines&) = delete;

  Typed read(const std::string& prompt) override {
    prompt_ = prompt;
    interrupted_ = false;
    const InterruptIsKey no_signals;
    if (interrupts_.take()) {
      fmt::print("\n");  // behind the "^C" that the terminal itself has shown
      return {.end = End::Interrupted, .text = {}};
    }
    int count = 0;
    const char* typed = library_.gets(edit_, &count);
    std::ignore = interrupts_.take();  // sent by another program; not meant for what comes next
    if (interrupted_) {
      return {.end = End::Interrupted, .text = {}};
    }
    if (typed == nullptr || count <= 0) {
      return {.end = End::EndOfInput, .text = {}};
    }
    std::string text(typed, static_cast<std::size_t>(count));
    if (text.ends_with('\n')) {
      text.pop_back();
    }
    return {.end = End::Line, .text = std::move(text)};
  }

  void remember(const std::string& command) override {
    HistEvent event{};
    library_.history(history_, &event, H_ENTER, command.c_str());
  }

 private:
  static char* prompt_of(EditLine* /*edit*/) { return current_->prompt_.data(); }

  static unsigned char interrupt(EditLine* /*edit*/, int /*key*/) {
    current_->interrupted_ = true;
    fmt::print("^C\n");
    std::fflush(stdout);
    return CC_EOF;
  }

  static unsigned char complete(EditLine* /*edit*/, int /*key*/) {
    return current_->complete_word();
  }
  unsigned char complete_word();

  /// The one editor of this process: libedit hands its own object to a callback, not ours.
  inline static LibeditLines* current_ = nullptr;

  Library library_;
  Completer completer_;
  const Interrupts& interrupts_;
  EditLine* edit_ = nullptr;
  History* history_ = nullptr;
  std::string prompt_;
  bool interrupted_ = false;
};

unsigned char LibeditLines::complete_word() {
  const LineInfo* info = library_.line(edit_);
  const std::string typed(info->buffer, info->cursor);
  const std::string word = last_word(typed);
  std::vector<std::string> found = completer_(word);
  std::erase_if(found, [](const std::string& name) { return !is_plain_word(name); });
  if (found.empty()) {
    return CC_REFRESH_BEEP;
  }
  std::string wanted = common_prefix(found);
  if (found.size() == 1 && !wanted.ends_with('/')) {
    wanted += ' ';
  }
  if (wanted.size() > word.size()) {
    library_.insert(edit_, wanted.substr(word.size()).c_str());
    return CC_REFRESH;
  }
  fmt::print("\n");
  for (const std::string& candidate : found) {
    fmt::print("{}  ", candidate);
  }
  fmt::print("\n");
  std::fflush(stdout);
  return CC_REDISPLAY;
}

}  // namespace

std::unique_ptr<LineEditor> LineEditor::make(Completer completer, const Interrupts& interrupts) {
  const bool terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
  Library library;
  if (terminal && library.load()) {
    return std::make_unique<LibeditLines>(library, std::move(completer), interrupts);
  }
  return std::make_unique<PlainLines>(terminal, interrupts);
}

std::string last_word(const std::string& text) {
  const auto blank = text.find_last_of(" \t\n=;|&<>(");
  return blank == std::string::npos ? text : text.substr(blank + 1);
}

bool is_plain_word(const std::string& name) {
  return std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("._/+@%:,-").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

std::string common_prefix(const std::vector<std::string>& words) {
  if (words.empty()) {
    return {};
  }
  std::string prefix = words.front();
  for (const std::string& word : words) {
    std::size_t same = 0;
    while (same < prefix.size() && same < word.size() && prefix[same] == word[same]) {
      ++same;
    }
    prefix.resize(same);
  }
  return prefix;
}

}  // namespace bawn::cli
