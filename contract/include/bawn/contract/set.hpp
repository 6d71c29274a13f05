/// \file
/// The tools that a host offers together.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/tool.hpp"

#include <string_view>
#include <vector>

namespace bawn::contract {

/// An ordered list of tools. Whoever builds the list closes it, once, after the session.
///
/// Threads: const members are thread-safe.
class Set {
 public:
  Set() = default;
  explicit Set(std::vector<ToolPtr> tools);

  void add(ToolPtr tool);
  [[nodiscard]] const std::vector<ToolPtr>& tools() const noexcept { return tools_; }
  /// The first tool of that name, or null.
  [[nodiscard]] ToolPtr lookup(std::string_view name) const;
  /// In the list's order.
  [[nodiscard]] std::vector<Definition> definitions() const;

  /// Errors: InvalidArgument: `tool[<i>]: empty name`, `tool[<i>]: no tool` or
  /// `tool "<n>": duplicate name`, for the first defect.
  [[nodiscard]] Result<> validate() const;

  /// Closes each tool's closer in order, one that several tools share only once, and goes on after
  /// an error.
  ///
  /// Errors: the joined errors, each `bawn: close "<name>": …` and one of `causes()`.
  [[nodiscard]] Result<> close() const;

 private:
  std::vector<ToolPtr> tools_;
};

}  // namespace bawn::contract
