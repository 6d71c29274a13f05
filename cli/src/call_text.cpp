#include "call_text.hpp"

#include "bawn/contract/quote.hpp"
#include "call_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>

namespace bawn::cli {
namespace {

using contract::Json;

std::string first_sentence(const std::string& text) {
  std::string sentence = text.substr(0, text.find(". "));
  if (sentence.ends_with('.')) {
    sentence.pop_back();
  }
  return sentence;
}

std::string placeholder(const Flag& flag) {
  const std::string& type = flag.type == "array" ? flag.item_type : flag.type;
  return type == "string" ? "TEXT" : type == "json" ? "JSON" : type == "boolean" ? "BOOL" : "N";
}

std::string positional_words(const contract::ToolInfo& tool, const std::vector<Flag>& flags) {
  std::string words;
  for (const std::string& name : tool.cli ? tool.cli->positional : std::vector<std::string>()) {
    const auto flag =
        std::ranges::find_if(flags, [&](const Flag& one) { return one.property == name; });
    if (flag != flags.end()) {
      const std::string word = name + (flag->type == "array" ? "..." : "");
      words += flag->required ? " " + word : " [" + word + "]";
    }
  }
  return words;
}

/// A value as one would type it.
std::string typed(const Json& value) {
  return value.is_string() ? value.get<std::string>() : contract::dump_json(value);
}

/// What else must be known of a flag, in brackets; empty when that is nothing.
std::string notes_of(const Flag& flag) {
  std::vector<std::string> notes;
  if (flag.required) {
    notes.emplace_back("required");
  }
  if (!flag.choices.empty()) {
    std::string list;
    for (const Json& choice : flag.choices) {
      list += (list.empty() ? "" : " or ") + typed(choice);
    }
    notes.push_back((flag.choices.size() == 1 ? "only " : "") + list);
  }
  // A flag that is off needs no word about it.
  if (!flag.preset.is_null() && flag.preset != false) {
    notes.push_back("default " + (flag.type == "boolean" ? "on" : typed(flag.preset)));
  }
  return notes.empty() ? "" : fmt::format(" ({})", fmt::join(notes, "; "));
}

std::string flag_line(const Flag& flag) {
  std::string head = "  " + flag.name;
  if (flag.type == "boolean") {
    head = flag.preset == true ? "  --no-" + flag.name.substr(2) : head;
  } else {
    head += " " + placeholder(flag) + (flag.type == "array" ? " ..." : "");
  }
  return fmt::format("{:<32} {}{}\n", head, flag.description, notes_of(flag));
}

}  // namespace

std::string list_text(const std::vector<contract::ToolInfo>& tools) {
  std::string text = "usage: bawn call [WALL OPTIONS] TOOL [ARGUMENTS]\n\n";
  for (const contract::ToolInfo& tool : tools) {
    text += fmt::format("  {:<16} {}\n", tool.name, first_sentence(tool.description));
  }
  return text + "\n`bawn call TOOL --help` tells a tool's arguments.\n";
}

std::string help_text(const contract::ToolInfo& tool) {
  const std::vector<Flag> flags = flags_of(tool);
  std::string text = fmt::format("usage: bawn call {}{} [ARGUMENTS]\n\n{}\n\narguments:\n",
                                 tool.name, positional_words(tool, flags), tool.description);
  for (const Flag& flag : flags) {
    text += flag_line(flag);
  }
  text += fmt::format("{:<32} {}\n", "  --arguments JSON", "All arguments as one JSON object");
  text += fmt::format("{:<32} {}\n", "  --answer JSON",
                      "Answer to the tool's next question: {\"action\":…,\"content\":…}");
  text += fmt::format("{:<32} {}\n", "  --json", "Print the whole result as JSON");
  text +=
      "\nexit status: 0 done (a command's own status is in the output), 1 the tool failed, or a "
      "command\ndid not run or not to its end, 2 wrong words or arguments, 3 the tool needs an "
      "answer,\n124 the time limit ended it, 125 bawn's own failure, 128+N ended by signal N\n";
  if (tool.cli && !tool.cli->examples.empty()) {
    text += "\nexamples:\n";
    for (const contract::CliExample& example : tool.cli->examples) {
      text += fmt::format("  {}\n    bawn call {} --arguments '{}'\n", example.description,
                          tool.name, example.input);
    }
  }
  return text;
}

Json outcome_json(const contract::Outcome& outcome) {
  Json json = Json::object();
  if (const auto* const text = std::get_if<std::string>(&outcome.result.output)) {
    json["output"] = *text;
  } else {
    json["output"] = std::get<std::vector<contract::Part>>(outcome.result.output);
  }
  if (outcome.result.structured) {
    json["structured"] = *outcome.result.structured;
  }
  if (outcome.result.confinement) {
    json["confinement"] = contract::to_json(*outcome.result.confinement);
  }
  if (outcome.error) {
    json["error"] = {{"code", contract::to_string(outcome.error->code())},
                     {"message", outcome.error->message()}};
  }
  return json;
}

Json question_json(const contract::Elicitation& question) {
  Json json = Json::object();
  if (!question.id.empty()) {
    json["id"] = question.id;
  }
  json["message"] = question.message;
  if (question.schema) {
    json["schema"] = *question.schema;
  }
  if (question.url) {
    json["url"] = *question.url;
  }
  return json;
}

std::string unconfined_line(const contract::Confinement& confinement) {
  if (confinement.confined || confinement.policy == "unconfined") {
    return {};
  }
  return fmt::format("bawn: NOT CONFINED: of the policy {} {} is in force here\n",
                     contract::plain_or_quoted(confinement.policy),
                     confinement.by.empty() ? "nothing" : "only " + confinement.by);
}

}  // namespace bawn::cli
