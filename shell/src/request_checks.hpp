/// \file
/// What a request must be before anything is done for it.
#pragma once

#include "bawn/shell/session.hpp"

#include <cstddef>

namespace bawn::shell {

/// `limit`: bytes that a text may have.
///
/// Errors: InvalidArgument, with what is wrong and what to do.
[[nodiscard]] Result<> check_request(const BashRequest& request, std::size_t limit);
[[nodiscard]] Result<> check_request(const ExecRequest& request, std::size_t limit);

}  // namespace bawn::shell
