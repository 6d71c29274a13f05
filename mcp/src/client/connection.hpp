/// \file
/// One connection to a server, after both sides agreed on the rules.
#pragma once

#include "bawn/mcp/client.hpp"
#include "client/wire.hpp"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace bawn::mcp {

/// Threads: thread-safe.
class RemoteClient final : public Client, public std::enable_shared_from_this<RemoteClient> {
 public:
  explicit RemoteClient(ClientOptions options) : options_(std::move(options)) {}
  ~RemoteClient() override { close(); }

  /// Opens the pipes and agrees; once, before anything else.
  [[nodiscard]] contract::Result<> begin(const contract::Context& context, int from_server,
                                         int to_server);

  [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::string& version() const noexcept override { return version_; }
  [[nodiscard]] const Json& server_info() const noexcept override { return server_info_; }
  [[nodiscard]] const std::string& instructions() const noexcept override { return instructions_; }
  [[nodiscard]] contract::Result<std::vector<contract::ToolPtr>> tools(
      const contract::Context& context) override;
  void close() override;

  /// A request whose `params` get the `_meta` that the revision wants. `members` are those of
  /// `params` as JSON text without the braces; empty for none.
  [[nodiscard]] contract::Result<RemoteAnswer> ask(const contract::Context& context,
                                                   const std::string& method,
                                                   const std::string& members, bool progress,
                                                   std::optional<Wire::Clock::time_point> deadline,
                                                   RequestHooks hooks = {});
  [[nodiscard]] bool modern() const noexcept { return modern_; }

 private:
  [[nodiscard]] contract::Result<bool> probe(const contract::Context& context);
  [[nodiscard]] contract::Result<> shake_hands(const contract::Context& context);
  void take_server(const Json& result, const Json& info);
  [[nodiscard]] contract::Result<> check_claims(const std::set<std::string>& names) const;
  [[nodiscard]] std::string meta_text(const std::string& id, bool progress) const;
  [[nodiscard]] Json capabilities() const;
  [[nodiscard]] Wire::Clock::time_point soon() const;

  const ClientOptions options_;
  std::shared_ptr<Wire> wire_;
  bool modern_ = false;
  std::string version_;
  Json server_info_;
  std::string instructions_;
};

/// Checks one page's or list's entry and makes a tool of it; the sentence of what is wrong else.
[[nodiscard]] contract::Result<contract::ToolPtr> make_remote_tool(
    const std::shared_ptr<RemoteClient>& client, const Json& entry);

}  // namespace bawn::mcp
