/// \file
/// FileAgent over a session's agents.
#pragma once

#include "bawn/sandbox/plan.hpp"
#include "file_pool.hpp"
#include "wire_encode.hpp"

#include <memory>

namespace bawn::sandbox {

/// The start order of a session's agents (file_wire.hpp), with further bits of StartFlag.
///
/// Errors: InvalidArgument (more roots and protected names than fit).
[[nodiscard]] Result<std::string> encode_start(const FilePlan& plan, std::uint32_t flags);

/// Errors: as encode_start.
[[nodiscard]] Result<std::shared_ptr<FileAgent>> make_file_agent(std::shared_ptr<WardenLink> link,
                                                                 const FilePlan& plan);

/// The same over a pool that is there.
[[nodiscard]] std::shared_ptr<FileAgent> make_file_agent(std::shared_ptr<FilePool> pool);

/// A staged file behind a pool; `fd` is open for writing and checked.
[[nodiscard]] std::unique_ptr<StagedFile> make_staged_file(std::shared_ptr<FilePool> pool,
                                                           std::string asked, std::string hidden,
                                                           StagedAnswer answer, os::UniqueFd fd);

/// For a name that a server makes up: hidden, no name that a program looks for, and not to be
/// guessed.
[[nodiscard]] Result<std::string> hidden_name();

// file_carried.cpp: the same where content comes and goes in requests.
[[nodiscard]] Result<OpenedFile> open_carried(FilePool& pool, const contract::Context& context,
                                              const std::string& path);
/// `looked` is the answer to a Stage that only looked.
///
/// Errors: ResourceExhausted, Internal (no file in memory can be had).
[[nodiscard]] Result<std::unique_ptr<StagedFile>> make_carried_file(std::shared_ptr<FilePool> pool,
                                                                    std::string asked,
                                                                    StagedAnswer looked);

/// Takes a hidden file beside `target` away, if it is there.
void discard_hidden(FilePool& pool, const std::string& hidden, const std::string& target);
/// A context for what must not keep anybody for long.
[[nodiscard]] contract::Context soon();
/// Whether a Lost error left a commit's outcome open.
[[nodiscard]] bool is_lost(const Error& error);

/// A file under a hidden name; `status` is what it was at `target`.
[[nodiscard]] std::unique_ptr<KeptFile> make_kept_file(std::shared_ptr<FilePool> pool,
                                                       std::string hidden, std::string target,
                                                       const FileStatus& status);

/// A commit as the wire has it; `flags` are further bits of CommitOrder.
[[nodiscard]] std::string encode_commit(const CommitOptions& options, std::uint32_t flags,
                                        std::int64_t mtime_ns, const std::string& hidden,
                                        const std::string& target);

/// A condition as the wire has it.
void put_condition(wire::Writer& out, const Condition& condition);

}  // namespace bawn::sandbox
