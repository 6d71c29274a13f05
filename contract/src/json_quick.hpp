/// \file
/// A reader for the JSON that clients really send: as strict as nlohmann's, several times as fast
/// over long strings, and silent about why it gives up. Whoever needs the reason, or has a document
/// with fractions, exponents, `-0` or integers of more than 18 digits in it, goes on to that one.
#pragma once

#include "bawn/contract/json.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace bawn::contract::detail {

/// Where a document is read from: the words and values of JSON one after the other.
///
/// Each function returns none or false to give up, for what is wrong and for what is rare: numbers
/// that are no plain integers of 18 digits at most.
class QuickLexer {
 public:
  struct Integer {
    std::int64_t value = 0;
    bool negative = false;
  };

  explicit QuickLexer(std::string_view text) noexcept : text_(text) {}

  /// The byte behind white space; NUL at the end, which is no byte of JSON text.
  char peek() noexcept;
  /// Takes the byte that peek() told.
  void skip() noexcept { at_ += at_ < text_.size() ? 1U : 0U; }
  [[nodiscard]] bool at_end() noexcept;

  /// "true", "false" or "null".
  bool word(std::string_view word) noexcept;
  bool integer(Integer& number) noexcept;
  /// The value of the string whose quote is next.
  bool string(std::string& value);

 private:
  bool escape(std::string& value);
  bool hex(char32_t& unit) noexcept;

  const std::string_view text_;
  std::size_t at_ = 0;
};

/// Feeds a document to a consumer with nlohmann's SAX interface. False: it gave up, or the consumer
/// did; what was fed then is of no use.
template <class Sax>
class QuickReader {
 public:
  QuickReader(std::string_view text, Sax& sax) : lexer_(text), sax_(sax) {}

  bool read() { return value() && lexer_.at_end(); }

 private:
  // The consumer refuses more than kMaxJsonDepth open containers, so the recursion is bounded.
  bool value() {
    switch (lexer_.peek()) {
      case '{':
        return object();
      case '[':
        return array();
      case '"':
        return lexer_.string(text_) && sax_.string(text_);
      case 't':
        return lexer_.word("true") && sax_.boolean(true);
      case 'f':
        return lexer_.word("false") && sax_.boolean(false);
      case 'n':
        return lexer_.word("null") && sax_.null();
      default:
        return number();
    }
  }

  bool number() {
    QuickLexer::Integer integer;
    if (!lexer_.integer(integer)) {
      return false;
    }
    return integer.negative ? sax_.number_integer(integer.value)
                            : sax_.number_unsigned(static_cast<std::uint64_t>(integer.value));
  }

  bool object() {
    lexer_.skip();
    if (!sax_.start_object(kUnknownSize)) {
      return false;
    }
    if (lexer_.peek() == '}') {
      lexer_.skip();
      return sax_.end_object();
    }
    while (lexer_.peek() == '"' && lexer_.string(text_) && sax_.key(text_) &&
           lexer_.peek() == ':') {
      lexer_.skip();
      if (!value()) {
        return false;
      }
      const char next = lexer_.peek();
      lexer_.skip();
      if (next != ',') {
        return next == '}' && sax_.end_object();
      }
    }
    return false;
  }

  bool array() {
    lexer_.skip();
    if (!sax_.start_array(kUnknownSize)) {
      return false;
    }
    if (lexer_.peek() == ']') {
      lexer_.skip();
      return sax_.end_array();
    }
    while (value()) {
      const char next = lexer_.peek();
      lexer_.skip();
      if (next != ',') {
        return next == ']' && sax_.end_array();
      }
    }
    return false;
  }

  static constexpr std::size_t kUnknownSize = ~std::size_t{0};

  QuickLexer lexer_;
  Sax& sax_;
  std::string text_;
};

}  // namespace bawn::contract::detail
