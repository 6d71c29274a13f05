#include "search.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace bawn::files {

bool names_carriage_return(const SearchQuery& query) {
  constexpr std::array<std::string_view, 7> kForms = {"r",    "x0d",   "x0D",  "x{d}",
                                                      "x{D}", "x{0d}", "x{0D}"};
  if (query.pattern.find('\r') != std::string::npos) {
    return true;
  }
  std::string_view rest = query.literal ? std::string_view() : std::string_view(query.pattern);
  for (std::size_t at = rest.find('\\'); at != std::string_view::npos; at = rest.find('\\')) {
    rest.remove_prefix(at + 1);
    if (std::ranges::any_of(kForms,
                            [&](std::string_view form) { return rest.starts_with(form); })) {
      return true;
    }
    rest.remove_prefix(
        std::min<std::size_t>(1, rest.size()));  // the escaped one, which may be a backslash itself
  }
  return false;
}

}  // namespace bawn::files
