#include "content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace bawn::mcp {
namespace {

constexpr unsigned char kDelete = 0x7f;
constexpr unsigned char kC1Lead = 0xc2;  // U+0080 to U+009F are C2 80 to C2 9F
constexpr unsigned char kC1Last = 0x9f;

struct DataUrl {
  std::string mime;
  std::string data;
};

/// A `data:[MIME];base64,DATA` URL; none for any other form.
std::optional<DataUrl> data_url(std::string_view url) {
  constexpr std::string_view kScheme = "data:";
  constexpr std::string_view kEncoding = ";base64";
  const auto comma = url.find(',');
  if (!url.starts_with(kScheme) || comma == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view head = url.substr(kScheme.size(), comma - kScheme.size());
  const std::string_view data = url.substr(comma + 1);
  if (!head.ends_with(kEncoding) || !is_base64(data)) {
    return std::nullopt;
  }
  head.remove_suffix(kEncoding.size());
  return DataUrl{.mime = std::string(head.empty() ? "application/octet-stream" : head),
                 .data = std::string(data)};
}

std::string text_of(const Json& part, std::string_view name) {
  const auto member = part.find(name);
  return member != part.end() && member->is_string() ? member->get<std::string>() : std::string();
}

Json link_block(const std::string& uri, const std::string& name, const WireFeatures& features) {
  if (!features.structured) {
    return text_block(name + ": " + uri);
  }
  return Json{{"type", "resource_link"}, {"uri", uri}, {"name", name}};
}

Json image_block(const Json& part, const WireFeatures& features) {
  const std::string url = text_of(part, "image_url");
  if (const auto data = data_url(url)) {
    return Json{{"type", "image"}, {"data", data->data}, {"mimeType", data->mime}};
  }
  return url.empty() ? text_block(contract::dump_json(part)) : link_block(url, "image", features);
}

Json file_block(const Json& part, const WireFeatures& features) {
  const std::string data = text_of(part, "file_data");
  const std::string url = text_of(part, "file_url");
  std::string name = text_of(part, "filename");
  if (!data.empty()) {
    if (!is_base64(data)) {
      return text_block(data);
    }
    const auto start = std::min(name.find_first_not_of('/'), name.size());
    const std::string uri = url.empty() ? "file:///" + name.substr(start) : url;
    return Json{{"type", "resource"}, {"resource", {{"uri", uri}, {"blob", data}}}};
  }
  if (!url.empty()) {
    return link_block(url, name.empty() ? "file" : name, features);
  }
  return text_block(name.empty() ? contract::dump_json(part) : std::move(name));
}

/// A part that is MCP content already, as a remote tool's are.
bool is_block(const contract::Part& part, const std::string& type) {
  if (type == "image" || type == "audio") {
    return is_base64(text_of(part, "data")) && !text_of(part, "mimeType").empty();
  }
  return type == "resource" && part.contains("resource") && part["resource"].is_object();
}

Json block_of(const contract::Part& part, const WireFeatures& features) {
  const std::string type = part.is_object() ? text_of(part, "type") : std::string();
  if ((type == "input_text" || type == "output_text" || type == "text") && part.contains("text")) {
    return text_block(text_of(part, "text"));
  }
  if (type == "input_image") {
    return image_block(part, features);
  }
  if (type == "input_file") {
    return file_block(part, features);
  }
  if (type == "resource_link" && !text_of(part, "uri").empty()) {
    return features.structured ? part : text_block("resource: " + text_of(part, "uri"));
  }
  if (is_block(part, type)) {
    return type == "audio" && !features.annotations ? text_block("[audio]") : part;
  }
  return text_block(contract::dump_json(part));
}

/// U+00C0 and up begin with larger bytes than C1; of a lead byte of C1 only the next byte tells.
bool is_visible_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= ' ' ? byte != kDelete && byte != kC1Lead : c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

bool is_base64(std::string_view text) noexcept {
  if (text.size() % 4 != 0) {
    return false;
  }
  const std::string_view digits = text.substr(0, std::min(text.find('='), text.size()));
  const bool clean = std::ranges::all_of(digits, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
  });
  const std::string_view padding = text.substr(digits.size());
  return clean && (padding.empty() || padding == "=" || padding == "==");
}

Json text_block(std::string text) {
  return Json{{"type", "text"}, {"text", visible_text(text)}};
}

bool is_visible(std::string_view text) noexcept {
  using Block = unsigned char __attribute__((vector_size(16)));
  Block bad = {};
  std::size_t at = 0;
  for (; at + sizeof(Block) <= text.size(); at += sizeof(Block)) {
    Block block;
    std::memcpy(&block, text.data() + at, sizeof block);
    const auto control = (block < ' ') & (block != '\t') & (block != '\n') & (block != '\r');
    bad |= reinterpret_cast<Block>(control | (block == kDelete) | (block == kC1Lead));
  }
  std::array<std::uint64_t, 2> halves{};
  std::memcpy(halves.data(), &bad, sizeof bad);
  return (halves[0] | halves[1]) == 0 && std::ranges::all_of(text.substr(at), is_visible_byte);
}

std::string visible_text(std::string_view text) {
  if (is_visible(text)) {
    return std::string(text);
  }
  std::string visible;
  visible.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const auto next = static_cast<unsigned char>(at + 1 < text.size() ? text[at + 1] : '\0');
    if (byte == kC1Lead && next >= 0x80 && next <= kC1Last) {
      visible += fmt::format("\\x{:02x}", next);
      ++at;
    } else if ((byte < ' ' && byte != '\t' && byte != '\n' && byte != '\r') || byte == kDelete) {
      visible += fmt::format("\\x{:02x}", byte);
    } else {
      visible += text[at];
    }
  }
  return visible;
}

Json content_of(const std::vector<contract::Part>& parts, const WireFeatures& features) {
  Json content = Json::array();
  for (const contract::Part& part : parts) {
    content.push_back(block_of(part, features));
  }
  return content;
}

}  // namespace bawn::mcp
