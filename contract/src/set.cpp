#include "bawn/contract/set.hpp"

#include "bawn/contract/panic.hpp"
#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace bawn::contract {
namespace {

Error join(const std::vector<Error>& errors) {
  std::string text;
  for (const Error& error : errors) {
    text += (text.empty() ? "" : "\n") + error.message();
  }
  Error joined(errors.front().code(), std::move(text));
  for (const Error& error : errors) {
    joined = joined.with_cause(error);
  }
  return joined;
}

// What one closer throws must not keep the others open.
Result<> close_contained(Closer& closer) {
  Result<> result;
  if (const auto panic = catch_panic([&] { result = closer.close(); })) {
    return fail(ErrorCode::Internal, "panicked: " + plain_or_quoted(panic->value));
  }
  return result;
}

}  // namespace

Set::Set(std::vector<ToolPtr> tools) : tools_(std::move(tools)) {}

void Set::add(ToolPtr tool) {
  tools_.push_back(std::move(tool));
}

ToolPtr Set::lookup(std::string_view name) const {
  const auto found = std::find_if(tools_.begin(), tools_.end(), [&](const ToolPtr& tool) {
    return tool && tool->definition().name == name;
  });
  return found == tools_.end() ? nullptr : *found;
}

std::vector<Definition> Set::definitions() const {
  std::vector<Definition> all;
  for (const ToolPtr& tool : tools_) {
    if (tool) {
      all.push_back(tool->definition());
    }
  }
  return all;
}

Result<> Set::validate() const {
  for (std::size_t i = 0; i < tools_.size(); ++i) {
    if (!tools_[i]) {
      return fail(ErrorCode::InvalidArgument, fmt::format("tool[{}]: no tool", i));
    }
    const std::string& name = tools_[i]->definition().name;
    if (name.empty()) {
      return fail(ErrorCode::InvalidArgument, fmt::format("tool[{}]: empty name", i));
    }
    if (lookup(name) != tools_[i] ||
        std::count(tools_.begin(), tools_.begin() + static_cast<std::ptrdiff_t>(i), tools_[i])) {
      return fail(ErrorCode::InvalidArgument, fmt::format("tool {}: duplicate name", quote(name)));
    }
  }
  return {};
}

Result<> Set::close() const {
  std::vector<const Closer*> closed;
  std::vector<Error> errors;
  for (const ToolPtr& tool : tools_) {
    Closer* const closer = tool ? tool->properties().closer.get() : nullptr;
    if (closer == nullptr || std::find(closed.begin(), closed.end(), closer) != closed.end()) {
      continue;
    }
    closed.push_back(closer);
    if (const auto result = close_contained(*closer); !result) {
      errors.push_back(
          result.error().wrap(fmt::format("bawn: close {}", quote(tool->definition().name))));
    }
  }
  if (!errors.empty()) {
    return std::unexpected(join(errors));
  }
  return {};
}

}  // namespace bawn::contract
