// Each row of the table "Choosing the era" of docs/mcp.md.
#include "era.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bawn::mcp {
namespace {

constexpr const char* kComplete =
    R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}})";

std::string claiming(std::string_view version) {
  return R"({"_meta":{"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/protocolVersion":)" +
         std::string(version) + "}}";
}

const Era kAgreed{.version = "2025-06-18", .client_capabilities = R"({"roots":{}})"};

auto on_stdio(std::string_view method, std::string_view params) {
  return decide_era(method, raw_members(params), std::nullopt, kAgreed);
}

auto on_http(std::string_view method, std::string_view params, std::optional<std::string> header,
             bool session = false) {
  return decide_era(method, raw_members(params),
                    HttpFacts{.version_header = std::move(header), .session = session}, kAgreed);
}

TEST(DecideEra, ACompleteClaimIsModern) {
  const auto era = on_stdio("tools/list", kComplete);
  ASSERT_TRUE(era);
  EXPECT_TRUE(era->modern);
  EXPECT_EQ(era->version, "2026-07-28");
  EXPECT_EQ(era->client_capabilities, R"({"elicitation":{}})");
  EXPECT_TRUE(on_http("tools/list", kComplete, "2026-07-28"));
}

TEST(DecideEra, AModernClaimNeedsClientCapabilities) {
  EXPECT_EQ(on_stdio("tools/list",
                     R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})")
                .error()
                .code,
            RpcCode::InvalidParams);
  for (const auto* const wrong : {"null", "[]", "\"x\"", "1"}) {
    EXPECT_EQ(
        on_stdio(
            "tools/list",
            R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":)" +
                std::string(wrong) + "}}")
            .error()
            .code,
        RpcCode::InvalidParams)
        << wrong;
  }
}

TEST(DecideEra, AnUnknownClaimIsToldWhatIsSupportedOlderOrNewer) {
  for (const auto* const version : {"2025-11-25", "2099-01-01", "", "x"}) {
    const auto era = on_stdio("tools/list", claiming('"' + std::string(version) + '"'));
    ASSERT_FALSE(era) << version;
    EXPECT_EQ(era.error().code, RpcCode::UnsupportedVersion);
    EXPECT_EQ(*era.error().data,
              (Json{{"supported", Json::array({"2026-07-28"})}, {"requested", version}}));
  }
}

TEST(DecideEra, AClaimOrEnvelopeOfAnotherTypeIsRefused) {
  EXPECT_EQ(on_stdio("ping", claiming("7")).error().code, RpcCode::InvalidParams);
  EXPECT_EQ(on_stdio("ping", R"({"_meta":[]})").error().code, RpcCode::InvalidParams);
}

TEST(DecideEra, InitializeWithoutAClaimIsTheLegacyHandshake) {
  const auto era = on_stdio("initialize", R"({"protocolVersion":"2025-11-25"})");
  ASSERT_TRUE(era);
  EXPECT_FALSE(era->modern);
}

TEST(DecideEra, InitializeWithAModernClaimIsModernAndThereforeUnknown) {
  // The dispatcher then answers -32601; see the dispatcher's tests.
  EXPECT_TRUE(on_stdio("initialize", kComplete)->modern);
}

TEST(DecideEra, AModernHeaderNeedsAClaim) {
  EXPECT_EQ(on_http("tools/list", "{}", "2026-07-28").error().code, RpcCode::InvalidParams);
  EXPECT_EQ(on_http("initialize", "{}", "2026-07-28").error().code, RpcCode::HeaderMismatch);
}

TEST(DecideEra, HeaderAndClaimMustBeEqual) {
  EXPECT_EQ(on_http("tools/list", kComplete, "2025-11-25").error().code, RpcCode::HeaderMismatch);
  EXPECT_EQ(on_http("tools/list", kComplete, std::nullopt).error().code, RpcCode::HeaderMismatch);
}

TEST(DecideEra, NeitherClaimNorHeaderIsLegacy) {
  EXPECT_EQ(on_stdio("tools/list", "{}")->version, "2025-06-18") << "what initialize agreed on";
  EXPECT_EQ(on_http("tools/list", "{}", std::nullopt)->version, "2025-03-26");
  EXPECT_EQ(on_http("tools/list", "{}", std::nullopt, true)->version, "2025-06-18");
}

TEST(DecideEra, AKnownLegacyHeaderIsLegacyAtThatRevision) {
  EXPECT_EQ(on_http("tools/list", "{}", "2024-11-05")->version, "2024-11-05");
}

TEST(DecideEra, AnUnknownHeaderWithoutAClaimIsRefused) {
  EXPECT_EQ(on_http("tools/list", "{}", "2024-01-01").error().code, RpcCode::InvalidRequest);
}

TEST(WireFeatures, FollowTheRevisionsThatBroughtThem) {
  EXPECT_FALSE(features_of("2024-11-05").annotations);
  EXPECT_TRUE(features_of("2025-03-26").annotations);
  EXPECT_FALSE(features_of("2025-03-26").structured);
  EXPECT_TRUE(features_of("2025-06-18").structured);
  EXPECT_FALSE(features_of("2025-11-25").envelope);
  EXPECT_TRUE(features_of("2026-07-28").envelope);
}

}  // namespace
}  // namespace bawn::mcp
