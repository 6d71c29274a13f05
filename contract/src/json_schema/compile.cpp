#include "bawn/contract/json_schema.hpp"
#include "bawn/contract/quote.hpp"
#include "json_depth.hpp"
#include "json_schema/compiled.hpp"
#include "json_schema/evaluation.hpp"
#include "json_schema/format.hpp"
#include "json_schema/keywords.hpp"
#include "json_schema/pointer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

namespace bawn::contract {
namespace {

using detail::Form;

struct Reference {
  const Json* from;
  std::string text;
  std::string where;
};

/// Walks every schema of the document once, and what references lead to.
class Compiler {
 public:
  explicit Compiler(detail::CompiledSchema& compiled) : out_(compiled) {}

  Result<> compile() {
    if (const auto bounded = detail::check_depth(out_.root); !bounded) {
      return fail(ErrorCode::InvalidArgument, "the schema is " + bounded.error().message());
    }
    BAWN_TRY(choose_dialect());
    BAWN_TRY(walk(out_.root, "#"));
    // A reference may lead to a place that no keyword covers, with further references in it.
    while (!references_.empty()) {
      const Reference reference = std::move(references_.back());
      references_.pop_back();
      BAWN_TRY(resolve(reference));
    }
    return {};
  }

 private:
  Result<> choose_dialect() {
    const auto dialect = out_.root.is_object() ? out_.root.find("$schema") : out_.root.end();
    if (!out_.root.is_object() || dialect == out_.root.end()) {
      return {};
    }
    const std::string name = dialect->is_string() ? dialect->get<std::string>() : "";
    out_.draft7 = name.starts_with("http://json-schema.org/draft-07/schema") ||
                  name.starts_with("https://json-schema.org/draft-07/schema");
    if (!out_.draft7 && name != "https://json-schema.org/draft/2020-12/schema" &&
        name != "https://json-schema.org/draft/2020-12/schema#" && !name.empty()) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("unsupported $schema {}: draft 2020-12 and draft-07 are supported",
                              quote(text_start(name, 128))));
    }
    return {};
  }

  static constexpr std::string_view kWantsNames = "must be a list of names, none of them twice";
  static constexpr std::string_view kWantsOther = "the keyword's value has a wrong form";

  static std::unexpected<Error> problem(std::string_view where, std::string_view text) {
    return fail(ErrorCode::InvalidArgument, fmt::format("schema at {}: {}", where, text));
  }

  static std::string below(const std::string& where, std::string_view step) {
    return where + "/" + plain_or_quoted(text_start(step, 64));
  }

  Result<> walk(const Json& schema, const std::string& where) {
    if (!seen_.insert(&schema).second || schema.is_boolean()) {
      return {};
    }
    if (!schema.is_object()) {
      return problem(where, "a schema must be an object, true or false");
    }
    BAWN_TRY(note_names(schema, where));
    for (const auto& [keyword, form] : detail::keywords()) {
      const auto found = schema.find(keyword);
      if (found != schema.end()) {
        out_.has_unevaluated = out_.has_unevaluated || keyword.starts_with("unevaluated");
        BAWN_TRY(check(*found, form, below(where, keyword)));
      }
    }
    const auto reference = schema.find("$ref");
    if (reference != schema.end()) {
      references_.push_back({&schema, reference->get<std::string>(), where});
    }
    return {};
  }

  // `$id` and `$anchor`. In draft-07 a "#name" as `$id` is an anchor.
  Result<> note_names(const Json& schema, const std::string& where) {
    const auto id = schema.find("$id");
    if (id != schema.end() && &schema != &out_.root) {
      const std::string text = id->is_string() ? id->get<std::string>() : "";
      if (!out_.draft7 || !text.starts_with('#')) {
        return problem(where, "a nested $id is not supported");
      }
      anchors_[text.substr(1)] = &schema;
    }
    const auto anchor = schema.find("$anchor");
    if (anchor != schema.end() && anchor->is_string()) {
      anchors_[anchor->get<std::string>()] = &schema;
    }
    return {};
  }

  Result<> check(const Json& value, Form form, const std::string& where) {
    switch (form) {
      case Form::Schema:
        return walk(value, where);
      case Form::SchemaList:
        return value.is_array() && value.empty() ? problem(where, "must not be empty")
                                                 : walk_list(value, where);
      case Form::Items:
        return value.is_array() && out_.draft7 ? walk_list(value, where) : walk(value, where);
      case Form::SchemaMap:
      case Form::PatternMap:
      case Form::Dependencies:
      case Form::NamesMap:
        return walk_map(value, form, where);
      case Form::Refused:
        return problem(where, "this keyword is not supported");
      default:
        break;
    }
    if (!detail::has_plain_form(value, form)) {
      return problem(where, form == Form::Names ? kWantsNames : kWantsOther);
    }
    return form == Form::Pattern ? add_pattern(value.get_ref<const std::string&>(), where)
                                 : Result<>();
  }

