/// \file
/// The directories that a policy lets a session write, as paths that can be compared.
#pragma once

#include "bawn/sandbox/policy.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bawn::sandbox {

/// The workspace where the policy lets it be written, and the roots in `policy.write`. Each is
/// there as it is written, with `home` (absolute) for "~" and without "." and "..", and where links
/// lead elsewhere also as it resolves on this machine: a path may be compared with either.
///
/// Blocking: a few file-system looks for each root; a dead mount among them blocks.
[[nodiscard]] std::vector<std::string> writable_roots(const Policy& policy,
                                                      const std::string& workspace,
                                                      std::string_view home);

/// True when `path` is one of `roots` or lies below one. All absolute, without "." and "..".
[[nodiscard]] bool lies_in_any(std::string_view path, const std::vector<std::string>& roots);

}  // namespace bawn::sandbox
