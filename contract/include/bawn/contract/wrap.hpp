/// \file
/// A tool around a tool: same definition, same properties, another execute.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/tool.hpp"

#include <cstddef>
#include <functional>

namespace bawn::contract {

/// Runs in place of the wrapped tool's execute, and gets that tool to call it or not.
using WrapFunction =
    std::function<Outcome(const Context& context, const Call& call, const Tool& inner)>;

/// A tool that differs from `inner` in its execute alone. All properties are one copied struct, so
/// none can be lost; the closer is the same object, so closing the wrapper closes the inner tool.
///
/// Errors: InvalidArgument when `inner` or `execute` is empty.
[[nodiscard]] Result<ToolPtr> wrap(ToolPtr inner, WrapFunction execute);

/// A wrapping chain longer than this is taken for a cycle.
inline constexpr std::size_t kMaxWrapDepth = 64;

/// Calls `visit` with the tool and then each wrapped one, outermost first, until it returns true.
///
/// Errors: Internal, "invalid wrapping chain", for a chain longer than `kMaxWrapDepth`.
[[nodiscard]] Result<> walk_wrapped(const Tool& tool,
                                    const std::function<bool(const Tool&)>& visit);

/// The first tool of the chain that is a T, or null. Errors: as `walk_wrapped`.
template <class T>
[[nodiscard]] Result<const T*> capability(const Tool& tool) {
  const T* found = nullptr;
  BAWN_TRY(walk_wrapped(tool, [&](const Tool& candidate) {
    found = dynamic_cast<const T*>(&candidate);
    return found != nullptr;
  }));
  return found;
}

}  // namespace bawn::contract
