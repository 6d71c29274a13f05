/// \file
/// Which era's rules a request follows: decided for each message by itself, so that one process
/// serves old and new clients, and probes, over one pipe.
/// Source: MCP 2026-07-28, versioning; and the older revisions' lifecycle.
#pragma once

#include "json_rpc.hpp"
#include "protocol.hpp"
#include "raw_json.hpp"

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bawn::mcp {

/// What an HTTP request says beside its body; absent on stdio.
struct HttpFacts {
  std::optional<std::string> version_header;        ///< `MCP-Protocol-Version`, trimmed
  bool session = false;                             ///< the request belongs to a legacy session
  std::optional<std::string> method_header{};       ///< `Mcp-Method`, as it came
  std::optional<std::string> name_header{};         ///< `Mcp-Name`
  std::map<std::string, std::string> parameters{};  ///< `Mcp-Param-*`, names in lower case
};

/// The rules for one request.
struct Era {
  bool modern = false;
  std::string version;                     ///< the revision its answer is written in
  std::string client_capabilities = "{}";  ///< JSON text

  [[nodiscard]] WireFeatures features() const noexcept { return features_of(version); }
};

/// Decides the era of a request from the claim in `params._meta`, the HTTP facts, and, for a legacy
/// request, what was agreed with `initialize` on this connection (empty before that).
///
/// Errors: the error to answer; see the table in docs/mcp.md, each row of which is a test.
[[nodiscard]] std::expected<Era, RpcError> decide_era(std::string_view method,
                                                      const RawObject& params,
                                                      const std::optional<HttpFacts>& http,
                                                      const Era& agreed);

}  // namespace bawn::mcp
