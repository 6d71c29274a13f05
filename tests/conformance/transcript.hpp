/// \file
/// Transcripts: what a client sends and what must come back, byte for byte.
///
/// `! words` names the server: `fixture` or `conformance`, and what else it gets on its command
/// line;
/// `> text` is sent, `< text` must come, `#` begins a comment. `{name}` in an expected line stands
/// for whatever comes there, and in a later line that is sent for what came; `{name!}` for that
/// with its last character changed.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bawn::test {

/// Consecutive lines that are sent, and those that must come then.
struct Exchange {
  int line = 0;  ///< of the file, where it begins
  std::vector<std::string> sent;
  std::vector<std::string> expected;
};

struct Transcript {
  std::vector<std::string> server = {"fixture"};
  std::vector<Exchange> exchanges;
};

[[nodiscard]] Transcript read_transcript(const std::filesystem::path& file);
/// The files of a folder, by name.
[[nodiscard]] std::vector<std::filesystem::path> transcripts_in(
    const std::filesystem::path& folder);

/// What stands for the names in a transcript's lines.
class Placeholders {
 public:
  [[nodiscard]] std::string filled(std::string line) const;
  /// Whether `came` is the expected line; takes what stands for its name.
  [[nodiscard]] bool match(const std::string& expected, const std::string& came);

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace bawn::test
