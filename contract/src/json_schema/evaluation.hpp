/// \file
/// One validation under way: where it is, what it found, and how much work it may still do.
#pragma once

#include "json_schema/compiled.hpp"
#include "json_schema/value.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::contract::detail {

/// What a validation found.
struct Verdict {
  bool valid = true;
  bool exhausted = false;  ///< gave up at the limit of steps or depth
  std::string problem{};
};

[[nodiscard]] Verdict evaluate(const CompiledSchema& schema, const Json& value);

/// What was looked at by some keyword, for unevaluatedProperties and unevaluatedItems. Kept only
/// where the document has one of them.
struct Evaluated {
  std::set<std::string, std::less<>> members{};
  std::set<std::size_t> items{};
  bool all_members = false;
  bool all_items = false;

  void merge(const Evaluated& other);
};

/// From a value to a part of it: a member's name, or without one an item's index.
struct Step {
  const std::string* name = nullptr;
  std::size_t index = 0;
};

/// The keyword's value in the schema object; null when it is not there.
[[nodiscard]] inline const Json* keyword(const Json& schema, std::string_view name) {
  const auto found = schema.find(name);
  return found == schema.end() ? nullptr : &*found;
}

/// The state that the keywords share. Their functions return false for a value that does not fit,
/// after reporting the problem, and for work that was not done because there was too much of it.
///
/// Threads: one evaluation belongs to one thread.
class Evaluation {
 public:
  explicit Evaluation(const CompiledSchema& compiled) : compiled_(compiled) {}

  /// Checks the value against a schema anywhere in the document.
  [[nodiscard]] bool check(const Json& schema, const Json& value, Evaluated& evaluated);
  /// The same without reporting a problem: for alternatives and conditions.
  [[nodiscard]] bool holds(const Json& schema, const Json& value, Evaluated& evaluated);
  /// The same for a member or an item of the value, which is noted in `evaluated` as looked at.
  [[nodiscard]] bool check_part(Step step, const Json& schema, const Json& part,
                                Evaluated& evaluated);
  /// Notes a part as looked at.
  void note(Step step, Evaluated& evaluated) const;

  [[nodiscard]] bool draft7() const noexcept { return compiled_.draft7; }
  [[nodiscard]] bool matches(const std::string& pattern, const std::string& text) const;

  /// Counts work that one look at a schema can multiply; false when there was too much of it.
  [[nodiscard]] bool spend(std::size_t steps);
  /// The same for names that are looked up in the object one by one.
  [[nodiscard]] bool spend_lookups(std::size_t names, const Json& object);
  [[nodiscard]] bool exhausted() const noexcept { return exhausted_; }

  /// Keeps the first problem that is not inside an alternative. Returns false.
  bool problem(std::string_view text);
  [[nodiscard]] Verdict verdict(bool valid) const;

  static constexpr std::size_t kMaxSteps = 500'000;  ///< enough for any honest schema
  static constexpr int kMaxDepth = 400;  ///< met first by a recursion that eats no input

 private:
  [[nodiscard]] std::string path() const;
  [[nodiscard]] bool check_keywords(const Json& schema, const Json& value, Evaluated& here);

  const CompiledSchema& compiled_;
  std::vector<Step> steps_;
  std::string problem_;
  int quiet_ = 0;
  std::size_t spent_ = 0;
  int depth_ = 0;
  bool exhausted_ = false;
};

// The groups of keywords, in the order in which they are checked. Each ignores values of a type
// that it says nothing about, and reads the keywords that its file names.

[[nodiscard]] bool check_generic(Evaluation& run, const Json& schema, const Json& value);
[[nodiscard]] bool check_number(Evaluation& run, const Json& schema, const Json& value);
[[nodiscard]] bool check_string(Evaluation& run, const Json& schema, const Json& value);
[[nodiscard]] bool check_combined(Evaluation& run, const Json& schema, const Json& value,
                                  Evaluated& here);
[[nodiscard]] bool check_array(Evaluation& run, const Json& schema, const Json& value,
                               Evaluated& here);
[[nodiscard]] bool check_object(Evaluation& run, const Json& schema, const Json& value,
                                Evaluated& here);

/// minItems, maxItems and their like: `least` and `most` are the two keywords, `unit` the words for
/// what is counted.
[[nodiscard]] bool check_size(Evaluation& run, const Json& schema, std::string_view least,
                              std::string_view most, std::size_t size, Noun unit);

}  // namespace bawn::contract::detail
