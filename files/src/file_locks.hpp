/// \file
/// Calls of this server that change the same file wait for each other, in the order in which they
/// came.
#pragma once

#include "bawn/contract/resource_order.hpp"

#include <string>
#include <utility>
#include <vector>

namespace bawn::files {

/// Threads: thread-safe.
class FileLocks {
 public:
  using Held = contract::ResourceOrder::Place;
  /// Holds all of `names` at once until what it returns is destroyed. Errors: of the context.
  /// Blocking: until the calls before it that hold one of them are done.
  [[nodiscard]] contract::Result<Held> hold(const contract::Context& context,
                                            std::vector<std::string> names) {
    Held held = order_.arrive();
    BAWN_TRY(held.wait(context, std::move(names)));
    return held;
  }

 private:
  contract::ResourceOrder order_;
};

}  // namespace bawn::files
