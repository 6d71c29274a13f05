/// \file
/// Parses a command text with the shell itself before anything of it runs.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/os/unique_fd.hpp"
#include "bawn/sandbox/warden.hpp"
#include "bawn/shell/call_result.hpp"
#include "bawn/shell/place_files.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::shell {

/// What is wrong with a text.
struct SyntaxFault {
  Reason reason = Reason::SyntaxError;
  std::string message;  ///< the parser's words
};

/// The result of a call whose text does not parse.
[[nodiscard]] CallResult faulty(const SyntaxFault& fault);

/// How a shell is started that only parses its standard input.
struct ParserCommand {
  std::vector<std::string> argv;
  bool bash = true;
};
[[nodiscard]] ParserCommand bash_parser(const std::string& program);
[[nodiscard]] ParserCommand sh_parser(const std::string& program);

/// Keeps one parser started, waiting for its text, so that a check costs no start.
///
/// Threads: thread-safe.
class SyntaxChecker {
 public:
  SyntaxChecker(std::shared_ptr<sandbox::Warden> warden, ParserCommand parser,
                std::vector<std::string> environment, std::string directory, std::string marker);
  /// By some other means than a process of the warden's: a POSIX shell's words.
  using Parser = std::function<Result<Parsed>(const contract::Context&, std::string_view)>;
  explicit SyntaxChecker(Parser elsewhere);
  ~SyntaxChecker();

  /// None when the text is well-formed.
  ///
  /// Errors: the warden's; the context's.
  [[nodiscard]] Result<std::optional<SyntaxFault>> check(const contract::Context& context,
                                                         std::string_view text);
  /// Starts the waiting one when there is none.
  void prepare();
  /// True while one waits, and until the first text needed one.
  [[nodiscard]] bool ready() const;

 private:
  struct Waiting;
  [[nodiscard]] Result<Parsed> parse(const contract::Context& context, std::string_view text);
  [[nodiscard]] Result<std::unique_ptr<Waiting>> start(os::UniqueFd input) const;
  [[nodiscard]] Result<std::unique_ptr<Waiting>> start_waiting() const;

  std::shared_ptr<sandbox::Warden> warden_;
  ParserCommand parser_;
  Parser elsewhere_;
  std::vector<std::string> environment_;
  std::string directory_;
  std::string marker_;
  mutable std::mutex mutex_;
  std::unique_ptr<Waiting> waiting_;
  bool used_ = false;
};

}  // namespace bawn::shell
