#include "net/address.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace bawn::sandbox::net {
namespace {

Reach reach(const char* text) {
  const auto address = parse_address(text);
  EXPECT_TRUE(address) << text;
  return reach_of(address.value_or(Address{}));
}

TEST(Address, IsReadInItsUsualFormOnly) {
  for (const char* text : {"127.1", "0x7f.0.0.1", "2130706433", "127.0.0.01", "127.0.0.1 ", "",
                           "1.2.3.4.5", "256.1.1.1", "[::1]", "fe80::1%eth0", "::g"}) {
    EXPECT_FALSE(parse_address(text)) << text;
  }
  EXPECT_FALSE(parse_address(std::string_view("127.0.0.1\0x", 11)));
  EXPECT_EQ(to_string(*parse_address("2001:DB8:0:0::1")), "2001:db8::1");
}

TEST(Address, LegacyFormsLookNumeric) {
  for (const char* text :
       {"127.1", "0x7f000001", "2130706433", "0177.0.0.1", "1.2.3.0xff", "a.9", "127.1."}) {
    EXPECT_TRUE(looks_numeric(text)) << text;
  }
  for (const char* text : {"example.org", "1and1.com", "a.b9", "0x.example", "dead.beef"}) {
    EXPECT_FALSE(looks_numeric(text)) << text;
  }
}

TEST(Address, OnlyTheInternetAtLargeIsPublic) {
  const std::pair<const char*, Reach> kKnown[] = {
      {"8.8.8.8", Reach::Public},
      {"2606:4700::1111", Reach::Public},
      {"127.0.0.1", Reach::Loopback},
      {"127.255.1.2", Reach::Loopback},
      {"::1", Reach::Loopback},
      {"10.1.2.3", Reach::Private},
      {"172.16.0.1", Reach::Private},
      {"172.31.255.255", Reach::Private},
      {"172.32.0.1", Reach::Public},
      {"192.168.1.1", Reach::Private},
      {"100.64.0.1", Reach::Private},
      {"100.127.255.255", Reach::Private},
      {"100.128.0.1", Reach::Public},
      {"fd12::1", Reach::Private},
      {"169.254.1.1", Reach::LinkLocal},
      {"fe80::1", Reach::LinkLocal},
      {"169.254.169.254", Reach::Metadata},
      {"fd00:ec2::254", Reach::Metadata},
      {"100.100.100.200", Reach::Metadata},
      {"224.0.0.1", Reach::Multicast},
      {"255.255.255.255", Reach::Multicast},
      {"ff02::1", Reach::Multicast},
      {"0.0.0.0", Reach::Reserved},
      {"0.1.2.3", Reach::Reserved},
      {"::", Reach::Reserved},
      {"192.0.2.1", Reach::Reserved},
      {"198.18.0.1", Reach::Reserved},
      {"240.0.0.1", Reach::Reserved},
      {"2001:db8::1", Reach::Reserved},
      {"::ffff:8.8.8.8", Reach::Embedding},
      {"::ffff:127.0.0.1", Reach::Embedding},
      {"::8.8.8.8", Reach::Embedding},
      {"64:ff9b::8.8.8.8", Reach::Embedding},
      {"64:ff9b:1::1", Reach::Embedding},
      {"2002:7f00:1::1", Reach::Embedding},
      {"2001::1", Reach::Embedding},
      {"2606:4700::5efe:7f00:1", Reach::Embedding},
      {"2606:4700::200:5efe:7f00:1", Reach::Embedding},
  };
  for (const auto& [text, expected] : kKnown) {
    EXPECT_EQ(reach(text), expected) << text << " is " << to_string(reach(text));
  }
}

TEST(Address, MetadataIsFoundInEveryForm) {
  for (const char* text :
       {"169.254.169.254", "::ffff:169.254.169.254", "::169.254.169.254", "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::1", "2001:0:1:1:1:1:5601:5601", "fd00:ec2::254"}) {
    EXPECT_TRUE(is_metadata(*parse_address(text))) << text;
  }
  for (const char* text : {"8.8.8.8", "169.254.1.1", "64:ff9b::808:808", "10.0.0.1"}) {
    EXPECT_FALSE(is_metadata(*parse_address(text))) << text;
  }
}

TEST(Prefix, HoldsWhatItsBitsSay) {
  const auto holds = [](const char* prefix, const char* address) {
    return contains(*parse_prefix(prefix), *parse_address(address));
  };
  EXPECT_TRUE(holds("10.0.0.0/8", "10.255.0.1"));
  EXPECT_FALSE(holds("10.0.0.0/8", "11.0.0.1"));
  EXPECT_TRUE(holds("192.168.4.0/22", "192.168.7.255"));
  EXPECT_FALSE(holds("192.168.4.0/22", "192.168.8.0"));
  EXPECT_TRUE(holds("0.0.0.0/0", "8.8.8.8"));
  EXPECT_FALSE(holds("0.0.0.0/0", "::1"));
  EXPECT_TRUE(holds("fd00::/8", "fdff::1"));
  EXPECT_TRUE(holds("10.0.0.1", "10.0.0.1"));
  EXPECT_FALSE(holds("10.0.0.1", "10.0.0.2"));
  for (const char* text : {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "::/129", "10.0.0.0/8x"}) {
    EXPECT_FALSE(parse_prefix(text)) << text;
  }
}

}  // namespace
}  // namespace bawn::sandbox::net
