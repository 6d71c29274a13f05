/// \file
/// An HTTP server that answers by a function: one request on each connection.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace bawn::mcp::test {

struct ScriptedRequest {
  std::string method;
  std::string target;
  std::string head;  ///< all header lines
  std::string body;
};

struct ScriptedReply {
  int status = 200;
  std::string body{};
  std::string headers{};  ///< further lines, each with its end
};

class ScriptedHttp {
 public:
  using Answer = std::function<ScriptedReply(const ScriptedRequest&)>;
  explicit ScriptedHttp(Answer answer);
  ~ScriptedHttp();
  ScriptedHttp(const ScriptedHttp&) = delete;
  ScriptedHttp& operator=(const ScriptedHttp&) = delete;

  /// "http://127.0.0.1:PORT"
  [[nodiscard]] const std::string& origin() const noexcept { return origin_; }

 private:
  void serve();
  void serve_one(int fd) const;

  const Answer answer_;
  int listener_ = -1;
  std::string origin_;
  std::thread thread_;
};

}  // namespace bawn::mcp::test
