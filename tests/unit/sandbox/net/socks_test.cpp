#include "net/socks.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bawn::sandbox::net {
namespace {

using namespace std::string_literals;

TEST(Socks, AGreetingOffersMethods) {
  EXPECT_EQ(read_socks_greeting("").state, SocksState::NeedMore);
  EXPECT_EQ(read_socks_greeting("\x05\x02\x02"s).state, SocksState::NeedMore);
  const SocksGreeting greeting = read_socks_greeting("\x05\x02\x02\x00rest"s);
  EXPECT_EQ(greeting.state, SocksState::Complete);
  EXPECT_EQ(greeting.size, 4U);
  EXPECT_TRUE(greeting.without_password);
  EXPECT_FALSE(read_socks_greeting("\x05\x01\x02"s).without_password);
  EXPECT_EQ(read_socks_greeting("\x04\x01"s).state, SocksState::Malformed);
}

TEST(Socks, ARequestNamesAHostOrAnAddress) {
  const auto name = read_socks_request("\x05\x01\x00\x03\x05"s + "a.org" + "\x01\xbbx");
  EXPECT_EQ(name.state, SocksState::Complete);
  EXPECT_EQ(name.host, "a.org");
  EXPECT_EQ(name.port, 443);
  EXPECT_EQ(name.size, 12U);
  EXPECT_EQ(read_socks_request("\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50"s).host, "127.0.0.1");
  const std::string v6 = "\x05\x01\x00\x04"s + std::string(15, '\0') + "\x01\x00\x50"s;
  EXPECT_EQ(read_socks_request(v6).host, "::1");
}

TEST(Socks, EveryPrefixOfARequestNeedsMore) {
  const std::string whole = "\x05\x01\x00\x03\x05"s + "a.org" + "\x01\xbb";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(read_socks_request(whole.substr(0, size)).state, SocksState::NeedMore) << size;
  }
}

TEST(Socks, OnlyConnectIsServed) {
  for (const char command : {'\x02', '\x03', '\x00'}) {
    const auto request =
        read_socks_request("\x05"s + command + "\x00\x01\x01\x02\x03\x04\x00\x50"s);
    EXPECT_EQ(request.state, SocksState::Malformed);
    EXPECT_EQ(request.error, SocksReply::BadCommand);
  }
  EXPECT_EQ(read_socks_request("\x05\x01\x00\x02xxxxxxxx"s).error, SocksReply::BadAddress);
  EXPECT_EQ(read_socks_request("\x05\x01\x00\x03\x00\x00\x50"s).state, SocksState::Malformed);
  EXPECT_EQ(read_socks_request("\x05\x01\x01\x01\x01\x02\x03\x04\x00\x50"s).state,
            SocksState::Malformed);
}

}  // namespace
}  // namespace bawn::sandbox::net
