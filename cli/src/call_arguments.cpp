#include "call_arguments.hpp"

#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

namespace bawn::cli {
namespace {

using contract::ErrorCode;
using contract::fail;
using contract::Json;
using contract::Result;

constexpr std::array<std::string_view, 4> kOwnFlags = {"help", "json", "arguments", "answer"};

/// The one type that a flag's value is read as; unions with null lose the null.
std::string type_of(const Json& schema) {
  const auto type = schema.is_object() ? schema.find("type") : schema.end();
  if (!schema.is_object() || type == schema.end()) {
    return "json";
  }
  const auto named = [](const Json& name) {
    const std::string text = name.is_string() ? name.get<std::string>() : "";
    return text == "object" || text.empty() ? "json" : text;
  };
  if (!type->is_array()) {
    return named(*type);
  }
  const auto real = std::ranges::find_if(*type, [](const Json& one) { return one != "null"; });
  return real == type->end() ? "json" : named(*real);
}

/// The values of an enum, those that stand for "nothing" left out.
std::vector<Json> choices_of(const Json& schema) {
  std::vector<Json> choices;
  const Json listed = schema.is_object() ? schema.value("enum", Json()) : Json();
  for (const Json& choice : listed.is_array() ? listed : Json::array()) {
    if (!choice.is_null()) {
      choices.push_back(choice);
    }
  }
  return choices;
}

/// A word of the command line in a message; of a long one the start.
std::string short_quote(std::string_view word) {
  return contract::quote(contract::text_start(word, 128));
}

std::string flag_name(std::string_view property) {
  std::string name = "--" + std::string(property);
  std::ranges::replace(name, '_', '-');
  return name;
}

std::unexpected<contract::Error> usage(std::string text) {
  return fail(ErrorCode::InvalidArgument, std::move(text));
}

Result<Json> json_value(std::string_view flag, const std::string& text) {
  auto value = contract::parse_json(text);
  if (!value) {
    return usage(fmt::format("{}: {}", flag, value.error().message()));
  }
  return value;
}

Result<Json> read_value(std::string_view flag, std::string_view type, const std::string& text) {
  if (type == "string") {
    // What is not UTF-8 cannot travel in JSON, and replacing it would name another file.
    const auto copy = contract::parse_json(contract::dump_json(Json(text)));
    if (!copy || *copy != text) {
      return usage(fmt::format("{} needs UTF-8 text, not {}", flag, short_quote(text)));
    }
    return text;
  }
  auto value = json_value(flag, text);
  const bool fits = value && (type == "json" || (type == "boolean" && value->is_boolean()) ||
                              (type != "boolean" && value->is_number()));
  if (!fits && type != "json") {
    return usage(fmt::format("{} needs a value of type {}, not {}", flag, type, short_quote(text)));
  }
  return value;
}

/// Reads the words one after the other.
class Reader {
 public:
  Reader(const contract::ToolInfo& tool, const std::vector<std::string>& words)
      : tool_(tool), words_(words), flags_(flags_of(tool)) {
    for (const std::string& name : tool.cli ? tool.cli->positional : std::vector<std::string>()) {
      const auto flag =
          std::ranges::find_if(flags_, [&](const Flag& one) { return one.property == name; });
      if (flag != flags_.end()) {
        positional_.push_back(&*flag);
      }
    }
  }

  Result<CallWords> read() {
    while (at_ < words_.size()) {
      const std::string& word = words_[at_++];
      if (only_positional_ || !word.starts_with("--")) {
        BAWN_TRY(take_positional(word));
      } else if (word == "--") {
        only_positional_ = true;
      } else {
        BAWN_TRY(take_flag(word));
      }
    }
    return std::move(result_);
  }

 private:
  Result<std::string> value_of(std::string_view flag, const std::optional<std::string>& given) {
    if (given) {
      return *given;
    }
    if (at_ >= words_.size()) {
      return usage(fmt::format("{} needs a value", flag));
    }
    return words_[at_++];
  }

  Result<> take_flag(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto given =
        equals == std::string::npos ? std::nullopt : std::optional(word.substr(equals + 1));
    if (name == "--help" || name == "--json") {
      if (given) {
        return usage(name + " takes no value");
      }
      (name == "--help" ? result_.help : result_.json) = true;
      return {};
    }
    if (name == "--arguments" || name == "--answer") {
      return take_json(name, BAWN_TRY(value_of(name, given)));
    }
    for (const Flag& flag : flags_) {
      const bool negated = flag.type == "boolean" && name == "--no-" + flag.name.substr(2);
      if (flag.name == name || "--" + flag.property == name || negated) {
        return take_value(flag, negated, given);
      }
    }
    return usage(fmt::format("{} has no argument {}; `bawn call {} --help` lists them", tool_.name,
                             short_quote(name), tool_.name));
  }

