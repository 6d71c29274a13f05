/// \file
/// Somebody else's MCP server as contract tools. The host starts the server and gives its pipes;
/// this library starts no process. Over HTTP: `bawn/mcp/http_client.hpp`.
/// Source: MCP 2026-07-28 and the revisions with a handshake.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/guard.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/contract/record.hpp"
#include "bawn/contract/resource.hpp"
#include "bawn/contract/tool.hpp"
#include "bawn/mcp/prompt.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bawn::mcp {

/// Which rules are spoken.
enum class EraChoice {
  Auto,    ///< a probe by `server/discover`, then the handshake if that is not understood
  Modern,  ///< 2026-07-28 at once, without a probe
  Legacy,  ///< the handshake at once
};

/// How a tool's calls are confined, as the host knows it.
using ConfinedFunction =
    std::function<contract::Confinement(const contract::Context&, std::string_view args)>;

/// What the host says of one remote tool; MCP cannot say it.
struct RemoteToolOptions {
  std::string name{};  ///< as the server calls it, or with the prefix
  /// Calls that name one resource run in order; the empty name withdraws what was said before.
  std::optional<std::string> resource{};
  bool sequential = false;  ///< only ever adds
  /// In place of the `confined` of all tools; an empty function withdraws it.
  std::optional<ConfinedFunction> confined{};
  /// Whether a call may run again after an unknown outcome; goes before any hint.
  std::optional<contract::Replay> replay{};
  /// Asked before each call; nothing is sent to the server without its yes.
  contract::Authorizer approval{};
};

/// A result as the server gave it.
class RemoteDetails final : public contract::Details {
 public:
  RemoteDetails(contract::Json raw, std::optional<contract::Record> record)
      : raw_(std::move(raw)), record_(std::move(record)) {}
  [[nodiscard]] const contract::Json& raw() const noexcept { return raw_; }
  /// Recordable when a trusted server sent a record.
  [[nodiscard]] std::string record_namespace() const override {
    return record_ ? record_->name_space : "";
  }
  [[nodiscard]] contract::Result<contract::Json> record_json() const override;

 private:
  contract::Json raw_;
  std::optional<contract::Record> record_;
};

struct ClientOptions {
  std::string name = "bawn";  ///< `clientInfo`
  std::string version = "0";
  EraChoice era = EraChoice::Auto;
  std::string prefix{};  ///< tools are named `<prefix>__<name>`; empty: as they are
  /// Applied in order: of several claims about one tool the last stands.
  std::vector<RemoteToolOptions> tools{};
  /// Believes the hints: calls of tools that say to be read-only or idempotent may run again after
  /// an unknown outcome. Otherwise nobody knows of any.
  bool trust_annotations = false;
  /// The `confined` property of every tool: how the host runs this server.
  ConfinedFunction confined{};
  /// The host vouches for the server: the records and the confinement of its results are read, and
  /// what its tools say of their confinement and of the order of their calls.
  bool trusted = false;
  /// Stands with every result, as what was confirmed of the server's own confinement.
  std::optional<contract::Confinement> confinement{};
  /// Offers elicitation: questions go to the elicitor of the call that they belong to.
  bool elicitation = false;

  /// 0 = unlimited. A longer one refuses the whole list, or fails the call.
  std::size_t max_description_bytes = 8192;
  std::size_t max_result_bytes = 1U << 20U;
  std::size_t max_line_bytes = 10U << 20U;
  std::chrono::milliseconds probe_timeout = std::chrono::seconds(5);
  std::chrono::milliseconds request_timeout = std::chrono::seconds(60);  ///< lists, handshake
  /// Lists and resources of a modern server are used again for as long as it says (`ttlMs`), and no
  /// longer than this; those that it says have changed are asked for anew, but word of that is only
  /// asked for of tools (`follow_tools`). 0: they are always asked for.
  std::chrono::milliseconds max_cache_age = std::chrono::hours(24);
  /// For calls, none by default. When it passes, nobody knows what the call did.
  std::optional<std::chrono::milliseconds> call_timeout{};
  /// Keeps the list as the server says that it changes: see Client::await().
  bool follow_tools = false;
  /// With follow_tools: how long a call of a tool that may change things waits, after its answer,
  /// for word of a changed list.
  std::chrono::milliseconds notification_grace{50};
  /// The server says that its list of tools changed. On the reader's thread: must not block.
  std::function<void()> on_tools_changed{};
  /// With follow_tools: the list could not be read again. On a thread of the client's.
  std::function<void(const contract::Error&)> on_refresh_error{};
  /// Diagnostics, without arguments or output. Must not block.
  std::function<void(std::string_view)> log{};
};

