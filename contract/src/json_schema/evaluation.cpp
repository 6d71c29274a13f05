#include "json_schema/evaluation.hpp"

#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

namespace bawn::contract::detail {

void Evaluated::merge(const Evaluated& other) {
  members.insert(other.members.begin(), other.members.end());
  items.insert(other.items.begin(), other.items.end());
  all_members = all_members || other.all_members;
  all_items = all_items || other.all_items;
}

bool Evaluation::check(const Json& schema, const Json& value, Evaluated& evaluated) {
  if (!spend(1) || depth_ >= kMaxDepth) {
    exhausted_ = true;
    return false;
  }
  if (schema.is_boolean()) {
    return schema.get<bool>() || problem("nothing is allowed here");
  }
  ++depth_;
  Evaluated here;
  const bool valid = check_keywords(schema, value, here);
  --depth_;
  if (!valid || !spend((here.members.size() + here.items.size()) / 4)) {
    return false;
  }
  evaluated.merge(here);
  return true;
}

bool Evaluation::check_keywords(const Json& schema, const Json& value, Evaluated& here) {
  const auto target = compiled_.targets.find(&schema);
  if (target != compiled_.targets.end()) {
    if (!check(*target->second, value, here)) {
      return false;
    }
    if (draft7()) {
      return true;  // siblings of $ref are ignored there
    }
  }
  return check_generic(*this, schema, value) && check_number(*this, schema, value) &&
         check_string(*this, schema, value) && check_combined(*this, schema, value, here) &&
         check_array(*this, schema, value, here) && check_object(*this, schema, value, here);
}

bool Evaluation::holds(const Json& schema, const Json& value, Evaluated& evaluated) {
  ++quiet_;
  const bool valid = check(schema, value, evaluated);
  --quiet_;
  return valid && !exhausted_;
}

bool Evaluation::check_part(Step step, const Json& schema, const Json& part, Evaluated& evaluated) {
  note(step, evaluated);
  steps_.push_back(step);
  Evaluated inner;
  const bool valid = check(schema, part, inner);
  steps_.pop_back();
  return valid;
}

void Evaluation::note(Step step, Evaluated& evaluated) const {
  if (!compiled_.has_unevaluated) {
    return;
  }
  if (step.name != nullptr) {
    evaluated.members.insert(*step.name);
  } else {
    evaluated.items.insert(step.index);
  }
}

// Only a problem needs the text of the path; most values have none.
std::string Evaluation::path() const {
  std::string path;
  for (const Step& step : steps_) {
    if (step.name == nullptr) {
      path += fmt::format("[{}]", step.index);
    } else {
      path += (path.empty() ? "" : ".") + plain_or_quoted(text_start(*step.name, 128));
    }
  }
  return path;
}

bool Evaluation::matches(const std::string& pattern, const std::string& text) const {
  return re2::RE2::PartialMatch(text, *compiled_.patterns.find(pattern)->second);
}

bool Evaluation::spend(std::size_t steps) {
  spent_ += steps;
  exhausted_ = exhausted_ || spent_ > kMaxSteps;
  return !exhausted_;
}

bool Evaluation::spend_lookups(std::size_t names, const Json& object) {
  return spend(names * object.size() / 16);
}

bool Evaluation::problem(std::string_view text) {
  if (quiet_ == 0 && problem_.empty()) {
    problem_ = path();
    problem_ += problem_.empty() ? "" : ": ";
    problem_ += text;
  }
  return false;
}

Verdict Evaluation::verdict(bool valid) const {
  return {.valid = valid && !exhausted_, .exhausted = exhausted_, .problem = problem_};
}

Verdict evaluate(const CompiledSchema& schema, const Json& value) {
  Evaluation run(schema);
  Evaluated evaluated;
  const bool valid = run.check(schema.root, value, evaluated);
  return run.verdict(valid);
}

}  // namespace bawn::contract::detail
