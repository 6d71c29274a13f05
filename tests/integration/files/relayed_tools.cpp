#include "relayed_tools.hpp"

#include "bawn/contract/result.hpp"
#include "bawn/sandbox/plan.hpp"
#include "bawn/sandbox/policy_file.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

namespace bawn::test {

namespace {

void append_text(std::string& text, const contract::ToolResult& result) {
  if (const auto* const whole = std::get_if<std::string>(&result.output)) {
    text += *whole;
    return;
  }
  for (const contract::Part& part : std::get<std::vector<contract::Part>>(result.output)) {
    text += part.value("text", "");
  }
}

}  // namespace

bool RelayedTools::wanted() {
  const char* const stream = std::getenv("BAWN_TEST_STREAM");  // NOLINT(concurrency-mt-unsafe)
  return stream != nullptr && std::string_view(stream) == "pipes";
}

RelayedTools::RelayedTools(const std::filesystem::path& policy,
                           const std::filesystem::path& workspace,
                           const std::filesystem::path& state) {
  const auto loaded = sandbox::load_policy_file(policy, workspace);
  if (!loaded || relay_.relay() == nullptr) {
    ADD_FAILURE() << (loaded ? "no relay" : loaded.error().message());
    return;
  }
  sandbox::WallRequest request;
  request.policy = loaded->policy;
  request.workspace = workspace;
  request.warden.relay = relay_.relay();
  auto wall = sandbox::raise_wall(request);
  auto files = wall ? wall->warden->file_agent() : std::unexpected(wall.error());
  if (!files) {
    ADD_FAILURE() << files.error().message();
    return;
  }
  wall_ = *std::move(wall);
  files::Place place;
  place.key = place.name = "main";
  place.files = *std::move(files);
  place.warden = wall_.warden;
  place.workspace = workspace;
  place.home = workspace;
  place.environment = sandbox::session_environment(
      loaded->policy, wall_.plan,
      {fmt::format("PATH={}", std::getenv("PATH"))},  // NOLINT(concurrency-mt-unsafe)
      0);
  place.policy = loaded->policy;
  place.confinement = wall_.warden->report();
  tools_.emplace(std::move(place), state);
}

RelayedTools::~RelayedTools() {
  tools_.reset();
  if (wall_.warden != nullptr) {
    wall_.warden->close();
  }
}

ToolAnswer RelayedTools::call(const std::string& tool, const contract::Json& arguments) const {
  ToolAnswer answer;
  if (!tools_) {
    return answer;
  }
  const contract::Outcome outcome = tools_->run(tool, arguments);
  answer.failed = outcome.error.has_value();
  append_text(answer.text, outcome.error ? contract::error_result(*outcome.error) : outcome.result);
  answer.structured = outcome.result.structured.value_or(contract::Json::object());
  return answer;
}

}  // namespace bawn::test
