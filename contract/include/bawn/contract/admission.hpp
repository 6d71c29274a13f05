/// \file
/// The admission layer, for harnesses that check a call completely before anything about it is
/// decided: bind a tool, prepare an invocation, call the binding with it.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/contract/tool.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace bawn::contract {

/// Which of the layer's promises was broken; the payload of its errors.
enum class AdmissionProblem { InvalidTool, InvalidInvocation };

/// A check that goes beyond the schema. Must not act.
using InputCheck = std::function<Result<>(const Json& args)>;

/// Derive a tool from this as well to declare a check. It is asked once, when the tool is bound,
/// also through wrappers; the check must not keep the tool alive.
class InputValidator {
 public:
  virtual ~InputValidator() = default;
  [[nodiscard]] virtual InputCheck input_check() const = 0;
};

/// Derive a tool from this as well when its execute may refuse by itself what its schema refuses;
/// whoever serves the tool then need not look twice.
class SelfChecking {
 public:
  virtual ~SelfChecking() = default;
  [[nodiscard]] virtual bool checks_arguments() const noexcept = 0;
};

/// True when the tool, or one that it wraps, checks its arguments against its schema.
[[nodiscard]] bool checks_arguments(const Tool& tool);

/// True for 1 to 64 of A-Z a-z 0-9 _ -.
[[nodiscard]] bool is_tool_name(std::string_view name) noexcept;

/// What a call asks for, as it came.
struct Request {
  std::string id{};
  std::string name{};
  std::string args{};
};

/// A call that a contract has accepted. Only `Contract::prepare` makes one.
class Invocation {
 public:
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The caller's own copy.
  [[nodiscard]] Json arguments() const { return args_; }
  /// The text as it came; `{}` for blank text.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  friend class Contract;
  friend class Binding;
  Invocation() = default;
  std::string id_;
  std::string name_;
  std::string text_;
  Json args_;
  std::shared_ptr<const void> contract_;
};

/// What a bound tool accepts, without the tool. A default one accepts nothing.
///
/// Threads: thread-safe (immutable).
class Contract {
 public:
  Contract() = default;
  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
  /// The definition, with the canonical JSON of the compiled schema as parameters. Empty when not
  /// valid.
  [[nodiscard]] Definition definition() const;
  /// Checks the id, the name, that the arguments are one RFC 7493 object, the schema, and the
  /// tool's own check, in this order. Runs neither the tool nor any policy.
  ///
  /// Errors: AdmissionProblem::InvalidInvocation, with the cause; a throwing check also has a
  /// Panic.
  [[nodiscard]] Result<Invocation> prepare(const Request& request) const;

 private:
  friend class Binding;
  struct State;
  std::shared_ptr<const State> state_;
};

/// A tool with its contract.
///
/// Threads: thread-safe.
class Binding {
 public:
  /// Reads the definition once, compiles its schema and captures its check.
  ///
  /// Errors: AdmissionProblem::InvalidTool.
  [[nodiscard]] static Result<Binding> bind(ToolPtr tool);

  [[nodiscard]] const Contract& contract() const noexcept { return contract_; }
  [[nodiscard]] const ToolPtr& tool() const noexcept { return tool_; }
  /// Runs the tool, once, with what it throws contained. Cancellation is checked before; after
  /// that the tool's outcome stands. The output beside an error is empty.
  ///
  /// Errors (in the outcome): an invocation of another contract, even of an equal tool; the
  /// cancellation.
  [[nodiscard]] Outcome call(const Context& context, const Invocation& invocation) const;

 private:
  Binding(ToolPtr tool, Contract contract);
  ToolPtr tool_;
  Contract contract_;
};

}  // namespace bawn::contract
