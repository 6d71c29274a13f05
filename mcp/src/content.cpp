#include "content.hpp"

#include "bawn/contract/visible_text.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace bawn::mcp {
namespace {

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

// Hosts print results on terminals. The structure keeps the characters as they are.
Json text_block(std::string text) {
  return Json{{"type", "text"}, {"text", contract::visible_text(text)}};
}

Json content_of(const std::vector<contract::Part>& parts, const WireFeatures& features) {
  Json content = Json::array();
  for (const contract::Part& part : parts) {
    content.push_back(block_of(part, features));
  }
  return content;
}

}  // namespace bawn::mcp
