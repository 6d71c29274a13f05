/// \file
/// What list_files and search_files have in common: which files a call means, and what every answer
/// about them says.
#pragma once

#include "glob.hpp"
#include "tool_support.hpp"
#include "walk.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bawn::files {

/// Which files.
struct FindArgs {
  std::string path = ".";
  std::optional<std::string> session;
  std::vector<std::string> globs;
  bool hidden = true;
  bool ignored = false;

  static constexpr auto describe() {
    using contract::field;
    return contract::fields(
        field("path", &FindArgs::path)
            .desc(
                "Directory, or a file to search; a relative one starts at the session's workspace")
            .with_default(),
        field("session", &FindArgs::session).desc(kSessionHelp),
        field("globs", &FindArgs::globs)
            .desc("Only files that match one of these: \"*.cpp\" by name, \"src/**/*.h\" by path; "
                  "\"!*.o\" leaves out")
            .optional(),
        field("hidden", &FindArgs::hidden).desc("Also names that begin with a dot").with_default(),
        field("ignored", &FindArgs::ignored)
            .desc("Also what git's ignore rules leave out")
            .with_default());
  }
};

/// What every answer says beside what was found.
struct FindEntry {
  std::string root;
  std::uint64_t total_files = 0;
  bool truncated = false;
  std::string engine;
  std::vector<std::string> notes;

  static constexpr auto describe() {
    using contract::field;
    return contract::fields(
        field("root", &FindEntry::root).desc("Absolute path; those of the entries start there"),
        field("total_files", &FindEntry::total_files).desc("Files that match, shown or not"),
        field("truncated", &FindEntry::truncated).desc("Something was left out: see notes"),
        field("engine", &FindEntry::engine).one_of("rg,walk").desc("What found them"),
        field("notes", &FindEntry::notes).desc("What else must be known"));
  }
};

/// A call's files before they are looked for.
struct FindRoot {
  std::string path;  ///< absolute, as it is shown
  sandbox::FileType type = sandbox::FileType::Unknown;
  GlobList globs;
};

/// Errors: InvalidArgument for a glob or path that is none; those of looking at the path,
/// explained.
[[nodiscard]] Result<FindRoot> find_root(const contract::Context& context, const Place& place,
                                         const FindArgs& args);

[[nodiscard]] WalkOptions walk_options(const FindArgs& args);

/// Notes that what is below the root may be hidden, where nothing was found.
void tell_if_hidden(const Place& place, FindEntry& entry);

/// "[note]" lines.
void append_notes(std::string& text, const FindEntry& entry);

}  // namespace bawn::files
