#include "bawn/contract/properties.hpp"

#include "bawn/contract/panic.hpp"
#include "bawn/contract/quote.hpp"
#include "bawn/contract/tool.hpp"

namespace bawn::contract {

// The functions that a tool states are its author's: where one throws, the reader gives its default
// or an error, and a harness goes on.

bool is_strict(const Tool& tool) noexcept {
  return tool.definition().strict;
}

bool is_sequential(const Tool& tool) noexcept {
  return tool.properties().sequential;
}

std::string resource_of(const Tool& tool) {
  return tool.properties().sequential ? std::string() : tool.properties().resource;
}

std::vector<std::string> resources_of(const Tool& tool, const Context& context,
                                      std::string_view args) {
  std::vector<std::string> all;
  if (is_sequential(tool)) {
    return all;
  }
  if (const auto& ask = tool.properties().resources) {
    all = ask(context, args);
    std::erase(all, std::string());
  }
  if (std::string own = resource_of(tool); !own.empty()) {
    all.push_back(std::move(own));
  }
  return all;
}

const std::optional<Annotations>& annotations_of(const Tool& tool) noexcept {
  return tool.properties().annotations;
}

Confinement confined_by(const Tool& tool, const Context& context, std::string_view args) {
  const auto& ask = tool.properties().confined;
  if (!ask) {
    return {};
  }
  Confinement answer;
  if (catch_panic([&] { answer = ask(context, args); })) {
    return {};
  }
  if (!answer.confined) {
    answer.by.clear();
  }
  return answer;
}

Replay replay_of(const Tool& tool, const Context& context, std::string_view args,
                 std::string_view idempotency_key) {
  const auto& ask = tool.properties().replay;
  if (!ask) {
    return Replay::Unknown;
  }
  Replay said = Replay::Unknown;
  if (catch_panic([&] { said = ask(context, args); })) {
    return Replay::Unknown;
  }
  switch (said) {
    case Replay::Safe:
      return Replay::Safe;
    case Replay::Keyed:
      return idempotency_key.empty() ? Replay::Unknown : Replay::Keyed;
    case Replay::Unknown:
      break;
  }
  return Replay::Unknown;
}

std::string_view to_string(Replay replay) noexcept {
  switch (replay) {
    case Replay::Safe:
      return "safe";
    case Replay::Keyed:
      return "keyed";
    case Replay::Unknown:
      break;
  }
  return "unknown";
}

bool is_factual(const Tool& tool) noexcept {
  return static_cast<bool>(tool.properties().facts);
}

Result<Facts> facts_of(const Tool& tool, const Context& context, std::string_view args) {
  const auto& ask = tool.properties().facts;
  if (!ask) {
    return fail(ErrorCode::Unsupported,
                "tool " + quote(tool.definition().name) + " does not state facts");
  }
  Result<Facts> facts = Facts{};
  if (const auto panic = catch_panic([&] { facts = ask(context, args); })) {
    return fail(ErrorCode::Internal, "tool " + quote(tool.definition().name) +
                                         " panicked: " + plain_or_quoted(panic->value));
  }
  return facts;
}

Result<bool> is_available(const Tool& tool, const Context& context) {
  const auto& ask = tool.properties().availability;
  Result<bool> available = true;
  const auto panic = catch_panic([&] { available = ask ? ask(context) : available; });
  return panic ? fail(ErrorCode::Internal,
                      "the availability policy panicked: " + plain_or_quoted(panic->value))
               : available;
}

const std::optional<std::string>& output_schema_of(const Tool& tool) noexcept {
  return tool.properties().output_schema;
}

const std::optional<CliInfo>& cli_of(const Tool& tool) noexcept {
  return tool.properties().cli;
}

}  // namespace bawn::contract
