// What a session keeps of its calls, and the input of those that run.
#include "input_feed.hpp"
#include "session_impl.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bawn::shell {

namespace {

/// Waits until nothing was printed for `quiet`.
void settle(CallRecord& record, const contract::Context& context,
            std::optional<contract::Context::Clock::time_point> until, Milliseconds quiet) {
  using Clock = contract::Context::Clock;
  for (;;) {
    const auto now = Clock::now();
    const std::uint64_t seen = record.printed();
    if (record.finished() || context.ended_at(now) || (until && now >= *until)) {
      return;
    }
    const auto end = until ? std::min(*until, now + quiet) : now + quiet;
    record.wait(context, end, [seen](const OutputBuffer& out, const OutputBuffer& err) {
      return out.bytes() + err.bytes() != seen;
    });
    if (record.printed() == seen) {
      return;
    }
  }
}

}  // namespace

Result<CallPtr> Session::Impl::find_call(const std::string& id) const {
  if (CallPtr record = calls.find(id)) {
    return record;
  }
  return contract::fail(
      ErrorCode::NotFound,
      fmt::format("session {} keeps no call \"{}\": it is unknown, or older than the last {} calls",
                  config.name, id, config.limits.recent_calls));
}

Result<CallResult> Session::Impl::output(const contract::Context& context,
                                         const OutputRequest& request) {
  const CallPtr record = BAWN_TRY(find_call(request.call));
  std::optional<LineFilter> filter;
  if (request.filter) {
    filter = BAWN_TRY(LineFilter::make(*request.filter));
  }
  std::optional<LineFilter> awaited;
  if (request.until) {
    awaited = BAWN_TRY(LineFilter::make(*request.until));
  }
  std::optional<contract::Context::Clock::time_point> until;
  if (request.wait) {
    until = contract::Context::Clock::now() + *request.wait;
  }
  record->wait(context, until, record->enough(request.follow, awaited));
  if (request.settle && (request.follow || awaited)) {
    settle(*record, context, until, *request.settle);
  }
  return answer(record, {.view_bytes = request.view_bytes,
                         .out_from = request.out_from,
                         .err_from = request.err_from,
                         .out_line = request.out_line,
                         .err_line = request.err_line,
                         .filter = filter ? &*filter : nullptr,
                         .raw = request.raw});
}

Result<> Session::Impl::write_input(const InputRequest& request) {
  const CallPtr record = BAWN_TRY(find_call(request.call));
  InputFeed* const input = record->input();
  if (input == nullptr) {
    return contract::fail(
        ErrorCode::InvalidArgument,
        fmt::format("call {} has no open input: start it with \"stdin\": \"pipe\" or with \"tty\"",
                    record->id));
  }
  if (record->finished()) {
    return contract::fail(ErrorCode::InvalidArgument, "the call has ended and takes no more input");
  }
  if (request.resize) {
    BAWN_TRY(record->resize(*request.resize));
  }
  if (!request.bytes.empty()) {
    BAWN_TRY(input->write(request.bytes));
  }
  return request.end ? input->end() : Result<>();
}

}  // namespace bawn::shell
