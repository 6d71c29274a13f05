/// \file
/// Errors of the whole suite: one closed code, one sentence, optionally the system call and its
/// errno, and the errors that caused it. An Error means that *we* could not do the job; a command
/// that exits 1, times out, is denied or cut is an outcome (data), never an Error.
#pragma once

#include <any>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bawn::contract {

/// The closed list of reasons. Every protocol front maps these in one table.
enum class ErrorCode {
  InvalidArgument,    ///< the caller's words are wrong; the sentence says what to do instead
  NotFound,           ///< a named thing does not exist
  AlreadyExists,      ///< a name is taken
  PermissionDenied,   ///< the policy or the kernel said no
  Unsupported,        ///< this machine cannot do it (kernel feature, missing program)
  Busy,               ///< the thing is in use; try again later
  Cancelled,          ///< the caller stopped it
  DeadlineExceeded,   ///< the caller's deadline passed
  ResourceExhausted,  ///< a limit of ours or of the machine was reached
  Closed,             ///< the thing was closed or its other side is gone
  ToolFailed,         ///< a tool's own failure, text meant for the model
  ToolPanicked,       ///< a tool threw; see make_panic_error()
  Internal,           ///< a broken promise inside; a bug or a failing machine
};

/// The code's stable name in snake_case ("invalid_argument"), for logs and structured data.
[[nodiscard]] std::string_view to_string(ErrorCode code) noexcept;

/// What went wrong, as a cheap value. Copies share one immutable node.
///
/// Threads: thread-safe (immutable).
class [[nodiscard]] Error {
 public:
  Error(ErrorCode code, std::string message);

  /// An error of a system call: "<what>: <strerror>", keeping errno and the call's name.
  /// The code follows the errno (ENOENT -> NotFound, EEXIST -> AlreadyExists, EACCES/EPERM/EROFS ->
  /// PermissionDenied, EMFILE/ENFILE/ENOMEM/EAGAIN/ENOSPC/EDQUOT -> ResourceExhausted,
  /// ENOSYS/EOPNOTSUPP -> Unsupported, EBUSY/ETXTBSY -> Busy, else Internal).
  static Error from_errno(int errnum, std::string_view call, std::string_view what);

  [[nodiscard]] ErrorCode code() const noexcept;
  /// One sentence for a person, without a final newline.
  [[nodiscard]] const std::string& message() const noexcept;
  /// The errno of the failed call, 0 when there is none.
  [[nodiscard]] int errnum() const noexcept;
  /// The failed system call's name, empty when there is none.
  [[nodiscard]] const std::string& call() const noexcept;
  /// The visible causes, outermost first; a joined error has several.
  [[nodiscard]] const std::vector<Error>& causes() const noexcept;

  /// True when this error or one of its visible causes has `code`.
  [[nodiscard]] bool is(ErrorCode code) const noexcept;

  /// The same failure seen from further out: message "<prefix>: <message>", this error as its
  /// cause.
  [[nodiscard]] Error wrap(std::string_view prefix) const;
  /// A copy that also names `cause` as a visible cause.
  [[nodiscard]] Error with_cause(Error cause) const;

  /// A copy that keeps `cause` for diagnosis only: `is` and `find` do not follow it, and no front
  /// shows it.
  [[nodiscard]] Error with_hidden_cause(Error cause) const;
  /// The cause kept by `with_hidden_cause`; it may name what the model must not learn.
  [[nodiscard]] const std::optional<Error>& hidden_cause() const noexcept;

  /// A copy that carries a typed value for programs, e.g. `Panic`.
  [[nodiscard]] Error with_payload(std::any payload) const;
  /// The payload of exactly this error; empty when there is none.
  [[nodiscard]] const std::any& payload() const noexcept;
  /// The first payload of type T in this error and its visible causes, or null. The pointer lives
  /// as long as any copy of this error.
  template <class T>
  [[nodiscard]] const T* find() const noexcept {
    if (const T* found = std::any_cast<T>(&payload())) {
      return found;
    }
    for (const Error& cause : causes()) {
      if (const T* found = cause.find<T>()) {
        return found;
      }
    }
    return nullptr;
  }

 private:
  struct Node;
  explicit Error(std::shared_ptr<const Node> node);
  std::shared_ptr<const Node> node_;
};

/// What every fallible function of the suite returns.
template <class T = void>
using Result = std::expected<T, Error>;

/// Shorthand: `return fail(ErrorCode::NotFound, "no session named x");`
[[nodiscard]] inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected(Error(code, std::move(message)));
}

}  // namespace bawn::contract

/// Evaluates a Result expression: its value on success, `return`s its Error otherwise.
/// One per statement. A statement expression, because libstdc++ 12's std::expected has no
/// monadic members.
#define BAWN_TRY(expression)                                      \
  __extension__({                                                 \
    auto bawn_try_result = (expression);                          \
    if (!bawn_try_result) {                                       \
      return std::unexpected(std::move(bawn_try_result).error()); \
    }                                                             \
    ::bawn::contract::detail::take(std::move(bawn_try_result));   \
  })

namespace bawn::contract::detail {
template <class T>
T take(Result<T>&& result) {
  if constexpr (!std::is_void_v<T>) {
    return *std::move(result);
  }
}
}  // namespace bawn::contract::detail
