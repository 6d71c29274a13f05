#include "engines.hpp"
#include "http_exchange.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <sys/utsname.h>

#include <utility>

namespace bawn::container {
namespace {

std::string text_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

class ApiEngine final : public Engine {
 public:
  ApiEngine(EngineAddress address, std::vector<std::string> environment)
      : Engine(std::move(address), std::move(environment)) {}

  [[nodiscard]] bool uses_socket() const noexcept override { return true; }

  [[nodiscard]] Result<EngineVersion> version(const contract::Context& context) override {
    const Json said = BAWN_TRY(get(context, "/version"));
    const Json info = BAWN_TRY(get(context, "/info"));
    EngineVersion version{
        .version = text_of(said, "Version"), .api = text_of(said, "ApiVersion"), .rootless = false};
    if (const auto options = info.find("SecurityOptions");
        options != info.end() && options->is_array()) {
      for (const Json& option : *options) {
        version.rootless = version.rootless || option == "name=rootless";
      }
    }
    version.shares_files = is_here(info);
    return version;
  }

  [[nodiscard]] Result<bool> has_image(const contract::Context& context,
                                       const std::string& image) override {
    const auto reply = BAWN_TRY(
        ask(context, "GET", fmt::format("/images/{}/json", percent_encode(image)), {200, 404}));
    return reply.status == 200;
  }

  [[nodiscard]] Result<std::optional<Json>> inspect(const contract::Context& context,
                                                    const std::string& container) override {
    const auto reply = BAWN_TRY(ask(
        context, "GET", fmt::format("/containers/{}/json", percent_encode(container)), {200, 404}));
    if (reply.status == 404) {
      return std::nullopt;
    }
    return BAWN_TRY(read(reply.body));
  }

  [[nodiscard]] Result<std::vector<std::string>> list(const contract::Context& context,
                                                      const std::string& label) override {
    const Json filters = {{"label", Json::array({label})}};
    const Json found =
        BAWN_TRY(get(context, fmt::format("/containers/json?all=true&filters={}",
                                          percent_encode(contract::dump_json(filters)))));
    std::vector<std::string> ids;
    for (const Json& one : found) {
      if (std::string id = text_of(one, "Id"); !id.empty()) {
        ids.push_back(std::move(id));
      }
    }
    return ids;
  }

  [[nodiscard]] Result<> remove(const contract::Context& context,
                                const std::string& container) override {
    const std::string path = "/containers/" + percent_encode(container);
    const auto reply =
        BAWN_TRY(ask(context, "DELETE", path + "?force=true&v=true", {200, 204, 404, 409}));
    if (reply.status == 409) {  // its own --rm is at work: gone when that is done
      BAWN_TRY(ask(context, "POST", path + "/wait?condition=removed", {200, 404}));
    }
    return {};
  }

 private:
  /// A forwarded socket, or a server that is in a container itself, leads to an engine whose
  /// directory or name is not this machine's.
  static bool is_here(const Json& info) {
    utsname own{};
    struct stat root{};
    return ::uname(&own) == 0 && text_of(info, "Name") == own.nodename &&
           ::stat(text_of(info, "DockerRootDir").c_str(), &root) == 0;
  }

  Result<HttpReply> ask(const contract::Context& context, const std::string& method,
                        const std::string& path, std::initializer_list<unsigned int> expected) {
    auto reply = BAWN_TRY(http_exchange(limited(context), address().socket, method, path));
    for (const unsigned int status : expected) {
      if (reply.status == status) {
        return reply;
      }
    }
    const auto said = contract::parse_json(reply.body);
    const std::string why = said && said->is_object() ? text_of(*said, "message") : std::string();
    return contract::fail(ErrorCode::Closed, fmt::format("{} answered {}{}{}", name(), reply.status,
                                                         why.empty() ? "" : ": ", why));
  }

  Result<Json> read(const std::string& body) {
    auto json = contract::parse_json(body);
    if (!json) {
      return contract::fail(ErrorCode::Internal,
                            fmt::format("{} answered something else than JSON", name()));
    }
    return json;
  }

  Result<Json> get(const contract::Context& context, const std::string& path) {
    return read(BAWN_TRY(ask(context, "GET", path, {200})).body);
  }
};

}  // namespace

std::shared_ptr<Engine> make_api_engine(EngineAddress address,
                                        std::vector<std::string> environment) {
  return std::make_shared<ApiEngine>(std::move(address), std::move(environment));
}

}  // namespace bawn::container
