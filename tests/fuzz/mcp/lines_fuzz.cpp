/// \file
/// Lines out of a stream: however it is cut into reads, the same lines come, in bounded memory.
#include "require.hpp"
#include "stdio/line_reader.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace bawn::mcp;
using bawn::fuzz::require;

namespace {

constexpr std::size_t kLongest = 64;

std::vector<std::string> lines_of(std::string_view text, std::size_t piece) {
  LineReader reader(kLongest);
  std::vector<std::string> lines;
  const auto take = [&](const LineReader::Line& line) {
    lines.push_back(line.too_long ? "(too long)" : std::string(line.text));
    require(line.too_long || line.text.size() <= kLongest, "a line above the limit");
    require(line.too_long || line.text.find('\n') == std::string_view::npos, "a line of two");
  };
  while (!text.empty()) {
    const auto space = reader.prepare();
    require(space.size() < (std::size_t{1} << 20U), "a buffer that grows with the stream");
    const std::size_t count = std::min({piece, space.size(), text.size()});
    std::copy_n(text.begin(), count, space.begin());
    text.remove_prefix(count);
    reader.commit(count);
    while (const auto line = reader.next()) {
      take(*line);
    }
  }
  if (const auto line = reader.last()) {
    take(*line);
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = lines_of(text, text.size() + 1);
  require(lines_of(text, 1) == whole, "single bytes give other lines");
  require(lines_of(text, 7) == whole, "pieces of seven give other lines");
  return 0;
}
