/// \file
/// Events out of a server's stream: however it is cut, the same ones come.
#include "http_client/sse_reader.hpp"
#include "require.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace bawn::mcp;
using bawn::fuzz::require;

namespace {

std::vector<std::string> events_of(std::string_view text, std::size_t piece) {
  constexpr std::size_t kLongest = 256;
  SseReader reader(kLongest);
  std::vector<std::string> events;
  while (!text.empty()) {
    const std::size_t count = std::min(piece, text.size());
    reader.feed(text.substr(0, count));
    text.remove_prefix(count);
    while (auto event = reader.next()) {
      require(event->size() <= kLongest, "an event above the limit");
      events.push_back(*std::move(event));
    }
    if (reader.too_long()) {
      events.emplace_back("(too long)");
      break;
    }
  }
  events.push_back(reader.last_id());
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto by_one = events_of(text, 1);
  const auto by_five = events_of(text, 5);
  // How much of a broken stream was read before it was given up may differ.
  const bool whole = std::ranges::find(by_one, "(too long)") == by_one.end() &&
                     std::ranges::find(by_five, "(too long)") == by_five.end();
  require(!whole || by_one == by_five, "pieces of another size give other events");
  return 0;
}
