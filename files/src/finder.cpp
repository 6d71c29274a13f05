#include "finder.hpp"

#include "denial.hpp"
#include "paths.hpp"
#include "rg.hpp"

#include <algorithm>
#include <utility>

namespace bawn::files {

namespace {

constexpr std::size_t kMaxListing = std::size_t{512} * 1024 * 1024;

Result<Found> walked(const contract::Context& context, const Place& place, const std::string& root,
                     const WalkOptions& options, std::string why) {
  auto walk = BAWN_TRY(walk_files(context, place, root, options));
  Found found;
  found.files = std::move(walk.files);
  found.by_rg = false;
  found.late = walk.late;
  found.notes = std::move(walk.notes);
  found.notes.resize(std::min<std::size_t>(found.notes.size(), 10));
  found.notes.push_back(no_rg_note(why));
  found.why_no_rg = std::move(why);
  return found;
}

/// The names that rg printed, each with a NUL behind it; half a name at the end is none.
std::vector<std::string> names_in(std::string_view printed, std::size_t prefix) {
  std::vector<std::string> names;
  for (std::size_t end = printed.find('\0'); end != std::string_view::npos;
       end = printed.find('\0')) {
    if (end > prefix) {
      names.emplace_back(printed.substr(prefix, end - prefix));
    }
    printed.remove_prefix(end + 1);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Result<Found> find_files(const contract::Context& context, const Place& place,
                         const std::string& root, const WalkOptions& options) {
  if (place.warden == nullptr) {
    return walked(context, place, root, options, no_programs());
  }
  const std::string top = normal_path(root);
  auto argv = rg_arguments(options);
  argv.insert(argv.end(), {"--files", "--null", "--", top});
  const auto run = run_inside(context, place, std::move(argv), place.workspace,
                              {.most = kMaxListing, .end = '\0'});
  if (!run) {
    return std::unexpected(explained(place, root, Access::Read, run.error()));
  }
  if (auto why = why_no_rg(*run)) {
    return walked(context, place, root, options, *std::move(why));
  }
  Found found;
  found.notes = notes_of(run->err);
  found.late = run->late;
  found.cut = run->cut;
  found.files = names_in(run->out, top == "/" ? 1 : top.size() + 1);
  return found;
}

}  // namespace bawn::files
