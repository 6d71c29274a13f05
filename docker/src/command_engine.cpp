#include "command.hpp"
#include "engines.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace bawn::container {
namespace {

class CommandEngine final : public Engine {
 public:
  CommandEngine(EngineAddress address, std::vector<std::string> environment)
      : Engine(std::move(address), std::move(environment)) {}

  [[nodiscard]] bool uses_socket() const noexcept override { return false; }

  [[nodiscard]] Result<EngineVersion> version(const contract::Context& context) override {
    const Json said = BAWN_TRY(ask_json(context, {"version", "--format", "{{json .}}"}));
    // Podman alone speaks of its client only; a daemon's own version stands under Server.
    const char* const side =
        said.contains("Server") && said["Server"].is_object() ? "Server" : "Client";
    EngineVersion version;
    if (said.contains(side) && said[side].contains("Version") &&
        said[side]["Version"].is_string()) {
      version.version = said[side]["Version"].get<std::string>();
    }
    version.rootless = ::geteuid() != 0 && address().kind == EngineKind::Podman;
    version.shares_files = address().remote.empty();
    return version;
  }

  [[nodiscard]] Result<bool> has_image(const contract::Context& context,
                                       const std::string& image) override {
    const CommandOutput output =
        BAWN_TRY(ask(context, {"image", "inspect", "--format", "{{.Id}}", "--", image}));
    BAWN_TRY(check_reached(output));
    return output.status == 0;
  }

  [[nodiscard]] Result<std::optional<Json>> inspect(const contract::Context& context,
                                                    const std::string& container) override {
    const CommandOutput output = BAWN_TRY(ask(context, {"container", "inspect", "--", container}));
    if (output.status != 0) {
      BAWN_TRY(check_reached(output));
      return std::nullopt;
    }
    auto list = BAWN_TRY(read(output.out));
    if (!list.is_array() || list.empty()) {
      return std::nullopt;
    }
    return std::move(list[0]);
  }

  [[nodiscard]] Result<std::vector<std::string>> list(const contract::Context& context,
                                                      const std::string& label) override {
    const CommandOutput output = BAWN_TRY(
        ask(context, {"ps", "--all", "--quiet", "--no-trunc", "--filter", "label=" + label}));
    BAWN_TRY(check_done(output));
    std::vector<std::string> ids;
    std::string_view rest = output.out;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      if (end != 0) {
        ids.emplace_back(rest.substr(0, end));
      }
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    return ids;
  }

  [[nodiscard]] Result<> remove(const contract::Context& context,
                                const std::string& container) override {
    std::vector<std::string> words = {"rm", "--force", "--volumes"};
    if (address().kind == EngineKind::Podman) {
      words.insert(words.end(), {"--time", "0"});
    }
    words.push_back(container);
    const CommandOutput output = BAWN_TRY(ask(context, words));
    if (output.status != 0 && !BAWN_TRY(inspect(context, container))) {
      return {};
    }
    return check_done(output);
  }

 private:
  Result<CommandOutput> ask(const contract::Context& context,
                            const std::vector<std::string>& words) {
    std::vector<std::string> all = address().options;
    all.insert(all.end(), words.begin(), words.end());
    auto output = run_command(limited(context), address().command, all, environment());
    if (!output && output.error().is(ErrorCode::DeadlineExceeded)) {
      return contract::fail(
          ErrorCode::DeadlineExceeded,
          fmt::format("{0} did not answer in time; see what \"{0} info\" says", name()));
    }
    return output;
  }

  Result<Json> read(const std::string& text) {
    auto json = contract::parse_json(text);
    if (!json) {
      return contract::fail(ErrorCode::Internal,
                            fmt::format("{} printed something else than JSON", name()));
    }
    return json;
  }

  Result<Json> ask_json(const contract::Context& context, const std::vector<std::string>& words) {
    const CommandOutput output = BAWN_TRY(ask(context, words));
    BAWN_TRY(check_done(output));
    return read(output.out);
  }

  Result<> check_done(const CommandOutput& output) {
    if (output.status == 0) {
      return {};
    }
    return contract::fail(ErrorCode::Closed,
                          fmt::format("{} failed: {}", name(), first_complaint(output.err)));
  }

  /// A failed question about one thing means that it is not there, unless nobody could be asked.
  Result<> check_reached(const CommandOutput& output) {
    const bool unreached = output.err.find("Cannot connect") != std::string::npos ||
                           output.err.find("unable to connect") != std::string::npos;
    return unreached ? check_done(output) : Result<>();
  }
};

}  // namespace

std::shared_ptr<Engine> make_command_engine(EngineAddress address,
                                            std::vector<std::string> environment) {
  return std::make_shared<CommandEngine>(std::move(address), std::move(environment));
}

}  // namespace bawn::container
