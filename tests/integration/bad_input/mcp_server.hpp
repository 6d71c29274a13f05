/// \file
/// A `bawn mcp` with a workspace of its own, spoken to line by line, that checks at its end that it
/// left nothing behind.
#pragma once

#include "bawn/contract/json.hpp"
#include "support/peer_process.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

namespace bawn::test {

class McpServerTest : public testing::Test {
 protected:
  void SetUp() override;
  /// Closes the connection; then no process and no file of the server may be left.
  void TearDown() override;

  [[nodiscard]] std::filesystem::path workspace() const { return root_.path() / "workspace"; }
  /// Sends one line as it is.
  void send(std::string_view line);
  /// The next line that is an answer and no notification; null with a failed check when none came.
  contract::Json next_answer();
  /// Sends one line and returns its answer.
  contract::Json ask(std::string_view line);
  /// tools/call with arguments as JSON text.
  contract::Json call(std::string_view tool, std::string_view arguments);
  /// Checks that a bash call works, in the shell that served the calls before.
  void expect_still_serving();

 private:
  TempDir root_;
  std::optional<McpPeer> server_;
  int last_id_ = 1000;
};

/// All text parts of a tool's result.
std::string text_of(const contract::Json& answer);
/// One line, no longer than a person reads, with a full word in it.
bool is_one_sentence(const std::string& text);

}  // namespace bawn::test
