#include "http_client/challenge.hpp"

#include "bawn/contract/lower_case.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace bawn::mcp {
namespace {

bool is_token_char(char c) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         kOthers.find(c) != std::string_view::npos;
}

/// The words of the header, one after the other.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  void skip(std::string_view characters) {
    const auto next = text_.find_first_not_of(characters);
    text_.remove_prefix(next == std::string_view::npos ? text_.size() : next);
  }
  [[nodiscard]] std::string token() {
    std::string word;
    while (!text_.empty() && is_token_char(text_.front())) {
      word += text_.front();
      text_.remove_prefix(1);
    }
    return word;
  }
  [[nodiscard]] bool take(char c) {
    const bool there = text_.starts_with(c);
    text_.remove_prefix(there ? 1 : 0);
    return there;
  }
  /// A token or what is between quotes.
  [[nodiscard]] std::string value() {
    if (!take('"')) {
      return token();
    }
    std::string word;
    while (!text_.empty() && text_.front() != '"') {
      text_.remove_prefix(text_.front() == '\\' && text_.size() > 1 ? 1 : 0);
      word += text_.front();
      text_.remove_prefix(1);
    }
    static_cast<void>(take('"'));
    return word;
  }
  void drop_one() { text_.remove_prefix(text_.empty() ? 0 : 1); }
  [[nodiscard]] bool over() const noexcept { return text_.empty(); }

 private:
  std::string_view text_;
};

}  // namespace

AuthorizationChallenge read_challenge(int status, std::string_view header) {
  AuthorizationChallenge challenge{.status = status};
  Words words(header);
  bool bearer = false;
  while (!words.over()) {
    words.skip(" \t,");
    const std::string name = contract::lower_case(words.token());
    if (name.empty()) {
      words.drop_one();
      continue;
    }
    words.skip(" \t");
    if (!words.take('=')) {
      bearer = name == "bearer";
      continue;
    }
    words.skip(" \t");
    std::string value = words.value();
    if (bearer && name == "error") {
      challenge.error = std::move(value);
    } else if (bearer && name == "scope") {
      challenge.scope = std::move(value);
    } else if (bearer && name == "resource_metadata") {
      challenge.metadata = std::move(value);
    }
  }
  return challenge;
}

}  // namespace bawn::mcp
