/// \file
/// What a harness may know of a tool. A tool that declares none is complete; read them only
/// through the reader functions, which apply the defaults.
#pragma once

#include "bawn/contract/cli_info.hpp"
#include "bawn/contract/confinement.hpp"
#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::contract {

class Tool;

/// Hints for a policy, which may get stricter by them and must never allow by them alone.
struct Annotations {
  std::string title{};
  bool read_only = false;
  bool destructive = true;
  bool idempotent = false;
  bool open_world = true;
};

/// Whether a call may be run again after an unknown outcome.
enum class Replay { Unknown, Safe, Keyed };

/// "unknown", "safe" or "keyed"; "unknown" also for a value outside the enumeration.
[[nodiscard]] std::string_view to_string(Replay replay) noexcept;

/// What a call would do, for a policy: stated by the tool without acting.
struct Fact {
  std::string tool{};  ///< empty: the tool that states it
  std::string args{};
  std::string text{};
};
struct Facts {
  std::optional<std::vector<Fact>> calls{};  ///< absent: the call itself; empty: nothing statable
  std::optional<std::string> rewrite{};      ///< arguments to run with if allowed
};

/// Something that its host closes once, after the session. Closing twice is safe.
class Closer {
 public:
  virtual ~Closer() = default;
  [[nodiscard]] virtual Result<> close() = 0;
};

/// All properties in one copied struct, so that wrapping forwards every one of them.
struct Properties {
  bool sequential = false;
  std::string resource{};  ///< "<kind>:<id>"; calls naming one resource run in order
  /// Further resources of one call, for a tool whose calls share something only with some others:
  /// those that change one file. Two calls that have any resource in common run in order.
  std::function<std::vector<std::string>(const Context&, std::string_view args)> resources{};
  std::optional<Annotations> annotations{};
  std::optional<std::string> output_schema{};  ///< JSON Schema text of `ToolResult::structured`
  std::function<Confinement(const Context&, std::string_view args)> confined{};
  std::function<Replay(const Context&, std::string_view args)> replay{};
  std::function<Result<Facts>(const Context&, std::string_view args)> facts{};
  /// Whether the caller on the context may see and call the tool; empty means yes.
  std::function<Result<bool>(const Context&)> availability{};
  std::shared_ptr<Closer> closer{};
  std::optional<CliInfo> cli{};  ///< how a command line presents it
};

[[nodiscard]] bool is_strict(const Tool& tool) noexcept;
[[nodiscard]] bool is_sequential(const Tool& tool) noexcept;
/// Empty also whenever the tool is sequential.
[[nodiscard]] std::string resource_of(const Tool& tool);
/// All resources of a call: the tool's own and those that the call's arguments name. Empty whenever
/// the tool is sequential.
[[nodiscard]] std::vector<std::string> resources_of(const Tool& tool, const Context& context,
                                                    std::string_view args);
[[nodiscard]] const std::optional<Annotations>& annotations_of(const Tool& tool) noexcept;
/// Not confined when the tool does not say; `by` is empty whenever it is not confined.
[[nodiscard]] Confinement confined_by(const Tool& tool, const Context& context,
                                      std::string_view args);
/// Unknown when the tool does not say, and for Keyed without a key.
[[nodiscard]] Replay replay_of(const Tool& tool, const Context& context, std::string_view args,
                               std::string_view idempotency_key);
[[nodiscard]] bool is_factual(const Tool& tool) noexcept;
[[nodiscard]] Result<Facts> facts_of(const Tool& tool, const Context& context,
                                     std::string_view args);
/// Whether the caller on `context` may see and call the tool now; true when the tool has no rule.
/// Ask at every listing and every call and never keep the answer. An error means no, and its text
/// is not for the model.
[[nodiscard]] Result<bool> is_available(const Tool& tool, const Context& context);
/// JSON Schema text of the structured output; none when the tool promises no structure.
[[nodiscard]] const std::optional<std::string>& output_schema_of(const Tool& tool) noexcept;
/// None when the tool says nothing about command lines.
[[nodiscard]] const std::optional<CliInfo>& cli_of(const Tool& tool) noexcept;

}  // namespace bawn::contract
