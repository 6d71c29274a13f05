/// \file
/// JSON-RPC 2.0 as MCP uses it: ids, errors, and the lines of answers and notifications.
#pragma once

#include "bawn/contract/json.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace bawn::mcp {

using contract::Json;

/// A request's id with its JSON type: 1 and "1" are two ids. Integers are exact over all of int64
/// and uint64.
class RequestId {
 public:
  explicit RequestId(std::string value) : value_(std::move(value)) {}
  explicit RequestId(std::uint64_t value) : value_(value) {}
  explicit RequestId(std::int64_t value) : value_(value) {}

  /// From a value's text. None for anything but a string or an integer (null, 1.5, {}, …).
  [[nodiscard]] static std::optional<RequestId> from_raw(std::string_view value);
  [[nodiscard]] Json to_json() const;
  /// The id as JSON text.
  void append_to(std::string& text) const;

  auto operator<=>(const RequestId&) const = default;

 private:
  std::variant<std::string, std::uint64_t, std::int64_t> value_;
};

/// The codes of JSON-RPC and of MCP that a server may answer.
enum class RpcCode : int {
  ParseError = -32700,
  InvalidRequest = -32600,
  MethodNotFound = -32601,
  InvalidParams = -32602,
  InternalError = -32603,
  ResourceNotFound = -32002,    ///< legacy
  HeaderMismatch = -32020,      ///< modern, HTTP
  MissingCapability = -32021,   ///< modern
  UnsupportedVersion = -32022,  ///< modern
};

/// An error answer: one short sentence for a person, and data for a program where MCP defines it.
struct RpcError {
  RpcCode code;
  std::string message;
  std::optional<Json> data = std::nullopt;
};

/// Lines without their final newline. `result` and `params` go in as they are.
[[nodiscard]] std::string result_line(const RequestId& id, const Json& result);
[[nodiscard]] std::string raw_result_line(const RequestId& id, std::string result);
/// Without an id the member is left out: the newer revisions forbid null there.
[[nodiscard]] std::string error_line(const std::optional<RequestId>& id, const RpcError& error);
[[nodiscard]] std::string notification_line(std::string_view method, const Json& params);

/// A client's word for use in a sentence: quoted, escaped, and cut after 64 bytes.
[[nodiscard]] std::string shown(std::string_view word);

}  // namespace bawn::mcp