/// What a server has beside its tools, for a server of ours that serves it again. Keeps the client
/// alive.
struct RemoteFeatures {
  std::shared_ptr<const contract::ResourceProvider> resources{};  ///< null: it has none
  std::vector<Prompt> prompts{};
};

/// One connection. Tools that it gave keep it alive.
///
/// Threads: thread-safe.
class Client {
 public:
  /// Duplicates both descriptors and agrees on the rules.
  ///
  /// Errors: Closed when the server ends; DeadlineExceeded; ToolFailed when it speaks no revision
  /// of ours; a system call's error. Blocking: until agreed, or `context` ends.
  [[nodiscard]] static contract::Result<std::shared_ptr<Client>> connect(
      const contract::Context& context, int from_server, int to_server, ClientOptions options);

  virtual ~Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// The revision that is spoken.
  [[nodiscard]] virtual const std::string& version() const noexcept = 0;
  /// As the server gave it; an object, or null.
  [[nodiscard]] virtual const contract::Json& server_info() const noexcept = 0;
  [[nodiscard]] virtual const std::string& instructions() const noexcept = 0;
  /// What it declared; an object, or null when it was not asked (EraChoice::Modern).
  [[nodiscard]] virtual const contract::Json& capabilities() const noexcept = 0;

  /// Lists all pages; see `max_cache_age`. The list is untrusted: it is refused as a whole when a
  /// name is none or comes twice, a schema is missing or no object's, or a description is too long.
  ///
  /// Errors: ToolFailed, naming what is wrong; InvalidArgument for options that name no tool of the
  /// list; those of connect().
  [[nodiscard]] virtual contract::Result<std::vector<contract::ToolPtr>> tools(
      const contract::Context& context) = 0;

  /// The list after every change that the server told so far; without follow_tools, or before any
  /// change, what tools() gave last. Several changes cost one listing. A failed listing keeps the
  /// list before and is given here until one succeeds.
  ///
  /// Errors: those of tools(); Closed. Blocking: until the pending listings landed.
  [[nodiscard]] virtual contract::Result<std::vector<contract::ToolPtr>> await(
      const contract::Context& context) = 0;

  /// Its resources, prompts and completions, as far as it declared them. Prompts and families of
  /// resources are listed once, here; resources whenever they are asked for. Lists are untrusted,
  /// as those of tools, and what is read is held to `max_result_bytes`. A prompt or a resource
  /// whose server asks for input fails.
  ///
  /// Errors: ToolFailed, naming what is wrong; those of connect().
  [[nodiscard]] virtual contract::Result<RemoteFeatures> features(
      const contract::Context& context) = 0;

  /// Sends a request that has no function of its own here, such as `ping`. `params` is an
  /// object; `_meta` is added. Always asks the server.
  ///
  /// Errors: ToolFailed, with the server's words; those of connect().
  [[nodiscard]] virtual contract::Result<contract::Json> request(const contract::Context& context,
                                                                 const std::string& method,
                                                                 const contract::Json& params) = 0;

  /// Every pending and later call ends with `mcp: connection closed`. Blocking: briefly.
  virtual void close() = 0;

 protected:
  Client() = default;
};

}  // namespace bawn::mcp
