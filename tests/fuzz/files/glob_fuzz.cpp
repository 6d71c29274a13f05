/// \file
/// Globs and ignore rules: the first line is a path, the rest are rules.
#include "glob.hpp"
#include "ignore_rules.hpp"
#include "require.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace bawn::files;
using bawn::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(input.find('\n'), input.size());
  const std::string_view path = input.substr(0, cut);
  const std::string_view text = input.substr(std::min(cut + 1, input.size()));
  const auto rules = IgnoreRules::parse(text);
  const bool file = rules.verdict(path, false) == IgnoreRules::Verdict::Ignore;
  require(!rules.empty() || !file, "no rule ignores something");
  static_cast<void>(rules.verdict(path, true));
  for (const bool braces : {false, true}) {
    const std::string pattern(text.substr(0, text.find('\n')));
    if (const auto glob = Glob::compile(pattern, {.pathname = true, .braces = braces})) {
      static_cast<void>(glob->matches(path));
    }
    std::string bad;
    if (const auto list = GlobList::compile({pattern, "!" + pattern}, bad)) {
      static_cast<void>(list->keeps(path));
    }
  }
  return 0;
}
