/// \file
/// The shared vectors of the HTTP front: foreign origins, and what a notification gets.
#include "fake_tools.hpp"
#include "http_client.hpp"
#include "support/requirements.hpp"
#include "support/vectors.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bawn::mcp::test {
namespace {

using bawn::test::expect_known_members;
using bawn::test::play_rows;
using bawn::test::vectors;
using contract::Json;

TEST(HttpVectors, OriginsAreTakenAsGiven) {  // C-203
  BAWN_REQUIRE("shared-vectors");
  const auto play = [](const Json& row) {
    HttpOptions options;
    for (const Json& origin : row.value("allowed", Json::array())) {
      options.allowed_origins.push_back(origin);
    }
    const HttpFixture http({echo_tool()}, {}, options);
    const Json& origin = row.at("origin");
    const auto reply = http.send(
        HttpFixture::modern(modern_body(1, "tools/list"),
                            {{"Origin", origin.is_null() ? "" : origin.get<std::string>()}}));
    EXPECT_EQ(reply.status, row.value("status", 200));
  };
  play_rows(vectors("mapping/seed004.json").at("origin"), {"origin", "allowed", "ok", "status"},
            play);
}

TEST(HttpVectors, ANotificationGetsNoBody) {  // C-203
  BAWN_REQUIRE("shared-vectors");
  const Json replies = vectors("mapping/seed004.json").at("reply");
  expect_known_members(replies, {"notification"});
  const Json& wanted = replies.at("notification");
  expect_known_members(wanted, {"status", "body"});
  const HttpFixture http({echo_tool()});
  const auto reply =
      http.send(HttpFixture::legacy({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}));
  EXPECT_EQ(reply.status, wanted.at("status").get<int>());
  EXPECT_EQ(reply.body, wanted.at("body").get<std::string>());
}

}  // namespace
}  // namespace bawn::mcp::test
