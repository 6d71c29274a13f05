#include "net/host_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::sandbox::net {
namespace {

using testing::HasSubstr;

HostRules rules(std::vector<std::string> hosts) {
  Policy policy;
  policy.hosts = std::move(hosts);
  auto made = HostRules::make(policy);
  EXPECT_TRUE(made) << made.error().message();
  return made ? *made : HostRules{};
}

bool allows(const HostRules& list, const char* host, std::uint16_t port = 443) {
  const auto name = normalise_host(host);
  return name && list.check_host(*name, port).allowed;
}

TEST(HostName, HasOneForm) {
  EXPECT_EQ(*normalise_host("ExAmple.ORG."), "example.org");
  EXPECT_EQ(*normalise_host("[::1]"), "::1");
  EXPECT_EQ(*normalise_host("2001:DB8::1"), "2001:db8::1");
  EXPECT_EQ(*normalise_host("xn--bcher-kva.example"), "xn--bcher-kva.example");
  EXPECT_EQ(*normalise_host("_dmarc.example.org"), "_dmarc.example.org");
}

TEST(HostName, WhatOthersCouldReadDifferentlyIsRefused) {
  for (const char* host : {"",
                           ".",
                           "a..b",
                           ".a",
                           "a.org..",
                           "127.1",
                           "0x7f000001",
                           "2130706433",
                           "0177.0.0.1",
                           "a b",
                           "a\tb",
                           "a/b",
                           "a@b",
                           "a:b",
                           "a%2eb",
                           "-a.org",
                           "a-.org",
                           "b\xc3\xbc"
                           "cher.example",
                           "fe80::1%eth0",
                           "a\r\nb"}) {
    EXPECT_FALSE(normalise_host(host)) << host;
  }
  EXPECT_FALSE(normalise_host(std::string_view("a\0b", 3)));
  EXPECT_FALSE(normalise_host(std::string(300, 'a')));
  EXPECT_FALSE(normalise_host(std::string(64, 'a') + ".org"));
}

TEST(HostRules, ANameMeansItselfOnTheUsualPorts) {
  const HostRules list = rules({"Example.org"});
  EXPECT_TRUE(allows(list, "example.org", 443));
  EXPECT_TRUE(allows(list, "EXAMPLE.ORG.", 80));
  EXPECT_FALSE(allows(list, "example.org", 22));
  EXPECT_FALSE(allows(list, "www.example.org"));
  EXPECT_FALSE(allows(list, "example.org.evil.net"));
  EXPECT_FALSE(allows(list, "notexample.org"));
}

TEST(HostRules, AStarMeansSubdomainsAndNotTheNameItself) {
  const HostRules list = rules({"*.example.org"});
  EXPECT_TRUE(allows(list, "a.example.org"));
  EXPECT_TRUE(allows(list, "a.b.example.org"));
  EXPECT_FALSE(allows(list, "example.org"));
  EXPECT_FALSE(allows(list, "aexample.org"));
  EXPECT_FALSE(allows(list, "a.example.org.evil.net"));
}

TEST(HostRules, PortsAreListsAndRanges) {
  const HostRules list = rules({"a.org:22,8000-8002", "b.org:*"});
  for (const std::uint16_t port : std::initializer_list<std::uint16_t>{22, 8000, 8002}) {
    EXPECT_TRUE(allows(list, "a.org", port)) << port;
  }
  for (const std::uint16_t port : std::initializer_list<std::uint16_t>{443, 7999, 8003}) {
    EXPECT_FALSE(allows(list, "a.org", port)) << port;
  }
  EXPECT_TRUE(allows(list, "b.org", 1));
  EXPECT_THAT(list.check_host("a.org", 443).rule, HasSubstr("port"));
}

TEST(HostRules, EveryHostMeansNoAddressThatIsNotPublic) {
  const HostRules list = rules({"*"});
  EXPECT_TRUE(allows(list, "anything.example"));
  EXPECT_FALSE(allows(list, "10.0.0.1")) << "an address must be named as one";
  EXPECT_TRUE(list.check_address(*parse_address("8.8.8.8"), 443).allowed);
  for (const char* text : {"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:8.8.8.8",
                           "64:ff9b::808:808", "100.64.0.1", "0.0.0.0", "224.0.0.1"}) {
    const Verdict verdict = list.check_address(*parse_address(text), 443);
    EXPECT_FALSE(verdict.allowed) << text;
    EXPECT_THAT(verdict.rule, HasSubstr(text));
  }
}

TEST(HostRules, NamedAddressesAreAllowedOnTheirPorts) {
  const HostRules list = rules({"10.0.0.0/8:5432", "[::1]:8080", "192.168.1.1"});
  EXPECT_TRUE(allows(list, "10.9.8.7", 5432));
  EXPECT_FALSE(allows(list, "10.9.8.7", 443));
  EXPECT_TRUE(allows(list, "[::1]", 8080));
  EXPECT_TRUE(list.check_address(*parse_address("192.168.1.1"), 80).allowed);
  EXPECT_FALSE(list.check_address(*parse_address("192.168.1.2"), 80).allowed);
}

TEST(HostRules, BadEntriesAreNamed) {
  for (const char* text :
       {"", ":443", "a.org:", "a.org:0", "a.org:65536", "a.org:9-8", "a.org:80,", "a.org:x",
        "http://a.org", "a.org/path", "*.10.0.0.1", "*.*", "a.*.org", "[::1", "[::1]8080", "127.1",
        "b\xc3\xbc"
        "cher.org"}) {
    EXPECT_FALSE(parse_host_rule(text)) << text;
  }
}

TEST(HostRules, AFixedAddressMayHaveAPort) {
  Policy policy;
  policy.hosts = {"db.test:5432"};
  policy.host_addresses = {{"DB.test", "127.0.0.1:15432"}};
  const auto list = HostRules::make(policy);
  ASSERT_TRUE(list);
  ASSERT_TRUE(list->fixed("db.test"));
  EXPECT_EQ(to_string(list->fixed("db.test")->address), "127.0.0.1");
  EXPECT_EQ(list->fixed("db.test")->port, 15432);
  EXPECT_FALSE(list->fixed("other.test"));
}

}  // namespace
}  // namespace bawn::sandbox::net
