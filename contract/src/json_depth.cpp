#include "json_depth.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bawn::contract::detail {

// Goes no deeper than `levels` itself.
bool is_deeper_than(const Json& value, std::size_t levels) noexcept {
  return value.is_structured() &&
         (levels == 0 || std::any_of(value.begin(), value.end(), [&](const Json& inner) {
            return is_deeper_than(inner, levels - 1);
          }));
}

Result<> check_depth(const Json& value) {
  if (is_deeper_than(value, kMaxJsonDepth)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("nested deeper than {} levels", kMaxJsonDepth));
  }
  return {};
}

}  // namespace bawn::contract::detail
