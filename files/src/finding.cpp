#include "finding.hpp"

#include "denial.hpp"
#include "paths.hpp"

#include <fmt/format.h>

namespace bawn::files {

Result<FindRoot> find_root(const contract::Context& context, const Place& place,
                           const FindArgs& args) {
  FindRoot root;
  root.path = normal_path(BAWN_TRY(absolute_path(place, args.path)));
  std::string bad;
  auto globs = GlobList::compile(args.globs, bad);
  if (!globs) {
    return contract::fail(ErrorCode::InvalidArgument,
                          fmt::format("globs: \"{}\" is no pattern (an unfinished bracket?)", bad));
  }
  root.globs = *std::move(globs);
  const auto status = place.files->status(context, root.path, sandbox::FileAgent::Links::Follow);
  if (!status) {
    return std::unexpected(explained(place, root.path, Access::Read, status.error()));
  }
  root.type = status->type;
  return root;
}

WalkOptions walk_options(const FindArgs& args) {
  return {.hidden = args.hidden, .ignored = args.ignored};
}

void tell_if_hidden(const Place& place, FindEntry& entry) {
  const auto why = entry.total_files == 0 ? why_hidden(place, entry.root) : std::nullopt;
  if (why) {
    entry.notes.push_back(fmt::format("What is there may be hidden by the wall, policy {}: {}",
                                      place.policy.name, *why));
  }
}

void append_notes(std::string& text, const FindEntry& entry) {
  for (const std::string& note : entry.notes) {
    text += fmt::format("[{}]\n", note);
  }
}

}  // namespace bawn::files
