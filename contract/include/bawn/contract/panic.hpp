/// \file
/// What happens when a tool throws: the exception ends here and becomes an error.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/tool.hpp"

#include <functional>
#include <optional>
#include <string>

namespace bawn::contract {

/// The payload of a panic: `error.find<Panic>()`.
struct Panic {
  std::string tool{};
  std::string value{};  ///< what() of a std::exception, the type's name of anything else
  std::string type{};   ///< the exception's C++ type; for logs
};

/// `tool "<name>" panicked: <value>` on one line, with a Panic as payload.
[[nodiscard]] Error make_panic_error(Panic panic);

/// Runs `body`. None when it returned; the exception when it threw. A thread's forced unwinding
/// (pthread_cancel) passes through.
[[nodiscard]] std::optional<Panic> catch_panic(const std::function<void()>& body);

/// `tool.execute`, with what it throws turned into an error. A crash is not containable in one
/// process: what is hostile runs in another.
///
/// Blocking: as long as the tool does.
[[nodiscard]] Outcome execute_contained(const Tool& tool, const Context& context, const Call& call);

}  // namespace bawn::contract
