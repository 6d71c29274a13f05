#include "duration.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <string>

namespace bawn::cli {
namespace {

constexpr std::int64_t kMsPerSecond = 1000;
constexpr std::int64_t kLongest = 366LL * 24 * 3600 * kMsPerSecond;

/// Milliseconds in one of `unit`; 0 for an unknown unit.
std::int64_t scale_of(std::string_view unit) {
  if (unit == "ms") {
    return 1;
  }
  if (unit.empty() || unit == "s") {
    return kMsPerSecond;
  }
  if (unit == "m") {
    return 60 * kMsPerSecond;
  }
  return unit == "h" ? 3600 * kMsPerSecond : 0;
}

}  // namespace

contract::Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, count);
  const std::int64_t scale = scale_of({rest, static_cast<std::size_t>(end - rest)});
  if (problem != std::errc() || scale == 0 || count <= 0 || count > kLongest / scale) {
    return contract::fail(
        contract::ErrorCode::InvalidArgument,
        fmt::format("\"{}\" is not a duration; write for example 500ms, 30s, 5m or 2h", text));
  }
  return std::chrono::milliseconds(count * scale);
}

}  // namespace bawn::cli
