/// \file
/// Looks into an engine's answer, which may be anything: what is not there, or of another type, is
/// empty.
#pragma once

#include "bawn/container/engine.hpp"

#include <string>
#include <string_view>

namespace bawn::container {

/// The value at a JSON pointer ("/Config/Env"), or null.
[[nodiscard]] const Json& value_at(const Json& answer, std::string_view pointer);
[[nodiscard]] std::string text_at(const Json& answer, std::string_view pointer);
[[nodiscard]] const Json& list_at(const Json& answer, std::string_view pointer);

}  // namespace bawn::container
