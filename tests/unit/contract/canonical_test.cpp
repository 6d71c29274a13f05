#include "bawn/contract/canonical.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace bawn::contract {
namespace {

std::string canonical(std::string_view text) {
  return canonical_json(*parse_json(text)).value();
}

TEST(Canonical, SortsMembersByUtf16Units) {
  // U+1F600 is D83D DE00 in UTF-16 and so comes before U+FB33, though its code point is larger.
  EXPECT_EQ(canonical("{\"\uFB33\":1,\"😀\":2,\"é\":3,\"b\":4,\"\":5}"),
            "{\"\":5,\"b\":4,\"é\":3,\"😀\":2,\"\uFB33\":1}");
}

TEST(Canonical, KeepsArrayOrderAndDropsBlanks) {
  EXPECT_EQ(canonical("[ 3, {\"b\" : 1, \"a\": [ ] } ,1 ]"), R"([3,{"a":[],"b":1},1])");
}

TEST(Canonical, PrintsNumbersAsEcmascriptDoes) {
  EXPECT_EQ(canonical("[-0,1e21,1e20,0.000001,1e-7,9007199254740993,1.0,-1.5e-7,123456789.125]"),
            "[0,1e+21,100000000000000000000,0.000001,1e-7,9007199254740992,1,-1.5e-7,"
            "123456789.125]");
  EXPECT_EQ(canonical_number(std::numeric_limits<double>::denorm_min()), "5e-324");
  EXPECT_EQ(canonical_number(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
}

TEST(Canonical, EscapesOnlyWhatJsonDemands) {
  EXPECT_EQ(canonical(R"("\u0001\b\f\n\r\t\"\\\/<>&\u2028")"),
            "\"\\u0001\\b\\f\\n\\r\\t\\\"\\\\/<>&\u2028\"");
}

TEST(Canonical, RefusesWhatHasNoCanonicalForm) {
  EXPECT_FALSE(canonical_json(Json(std::numeric_limits<double>::infinity())));
  EXPECT_FALSE(canonical_json(Json("\xFF")));
  EXPECT_FALSE(canonical_json(Json{{"\xFF", 1}}));
}

TEST(Sha256, AgreesWithThePublishedExamples) {  // FIPS 180-4 examples
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PadsEveryLengthAroundABlock) {
  EXPECT_EQ(sha256_hex(std::string(55, 'x')).size(), 64U);
  EXPECT_NE(sha256_hex(std::string(55, 'x')), sha256_hex(std::string(56, 'x')));
  EXPECT_EQ(sha256_hex(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

}  // namespace
}  // namespace bawn::contract
