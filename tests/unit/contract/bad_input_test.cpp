/// \file
/// What must be refused, and how: a tool that is declared wrong when it is made, arguments that are
/// wrong before anything of the call has run.
#include "bawn/contract/admission.hpp"
#include "bawn/contract/guard.hpp"
#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/wrap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>

namespace bawn::contract {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Inner {
  std::vector<std::string> tags{};
  static constexpr auto describe() { return fields(field("tags", &Inner::tags).optional()); }
};

struct Args {
  std::string path{};
  double ratio = 0;
  Inner inner{};
  static constexpr auto describe() {
    return fields(field("path", &Args::path).optional(), field("ratio", &Args::ratio).optional(),
                  field("inner", &Args::inner).optional());
  }
};

struct Node {
  std::vector<Node> children{};
  static constexpr auto describe() { return fields(field("children", &Node::children)); }
};

struct BadChoice {
  int level = 0;
  static constexpr auto describe() {
    return fields(field("level", &BadChoice::level).one_of("1,two"));
  }
};

template <class T>
std::string refusal(std::string name, ToolOptions options = {}) {
  const auto tool =
      make_tool<T>(std::move(name), "", [](const Context&, const T&) {}, std::move(options));
  return tool ? "accepted" : tool.error().message();
}

Outcome nop(const Context& /*context*/, const Call& /*call*/) {
  return text_result("");
}

// What wraps a tool says whose tool it is, too.
TEST(BadInput, AWrapperWithoutItsPartsIsRefusedByTheToolsName) {  // C-80, C-110
  const ToolPtr tool = make_raw_tool("inner", "", std::nullopt, nop).value();
  EXPECT_THAT(wrap(tool, {}).error().message(), HasSubstr("\"inner\""));
  EXPECT_THAT(guard(tool, {}).error().message(), HasSubstr("\"inner\""));
  EXPECT_THAT(with_availability(tool, {}).error().message(), HasSubstr("\"inner\""));
  EXPECT_FALSE(wrap(nullptr, [](const Context&, const Call&, const Tool&) { return Outcome(); }));
  EXPECT_FALSE(guard(nullptr, [](const Context&, const AuthorizationRequest&) { return true; }));
  EXPECT_FALSE(with_availability(nullptr, [](const Context&) { return true; }));
}

TEST(BadInput, AToolThatIsDeclaredWrongIsRefusedByItsName) {  // C-7, C-8, C-27, C-28
  EXPECT_EQ(refusal<Args>("read"), "accepted");
  EXPECT_EQ(refusal<Args>(""), R"(make_tool(""): empty name)");
  EXPECT_THAT(refusal<Node>("walk"),
              StartsWith(R"(make_tool("walk"): field "children": recursive)"));
  EXPECT_THAT(refusal<BadChoice>("pick"),
              HasSubstr(R"(make_tool("pick"): field "level": enum value "two")"));
  EXPECT_EQ(refusal<Args>("read", {.parameters = "[]"}),
            R"(make_tool("read"): parameters: not a JSON object)");
  EXPECT_THAT(refusal<Args>("read", {.parameters = "{"}),
              StartsWith(R"(make_tool("read"): parameters: not valid JSON)"));
  EXPECT_EQ(refusal<Args>("read", {.output_schema = "7"}),
            R"(make_tool("read"): output schema: not a JSON object)");
  for (const char* text : {"{}", R"({"type":"string"})", R"({"type":["object","null"]})"}) {
    EXPECT_THAT(refusal<Args>("read", {.parameters = text}),
                StartsWith(R"(make_tool("read"): parameters: not the schema of an object)"));
    EXPECT_THAT(refusal<Args>("read", {.output_schema = text}),
                StartsWith(R"(make_tool("read"): output schema: not the schema of an object)"));
    EXPECT_THAT(make_raw_tool("raw", "", text, nop).error().message(),
                StartsWith(R"(make_raw_tool("raw"): parameters: not the schema of an object)"));
  }
  const std::function<std::string(const Context&, Args)> nothing;
  EXPECT_EQ(make_tool<Args>("read", "", nothing).error().message(),
            R"(make_tool("read"): the function is empty)");
  EXPECT_EQ(make_raw_tool("raw", "", std::nullopt, {}).error().message(),
            R"(make_raw_tool("raw"): the function is empty)");
  EXPECT_EQ(make_raw_tool("", "", std::nullopt, nop).error().message(),
            R"(make_raw_tool(""): empty name)");
  EXPECT_THAT(refusal<Args>("line\nend", {.parameters = "[]"}),
              StartsWith(R"(make_tool("line\nend"))"));
}

struct NoName {
  int value = 0;
  static constexpr auto describe() { return fields(field("", &NoName::value)); }
};
struct BadText {
  int value = 0;
  static constexpr auto describe() { return fields(field("v", &BadText::value).desc("\xff")); }
};
struct NothingFits {
  int value = 0;
  static constexpr auto describe() { return fields(field("v", &NothingFits::value).range(3, 2)); }
};
struct NoBound {
  double value = 0;
  static constexpr auto describe() {
    return fields(field("v", &NoBound::value).at_least(std::numeric_limits<double>::quiet_NaN()));
  }
};

TEST(BadInput, AStructThatIsDescribedWrongIsRefusedByToolAndField) {  // C-8, C-28
  EXPECT_THAT(refusal<NoName>("t"), StartsWith(R"(make_tool("t"): field "": a name is not empty)"));
  EXPECT_THAT(refusal<BadText>("t"), StartsWith(R"(make_tool("t"): field "v": )"));
  EXPECT_THAT(refusal<NothingFits>("t"), HasSubstr(R"(field "v" has bounds that no number fits)"));
  EXPECT_THAT(refusal<NoBound>("t"), HasSubstr(R"(field "v" has bounds that no number fits)"));
  EXPECT_EQ(refusal<Args>("\xff"), R"(make_tool("\xff"): name and description must be UTF-8)");
  EXPECT_THAT(make_raw_tool("t", "\xff", std::nullopt, nop).error().message(),
              HasSubstr("must be UTF-8"));
}

class BadArguments : public testing::Test {
 protected:
  std::string refusal(const std::string& args) {
    const Outcome outcome = tool_->execute({}, {.id = "c", .args = args});
    EXPECT_EQ(ran_, 0);
    // The admission layer refuses the same text, before any tool is there to run.
    const auto binding = Binding::bind(tool_).value();
    EXPECT_FALSE(binding.contract().prepare({"c", "read", args}));
    return outcome.error ? outcome.error->message() : "accepted";
  }
  int ran_ = 0;
  ToolPtr tool_ =
      make_tool<Args>("read", "", [this](const Context&, const Args&) { ++ran_; }).value();
};

std::string nested(int levels) {
  std::string text = R"({"inner":{"tags":)";
  for (int i = 0; i < levels; ++i) {
    text += '[';
  }
  return text;
}

TEST_F(BadArguments, DuplicateMembersAreNamedWithTheirPlace) {  // C-41, C-92
  EXPECT_EQ(refusal(R"({"path":"a","path":"b"})"),
            R"(invalid arguments: not valid JSON: duplicate member "path")");
  EXPECT_EQ(refusal(R"({"inner":{"tags":["a",{"x":1,"x":2}]}})"),
            R"(invalid arguments: not valid JSON: inner.tags[1]: duplicate member "x")");
}

TEST_F(BadArguments, LoneSurrogatesAndBadBytesAreRefused) {  // C-92
  EXPECT_THAT(refusal(R"({"inner":{"tags":["\ud800"]}})"),
              StartsWith("invalid arguments: not valid JSON: inner.tags[0]: byte "));
  EXPECT_THAT(refusal(R"({"path":"\udc00x"})"),
              StartsWith("invalid arguments: not valid JSON: path: "));
  EXPECT_THAT(refusal("{\"path\":\"\xff\"}"),
              StartsWith("invalid arguments: not valid JSON: path: "));
  EXPECT_THAT(refusal(std::string("{\"path\":\"a\0b\"}", 14)), HasSubstr("a NUL byte"));
}

TEST_F(BadArguments, NestingTenThousandDeepEndsAtTheLimit) {  // C-92
  const std::string message = refusal(nested(10'000));
  EXPECT_THAT(message, HasSubstr("inner.tags[0][0]"));
  EXPECT_THAT(message, HasSubstr("nested deeper than 128 levels"));
  EXPECT_LT(message.size(), 1000U);
}

TEST_F(BadArguments, NumbersBeyondADoubleAreRefused) {  // C-46, C-95
  EXPECT_THAT(refusal(R"({"ratio":1e999})"),
              StartsWith("invalid arguments: not valid JSON: ratio: "));
  EXPECT_THAT(refusal(R"({"ratio":)" + std::string(400, '9') + "}"),
              StartsWith("invalid arguments: not valid JSON: ratio: "));
}

struct Labels {
  std::map<std::string, int> labels{};
  static constexpr auto describe() { return fields(field("labels", &Labels::labels).optional()); }
};

// Names that a caller made up come back in messages: short, on one line, without controls.
TEST(BadInput, ARefusalRepeatsTheStartOfANameAndNoControls) {
  const std::string name = R"(\u001b[2J\u202e\n)" + std::string(1'000'000, 'x');
  const auto nothing = [](const Context&, const Labels&) {};
  for (const ToolOptions& options :
       {ToolOptions{.additional_properties = false}, ToolOptions{.without_validation = true},
        ToolOptions{.without_validation = true, .exact_arguments = true}}) {
    const ToolPtr tool = make_tool<Labels>("t", "", nothing, options).value();
    for (const std::string& args :
         {"{\"" + name + "\":1}", R"({"labels":{")" + name + R"(":"a"}})"}) {
      const Outcome outcome = tool->execute({}, {.args = args});
      const std::string message = outcome.error ? outcome.error->message() : "";
      EXPECT_LT(message.size(), 600U);
      EXPECT_EQ(message.find_first_of("\x1b\n"), std::string::npos);
      EXPECT_EQ(message.find("\u202e"), std::string::npos);
    }
    EXPECT_TRUE(tool->execute({}, {.args = R"({"labels":{"a":"b"}})"}).error);
  }
}

TEST_F(BadArguments, TrailingDataIsRefused) {  // C-92
  EXPECT_THAT(refusal("{} {}"), StartsWith("invalid arguments: not valid JSON: byte 4: "));
  EXPECT_THAT(refusal("{}x"), StartsWith("invalid arguments: not valid JSON: byte 3: "));
}

TEST_F(BadArguments, AnythingButAnObjectIsRefused) {  // C-49
  EXPECT_EQ(refusal("[1]"), "invalid arguments: expected object, got array");
  EXPECT_EQ(refusal("7"), "invalid arguments: expected object, got 7");
  EXPECT_THAT(refusal("path"), StartsWith("invalid arguments: not valid JSON: "));
}

}  // namespace
}  // namespace bawn::contract
