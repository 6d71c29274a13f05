/// \file
/// From bytes to a checked JSON-RPC message. What is refused here never reaches the dispatcher.
#pragma once

#include "json_rpc.hpp"
#include "raw_json.hpp"

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::mcp {

/// More values than this in one message are refused before a tree of them is built.
inline constexpr std::size_t kMaxValues = 1'000'000;
/// Messages of one batch.
inline constexpr std::size_t kMaxBatch = 100;

/// A client's answer to a request of ours, as raw JSON. One of the two is there.
struct ClientAnswer {
  std::optional<std::string_view> result;
  std::optional<std::string_view> error;
};

/// A request when it has an id, else a notification; or an answer.
struct Message {
  std::optional<RequestId> id;
  std::string method;
  RawObject params;  ///< points into the text that was decoded
  std::optional<ClientAnswer> answer = std::nullopt;
};

/// What to answer instead, and to whom if that could be read.
struct Refusal {
  std::optional<RequestId> id;
  RpcError error;
};

/// One line, decoded: a message, or the raw texts of a batch's messages.
struct Decoded {
  std::optional<Message> message;
  std::vector<std::string_view> batch;  ///< point into the text that was decoded
};

/// Reads one message or one batch. Each text of a batch is to be decoded again by itself.
///
/// Refuses: text that is not strict JSON (-32700; with the id when one was read before the fault),
/// more than kMaxValues values, a wrong `jsonrpc`, an id that is null, fractional or beyond 64
/// bits, a method that is no string (-32600), parameters that are no object (-32602). Threads:
/// thread-safe.
[[nodiscard]] std::expected<Decoded, Refusal> decode(std::string_view text);

/// The id of the message that `text` begins, when it can be read: for refusing text that is too
/// long or broken.
[[nodiscard]] std::optional<RequestId> sniff_id(std::string_view text);

}  // namespace bawn::mcp
