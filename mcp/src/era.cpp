#include "era.hpp"

#include <fmt/format.h>

#include <utility>

namespace bawn::mcp {
namespace {

using Decision = std::expected<Era, RpcError>;

std::unexpected<RpcError> refuse(RpcCode code, std::string message,
                                 std::optional<Json> data = std::nullopt) {
  return std::unexpected(
      RpcError{.code = code, .message = std::move(message), .data = std::move(data)});
}

std::unexpected<RpcError> header_mismatch(std::string message) {
  return refuse(RpcCode::HeaderMismatch, "Header mismatch: " + std::move(message));
}

/// The request names a revision in its `_meta`.
Decision claimed(const RawObject& envelope, const std::string& claim,
                 const std::optional<HttpFacts>& http) {
  if (http && http->version_header != claim) {
    return header_mismatch(
        http->version_header
            ? fmt::format("MCP-Protocol-Version is {} but the body says {}",
                          shown(*http->version_header), shown(claim))
            : fmt::format("MCP-Protocol-Version is missing but the body says {}", shown(claim)));
  }
  if (claim != kModernVersion) {
    return refuse(RpcCode::UnsupportedVersion, "Unsupported protocol version",
                  Json{{"supported", Json::array({kModernVersion})}, {"requested", claim}});
  }
  const auto capabilities = envelope.find(meta::kClientCapabilities);
  if (!capabilities || !is_raw_object(*capabilities)) {
    return refuse(RpcCode::InvalidParams,
                  fmt::format("params._meta must have an object {}", meta::kClientCapabilities));
  }
  return Era{.modern = true, .version = claim, .client_capabilities = std::string(*capabilities)};
}

/// No claim on HTTP: the header and the session decide the legacy revision.
Decision unclaimed_over_http(std::string_view method, const HttpFacts& http, const Era& agreed) {
  if (!http.version_header) {
    return http.session ? agreed : Era{.version = std::string(kUnnamedHttpVersion)};
  }
  const std::string& header = *http.version_header;
  if (header == kModernVersion) {
    if (method == "initialize") {
      return header_mismatch("initialize does not exist in the revision that the header names");
    }
    return refuse(RpcCode::InvalidParams,
                  fmt::format("params._meta must have {}", meta::kProtocolVersion));
  }
  if (!is_legacy_version(header)) {
    return refuse(RpcCode::InvalidRequest,
                  fmt::format("unknown MCP-Protocol-Version {}", shown(header)));
  }
  Era era = agreed;
  era.version = header;
  return era;
}

}  // namespace

Decision decide_era(std::string_view method, const RawObject& params,
                    const std::optional<HttpFacts>& http, const Era& agreed) {
  if (const auto raw = params.find("_meta")) {
    if (!is_raw_object(*raw)) {
      return refuse(RpcCode::InvalidParams, "params._meta must be an object");
    }
    const RawObject envelope = raw_members(*raw);
    if (const auto claim = envelope.find(meta::kProtocolVersion)) {
      const auto version = string_of(*claim);
      if (!version) {
        return refuse(RpcCode::InvalidParams,
                      fmt::format("params._meta: {} must be a string", meta::kProtocolVersion));
      }
      return claimed(envelope, *version, http);
    }
  }
  if (http) {
    return unclaimed_over_http(method, *http, agreed);
  }
  return agreed;
}

}  // namespace bawn::mcp
