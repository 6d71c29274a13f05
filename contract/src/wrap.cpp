#include "bawn/contract/wrap.hpp"

#include "bawn/contract/quote.hpp"

#include <utility>

namespace bawn::contract {
namespace {

/// Fails to compile when Properties gains a member (C-81). Whoever adds one decides here whether a
/// wrapper forwards it as it is; the copy below does.
[[maybe_unused]] void every_property_is_forwarded(const Properties& properties) {
  [[maybe_unused]] const auto& [sequential, resource, resources, annotations, output_schema,
                                confined, replay, facts, availability, closer, cli] = properties;
}

class WrappedTool final : public Tool {
 public:
  WrappedTool(ToolPtr inner, WrapFunction execute)
      : Tool(inner->definition(), inner->properties()),
        inner_(std::move(inner)),
        execute_(std::move(execute)) {}

  Outcome execute(const Context& context, const Call& call) const override {
    return execute_(context, call, *inner_);
  }
  const Tool* unwrap() const noexcept override { return inner_.get(); }

 private:
  ToolPtr inner_;
  WrapFunction execute_;
};

}  // namespace

Result<ToolPtr> wrap(ToolPtr inner, WrapFunction execute) {
  if (!inner) {
    return fail(ErrorCode::InvalidArgument, "wrap: no tool to wrap");
  }
  if (!execute) {
    return fail(ErrorCode::InvalidArgument,
                "wrap(" + quote(inner->definition().name) + "): the function is empty");
  }
  return std::make_shared<const WrappedTool>(std::move(inner), std::move(execute));
}

Result<> walk_wrapped(const Tool& tool, const std::function<bool(const Tool&)>& visit) {
  const Tool* current = &tool;
  for (std::size_t depth = 0; depth <= kMaxWrapDepth; ++depth) {
    if (visit(*current)) {
      return {};
    }
    current = current->unwrap();
    if (current == nullptr) {
      return {};
    }
  }
  return fail(ErrorCode::Internal, "invalid wrapping chain: longer than 64 tools or a cycle");
}

}  // namespace bawn::contract
