/// \file
/// Bound tools by name.
#pragma once

#include "bawn/contract/admission.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/tool.hpp"

#include <functional>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::contract {

/// A growing set of bound tools. A default one is ready for use.
///
/// Threads: thread-safe.
class Registry {
 public:
  /// Binds and adds all of `tools`, or none of them.
  ///
  /// Errors, for the first one in the batch's order: `tools[<i>]: …` for a tool that cannot be
  /// bound (AdmissionProblem::InvalidTool); AlreadyExists, `tool: duplicate tool: "x" appears more
  /// than once in batch` or `tool: duplicate tool: "x" is already registered`.
  [[nodiscard]] Result<> add(const std::vector<ToolPtr>& tools);

  /// The definitions as they were when added, sorted by name.
  [[nodiscard]] std::vector<Definition> definitions() const;
  /// The tool of that name.
  [[nodiscard]] std::optional<Binding> resolve(std::string_view name) const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, Binding, std::less<>> bindings_;
};

}  // namespace bawn::contract
