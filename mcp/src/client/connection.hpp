/// \file
/// One connection to a server, after both sides agreed on the rules.
#pragma once

#include "bawn/mcp/client.hpp"
#include "client/answer_cache.hpp"
#include "client/channel.hpp"
#include "client/tool_list.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace bawn::mcp {

/// Threads: thread-safe.
class RemoteClient final : public Client, public std::enable_shared_from_this<RemoteClient> {
 public:
  using Clock = Channel::Clock;
  using Opener = std::function<contract::Result<std::shared_ptr<Channel>>(const ClientOptions&,
                                                                          OnNotification)>;

  explicit RemoteClient(ClientOptions options);
  ~RemoteClient() override;

  /// Opens the channel and agrees; once, before anything else.
  [[nodiscard]] contract::Result<> begin(const contract::Context& context, const Opener& open);

  [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::string& version() const noexcept override { return version_; }
  [[nodiscard]] const Json& server_info() const noexcept override { return server_info_; }
  [[nodiscard]] const std::string& instructions() const noexcept override { return instructions_; }
  [[nodiscard]] const Json& capabilities() const noexcept override { return capabilities_; }
  [[nodiscard]] contract::Result<RemoteFeatures> features(
      const contract::Context& context) override;
  [[nodiscard]] contract::Result<std::vector<contract::ToolPtr>> tools(
      const contract::Context& context) override;
  [[nodiscard]] contract::Result<std::vector<contract::ToolPtr>> await(
      const contract::Context& context) override;
  [[nodiscard]] contract::Result<Json> request(const contract::Context& context,
                                               const std::string& method,
                                               const Json& params) override;
  void close() override;

  struct Request {
    std::string method;
    /// The members of `params` as JSON text without the braces; empty for none. The `_meta` that
    /// the revision wants is added.
    std::string members{};
    bool progress = false;
    std::optional<Clock::time_point> deadline{};
    RequestHooks hooks{};
    std::string name{};
    std::vector<std::pair<std::string, std::string>> parameters{};
  };
  /// Also asks again, once, where a server wants another revision or forgot the session.
  [[nodiscard]] contract::Result<RemoteAnswer> ask(const contract::Context& context,
                                                   const Request& request);
  /// Whether a server that declared a feature may lack one of its lists.
  enum class Lacking { IsAnError, IsEmpty };
  /// The entries of a list that has `member`, of all its pages; those of before while the server
  /// says that they hold.
  ///
  /// Errors: ToolFailed for pages without such a list, in a circle or without an end, and for the
  /// server's own error.
  [[nodiscard]] contract::Result<std::vector<Json>> pages(const contract::Context& context,
                                                          const std::string& method,
                                                          const char* member,
                                                          Lacking lacking = Lacking::IsAnError);
  /// The result of a request that is kept under `key`, while the server says that it holds; else
  /// what `fetch` gives.
  using Fetched = std::pair<Json, Freshness>;
  [[nodiscard]] contract::Result<Json> kept_or(
      const contract::Context& context, const AnswerKey& key,
      const std::function<contract::Result<Fetched>()>& fetch);
  [[nodiscard]] Freshness freshness_of(const Json& result) const;
  /// The next request for it asks the server.
  void forget(const AnswerKey& key) { cache_.forget(key); }
  void forget_tools() { forget({.method = "tools/list"}); }
  /// When a request that is made now has taken too long.
  [[nodiscard]] Clock::time_point soon() const;
  [[nodiscard]] bool modern() const noexcept { return modern_; }
  [[nodiscard]] ToolList& list() noexcept { return list_; }
  /// After a call: what it changed in the list of tools is read when the call returns.
  void settle(const contract::Context& context, std::uint64_t seen, bool read_only);

 private:
  [[nodiscard]] contract::Result<RemoteAnswer> ask_once(const contract::Context& context,
                                                        const Request& request);
  [[nodiscard]] contract::Result<bool> probe(const contract::Context& context);
  [[nodiscard]] contract::Result<> shake_hands(const contract::Context& context);
  [[nodiscard]] contract::Result<> shake_hands_again(const contract::Context& context,
                                                     std::uint64_t before);
  [[nodiscard]] contract::Result<Fetched> read_pages(const contract::Context& context,
                                                     const std::string& method, const char* member,
                                                     Lacking lacking);
  void forget_changed(const std::string& method, const Json& params);
  void take_server(const Json& result, const Json& info);
  void speak(std::string_view version);
  void notified(const std::string& method, const Json& params);
  void start_listening();
  void listen();
  void listens();
  [[nodiscard]] contract::Result<ListedTools> read_list(const contract::Context& context);
  [[nodiscard]] contract::Result<ListedTools> check_list(const std::vector<Json>& entries) const;
  [[nodiscard]] contract::Result<RemoteFeatures> read_features(const contract::Context& context);
  void drop(const std::string& name, const contract::Error& why) const;
  [[nodiscard]] std::vector<contract::ToolPtr> as_tools(const ListedTools& listed);
  [[nodiscard]] std::string meta_text(const std::string& id, bool progress) const;
  [[nodiscard]] Json own_capabilities() const;

  const ClientOptions options_;
  std::shared_ptr<Channel> channel_;
  bool modern_ = false;
  bool list_changes_ = false;  ///< the server says when it does
  std::string version_;
  Json server_info_;
  Json capabilities_;
  std::string instructions_;
  std::mutex handshake_mutex_;
  std::atomic<std::uint64_t> handshakes_ = 0;
  AnswerCache cache_;
  ToolList list_;
  // Of the thread that listens.
  const contract::CancelSource listening_;
  std::mutex listen_mutex_;
  std::condition_variable_any listen_changed_;
  bool listens_ = false;  ///< what changes from now on will be told
  bool listen_over_ = false;
  std::thread listener_;
};

/// A server's error as one of ours.
[[nodiscard]] contract::Error failed(std::string_view what, const RemoteError& error);

/// Checks one entry of the list; the sentence of what is wrong else.
[[nodiscard]] contract::Result<ListedTool> listed_tool(const ClientOptions& options,
                                                       const Json& entry);
[[nodiscard]] contract::Result<contract::ToolPtr> make_remote_tool(
    const std::shared_ptr<RemoteClient>& client, const ListedTool& listed);

}  // namespace bawn::mcp
