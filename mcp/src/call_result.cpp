#include "call_result.hpp"

#include "bawn/contract/confinement.hpp"
#include "bawn/contract/record.hpp"
#include "content.hpp"

#include <fmt/format.h>

#include <utility>

namespace bawn::mcp {
namespace {

using contract::Error;
using contract::ErrorCode;

std::string error_text(const Core& core, const contract::Tool& tool, const Error& error) {
  const bool ours = error.code() == ErrorCode::Internal || error.code() == ErrorCode::ToolPanicked;
  if (!ours || core.options.disclosure == ErrorDisclosure::Everything) {
    return error.message();
  }
  core.log.warn(fmt::format("{}: {}", tool.definition().name, error.message()));
  return fmt::format("{} failed inside; the server's log says why", tool.definition().name);
}

/// Absent when the details are not for keeping. A record that cannot be written does not fail the
/// call: it says so in its place.
std::optional<Json> record_member(const contract::Details* details) {
  auto record = contract::record_of(details);
  if (!record) {
    return Json{{"error", record.error().message()}};
  }
  if (!*record) {
    return std::nullopt;
  }
  return Json{{"ns", (*record)->name_space}, {"data", contract::dump_json((*record)->data)}};
}

bool is_empty(const Output& output) {
  return std::visit([](const auto& value) { return value.empty(); }, output);
}

Json content_for(const Core& core, const contract::Tool& tool, contract::Outcome& outcome,
                 const WireFeatures& features) {
  if (outcome.error) {
    return Json::array({text_block(error_text(core, tool, *outcome.error))});
  }
  Output& output = outcome.result.output;
  if (is_empty(output) && outcome.result.structured) {
    // Hosts show the model one of the two forms, so each must be complete.
    return Json::array({text_block(contract::dump_json(*outcome.result.structured))});
  }
  if (is_empty(output)) {
    output = std::string();
  }
  return content_of(std::move(output), features);
}

}  // namespace

Json call_result(const Core& core, const contract::Tool& tool, contract::Outcome outcome,
                 const Era& era) {
  const WireFeatures features = era.features();
  Json result = Json::object();
  result["content"] = content_for(core, tool, outcome, features);
  if (features.structured && outcome.result.structured) {
    result["structuredContent"] = *std::move(outcome.result.structured);
  }
  result["isError"] = outcome.error.has_value();
  if (outcome.result.confinement) {
    result["_meta"][std::string(meta::kConfinement)] =
        contract::to_json(*outcome.result.confinement);
  }
  if (auto record = record_member(outcome.result.details.get())) {
    result["_meta"][std::string(meta::kRecord)] = *std::move(record);
  }
  return core.finished(std::move(result), era);
}

Json error_result(const Core& core, std::string text, const Era& era) {
  Json result = Json::object();
  result["content"] = Json::array({text_block(std::move(text))});
  result["isError"] = true;
  return core.finished(std::move(result), era);
}

}  // namespace bawn::mcp
