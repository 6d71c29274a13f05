#include "bawn/contract/record.hpp"

#include "bawn/contract/call_context.hpp"
#include "bawn/contract/progress.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bawn::contract {
namespace {

class Broken final : public Details {
 public:
  std::string record_namespace() const override { return "bad"; }
};

class Plain final : public Details {};

TEST(Record, OnlyRecordableDetailsHaveOne) {  // C-151
  EXPECT_FALSE(record_of(nullptr)->has_value());
  const Plain plain;
  EXPECT_FALSE(record_of(&plain)->has_value());
  const RecordDetails group({.name_space = "shell:process-group", .data = {{"pgid", 7}}});
  EXPECT_EQ(record_of(&group).value().value().name_space, "shell:process-group");
  EXPECT_EQ(dump_json(record_of(&group).value().value().data), R"({"pgid":7})");
}

TEST(Record, ABadRecordIsAnErrorThatNamesIt) {  // C-151
  const RecordDetails unnamed({.data = {{"pgid", 7}}});
  EXPECT_THAT(record_of(&unnamed).error().message(), testing::HasSubstr("empty namespace"));
  const Broken broken;
  EXPECT_THAT(record_of(&broken).error().message(), testing::StartsWith("bawn: record bad: "));
}

TEST(Record, GoesToTheRecorderWithTheCallOnItsContext) {  // C-152
  std::vector<std::string> seen;
  const Context context = with_recorder(
      with_call({}, Call{.id = "call_1"}), [&](const Context& inner, const Record& record) {
        seen.push_back(call_from(inner)->id + " " + record.name_space + " " +
                       dump_json(record.data));
        return Result<>();
      });
  EXPECT_TRUE(
      write_record(context, Record{.name_space = "shell:process-group", .data = {{"pgid", 7}}}));
  EXPECT_TRUE(write_record(context, nullptr));
  EXPECT_THAT(seen, testing::ElementsAre(R"(call_1 shell:process-group {"pgid":7})"));
}

TEST(Record, WithoutARecorderNothingHappens) {  // C-152, C-153
  const Record record{.name_space = "a:b", .data = 1};
  EXPECT_TRUE(write_record(Context(), record));
  int calls = 0;
  const Context with = with_recorder({}, [&](const Context&, const Record&) {
    ++calls;
    return Result<>();
  });
  EXPECT_TRUE(has_recorder(with));
  EXPECT_FALSE(has_recorder(with_recorder(with, {})));
  EXPECT_TRUE(write_record(with_recorder(with, {}), record));
  EXPECT_EQ(calls, 0);
}

TEST(Record, ErrorsOfTheRecorderAreReturnedAndBrokenRecordsNeverReachIt) {  // C-152
  int calls = 0;
  const Context context = with_recorder({}, [&](const Context&, const Record&) -> Result<> {
    ++calls;
    return fail(ErrorCode::Internal, "recorder broke");
  });
  EXPECT_EQ(write_record(context, Record{.name_space = "a:b"}).error().message(), "recorder broke");
  const Broken broken;
  EXPECT_FALSE(write_record(context, &broken));
  EXPECT_EQ(calls, 1);
}

TEST(Progress, ReachesTheCallsWatcherAndOnlyThat) {  // C-150
  progress(Context(), text_result("nobody"));
  std::vector<std::string> seen;
  Call call{.id = "c"};
  progress(with_call({}, call), 1, std::nullopt);
  call.on_update = [&](const ToolResult& update) {
    const auto* info = dynamic_cast<const ProgressInfo*>(update.details.get());
    seen.push_back(output_text(update) +
                   (info != nullptr ? fmt::format("/{}/{}/{}", info->progress(),
                                                  info->total().value_or(-1), info->message())
                                    : ""));
  };
  progress(with_call({}, call), text_result("half"));
  progress(with_call({}, call), 2, 4, "two");
  progress(with_call({}, call), 3.5, std::nullopt);
  EXPECT_THAT(seen, testing::ElementsAre("half", "two/2/4/two", "/3.5/-1/"));
}

TEST(CallContext, CarriesSessionAndCaller) {
  EXPECT_EQ(session_from({}), nullptr);
  EXPECT_EQ(caller_from({}), nullptr);
  const Context context = with_caller(with_session({}, "s1"), Caller{.account = "ann"});
  EXPECT_EQ(*session_from(context), "s1");
  EXPECT_EQ(caller_from(context)->account, "ann");
}

}  // namespace
}  // namespace bawn::contract
