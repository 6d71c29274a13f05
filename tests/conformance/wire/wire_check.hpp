/// \file
/// Holds the messages of a connection against the official schemas of their revisions.
#pragma once

#include "bawn/contract/json.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace bawn::test {

/// Whether the schemas were installed with the official suite, by the test clients.install. Nothing
/// is checked where they were not.
[[nodiscard]] bool has_schema(std::string_view revision);

/// What is wrong with `value` under `definition` of a revision's schema; empty when it is valid.
///
/// Threads: thread-safe.
[[nodiscard]] std::string schema_problem(const std::string& revision, const std::string& definition,
                                         const contract::Json& value);

/// One connection as its client sees it: which revision a message belongs to follows from the
/// request that it answers, and that from its claim, its header or the handshake.
///
/// Threads: thread-safe.
class WireCheck {
 public:
  /// What the client sends, whatever it is. `header` is the revision that HTTP's header names.
  void sent(std::string_view text, std::string_view header = {});
  /// What the server sends; a failed test for all that its revision's schema forbids.
  void received(std::string_view text);
  /// The same, as a sentence; empty when all is well.
  [[nodiscard]] std::string problem(std::string_view text);

 private:
  struct Asked {
    std::string method;
    std::string revision;
  };
  void note(const contract::Json& message, std::string_view header);
  [[nodiscard]] std::string problem_of(const contract::Json& message);
  [[nodiscard]] std::string response_problem(const contract::Json& message);
  [[nodiscard]] std::string other_problem(const contract::Json& message) const;

  void forget(const contract::Json& id);

  std::mutex mutex_;
  std::map<std::string, std::deque<Asked>> asked_;  // by the id's text, which may come again
  std::string agreed_ = "2025-11-25";
  bool modern_ = false;
};

}  // namespace bawn::test
