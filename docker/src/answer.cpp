#include "answer.hpp"

namespace bawn::container {

const Json& value_at(const Json& answer, std::string_view pointer) {
  static const Json none;
  const Json* at = &answer;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string_view name = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(name.size());
    const auto found = at->is_object() ? at->find(name) : at->end();
    if (found == at->end()) {
      return none;
    }
    at = &*found;
  }
  return *at;
}

std::string text_at(const Json& answer, std::string_view pointer) {
  const Json& found = value_at(answer, pointer);
  return found.is_string() ? found.get<std::string>() : std::string();
}

const Json& list_at(const Json& answer, std::string_view pointer) {
  static const Json empty = Json::array();
  const Json& found = value_at(answer, pointer);
  return found.is_array() ? found : empty;
}

}  // namespace bawn::container
