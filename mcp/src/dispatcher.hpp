/// \file
/// From a message to an answer or a job, for every transport and both eras.
#pragma once

#include "core.hpp"
#include "era.hpp"
#include "job.hpp"
#include "message.hpp"
#include "outlet.hpp"
#include "peer.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::mcp {

/// Answers what is cheap at once and turns the rest into jobs.
///
/// Threads: thread-safe; accept() never blocks and calls no tool.
class Dispatcher {
 public:
  Dispatcher(std::shared_ptr<const Core> core, std::shared_ptr<Peer> peer);

  /// Takes one line or body. Answers go to `outlet`; jobs are appended in the order of the messages
  /// and must each be run or refused.
  void accept(std::string_view text, const std::optional<HttpFacts>& http,
              const std::shared_ptr<Outlet>& outlet, std::vector<JobPtr>& jobs);

  /// Answers a message that was too long to keep; `head` is its beginning.
  void refuse_long(std::string_view head, std::size_t limit, Outlet& outlet);
  /// Answers one that there was no memory for.
  void refuse_starved(std::string_view head, Outlet& outlet);

 private:
  /// A request whose era is known.
  struct Request {
    RequestId id;
    Era era;
    RawObject params;
    std::shared_ptr<Outlet> outlet;
    std::string_view method;
    const HttpFacts* http = nullptr;
  };
  using Handler = void (Dispatcher::*)(Request&, std::vector<JobPtr>&);
  struct Method {
    std::string_view name;
    bool legacy;
    bool modern;
    Handler handler;
  };
  static const Method kMethods[];

  void accept_batch(const std::vector<std::string_view>& texts,
                    const std::optional<HttpFacts>& http, const std::shared_ptr<Outlet>& outlet,
                    std::vector<JobPtr>& jobs);
  void accept_message(Message message, const std::optional<HttpFacts>& http,
                      const std::shared_ptr<Outlet>& outlet, std::vector<JobPtr>& jobs);
  void accept_notification(const Message& message);
  void dispatch(Request& request, std::vector<JobPtr>& jobs);
  [[nodiscard]] bool serves(std::string_view method, const Era& era) const;
  [[nodiscard]] const Method* find_method(std::string_view name, const Era& era) const;

  void initialize(Request& request, std::vector<JobPtr>& jobs);
  void ping(Request& request, std::vector<JobPtr>& jobs);
  void set_level(Request& request, std::vector<JobPtr>& jobs);
  void discover(Request& request, std::vector<JobPtr>& jobs);
  void listen(Request& request, std::vector<JobPtr>& jobs);
  void list_tools(Request& request, std::vector<JobPtr>& jobs);
  void call_tool(Request& request, std::vector<JobPtr>& jobs);
  void list_resources(Request& request, std::vector<JobPtr>& jobs);
  void list_templates(Request& request, std::vector<JobPtr>& jobs);
  void read_resource(Request& request, std::vector<JobPtr>& jobs);
  void subscribe(Request& request, std::vector<JobPtr>& jobs);
  void unsubscribe(Request& request, std::vector<JobPtr>& jobs);
  void list_prompts(Request& request, std::vector<JobPtr>& jobs);
  void get_prompt(Request& request, std::vector<JobPtr>& jobs);
  void complete(Request& request, std::vector<JobPtr>& jobs);

  /// Refuses a request for a page that we never gave out.
  [[nodiscard]] bool asks_for_page(const Request& request) const;
  /// Makes the request a live one with its progress token and log level; null when it was refused.
  [[nodiscard]] LiveRequestPtr open(Request& request);
  /// Goes on with a call that waits for answers when the request brings a state; true when it did
  /// or was refused.
  [[nodiscard]] bool goes_on(Request& request, const std::string& bound);
  [[nodiscard]] std::string bound_of(const Request& request, std::string_view name,
                                     std::string_view arguments) const;
  void work(Request& request, std::vector<JobPtr>& jobs, std::optional<Caching> caching, Work work,
            std::string bound = {});
  [[nodiscard]] Caching private_list() const;

  static void reply(const Request& request, const Json& result);
  static void refuse(const Request& request, RpcCode code, std::string message,
                     HttpStatus status = HttpStatus::Ok);

  const std::shared_ptr<const Core> core_;
  const std::shared_ptr<Peer> peer_;
};

}  // namespace bawn::mcp
