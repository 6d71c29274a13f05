/// \file
/// The lists behind the presets.
#pragma once

#include <string>
#include <vector>

namespace bawn::sandbox {

/// Credentials, browser profiles, histories and bawn's own state. "~/" is the session user's home.
[[nodiscard]] std::vector<std::string> default_secrets();
/// Files that programs outside the wall run or obey later, relative to a writable root.
[[nodiscard]] std::vector<std::string> default_protected_names();
/// Names of environment variables that enter; a final * stands for any rest.
[[nodiscard]] std::vector<std::string> default_environment();
/// Further ones for policies with the full network.
[[nodiscard]] std::vector<std::string> proxy_environment();

}  // namespace bawn::sandbox
