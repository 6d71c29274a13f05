/// \file
/// The strict reading shared by every tree that JSON text is read into: RFC 7493 on top of
/// nlohmann's SAX parser, with the limits that hostile input needs.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/contract/quote.hpp"
#include "json_quick.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace bawn::contract::detail {

/// nlohmann's error text without its "[json.exception…]" head and without the "last read" tail,
/// which repeats the input at any length and may not be UTF-8.
[[nodiscard]] std::string parser_text(std::string_view what);

/// Finds a second member of one name. Small objects are scanned; larger ones get a hash set, so
/// that an object of many members does not cost quadratic time.
class MemberNames {
 public:
  /// False when `name` was there already. `members` are the ones stored so far.
  template <class Members>
  bool add(const std::string& name, const Members& members) {
    constexpr std::size_t kScanned = 12;
    if (members.size() < kScanned) {
      for (const auto& member : members) {
        if (member.first == name) {
          return false;
        }
      }
      return true;
    }
    if (seen_.empty()) {
      for (const auto& member : members) {
        seen_.insert(member.first);
      }
    }
    return seen_.insert(name).second;
  }

 private:
  std::unordered_set<std::string> seen_;
};

/// A SAX consumer that builds a tree. `Tree` says how: it has `Value`, one static maker for each
/// kind of leaf, `append`, `insert` (both return the stored element), `members` and `size`.
template <class Tree>
class StrictSax {
 public:
  using Value = typename Tree::Value;
  using number_integer_t = std::int64_t;
  using number_unsigned_t = std::uint64_t;
  using number_float_t = double;
  using string_t = std::string;
  using binary_t = nlohmann::json::binary_t;

  bool null() { return put(Tree::null()); }
  bool boolean(bool value) { return put(Tree::boolean(value)); }
  bool number_integer(std::int64_t value) { return put(Tree::integer(value)); }
  bool number_unsigned(std::uint64_t value) { return put(Tree::unsigned_integer(value)); }
  bool number_float(double value, const std::string& literal) {
    return put(Tree::floating(value, literal));
  }
  bool string(std::string& value) { return put(Tree::string(std::move(value))); }
  bool binary(binary_t& /*value*/) { return refuse("binary values are not JSON"); }

  bool start_object(std::size_t /*count*/) { return open(Tree::object()); }
  bool start_array(std::size_t /*count*/) { return open(Tree::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    Frame& frame = frames_.back();
    if (!frame.names.add(name, Tree::members(*frame.value))) {
      constexpr std::size_t kShown = 120;
      frame.key.clear();  // the path is the object's
      return refuse(fmt::format("duplicate member {}", quote(name.substr(0, kShown))));
    }
    frame.key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) {
    return refuse(fmt::format("byte {}: {}", position, parser_text(error.what())));
  }

  [[nodiscard]] Value take() { return std::move(root_); }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  struct Frame {
    Value* value;
    std::string key;
    MemberNames names;
    bool object;
  };

  Value* store(Value value) {
    if (frames_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Frame& frame = frames_.back();
    return frame.object ? Tree::insert(*frame.value, std::exchange(frame.key, {}), std::move(value))
                        : Tree::append(*frame.value, std::move(value));
  }

  bool put(Value value) {
    store(std::move(value));
    return true;
  }

  bool open(Value value) {
    if (frames_.size() >= kMaxJsonDepth) {
      return refuse(fmt::format("nested deeper than {} levels", kMaxJsonDepth));
    }
    const bool object = Tree::is_object(value);
    // The stored element stays put while it is open: its container grows only after it is closed.
    Value* stored = store(std::move(value));
    frames_.push_back(Frame{.value = stored, .key = {}, .names = {}, .object = object});
    return true;
  }

  bool close() {
    frames_.pop_back();
    return true;
  }

  bool refuse(std::string problem) {
    const std::string where = path();
    problem_ = where.empty() ? std::move(problem) : where + ": " + problem;
    return false;
  }

  /// Where the reader stands: "outer.items[3].name". Too long a path loses its middle.
  [[nodiscard]] std::string path() const {
    std::string path;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      const bool innermost = i + 1 == frames_.size();
      add_step(path, frames_[i], innermost);
    }
    constexpr std::size_t kEnd = 120;
    if (path.size() > 2 * kEnd) {
      path = plain_or_quoted(path.substr(0, kEnd)) + "…" +
             plain_or_quoted(path.substr(path.size() - kEnd));
    }
    return path;
  }

  // The container of an open value holds it already; the innermost one waits for its next value.
  static void add_step(std::string& path, const Frame& frame, bool innermost) {
    if (!frame.object) {
      path += fmt::format("[{}]", Tree::size(*frame.value) - (innermost ? 0 : 1));
      return;
    }
    const std::string name =
        plain_or_quoted(innermost ? frame.key : Tree::members(*frame.value).back().first);
    if (!innermost || !frame.key.empty()) {
      path += (path.empty() ? "" : ".") + name;
    }
  }

  Value root_{};
  std::vector<Frame> frames_;
  std::string problem_;
};

/// Reads one document into a `Tree::Value`. The error's text has no prefix ("byte 3: …").
template <class Tree>
Result<typename Tree::Value> read_strictly(std::string_view text) {
  // nlohmann's lexer skips a byte order mark and takes a NUL byte for the end of the input.
  if (text.starts_with("\xEF\xBB\xBF")) {
    return fail(ErrorCode::InvalidArgument, "byte 1: starts with a byte order mark");
  }
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    return fail(ErrorCode::InvalidArgument, fmt::format("byte {}: a NUL byte", nul + 1));
  }
  if (StrictSax<Tree> sax; QuickReader(text, sax).read()) {
    return sax.take();
  }
  StrictSax<Tree> sax;
  if (!Json::sax_parse(text.begin(), text.end(), &sax)) {
    return fail(ErrorCode::InvalidArgument, sax.problem());
  }
  return sax.take();
}

}  // namespace bawn::contract::detail
