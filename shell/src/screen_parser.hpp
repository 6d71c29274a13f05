/// \file
/// Takes a terminal's byte stream apart: characters, control bytes, escape and control sequences.
/// Source: ECMA-48; the xterm control sequence documentation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bawn::shell {

/// CSI ... final.
struct ControlSequence {
  char prefix = 0;        ///< '?', '>', '=' or none
  char intermediate = 0;  ///< ' ', '!', '$', ... or none
  char final = 0;
  std::array<int, 16> parameters{};  ///< -1 = left out
  std::size_t count = 0;

  /// Parameter `index`, or `otherwise` where it is missing or 0.
  [[nodiscard]] int at(std::size_t index, int otherwise) const noexcept {
    return index < count && parameters[index] > 0 ? parameters[index] : otherwise;
  }
};

/// What a parser finds.
class ScreenActions {
 public:
  virtual ~ScreenActions() = default;
  virtual void print(char32_t code) = 0;
  virtual void control(char byte) = 0;
  virtual void escape(char intermediate, char final) = 0;
  virtual void sequence(const ControlSequence& sequence) = 0;
};

/// Takes bytes in any pieces. Strings (titles, device control) are dropped.
///
/// Threads: not thread-safe.
class ScreenParser {
 public:
  void feed(std::string_view bytes, ScreenActions& actions);

 private:
  enum class State : std::uint8_t { Ground, Escape, Sequence, String, StringEscape };
  void ground(unsigned char byte, ScreenActions& actions);
  void escape(unsigned char byte, ScreenActions& actions);
  void sequence(unsigned char byte, ScreenActions& actions);

  State state_ = State::Ground;
  char intermediate_ = 0;
  ControlSequence sequence_;
  char32_t code_ = 0;
  int more_ = 0;  ///< bytes of a UTF-8 character that are to come
};

/// Columns that a character takes: 0, 1 or 2. Source: Unicode 15, East Asian Width and the
/// combining marks of the common scripts.
[[nodiscard]] int columns_of(char32_t code) noexcept;

}  // namespace bawn::shell
