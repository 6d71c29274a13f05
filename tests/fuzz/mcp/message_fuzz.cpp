/// \file
/// One line of a client: the fast reader takes nothing that the strict one refuses, and a refusal
/// repeats little of what it refuses.
#include "bawn/contract/json.hpp"
#include "message.hpp"
#include "raw_json.hpp"
#include "require.hpp"

#include <string_view>

using namespace bawn::mcp;
using bawn::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto strict = bawn::contract::parse_json(text);
  const auto fast = scan_message(text, kMaxValues);
  require(!fast || (strict && strict->is_object()), "the fast reader takes what is no object");
  const auto decoded = decode(text);
  if (!decoded) {
    require(decoded.error().error.message.size() < 600, "a refusal that repeats its input");
    return 0;
  }
  require(strict.has_value(), "a message that is no JSON");
  if (decoded->message) {
    require((*strict)["jsonrpc"] == "2.0", "a message of another protocol");
    return 0;
  }
  require(decoded->batch.size() == strict->size(), "a batch that lost a message");
  for (const std::string_view one : decoded->batch) {
    require(bawn::contract::parse_json(one).has_value(), "a batch cut at the wrong place");
  }
  return 0;
}
