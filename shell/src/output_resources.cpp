// The kept output of calls as resources of a front.

#include "bawn/shell/tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bawn::shell {
namespace {

using contract::Context;
using contract::Resource;
using contract::ResourceContents;
using contract::ResourceTemplate;

constexpr std::string_view kPrefix = "bawn://call/";
constexpr std::array<std::string_view, 2> kStreams = {"stdout", "stderr"};

struct Address {
  std::string call;
  std::string stream;
};

std::optional<Address> address_of(std::string_view uri) {
  if (!uri.starts_with(kPrefix)) {
    return std::nullopt;
  }
  uri.remove_prefix(kPrefix.size());
  const auto slash = uri.find('/');
  if (slash == std::string_view::npos || slash == 0 ||
      std::ranges::find(kStreams, uri.substr(slash + 1)) == kStreams.end()) {
    return std::nullopt;
  }
  return Address{.call = std::string(uri.substr(0, slash)),
                 .stream = std::string(uri.substr(slash + 1))};
}

class OutputResources final : public contract::ResourceProvider {
 public:
  explicit OutputResources(std::shared_ptr<SessionPool> pool) : pool_(std::move(pool)) {}

  Result<std::vector<Resource>> list(const Context& context) const override {
    std::vector<Resource> resources;
    for (const auto& session : sessions(context)) {
      for (const CallSummary& call : session->recent()) {
        for (const std::string_view stream : kStreams) {
          const std::uint64_t size = stream == "stdout" ? call.out_bytes : call.err_bytes;
          resources.push_back({.uri = fmt::format("{}{}/{}", kPrefix, call.call, stream),
                               .name = fmt::format("{} of {}", stream, call.call),
                               .mime_type = "text/plain",
                               .size = size});
        }
      }
    }
    return resources;
  }

  std::vector<ResourceTemplate> templates() const override {
    std::vector<ResourceTemplate> families;
    for (const std::string_view stream : kStreams) {
      families.push_back(
          {.uri_template = fmt::format("{}{{id}}/{}", kPrefix, stream),
           .name = fmt::format("{} of a call", stream),
           .description = "What a call of bash or exec printed, by the id in its result.",
           .mime_type = "text/plain"});
    }
    return families;
  }

  Result<std::vector<ResourceContents>> read(const Context& context,
                                             const std::string& uri) const override {
    constexpr std::size_t kView = 1U << 20U;
    const auto address = address_of(uri);
    const auto session = address ? session_with(context, address->call) : nullptr;
    if (session == nullptr) {
      return contract::fail(ErrorCode::NotFound, "no call of that id is kept");
    }
    OutputRequest request;
    request.call = address->call;
    request.wait = Milliseconds(0);
    request.out_from = 0;
    request.err_from = 0;
    request.view_bytes = kView;
    const CallResult result = BAWN_TRY(session->output(context, request));
    return std::vector<ResourceContents>{
        {.uri = uri,
         .mime_type = "text/plain",
         .bytes = address->stream == "stdout" ? result.out.text : result.err.text}};
  }

  std::vector<std::string> complete(const Context& context, std::string_view /*uri_template*/,
                                    std::string_view argument,
                                    std::string_view value) const override {
    std::vector<std::string> ids;
    for (const auto& session : sessions(context)) {
      for (const CallSummary& call : session->recent()) {
        if (argument == "id" && call.call.starts_with(value)) {
          ids.push_back(call.call);
        }
      }
    }
    return ids;
  }

 private:
  [[nodiscard]] std::vector<std::shared_ptr<Session>> sessions(const Context& context) const {
    std::vector<std::shared_ptr<Session>> own;
    for (const std::string& name : pool_->names_of(context)) {
      auto session = pool_->find(name);
      if (session != nullptr) {
        own.push_back(std::move(session));
      }
    }
    return own;
  }

  [[nodiscard]] std::shared_ptr<Session> session_with(const Context& context,
                                                      const std::string& id) const {
    for (auto& session : sessions(context)) {
      if (std::ranges::any_of(session->recent(),
                              [&](const CallSummary& call) { return call.call == id; })) {
        return session;
      }
    }
    return nullptr;
  }

  const std::shared_ptr<SessionPool> pool_;
};

}  // namespace

std::shared_ptr<const contract::ResourceProvider> make_output_resources(
    std::shared_ptr<SessionPool> pool) {
  return std::make_shared<const OutputResources>(std::move(pool));
}

}  // namespace bawn::shell
