/// \file
/// The words of the protocol: revisions, reserved `_meta` keys, and what each revision knows.
/// Source: MCP 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28.
#pragma once

#include <array>
#include <string_view>

namespace bawn::mcp {

/// The one revision of the stateless ("modern") era that we speak.
inline constexpr std::string_view kModernVersion = "2026-07-28";

/// The revisions with an `initialize` handshake, newest first.
inline constexpr std::array<std::string_view, 4> kLegacyVersions = {"2025-11-25", "2025-06-18",
                                                                    "2025-03-26", "2024-11-05"};
/// Answered to a client that asks for a revision nobody knows, and assumed for one that never asks.
inline constexpr std::string_view kNewestLegacy = kLegacyVersions[0];
/// What HTTP assumes of a request that names no revision (MCP 2025-06-18, transports).
inline constexpr std::string_view kUnnamedHttpVersion = "2025-03-26";
/// The only revision with JSON-RPC batches.
inline constexpr std::string_view kBatchVersion = "2025-03-26";

/// True for a legacy revision that we speak.
[[nodiscard]] constexpr bool is_legacy_version(std::string_view version) noexcept {
  for (const std::string_view known : kLegacyVersions) {
    if (known == version) {
      return true;
    }
  }
  return false;
}

namespace meta {
inline constexpr std::string_view kProtocolVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kClientCapabilities =
    "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kServerInfo = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kSubscriptionId = "io.modelcontextprotocol/subscriptionId";
inline constexpr std::string_view kLogLevel = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view kProgressToken = "progressToken";
/// In a tool's `_meta` the forecast, in a result's the report.
inline constexpr std::string_view kConfinement = "bawn/confinement";
/// In a result's `_meta`: the recordable details, `{"ns": …, "data": JSON text}`.
inline constexpr std::string_view kRecord = "bawn/record";
/// What other servers of this contract name the same.
inline constexpr std::string_view kAgenttoolRecord =
    "io.github.christopherdavenport.agenttool/record";
/// In a tool's `_meta`: what it says of its calls, such as the order that they need.
inline constexpr std::string_view kAgenttoolTool = "io.github.christopherdavenport.agenttool/tool";
}  // namespace meta

/// What the receiver of an answer understands. Revisions are compared as strings: they are dates.
struct WireFeatures {
  bool envelope;     ///< resultType, ttlMs, cacheScope, serverInfo in `_meta`
  bool structured;   ///< structuredContent, outputSchema, title, resource_link
  bool annotations;  ///< tool annotations, audio, the text of a progress message
};

[[nodiscard]] constexpr WireFeatures features_of(std::string_view version) noexcept {
  return {.envelope = version >= kModernVersion,
          .structured = version >= "2025-06-18",
          .annotations = version >= "2025-03-26"};
}

}  // namespace bawn::mcp
