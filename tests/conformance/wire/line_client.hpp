/// \file
/// The client of a server on two descriptors: lines out, lines in, each held against the schema.
#pragma once

#include "bawn/contract/json.hpp"
#include "wire_check.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace bawn::test {

class LineClient {
 public:
  /// Only a broken server takes so long.
  static constexpr std::chrono::minutes kPatience{1};

  LineClient();
  virtual ~LineClient();
  LineClient(const LineClient&) = delete;
  LineClient& operator=(const LineClient&) = delete;

  /// Writes bytes as they are. Blocking while the pipe is full.
  void write(std::string_view bytes);
  void send(std::string_view line) { write(std::string(line) + "\n"); }
  /// The next line; none at the end of the output or after `wait`.
  std::optional<std::string> receive_line(std::chrono::milliseconds wait = kPatience);
  /// The next line as JSON; null and a failed test when it is none.
  contract::Json receive();
  /// Sends a request and gives the answer to it, skipping other messages.
  contract::Json call(std::string_view request);
  /// For floods, whose hundred thousand messages are alike and would take minutes to check.
  void stop_checking() { checks_ = false; }
  void close_input();
  void close_output();
  /// True when nothing more can come: every holder of the output is gone.
  [[nodiscard]] bool output_ends();

 protected:
  /// Makes two pipes and returns the server's ends, which are the caller's to close.
  struct ServerEnds {
    int in;
    int out;
  };
  [[nodiscard]] ServerEnds make_pipes();
  /// Takes two descriptors of a connection that is there.
  void attach(int to_server, int from_server);

 private:
  void note(std::string_view written);
  [[nodiscard]] std::optional<std::size_t> read_some(std::chrono::steady_clock::time_point until);

  int to_server_ = -1;
  int from_server_ = -1;
  std::string buffer_;
  std::string unfinished_;  // what was written of a line without its end
  WireCheck check_;
  bool checks_ = true;
};

}  // namespace bawn::test
