#include "request_checks.hpp"

#include "input_feed.hpp"
#include "variable_name.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace bawn::shell {

namespace {

constexpr const char* kMarkerName = "BAWN_CALL";

Error invalid(std::string message) {
  return {ErrorCode::InvalidArgument, std::move(message)};
}

Result<> check_size(std::string_view what, std::size_t size, std::size_t limit) {
  return size <= limit
             ? Result<>()
             : std::unexpected(invalid(fmt::format(
                   "the {} has {} bytes, at most {} are taken; put it into a file and use that",
                   what, size, limit)));
}

Result<> check_text(std::string_view what, std::string_view text, std::size_t limit) {
  if (text.find('\0') != std::string_view::npos) {
    return std::unexpected(
        invalid(fmt::format("the {} holds a NUL byte, which cannot be passed on; write it as an "
                            "escape that the command itself expands",
                            what)));
  }
  return check_size(what, text.size(), limit);
}

/// `shell`: bash itself sets them, so that their names must be those of shell variables.
Result<> check_variables(const Variables& variables, bool shell, std::size_t limit) {
  for (const auto& [name, value] : variables) {
    if (name.empty() || name.find('=') != std::string::npos ||
        name.find('\0') != std::string::npos || (shell && !is_variable_name(name))) {
      return std::unexpected(invalid(fmt::format(
          "{:?} is no name of an environment variable{}", name,
          shell ? ": it has letters, digits and underscores and does not begin with a digit"
                : ": it is not empty and has neither '=' nor NUL")));
    }
    if (name == kMarkerName || (shell && name.starts_with("__b"))) {
      return std::unexpected(
          invalid(fmt::format("the variable {} is bawn's own and cannot be set", name)));
    }
    BAWN_TRY(check_text(fmt::format("value of {}", name), value, limit));
  }
  return {};
}

Result<> check_input(const std::optional<std::string>& input, bool stays_open, std::size_t limit) {
  return check_size("input", input.value_or("").size(),
                    stays_open ? InputFeed::kMostWaiting : limit);
}

}  // namespace

Result<> check_request(const BashRequest& request, std::size_t limit) {
  BAWN_TRY(check_text("command", request.command, limit));
  BAWN_TRY(check_input(request.input, request.input_open || request.terminal, limit));
  BAWN_TRY(check_text("cwd", request.cwd, limit));
  return check_variables(request.environment, true, limit);
}

Result<> check_request(const ExecRequest& request, std::size_t limit) {
  if (request.argv.empty() || request.argv.front().empty()) {
    return std::unexpected(invalid("argv is empty; its first item names the program"));
  }
  for (const std::string& argument : request.argv) {
    BAWN_TRY(check_text("argument", argument, limit));
  }
  BAWN_TRY(check_input(request.input, request.input_open || request.terminal, limit));
  return check_variables(request.environment, false, limit);
}

}  // namespace bawn::shell
