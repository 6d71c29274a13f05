/// \file
/// Questions of a tool to the person behind the call.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace bawn::contract {

/// A question: a form, or a page to visit. With neither, it asks for a bare yes or no.
struct Elicitation {
  std::string message{};
  std::optional<Json> schema{};      ///< of the form: a flat object
  std::optional<std::string> url{};  ///< of the page
  std::string id{};                  ///< names the question; empty lets the front number it
};

enum class AnswerAction { Accept, Decline, Cancel };

/// "accept", "decline" or "cancel".
[[nodiscard]] std::string_view to_string(AnswerAction action) noexcept;
/// Errors: InvalidArgument, `unknown action "maybe"`.
[[nodiscard]] Result<AnswerAction> answer_action(std::string_view text);

struct Answer {
  AnswerAction action = AnswerAction::Cancel;
  std::optional<Json> content{};  ///< an object, and only with Accept
};

/// Puts one question; the asking call is on `context`.
///
/// Blocking: until there is an answer or the context ends.
/// Threads: called concurrently, also within one call.
using Elicitor = std::function<Result<Answer>(const Context& context, const Elicitation& question)>;

/// Carries `elicitor` for all calls below; an empty one removes what an outer context carries.
[[nodiscard]] Context with_elicitor(const Context& context, Elicitor elicitor);

/// True when a question would reach somebody.
[[nodiscard]] bool has_elicitor(const Context& context) noexcept;

/// Asks. Without an elicitor the answer is Cancel. An error means that asking failed, which is not
/// a no; content that is no object or does not belong to Accept is such an error.
[[nodiscard]] Result<Answer> elicit(const Context& context, const Elicitation& question);

}  // namespace bawn::contract
