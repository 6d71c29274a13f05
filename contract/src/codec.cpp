#include "bawn/contract/codec.hpp"

#include "bawn/contract/quote.hpp"
#include "json_depth.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace bawn::contract {

std::unexpected<Error> DecodeState::problem(std::string_view message) const {
  // A map's member names are the caller's.
  constexpr std::size_t kShownPath = 256;
  const std::string path = plain_or_quoted(text_start(path_, kShownPath));
  return fail(ErrorCode::InvalidArgument,
              fmt::format("{}{}{}", path, path.empty() ? "" : ": ", message));
}

std::unexpected<Error> DecodeState::expected(std::string_view type, const JsonNode& got) const {
  return problem(fmt::format("expected {}, got {}", type, describe(got)));
}

Result<Json> Codec<Json>::encode(const Json& value) {
  BAWN_TRY(detail::check_depth(value));  // a copy calls itself for each level
  return value;
}

namespace detail {
namespace {

bool is_plain(const JsonNode& node) {
  return node.text.find_first_of(".eE") == std::string::npos;
}

// The literal as an integer of type T; none when it has a fraction or does not fit.
template <class T>
std::optional<T> integer_value(const JsonNode& node) {
  if (is_plain(node)) {
    T value = 0;
    const char* const end = node.text.data() + node.text.size();
    const auto [stop, error] = std::from_chars(node.text.data(), end, value);
    if (error == std::errc() && stop == end) {
      return value;
    }
    return node.text == "-0" ? std::optional<T>(0) : std::nullopt;
  }
  // Both bounds are powers of two, hence exact doubles; the upper one is already too large.
  constexpr double kAbove = std::is_signed_v<T> ? 0x1p63 : 0x1p64;
  constexpr double kLeast = std::is_signed_v<T> ? -0x1p63 : 0.0;
  const bool fits = node.number >= kLeast && node.number < kAbove;
  if (!fits || std::trunc(node.number) != node.number) {
    return std::nullopt;
  }
  return static_cast<T>(node.number);
}

template <class T>
Result<T> integer_between(const JsonNode& node, bool exact, T least, T most) {
  const bool whole = node.kind == JsonNode::Kind::Number && std::trunc(node.number) == node.number;
  if (!whole || (exact && !is_plain(node))) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("expected integer, got {}", describe(node)));
  }
  const auto value = integer_value<T>(node);
  if (!value || *value < least || *value > most) {
    return fail(ErrorCode::InvalidArgument, fmt::format("expected an integer from {} to {}, got {}",
                                                        least, most, describe(node)));
  }
  return *value;
}

}  // namespace

Result<std::int64_t> signed_integer(const JsonNode& node, bool exact, std::int64_t least,
                                    std::int64_t most) {
  return integer_between<std::int64_t>(node, exact, least, most);
}

Result<std::uint64_t> unsigned_integer(const JsonNode& node, bool exact, std::uint64_t most) {
  return integer_between<std::uint64_t>(node, exact, 0, most);
}

}  // namespace detail
}  // namespace bawn::contract
