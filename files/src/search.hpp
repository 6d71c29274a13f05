/// \file
/// Lines of files that match, found by `rg` inside the wall or by reading the files.
#pragma once

#include "walk.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bawn::files {

struct SearchQuery {
  std::string pattern;
  bool literal = false;
  bool ignore_case = false;
  bool word = false;
  std::size_t before = 0;  ///< lines of context
  std::size_t after = 0;
  bool only_counts = false;  ///< leave the lines out
  WalkOptions walk;
};

/// Whether the pattern speaks of CR itself. Otherwise CRLF ends a line as LF does.
[[nodiscard]] bool names_carriage_return(const SearchQuery& query);

struct FoundLine {
  std::uint64_t number = 0;
  std::string text;        ///< without line end, valid UTF-8, as long as the line is
  bool match = false;      ///< false: context
  std::size_t column = 0;  ///< byte, from 0, of the first match
};

struct FoundFile {
  std::string path;  ///< relative to the root; the file's name when the root is a file
  std::uint64_t matched_lines = 0;
  std::vector<FoundLine> lines;
};

struct SearchResult {
  std::vector<FoundFile> files;  ///< sorted by path
  bool by_rg = true;
  bool cut = false;   ///< there was too much; what is here is a part
  bool late = false;  ///< the deadline ended it; what is here is a part
  std::vector<std::string> notes;
};

/// Where to search.
struct SearchScope {
  std::string root;  ///< absolute
  bool root_is_file = false;
  /// Only these files, relative to the root; null: all that walking finds.
  const std::vector<std::string>* only = nullptr;
};

/// Searches with rg, or where that cannot be had by reading.
///
/// Errors: InvalidArgument for a pattern that does not compile, with the reason; those of walking
/// and of run_inside. At the deadline it ends with what it has found.
[[nodiscard]] Result<SearchResult> search_by_rg(const contract::Context& context,
                                                const Place& place, const SearchScope& scope,
                                                const SearchQuery& query);
/// The same by reading each file. `why` goes into the note about it.
[[nodiscard]] Result<SearchResult> search_by_reading(const contract::Context& context,
                                                     const Place& place, const SearchScope& scope,
                                                     const SearchQuery& query,
                                                     const std::string& why);

/// The globs of a file type, for reading; none for one that is not known here.
[[nodiscard]] const std::vector<std::string>* globs_of_type(std::string_view type);

}  // namespace bawn::files
