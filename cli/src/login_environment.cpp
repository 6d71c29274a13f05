#include "login_environment.hpp"

#include "bawn/contract/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace bawn::cli {
namespace {

using contract::Result;

constexpr shell::Milliseconds kLimit{10'000};
constexpr std::size_t kMostBytes = 100 * 1024;
// A profile may print; what it printed ends here. A file is not needed for it, and none is left.
constexpr std::string_view kBegin = "\n-- environment --\n";

std::string name_of(const std::string& entry) {
  return entry.substr(0, entry.find('='));
}

/// What the login shell exports, taken in a session of its own.
Result<std::vector<std::string>> take(shell::SessionConfig config) {
  config.name = "login";
  config.spool.reset();
  const auto session = BAWN_TRY(shell::Session::start(config));
  shell::ExecRequest request;
  request.argv = {config.bash, "--login", "-c",
                  R"(builtin printf '\n-- environment --\n'; exec env -0)"};
  request.timeout = kLimit;
  request.view_bytes = kMostBytes;
  const auto result = BAWN_TRY(session->exec(contract::Context(), std::move(request)));
  session->close();
  const auto at = result.out.text.rfind(kBegin);
  if (result.reason != shell::Reason::Exited || result.exit_code != 0 || at == std::string::npos ||
      result.out.missing_bytes != 0) {
    return contract::fail(
        contract::ErrorCode::Internal,
        fmt::format("bash --login ended with {} ({}) and {} bytes",
                    result.reason ? shell::to_string(*result.reason) : "no result",
                    result.exit_code.value_or(-1), result.out.bytes));
  }
  return login_variables(std::string_view(result.out.text).substr(at + kBegin.size()));
}

}  // namespace

std::vector<std::string> login_variables(std::string_view output) {
  constexpr std::array<std::string_view, 6> kOwn = {"BAWN_CALL", "OLDPWD", "PWD",
                                                    "SHLVL",     "TERM",   "_"};
  std::vector<std::string> variables;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\0'), output.size());
    std::string entry(output.substr(0, end));
    output.remove_prefix(std::min(end + 1, output.size()));
    const auto equals = entry.find('=');
    if (equals != std::string::npos && equals != 0 &&
        std::ranges::find(kOwn, name_of(entry)) == kOwn.end()) {
      variables.push_back(std::move(entry));
    }
  }
  return variables;
}

std::vector<std::string> merged(std::vector<std::string> environment,
                                const std::vector<std::string>& variables) {
  for (const std::string& variable : variables) {
    const std::string name = name_of(variable);
    std::erase_if(environment, [&](const std::string& entry) { return name_of(entry) == name; });
    environment.push_back(variable);
  }
  return environment;
}

Result<std::shared_ptr<shell::Session>> LoginPool::start(shell::SessionConfig config) {
  if (!is_in_place(config.name)) {
    const std::lock_guard lock(mutex_);
    if (!taken_) {
      taken_ = true;
      if (auto variables = take(config)) {
        variables_ = *std::move(variables);
      } else {
        std::fprintf(stderr,
                     "bawn: the login environment could not be taken, sessions begin without it: "
                     "%s\n",
                     variables.error().message().c_str());
      }
    }
    config.environment = merged(std::move(config.environment), variables_);
  }
  return PlacePool::start(std::move(config));
}

}  // namespace bawn::cli
