#include "finder.hpp"

#include "denial.hpp"
#include "lines.hpp"
#include "paths.hpp"
#include "run_inside.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

namespace bawn::files {

namespace {

constexpr std::size_t kMaxListing = std::size_t{512} * 1024 * 1024;

Result<Found> walked(const contract::Context& context, const Place& place, const std::string& root,
                     const WalkOptions& options) {
  auto walk = BAWN_TRY(walk_files(context, place, root, options));
  Found found{.files = std::move(walk.files), .by_rg = false, .notes = std::move(walk.notes)};
  found.notes.resize(std::min<std::size_t>(found.notes.size(), 10));
  found.notes.push_back(no_rg_note());
  return found;
}

}  // namespace

std::string no_rg_note() {
  return "There is no rg (ripgrep) in this place, so files were visited one by one, which is "
         "slower; "
         "install ripgrep to speed this up.";
}

std::vector<std::string> rg_arguments(const WalkOptions& options) {
  std::vector<std::string> arguments = {
      "rg",          "--no-config", "--color=never", "--no-ignore-global", "--no-ignore-dot",
      "--glob=!.git"};
  if (options.hidden) {
    arguments.emplace_back("--hidden");
  }
  if (options.ignored) {
    arguments.emplace_back("--no-ignore");
  }
  if (options.max_file_bytes != 0) {
    arguments.push_back(fmt::format("--max-filesize={}", options.max_file_bytes));
  }
  for (const std::string& type : options.types) {
    arguments.push_back("--type=" + type);
  }
  return arguments;
}

std::vector<std::string> notes_of(const std::string& errors) {
  std::vector<std::string> notes;
  for (const std::string_view line : split_lines(errors)) {
    if (notes.size() == 10) {
      notes.emplace_back("…");
      break;
    }
    notes.push_back(to_valid_utf8(without_line_end(line).substr(0, 500)));
  }
  return notes;
}

Result<Found> find_files(const contract::Context& context, const Place& place,
                         const std::string& root, const WalkOptions& options) {
  if (place.warden == nullptr) {
    return walked(context, place, root, options);
  }
  const std::string top = normal_path(root);
  auto argv = rg_arguments(options);
  argv.insert(argv.end(), {"--files", "--null", "--", top});
  const auto run = run_inside(context, place, std::move(argv), place.workspace, kMaxListing);
  if (!run) {
    return std::unexpected(explained(place, root, Access::Read, run.error()));
  }
  if (run->late) {
    return contract::fail(ErrorCode::DeadlineExceeded,
                          "the deadline passed while files were listed");
  }
  if (run->exec_errno == ENOENT) {
    return walked(context, place, root, options);
  }
  if (run->exec_errno != 0) {
    return std::unexpected(Error::from_errno(run->exec_errno, "execve", "cannot start rg"));
  }
  Found found;
  found.notes = notes_of(run->err);
  const std::size_t prefix = top == "/" ? 1 : top.size() + 1;
  std::string_view rest = run->out;
  while (!rest.empty()) {
    const std::string_view path = rest.substr(0, rest.find('\0'));
    if (path.size() > prefix) {
      found.files.emplace_back(path.substr(prefix));
    }
    rest.remove_prefix(std::min(rest.size(), path.size() + 1));
  }
  std::sort(found.files.begin(), found.files.end());
  return found;
}

}  // namespace bawn::files