  Result<> walk_list(const Json& list, const std::string& where) {
    if (!list.is_array()) {
      return problem(where, "must be a list of schemas");
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      BAWN_TRY(walk(list[i], below(where, std::to_string(i))));
    }
    return {};
  }

  Result<> walk_map(const Json& map, Form form, const std::string& where) {
    if (!map.is_object()) {
      return problem(where, "must be an object");
    }
    for (auto it = map.begin(); it != map.end(); ++it) {
      const std::string step = below(where, it.key());
      const bool names =
          form == Form::NamesMap || (form == Form::Dependencies && it.value().is_array());
      if (names && !detail::is_names(it.value())) {
        return problem(step, kWantsNames);
      }
      if (form == Form::PatternMap) {
        BAWN_TRY(add_pattern(it.key(), step));
      }
      if (!names) {
        BAWN_TRY(walk(it.value(), step));
      }
    }
    return {};
  }

  Result<> add_pattern(const std::string& pattern, const std::string& where) {
    if (out_.patterns.contains(pattern)) {
      return {};
    }
    auto compiled = detail::compile_pattern(pattern);
    if (!compiled) {
      return problem(where,
                     "the pattern is not supported here: it must be RE2's, without look-around and "
                     "back-references, and of moderate size");
    }
    constexpr std::size_t kMostInstructions = 200'000;
    pattern_instructions_ += static_cast<std::size_t>(compiled->ProgramSize());
    if (pattern_instructions_ > kMostInstructions) {
      return problem(where, "the patterns of the schema are too large together");
    }
    out_.patterns.emplace(pattern, std::move(compiled));
    return {};
  }

  Result<> resolve(const Reference& reference) {
    const Json* target = nullptr;
    if (reference.text == "#") {
      target = &out_.root;
    } else if (reference.text.starts_with("#/")) {
      target = detail::follow_pointer(out_.root, std::string_view(reference.text).substr(1));
    } else if (reference.text.starts_with('#')) {
      const auto anchor = anchors_.find(reference.text.substr(1));
      target = anchor != anchors_.end() ? anchor->second : nullptr;
    } else {
      return problem(reference.where,
                     fmt::format("$ref {} leaves the document; only local ones are followed",
                                 quote(text_start(reference.text, 128))));
    }
    if (target == nullptr) {
      return problem(reference.where,
                     fmt::format("$ref {} leads nowhere", quote(text_start(reference.text, 128))));
    }
    out_.targets[reference.from] = target;
    return walk(*target, plain_or_quoted(text_start(reference.text, 128)));
  }

  detail::CompiledSchema& out_;
  std::size_t pattern_instructions_ = 0;
  std::unordered_set<const Json*> seen_;
  std::map<std::string, const Json*> anchors_;
  std::vector<Reference> references_;
};

}  // namespace

JsonSchema::JsonSchema(std::shared_ptr<const detail::CompiledSchema> compiled)
    : compiled_(std::move(compiled)) {}

Result<JsonSchema> JsonSchema::compile(Json schema) {
  auto compiled =
      std::make_shared<detail::CompiledSchema>(detail::CompiledSchema{.root = std::move(schema)});
  BAWN_TRY(Compiler(*compiled).compile());
  return JsonSchema(std::move(compiled));
}

Result<JsonSchema> JsonSchema::compile_text(std::string_view text) {
  if (text.size() > kMaxSchemaBytes) {
    return fail(
        ErrorCode::InvalidArgument,
        fmt::format("the schema has {} bytes, over the limit of {}", text.size(), kMaxSchemaBytes));
  }
  return compile(BAWN_TRY(parse_json(text)));
}

const Json& JsonSchema::document() const noexcept {
  return compiled_->root;
}

Result<> JsonSchema::validate(const Json& value) const {
  BAWN_TRY(detail::check_depth(value));
  const auto verdict = detail::evaluate(*compiled_, value);
  if (verdict.exhausted) {
    return fail(ErrorCode::ResourceExhausted, "the schema is too complex to check this value");
  }
  if (!verdict.valid) {
    return fail(ErrorCode::InvalidArgument, verdict.problem);
  }
  return {};
}

}  // namespace bawn::contract
