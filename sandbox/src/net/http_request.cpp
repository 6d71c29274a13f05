#include "http_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace bawn::sandbox::net {
namespace {

constexpr std::size_t kMaxFields = 128;
constexpr std::size_t kMaxOverhead = 16384;

using Parsed = std::expected<ProxyRequest, HttpRefusal>;

std::unexpected<HttpRefusal> bad(std::string sentence) {
  return std::unexpected(HttpRefusal{400, std::move(sentence)});
}

struct Field {
  std::string_view name;
  std::string_view value;
};

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, lower, lower);
}

bool is_text(std::string_view value) {
  return std::ranges::all_of(value, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) {
    text.remove_prefix(1);
  }
  while (text.ends_with(' ') || text.ends_with('\t')) {
    text.remove_suffix(1);
  }
  return text;
}

/// The next line without its CRLF; nullopt when a bare CR or LF, or a NUL, is in it.
std::optional<std::string_view> next_line(std::string_view& rest) {
  const std::size_t end = rest.find("\r\n");
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 2);
  return is_text(line) ? std::optional(line) : std::nullopt;
}

std::expected<std::vector<Field>, HttpRefusal> parse_fields(std::string_view rest) {
  std::vector<Field> fields;
  while (true) {
    const auto line = next_line(rest);
    if (!line) {
      return bad("a header line holds a control character or does not end in CR LF");
    }
    if (line->empty()) {
      return fields;
    }
    const std::size_t colon = line->find(':');
    if (colon == std::string_view::npos || !is_token(line->substr(0, colon))) {
      return bad("a header line is no NAME: VALUE");
    }
    if (fields.size() == kMaxFields) {
      return std::unexpected(HttpRefusal{431, "the request has too many header fields"});
    }
    fields.push_back({line->substr(0, colon), trim(line->substr(colon + 1))});
  }
}

/// "host:port" or "[v6]:port"; `default_port` 0 = the port must be there.
std::expected<void, HttpRefusal> read_authority(ProxyRequest& request, std::string_view authority,
                                                std::uint16_t default_port) {
  if (authority.find('@') != std::string_view::npos) {
    return bad("a user name or password before the host is not taken");
  }
  std::string_view host = authority;
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) {
      return bad("the bracket of an IPv6 address is not closed");
    }
    host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
    if (host.find(':') == std::string_view::npos) {
      return bad("only an IPv6 address stands in brackets");
    }
  } else if (const std::size_t colon = authority.find(':'); colon != std::string_view::npos) {
    host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (host.empty()) {
    return bad("the request names no host");
  }
  request.host = host;
  if (port.empty() && default_port != 0) {
    request.port = default_port;
    return {};
  }
  unsigned number = 0;
  const char* const end = port.data() + port.size();
  if (port.size() < 2 || port.front() != ':' ||
      std::from_chars(port.data() + 1, end, number).ptr != end || number == 0 || number > 65535) {
    return bad("the request names no port from 1 to 65535");
  }
  request.port = static_cast<std::uint16_t>(number);
  return {};
}

/// How long the body is; whatever could be read in two ways is refused.
std::expected<void, HttpRefusal> read_framing(ProxyRequest& request,
                                              const std::vector<Field>& fields, bool is_1_1) {
  const Field* length = nullptr;
  for (const Field& field : fields) {
    if (same(field.name, "transfer-encoding")) {
      if (request.chunked || !same(field.value, "chunked") || !is_1_1) {
        return bad("the only Transfer-Encoding that is taken is one \"chunked\" in HTTP/1.1");
      }
      request.chunked = true;
    } else if (same(field.name, "content-length")) {
      if (length != nullptr) {
        return bad("there are two Content-Length fields");
      }
      length = &field;
    }
  }
  if (length == nullptr) {
    return {};
  }
  const char* const end = length->value.data() + length->value.size();
  if (request.chunked || length->value.empty() || length->value.front() == '+' ||
      std::from_chars(length->value.data(), end, request.body).ptr != end ||
      std::from_chars(length->value.data(), end, request.body).ec != std::errc()) {
    return bad("Content-Length must be one number, and not stand beside Transfer-Encoding");
  }
  return {};
}

