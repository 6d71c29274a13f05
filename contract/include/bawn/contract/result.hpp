/// \file
/// What a call gives back: output for the model, structure for programs, details for the host.
#pragma once

#include "bawn/contract/confinement.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace bawn::contract {

/// One content part in its wire form, e.g. {"type":"input_image","image_url":"data:…"}.
/// Unknown types pass through unchanged.
using Part = Json;

/// App-only data of a result that never reaches the model. Recordable when `record_namespace` is
/// not empty ("owner:kind").
///
/// Threads: thread-safe (const).
class Details {
 public:
  virtual ~Details() = default;
  [[nodiscard]] virtual std::string record_namespace() const { return {}; }
  [[nodiscard]] virtual Result<Json> record_json() const;
};

/// The result proper. Text or parts for the model; both empty means the empty text.
struct ToolResult {
  std::variant<std::string, std::vector<Part>> output{};
  std::optional<Json> structured{};  ///< complete structure, conforming to the output schema
  std::optional<Confinement> confinement{};  ///< how this very call was confined
  std::shared_ptr<const Details> details{};
  bool terminate = false;  ///< a hint that the loop may end
};

/// A text result.
[[nodiscard]] ToolResult text_result(std::string text);

/// A result of several parts.
[[nodiscard]] ToolResult parts_result(std::vector<Part> parts);

/// The result as the model reads an error: the text "Error: " and the message (C-64).
[[nodiscard]] ToolResult error_result(const Error& error);

/// The output as plain text: the text, or the text of all text parts joined by line ends.
[[nodiscard]] std::string output_text(const ToolResult& result);

/// Both may be set: details, structure and terminate stand beside an error.
struct [[nodiscard]] Outcome {
  ToolResult result{};
  std::optional<Error> error{};

  Outcome() = default;
  Outcome(ToolResult value) : result(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Outcome(Error failure) : error(std::move(failure)) {}    // NOLINT(google-explicit-constructor)
  Outcome(ToolResult value, Error failure) : result(std::move(value)), error(std::move(failure)) {}
};

/// What goes to the model (C-100): on failure the error's text in place of the output, with the
/// details, structure, confinement and terminate of the result.
[[nodiscard]] ToolResult model_result(const Outcome& outcome);

}  // namespace bawn::contract
