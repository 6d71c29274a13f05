/// \file
/// FileAgent over a session's agents.
#pragma once

#include "bawn/sandbox/plan.hpp"
#include "file_pool.hpp"
#include "wire_encode.hpp"

#include <memory>

namespace bawn::sandbox {

/// Errors: InvalidArgument (more roots and protected names than fit).
[[nodiscard]] Result<std::shared_ptr<FileAgent>> make_file_agent(std::shared_ptr<WardenLink> link,
                                                                 const FilePlan& plan);

/// The same over a pool that is there.
[[nodiscard]] std::shared_ptr<FileAgent> make_file_agent(std::shared_ptr<FilePool> pool);

/// A staged file behind a pool; `fd` is open for writing and checked.
[[nodiscard]] std::unique_ptr<StagedFile> make_staged_file(std::shared_ptr<FilePool> pool,
                                                           std::string asked, std::string hidden,
                                                           StagedAnswer answer, os::UniqueFd fd);

/// A file under a hidden name; `status` is what it was at `target`.
[[nodiscard]] std::unique_ptr<KeptFile> make_kept_file(std::shared_ptr<FilePool> pool,
                                                       std::string hidden, std::string target,
                                                       const FileStatus& status);

/// A condition as the wire has it.
void put_condition(wire::Writer& out, const Condition& condition);

}  // namespace bawn::sandbox
