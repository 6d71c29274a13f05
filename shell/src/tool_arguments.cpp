#include "tool_arguments.hpp"

namespace bawn::shell {

Result<> check_one_call(const CallArguments& args) {
  const CallArguments usual;
  if (args.background || args.on_timeout != usual.on_timeout || args.yield_ms != usual.yield_ms ||
      args.input == kOpenInput) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "invalid arguments: background, yield_ms, on_timeout \"background\" and "
                          "stdin \"pipe\" need a session that lives on behind the answer; this one "
                          "ends with its call");
  }
  return {};
}

}  // namespace bawn::shell
