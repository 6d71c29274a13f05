/// \file
/// What a server answers to a call: any JSON becomes an outcome, and what is given on is JSON
/// again.
#include "bawn/contract/json.hpp"
#include "client/remote_result.hpp"
#include "require.hpp"

#include <string_view>

using namespace bawn;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = contract::parse_json(text);
  if (!json) {
    return 0;
  }
  for (const bool trusted : {false, true}) {
    mcp::ClientOptions options;
    options.trusted = trusted;
    options.max_result_bytes = 512;
    const contract::Outcome outcome = mcp::outcome_of("tool", *json, options);
    require(!outcome.error || outcome.error->message().size() < 4096, "a boundless error");
    if (const auto* const parts =
            std::get_if<std::vector<contract::Part>>(&outcome.result.output)) {
      for (const contract::Part& part : *parts) {
        require(part.is_object(), "a part that is no object");
      }
    }
  }
  return 0;
}
