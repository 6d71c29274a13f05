/// \file
/// Names that go before others of the same change can come: a file where a directory is needed, and
/// directories whose files all go where a file is to be.
#pragma once

#include "changes.hpp"
#include "journal.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::files {

/// Which of the changes wait for which. Borrows the changes.
class MakingWay {
 public:
  explicit MakingWay(const std::vector<FileChange>& changes);

  /// A removal that another change waits for.
  [[nodiscard]] bool goes_first(const FileChange& change) const;
  /// New content below a file that goes.
  [[nodiscard]] bool replaces_a_file(const FileChange& change) const;
  /// New content in the place of a directory that the others empty.
  [[nodiscard]] bool replaces_a_directory(const FileChange& change) const;

  /// Directories will have to go.
  [[nodiscard]] bool empties_directories() const { return !emptied().empty(); }
  /// Whether remove_emptied() would find something else in a directory. Errors: InvalidArgument.
  [[nodiscard]] Result<> try_emptying(const contract::Context& context, const Place& place) const;
  /// Removes a file that goes first so that it can be put back. Errors: the agent's.
  [[nodiscard]] Result<std::unique_ptr<sandbox::KeptFile>> displace(
      const contract::Context& context, const Place& place, const FileChange& change) const;
  /// Removes the directories that stand where files are to be, once those in them are gone.
  ///
  /// Returns those that went.
  /// Errors: InvalidArgument for one that holds something else; the agent's.
  [[nodiscard]] Result<std::vector<GoneDirectory>> remove_emptied(const contract::Context& context,
                                                                  const Place& place,
                                                                  Journal& journal) const;
  /// Tells the journal of the directories that will be made where files went first: they must go
  /// for those files to come back, also when nobody lived to say that they were made.
  void expect_directories(Journal& journal) const;

 private:
  using ByPath = std::map<std::string_view, const FileChange*>;
  static const FileChange* above(const ByPath& changes, std::string_view path);
  static void add_directories_above(std::set<std::string_view>& all, std::string_view path);
  [[nodiscard]] std::vector<std::string> emptied() const;
  [[nodiscard]] std::unexpected<Error> holds_more(const Place& place,
                                                  const std::string& directory) const;

  ByPath made_;
  ByPath gone_;
  std::set<std::string_view> above_made_;  ///< the directories on the way
  std::set<std::string_view> above_gone_;
};

}  // namespace bawn::files
