/// \file
/// Names that go before others of the same change can come: a file where a directory is needed, and
/// directories whose files all go where a file is to be.
#pragma once

#include "changes.hpp"
#include "journal.hpp"

#include <string>
#include <vector>

namespace bawn::files {

/// Whether this change is a removal that another one waits for.
[[nodiscard]] bool goes_first(const std::vector<FileChange>& changes, const FileChange& change);

/// Whether this change's new name is there already as a directory that the others empty, or below a
/// file that they remove.
[[nodiscard]] bool comes_after(const std::vector<FileChange>& changes, const FileChange& change);

/// Removes a file that goes first so that it can be put back.
///
/// Errors: the agent's.
[[nodiscard]] Result<std::unique_ptr<sandbox::KeptFile>> displace(
    const contract::Context& context, const Place& place, const std::vector<FileChange>& changes,
    const FileChange& change);

/// Removes the directories that stand where the changes put files, once those in them are gone.
///
/// Errors: InvalidArgument for one that holds something else; the agent's.
[[nodiscard]] Result<> remove_emptied(const contract::Context& context, const Place& place,
                                      const std::vector<FileChange>& changes, Journal& journal);

/// Tells the journal of the directories that will be made where files went first: they must go for
/// those files to come back, also when nobody lived to say that they were made.
void expect_directories(const std::vector<FileChange>& changes, Journal& journal);

/// Whether remove_emptied() would find something else there. Errors: as it.
[[nodiscard]] Result<> try_emptying(const contract::Context& context, const Place& place,
                                    const std::vector<FileChange>& changes);

}  // namespace bawn::files
