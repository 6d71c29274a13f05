#include "bawn/contract/record.hpp"

#include "bawn/contract/quote.hpp"
#include "json_depth.hpp"

#include <fmt/format.h>

namespace bawn::contract {
namespace {

struct CurrentRecorder {
  Recorder record;
};

const Recorder* recorder_of(const Context& context) noexcept {
  const auto* const current = context.find<CurrentRecorder>();
  return current != nullptr && current->record ? &current->record : nullptr;
}

}  // namespace

Result<std::optional<Record>> record_of(const Details* details) {
  if (details == nullptr) {
    return std::nullopt;
  }
  std::string name_space = details->record_namespace();
  if (name_space.empty()) {
    // Only a RecordDetails claims to be a record without saying which kind.
    if (dynamic_cast<const RecordDetails*>(details) != nullptr) {
      return fail(ErrorCode::InvalidArgument, "bawn: record RecordDetails: empty namespace");
    }
    return std::nullopt;
  }
  auto data = details->record_json();
  const auto bounded = data ? detail::check_depth(*data) : Result<>();
  if (!data || !bounded) {
    return std::unexpected((data ? bounded.error() : data.error())
                               .wrap(fmt::format("bawn: record {}", plain_or_quoted(name_space))));
  }
  return Record{.name_space = std::move(name_space), .data = *std::move(data)};
}

Context with_recorder(const Context& context, Recorder recorder) {
  return context.with(CurrentRecorder{std::move(recorder)});
}

bool has_recorder(const Context& context) noexcept {
  return recorder_of(context) != nullptr;
}

Result<> write_record(const Context& context, const Details* details) {
  const auto record = BAWN_TRY(record_of(details));
  const Recorder* const recorder = recorder_of(context);
  return record && recorder != nullptr ? (*recorder)(context, *record) : Result<>();
}

Result<> write_record(const Context& context, Record record) {
  const RecordDetails details(std::move(record));
  return write_record(context, &details);
}

}  // namespace bawn::contract