/// Fields that are about one connection only (RFC 9110, 7.6.1), and those that Connection names.
bool is_hop_by_hop(std::string_view name, const std::vector<Field>& fields) {
  constexpr std::array<std::string_view, 9> kKnown = {"connection",
                                                      "proxy-connection",
                                                      "proxy-authorization",
                                                      "proxy-authenticate",
                                                      "keep-alive",
                                                      "te",
                                                      "upgrade",
                                                      "host",
                                                      "http2-settings"};
  if (std::ranges::any_of(kKnown, [&](std::string_view known) { return same(name, known); })) {
    return true;
  }
  for (const Field& field : fields) {
    if (!same(field.name, "connection")) {
      continue;
    }
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view option = trim(rest.substr(0, comma));
      // The body's end must stay known to both sides.
      if (same(option, name) && !same(name, "content-length") && !same(name, "transfer-encoding")) {
        return true;
      }
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return false;
}

std::string forwarded_head(std::string_view method, std::string_view path,
                           std::string_view authority, std::string_view version,
                           const std::vector<Field>& fields) {
  std::string head = fmt::format("{} {}{} {}\r\nHost: {}\r\n", method,
                                 path.starts_with('/') ? "" : "/", path, version, authority);
  for (const Field& field : fields) {
    if (!is_hop_by_hop(field.name, fields)) {
      head += fmt::format("{}: {}\r\n", field.name, field.value);
    }
  }
  return head + "Connection: close\r\n\r\n";
}

Parsed parse_forward(std::string_view method, std::string_view target, std::string_view version,
                     const std::vector<Field>& fields) {
  constexpr std::string_view kScheme = "http://";
  if (target.size() < kScheme.size() || !same(target.substr(0, kScheme.size()), kScheme)) {
    return bad(
        "this is bawn's proxy: it takes CONNECT HOST:PORT and requests for http://HOST/PATH only");
  }
  target.remove_prefix(kScheme.size());
  const std::size_t end = std::min(target.find_first_of("/?#"), target.size());
  const std::string_view authority = target.substr(0, end);
  const std::string_view path = target.substr(end);
  if (path.find('#') != std::string_view::npos) {
    return bad("a request target has no fragment");
  }
  ProxyRequest request;
  if (auto read = read_authority(request, authority, 80); !read) {
    return std::unexpected(std::move(read).error());
  }
  if (auto read = read_framing(request, fields, version == "HTTP/1.1"); !read) {
    return std::unexpected(std::move(read).error());
  }
  request.head = forwarded_head(method, path, authority, version, fields);
  return request;
}

Parsed parse_connect(std::string_view target, const std::vector<Field>& fields) {
  ProxyRequest request;
  request.connect = true;
  if (auto read = read_authority(request, target, 0); !read) {
    return std::unexpected(std::move(read).error());
  }
  const auto has_body = [](const Field& field) {
    return same(field.name, "transfer-encoding") ||
           (same(field.name, "content-length") && field.value != "0");
  };
  if (std::ranges::any_of(fields, has_body)) {
    return bad("CONNECT has no body");
  }
  return request;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Bad Gateway";
  }
}

}  // namespace

std::string to_response(const HttpRefusal& refusal) {
  const std::string body = fmt::format("bawn: {}.\n", refusal.sentence);
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n"
      "X-Bawn-Proxy: refused\r\nConnection: close\r\n\r\n{}",
      refusal.status, reason_phrase(refusal.status), body.size(), body);
}

Parsed parse_request(std::string_view head) {
  std::string_view rest = head;
  const auto line = next_line(rest);
  if (!line) {
    return bad("the request line holds a control character or does not end in CR LF");
  }
  const std::size_t first = line->find(' ');
  const std::size_t last = line->rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return bad("the request line is no METHOD TARGET VERSION");
  }
  const std::string_view method = line->substr(0, first);
  const std::string_view target = line->substr(first + 1, last - first - 1);
  const std::string_view version = line->substr(last + 1);
  if (!is_token(method) || target.empty() || target.find(' ') != std::string_view::npos ||
      (version != "HTTP/1.1" && version != "HTTP/1.0")) {
    return bad("the request line is no METHOD TARGET HTTP/1.1");
  }
  const auto fields = parse_fields(rest);
  if (!fields) {
    return std::unexpected(fields.error());
  }
  const auto hosts =
      std::ranges::count_if(*fields, [](const Field& field) { return same(field.name, "host"); });
  if (hosts > 1) {
    return bad("there are two Host fields");
  }
  return method == "CONNECT" ? parse_connect(target, *fields)
                             : parse_forward(method, target, version, *fields);
}

bool BodyEnd::size_digit(char byte) noexcept {
  const char c = lower(byte);
  const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  if (value >= 0) {
    left_ = left_ * 16 + static_cast<std::uint64_t>(value);
    return ++digits_ <= 15;
  }
  state_ = byte == ';' ? State::Extension : State::SizeLf;
  return digits_ > 0 && (byte == ';' || byte == '\r');
}

bool BodyEnd::step(char byte) noexcept {
  const bool in_data = state_ == State::Data;
  if (!in_data && ++overhead_ > kMaxOverhead + 32) {
    return false;
  }
  const auto expect = [&](char wanted, State next) {
    state_ = next;
    return byte == wanted;
  };
  switch (state_) {
    case State::Size:
      return size_digit(byte);
    case State::Extension:
      state_ = byte == '\r' ? State::SizeLf : State::Extension;
      return byte != '\n';
    case State::SizeLf:
      return expect('\n', left_ > 0 ? State::Data : State::Trailer);
    case State::Data:
      state_ = --left_ == 0 ? State::DataCr : State::Data;
      return true;
    case State::DataCr:
      return expect('\r', State::DataLf);
    case State::DataLf:
      digits_ = 0;
      overhead_ = 0;
      return expect('\n', State::Size);
    case State::Trailer:
      state_ = byte == '\r' ? State::LastLf : State::TrailerLine;
      return byte != '\n';
    case State::TrailerLine:
      state_ = byte == '\r' ? State::TrailerLf : State::TrailerLine;
      return byte != '\n';
    case State::TrailerLf:
      return expect('\n', State::Trailer);
    case State::LastLf:
      return expect('\n', State::Done);
    case State::Done:
      return false;
  }
  return false;
}

std::optional<std::size_t> BodyEnd::take(std::string_view bytes) noexcept {
  if (!chunked_) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    left_ -= count;
    return count;
  }
  std::size_t at = 0;
  while (at < bytes.size() && state_ != State::Done) {
    if (state_ == State::Data && left_ > 1) {  // all of a chunk's data at once
      const auto run =
          static_cast<std::size_t>(std::min<std::uint64_t>(left_ - 1, bytes.size() - at));
      left_ -= run;
      at += run;
      continue;
    }
    if (!step(bytes[at])) {
      return std::nullopt;
    }
    ++at;
  }
  return at;
}

}  // namespace bawn::sandbox::net