  Result<> take_json(const std::string& name, const std::string& text) {
    Json value = BAWN_TRY(json_value(name, text));
    if (!value.is_object()) {
      return usage(name + " needs a JSON object");
    }
    if (name == "--answer") {
      const auto action = value.value("action", Json());
      if (action != "accept" && action != "decline" && action != "cancel") {
        return usage("--answer needs the member action: accept, decline or cancel");
      }
      result_.answers.push_back(std::move(value));
      return {};
    }
    for (const auto& [property, argument] : value.items()) {
      BAWN_TRY(set(property, argument));
    }
    return {};
  }

  Result<> take_value(const Flag& flag, bool negated, const std::optional<std::string>& given) {
    if (negated && given) {
      return usage(fmt::format("--no-{} takes no value", flag.name.substr(2)));
    }
    if (flag.type == "boolean" && !given) {
      return set(flag.property, !negated);
    }
    const std::string text = BAWN_TRY(value_of(flag.name, given));
    if (flag.type != "array") {
      return set(flag.property, BAWN_TRY(read_value(flag.name, flag.type, text)));
    }
    return append(flag.property, BAWN_TRY(read_value(flag.name, flag.item_type, text)));
  }

  Result<> take_positional(const std::string& word) {
    if (next_ >= positional_.size()) {
      return usage(fmt::format("one word too many for {}: {}", tool_.name, short_quote(word)));
    }
    const Flag& flag = *positional_[next_];
    if (flag.type == "array") {  // takes what is left; dashes in it are its own
      only_positional_ = true;
      return append(flag.property, BAWN_TRY(read_value(flag.property, flag.item_type, word)));
    }
    ++next_;
    return set(flag.property, BAWN_TRY(read_value(flag.property, flag.type, word)));
  }

  /// A list grows flag by flag, but not one that came whole.
  Result<> append(const std::string& property, Json value) {
    if (!lists_.contains(property)) {
      BAWN_TRY(set(property, Json::array()));
      lists_.insert(property);
    }
    result_.arguments[property].push_back(std::move(value));
    return {};
  }

  Result<> set(const std::string& property, Json value) {
    if (result_.arguments.contains(property)) {
      return usage(fmt::format("the argument {} is given twice", short_quote(property)));
    }
    result_.arguments[property] = std::move(value);
    return {};
  }

  const contract::ToolInfo& tool_;
  const std::vector<std::string>& words_;
  std::vector<Flag> flags_;
  std::vector<const Flag*> positional_;
  std::size_t at_ = 0;
  std::size_t next_ = 0;
  bool only_positional_ = false;
  std::set<std::string, std::less<>> lists_;
  CallWords result_;
};

}  // namespace

std::vector<Flag> flags_of(const contract::ToolInfo& tool) {
  std::vector<Flag> flags;
  const Json schema = contract::parse_json(tool.input_schema).value_or(Json::object());
  const Json properties = schema.value("properties", Json::object());
  const Json required = schema.value("required", Json::array());
  for (const auto& [name, about] : properties.items()) {
    if (std::ranges::find(kOwnFlags, name) != kOwnFlags.end()) {
      continue;
    }
    Flag flag{.property = name, .name = flag_name(name), .type = type_of(about)};
    flag.item_type = flag.type == "array" ? type_of(about.value("items", Json())) : "";
    flag.description = about.is_object() ? about.value("description", "") : "";
    flag.required = std::ranges::find(required, Json(name)) != required.end();
    flag.choices = choices_of(flag.type == "array" ? about.value("items", Json()) : about);
    flag.preset = about.is_object() ? about.value("default", Json()) : Json();
    flag.positional =
        tool.cli && std::ranges::find(tool.cli->positional, name) != tool.cli->positional.end();
    flags.push_back(std::move(flag));
  }
  return flags;
}

Result<CallWords> read_call_words(const contract::ToolInfo& tool,
                                  const std::vector<std::string>& words) {
  return Reader(tool, words).read();
}

}  // namespace bawn::cli
