/// \file
/// Where the program bawn-warden is.
#pragma once

#include "bawn/contract/error.hpp"

#include <string>

namespace bawn::sandbox {

/// `wanted` itself, or when that is empty the program beside this one, or the install's libexec.
///
/// Errors: NotFound, naming the places.
[[nodiscard]] contract::Result<std::string> find_warden_program(const std::string& wanted);

}  // namespace bawn::sandbox
