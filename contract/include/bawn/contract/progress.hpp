/// \file
/// Updates that a tool sends while it runs.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/result.hpp"

#include <optional>
#include <string>

namespace bawn::contract {

/// Numbers of an update, for fronts that show a bar. Travels as a result's details.
class ProgressInfo final : public Details {
 public:
  ProgressInfo(double progress, std::optional<double> total, std::string message)
      : progress_(progress), total_(total), message_(std::move(message)) {}
  /// How much is done, in the tool's own unit; must grow from update to update.
  [[nodiscard]] double progress() const noexcept { return progress_; }
  /// How much there is in all, in the same unit; none when unknown.
  [[nodiscard]] std::optional<double> total() const noexcept { return total_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

 private:
  double progress_;
  std::optional<double> total_;
  std::string message_;
};

/// Sends `update` to whoever watches the call on `context`; nothing happens without a call or a
/// watcher. Returns once the watcher has taken it.
void progress(const Context& context, const ToolResult& update);

/// An update of numbers and an optional message.
void progress(const Context& context, double done, std::optional<double> total,
              std::string message = {});

}  // namespace bawn::contract
