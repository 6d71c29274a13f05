#include "http_client/sse_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace bawn::mcp {

std::optional<std::string> SseReader::next() {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (!begun_ && !buffer_.empty()) {
    if (kMark.starts_with(std::string_view(buffer_).substr(0, kMark.size())) &&
        buffer_.size() < kMark.size()) {
      return std::nullopt;
    }
    buffer_.erase(0, buffer_.starts_with(kMark) ? kMark.size() : 0);
    begun_ = true;
  }
  while (!too_long_) {
    const auto text = line();
    if (!text) {
      too_long_ = buffer_.size() + data_.size() > max_;
      break;
    }
    if (!text->empty()) {
      take_field(*text);
      continue;
    }
    std::string event;
    event.swap(data_);
    if (has_data_ && !event.empty()) {
      has_data_ = false;
      return event;
    }
    has_data_ = false;
  }
  return std::nullopt;
}

void SseReader::restart() {
  buffer_.clear();
  data_.clear();
  has_data_ = false;
  begun_ = false;
}

/// Lines end with LF, CR LF or CR. A CR at the end of the buffer may be the half of a CR LF.
std::optional<std::string> SseReader::line() {
  const auto end = buffer_.find_first_of("\r\n");
  if (end == std::string::npos || (buffer_[end] == '\r' && end + 1 == buffer_.size())) {
    return std::nullopt;
  }
  const std::size_t ending = buffer_[end] == '\r' && buffer_[end + 1] == '\n' ? 2 : 1;
  std::string text = buffer_.substr(0, end);
  buffer_.erase(0, end + ending);
  return text;
}

void SseReader::take_field(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == 0) {
    return;  // a comment
  }
  const std::string_view name = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  value.remove_prefix(value.starts_with(' ') ? 1 : 0);
  if (name == "data") {
    data_.append(has_data_ ? "\n" : "").append(value);
    has_data_ = true;
    too_long_ = data_.size() > max_;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    last_id_ = value;
  } else if (name == "retry") {
    std::uint32_t milliseconds = 0;
    const auto [end, wrong] =
        std::from_chars(value.data(), value.data() + value.size(), milliseconds);
    if (wrong == std::errc() && end == value.data() + value.size()) {
      retry_ = std::chrono::milliseconds(milliseconds);
    }
  }
}

}  // namespace bawn::mcp
