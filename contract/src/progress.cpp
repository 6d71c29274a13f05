#include "bawn/contract/progress.hpp"

#include "bawn/contract/call_context.hpp"

namespace bawn::contract {

void progress(const Context& context, const ToolResult& update) {
  const Call* const call = call_from(context);
  if (call != nullptr && call->on_update) {
    call->on_update(update);
  }
}

void progress(const Context& context, double done, std::optional<double> total,
              std::string message) {
  ToolResult update = text_result(message);
  update.details = std::make_shared<const ProgressInfo>(done, total, std::move(message));
  progress(context, update);
}

}  // namespace bawn::contract
