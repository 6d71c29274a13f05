/// \file
/// The patch readers and the applier: input up to the first NUL is the file, the rest the patch.
#include "diff.hpp"
#include "patch.hpp"
#include "patch_apply.hpp"
#include "patch_plan.hpp"
#include "require.hpp"
#include "utf8.hpp"

#include <algorithm>
#include <string>
#include <string_view>

using namespace bawn::files;
using bawn::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(input.find('\0'), input.size());
  const std::string before(input.substr(0, cut));
  const std::string_view text = input.substr(std::min(cut + 1, input.size()));
  const auto patch = parse_patch(text);
  if (!patch) {
    require(patch.error().message().starts_with("patch line "), "an error without its line");
    return 0;
  }
  require(!patch->files.empty(), "a patch that changes no file");
  for (unsigned fuzz = 0; fuzz < 2; ++fuzz) {
    const auto plan = plan_patch(
        *patch,
        [&](const std::string& path) -> Result<std::optional<FileContent>> {
          return path.size() % 2 == 0 ? std::optional(FileContent{.bytes = before, .mode = 0644})
                                      : std::nullopt;
        },
        {.fuzz = fuzz});
    if (!plan) {
      require(plan.error().message().starts_with("patch line "), "an error without its line");
      continue;
    }
    for (const PathChange& change : plan->changes) {
      if (!change.before || !change.after) {
        continue;
      }
      // What was made of the file, told as a diff, must make the same of it again.
      const auto diff = unified_diff("a/x", "b/x", change.before->bytes, change.after->bytes,
                                     {.context = 3, .max_bytes = std::size_t{1} << 24U});
      const auto survey = survey_utf8(change.before->bytes + change.after->bytes);
      if (diff.text.empty() || survey.invalid_bytes != 0) {
        continue;  // the diff's text replaces bytes that are not UTF-8
      }
      const auto again = parse_unified_patch(diff.text);
      require(again.has_value(), "a diff of ours is no patch");
      const auto applied = apply_hunks("x", change.before->bytes, again->files[0].hunks, {});
      require(applied && applied->text == change.after->bytes, "a diff of ours makes another file");
    }
  }
  return 0;
}
