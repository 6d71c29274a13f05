/// \file
/// What a tool is: a definition that the model reads, properties that a harness reads, and an
/// execute that takes a context and a call and gives an outcome.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/properties.hpp"
#include "bawn/contract/result.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace bawn::contract {

/// What the model reads. Nothing else about a tool is placed here or inferred from it.
struct Definition {
  std::string name{};         ///< not empty
  std::string description{};  ///< may be empty
  std::optional<std::string>
      parameters{};  ///< JSON Schema text of an object; absent = no arguments
  bool strict = false;
};

/// One call of a tool.
struct Call {
  std::string id{};    ///< unique in its batch
  std::string args{};  ///< JSON text, byte for byte as the model wrote it; empty means {}
  std::string idempotency_key{};  ///< opaque, minted by the harness; may be empty
  /// Receives updates while the tool runs; may be empty. Called on the tool's thread, in order.
  std::function<void(const ToolResult&)> on_update{};
};

/// A tool. Derive to implement `execute`; properties are data and cannot be overridden, so that a
/// wrapper can never drop one.
///
/// Threads: `execute` may be called from many threads at once unless `sequential` or `resource`
/// says otherwise. The definition and the properties never change.
class Tool {
 public:
  Tool(Definition definition, Properties properties);
  virtual ~Tool();
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  [[nodiscard]] const Definition& definition() const noexcept { return definition_; }
  [[nodiscard]] const Properties& properties() const noexcept { return properties_; }

  /// Runs the call. Blocking: until the tool is done or `context` ends. May throw; whoever runs
  /// tools (the executor, the MCP adapter) contains it.
  [[nodiscard]] virtual Outcome execute(const Context& context, const Call& call) const = 0;

  /// The wrapped tool, or null. Stable for this object's life.
  [[nodiscard]] virtual const Tool* unwrap() const noexcept { return nullptr; }

 private:
  Definition definition_;
  Properties properties_;
};

using ToolPtr = std::shared_ptr<const Tool>;

}  // namespace bawn::contract
