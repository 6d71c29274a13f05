#include "transcript.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

namespace bawn::test {
namespace {

struct Name {
  std::size_t begin;  // of the brace
  std::size_t end;    // behind the other one
  std::string text;
};

bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}

/// The next `{name}` from `from` on; JSON's braces are followed by a quote or another brace.
std::optional<Name> next_name(const std::string& line, std::size_t from) {
  for (auto begin = line.find('{', from); begin != std::string::npos;
       begin = line.find('{', begin + 1)) {
    auto end = begin + 1;
    while (end < line.size() && is_letter(line[end])) {
      ++end;
    }
    const bool altered = end < line.size() && line[end] == '!';
    const auto close = end + (altered ? 1 : 0);
    if (end > begin + 1 && close < line.size() && line[close] == '}') {
      return Name{
          .begin = begin, .end = close + 1, .text = line.substr(begin + 1, close - begin - 1)};
    }
  }
  return std::nullopt;
}

std::string altered(std::string value) {
  if (!value.empty()) {
    value.back() = value.back() == '0' ? '1' : '0';
  }
  return value;
}

}  // namespace

Transcript read_transcript(const std::filesystem::path& file) {
  Transcript transcript;
  std::ifstream in(file);
  std::string line;
  bool sending = false;
  for (int number = 1; std::getline(in, line); ++number) {
    const std::string text = line.size() > 2 ? line.substr(2) : "";
    if (line.starts_with('!')) {
      std::istringstream words(text);
      transcript.server.clear();
      for (std::string word; words >> word;) {
        transcript.server.push_back(word);
      }
    } else if (line.starts_with('>')) {
      if (!sending) {
        transcript.exchanges.push_back({.line = number, .sent = {}, .expected = {}});
      }
      sending = true;
      transcript.exchanges.back().sent.push_back(text);
    } else if (line.starts_with('<')) {
      sending = false;
      transcript.exchanges.back().expected.push_back(text);
    }
  }
  return transcript;
}

std::vector<std::filesystem::path> transcripts_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

std::string Placeholders::filled(std::string line) const {
  for (auto name = next_name(line, 0); name; name = next_name(line, name->begin + 1)) {
    const bool change = name->text.ends_with('!');
    const auto value =
        values_.find(change ? name->text.substr(0, name->text.size() - 1) : name->text);
    if (value != values_.end()) {
      line.replace(name->begin, name->end - name->begin,
                   change ? altered(value->second) : value->second);
    }
  }
  return line;
}

bool Placeholders::match(const std::string& expected, const std::string& came) {
  const auto name = next_name(expected, 0);
  if (!name) {
    return expected == came;
  }
  const std::string before = expected.substr(0, name->begin);
  const std::string after = expected.substr(name->end);
  if (came.size() < before.size() + after.size() || !came.starts_with(before) ||
      !came.ends_with(after)) {
    return false;
  }
  values_[name->text] = came.substr(before.size(), came.size() - before.size() - after.size());
  return values_[name->text].find('"') == std::string::npos;
}

}  // namespace bawn::test
