#include "file_client.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/random.h>

#include <cerrno>

namespace bawn::sandbox {

namespace {

using contract::Context;
using file_wire::Op;

class PooledFileAgent final : public FileAgent {
 public:
  explicit PooledFileAgent(std::shared_ptr<FilePool> pool) : pool_(std::move(pool)) {}

  [[nodiscard]] Result<OpenedFile> open(const Context& context, const std::string& path) override {
    if (pool_->carried()) {
      return open_carried(*pool_, context, BAWN_TRY(checked_path(path)));
    }
    FileReply reply = BAWN_TRY(ask_about(context, {Op::Open, path}, {}));
    const auto told = BAWN_TRY(believe(read_status(reply.payload)));
    const auto status = BAWN_TRY(believe(check_descriptor(reply.fd, O_RDONLY, told)));
    return OpenedFile{std::move(reply.fd), status};
  }

  [[nodiscard]] Result<FileStatus> status(const Context& context, const std::string& path,
                                          Links links) override {
    wire::Writer head;
    head.u32(links == Links::Follow ? 1 : 0);
    const FileReply reply = BAWN_TRY(ask_about(context, {Op::Status, path}, std::move(head)));
    return believe(read_status(reply.payload));
  }

  [[nodiscard]] Result<DirectoryPage> list(const Context& context, const std::string& path,
                                           const ListOptions& options) override {
    const PageStart start = BAWN_TRY(read_cursor(options.cursor));
    wire::Writer head;
    head.u32(options.with_status ? 1 : 0).u64(start.device).u64(start.inode).u64(start.offset);
    const FileReply reply = BAWN_TRY(ask_about(context, {Op::List, path}, std::move(head)));
    return believe(read_page(reply.payload, options.with_status));
  }

  [[nodiscard]] Result<std::string> read_link(const Context& context,
                                              const std::string& path) override {
    const FileReply reply = BAWN_TRY(ask_about(context, {Op::ReadLink, path}, {}));
    return believe(read_link_text(reply.payload));
  }

  [[nodiscard]] Result<std::unique_ptr<StagedFile>> stage(const Context& context,
                                                          const std::string& path,
                                                          const StageOptions& options) override {
    std::string hidden = BAWN_TRY(hidden_name());
    wire::Writer head;
    head.u32((options.make_parents ? file_wire::kMakeParents : 0U) |
             (pool_->carried() ? file_wire::kOnlyLook : 0U));
    head.text(hidden);
    FileReply reply = BAWN_TRY(ask_about(context, {Op::Stage, path, true}, std::move(head)));
    StagedAnswer answer = BAWN_TRY(believe(read_staged(reply.payload)));
    if (pool_->carried()) {
      return make_carried_file(pool_, path, std::move(answer));
    }
    (void)BAWN_TRY(believe(check_descriptor(reply.fd, O_WRONLY, {})));
    return make_staged_file(pool_, path, std::move(hidden), std::move(answer), std::move(reply.fd));
  }

  [[nodiscard]] Result<> remove_file(const Context& context, const std::string& path,
                                     const Condition& condition) override {
    wire::Writer head;
    put_condition(head, condition);
    const FileReply reply = BAWN_TRY(ask_about(context, {Op::Remove, path, true}, std::move(head)));
    return believe(read_nothing(reply.payload));
  }

  [[nodiscard]] Result<std::unique_ptr<KeptFile>> set_aside(const Context& context,
                                                            const std::string& path,
                                                            const FileStatus& expected) override {
    std::string hidden = BAWN_TRY(hidden_name());
    wire::Writer head;
    put_condition(head, Condition::same(expected));
    head.text(hidden);
    const auto reply = ask_about(context, {Op::SetAside, path, true}, std::move(head));
    if (!reply) {
      const auto* const failure = reply.error().find<FileFailure>();
      if (failure != nullptr &&
          (failure->kind == FileFailure::Kind::Lost || failure->kind == FileFailure::Kind::Late)) {
        // The agent may have been ended behind the rename.
        (void)make_kept_file(pool_, std::move(hidden), path, expected)
            ->put_back(context.detached(), Condition::absent());
      }
      return std::unexpected(reply.error());
    }
    const std::string target = BAWN_TRY(believe(read_link_text(reply->payload)));
    return make_kept_file(pool_, std::move(hidden), target, expected);
  }

  [[nodiscard]] Result<> remove_directory(const Context& context,
                                          const std::string& path) override {
    const FileReply reply = BAWN_TRY(ask_about(context, {Op::RemoveDirectory, path, true}, {}));
    return believe(read_nothing(reply.payload));
  }

  [[nodiscard]] Result<> rename(const Context& context, const std::string& from,
                                const std::string& to, const Condition& condition,
                                const Condition& source) override {
    wire::Writer request;
    put_condition(request, source);
    put_condition(request, condition);
    request.text(BAWN_TRY(checked_path(from))).text(BAWN_TRY(checked_path(to)));
    const FileAsk about{Op::Rename, fmt::format("{} to {}", from, to), true};
    auto reply = pool_->ask(context, about, request.data());
    if (!reply) {
      if (is_lost(reply.error()) && source.kind == Condition::Kind::Same &&
          is_there(context, to, source.expected)) {
        return {};
      }
      return std::unexpected(name_destination(std::move(reply).error(), to));
    }
    return believe(read_nothing(reply->payload));
  }

  [[nodiscard]] Result<int> make_directory(const Context& context, const std::string& path,
                                           const DirectoryOptions& options) override {
    wire::Writer head;
    head.u32(options.mode)
        .u32((options.parents ? file_wire::kParents : 0U) |
             (options.exact ? file_wire::kExactMode : 0U));
    const FileReply reply =
        BAWN_TRY(ask_about(context, {Op::MakeDirectory, path, true}, std::move(head)));
    return believe(read_count(reply.payload));
  }

  [[nodiscard]] Result<> would_allow(const Context& context, const std::string& path,
                                     Change change) override {
    constexpr Op kTrials[] = {Op::TryWrite, Op::TryRemove, Op::TryRename, Op::TrySetMode};
    const Op op = kTrials[static_cast<std::size_t>(change)];
    const FileReply reply = BAWN_TRY(ask_about(context, {op, path}, {}));
    return believe(read_nothing(reply.payload));
  }

  [[nodiscard]] Result<FileStatus> set_mode(const Context& context, const std::string& path,
                                            std::uint32_t mode) override {
    wire::Writer head;
    head.u32(mode);
    const auto reply = ask_about(context, {Op::SetMode, path, true}, std::move(head));
    if (!reply && is_lost(reply.error())) {
      auto now = status(context, path, Links::Follow);
      if (now && (now->mode & 0777U) == (mode & 0777U)) {
        return now;
      }
    }
    if (!reply) {
      return std::unexpected(reply.error());
    }
    return believe(read_status(reply->payload));
  }

 private:
  /// A request whose last part is the path.
  Result<FileReply> ask_about(const Context& context, const FileAsk& ask, wire::Writer head) {
    const std::string path = BAWN_TRY(checked_path(ask.path));
    head.text(path);
    return pool_->ask(context, ask, head.data());
  }

  /// After a loss: the agent does nothing any more, and what it did last can be seen.
  bool is_there(const Context& context, const std::string& path, const FileStatus& file) {
    const auto now = status(context, path, Links::Keep);
    return now && now->device == file.device && now->inode == file.inode;
  }

  /// Ends the agents where one of them sent what cannot be.
  template <class T>
  Result<T> believe(Result<T> result) {
    if (!result) {
      pool_->distrust();
    }
    return result;
  }

  /// What a rename's conditions are about is the second path.
  static Error name_destination(Error error, const std::string& to) {
    if (const auto* const failure = error.find<FileFailure>();
        failure != nullptr && failure->kind == FileFailure::Kind::Exists) {
      FileFailure about = *failure;
      about.path = to;
      return Error(error.code(), fmt::format("{} is there already", to)).with_payload(about);
    }
    return error;
  }

  std::shared_ptr<FilePool> pool_;
};

}  // namespace

Result<std::string> hidden_name() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) {
    return std::unexpected(Error::from_errno(errno, "getrandom", "cannot make up a name"));
  }
  return fmt::format(".~{:016x}.tmp", number);
}

Result<std::string> encode_start(const FilePlan& plan, std::uint32_t flags) {
  wire::Writer out;
  out.u32(flags | (plan.hold_paths ? file_wire::kHoldPaths : 0U) |
          (plan.hold_attributes ? file_wire::kHoldAttributes : 0U));
  out.u32(static_cast<std::uint32_t>(plan.roots.size()));
  for (const FilePlan::Root& root : plan.roots) {
    out.u32(root.writable ? 1 : 0).text(root.path);
  }
  out.u32(static_cast<std::uint32_t>(plan.protected_paths.size()));
  for (const std::string& path : plan.protected_paths) {
    out.text(path);
  }
  if (out.data().size() > file_wire::kMaxStart) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "the policy has more writable roots and protected names than the file "
                          "agent takes; name fewer");
  }
  return out.data();
}

bool is_lost(const Error& error) {
  const auto* const failure = error.find<FileFailure>();
  return failure != nullptr && failure->kind == FileFailure::Kind::Lost;
}

void put_condition(wire::Writer& out, const Condition& condition) {
  out.u32(static_cast<std::uint32_t>(condition.kind));
  if (condition.kind != Condition::Kind::Same && condition.kind != Condition::Kind::SameContent) {
    return;
  }
  const FileStatus& status = condition.expected;
  out.u32(static_cast<std::uint32_t>(status.type)).u32(status.mode).u32(status.uid);
  out.u32(status.gid).u64(status.size).u64(static_cast<std::uint64_t>(status.mtime_ns));
  out.u64(static_cast<std::uint64_t>(status.ctime_ns)).u64(status.device).u64(status.inode);
  out.u64(status.links);
}

std::shared_ptr<FileAgent> make_file_agent(std::shared_ptr<FilePool> pool) {
  return std::make_shared<PooledFileAgent>(std::move(pool));
}

Result<std::shared_ptr<FileAgent>> make_file_agent(std::shared_ptr<WardenLink> link,
                                                   const FilePlan& plan) {
  auto start = [link = std::move(link), order = BAWN_TRY(encode_start(plan, 0))] {
    return FileChannel::start(*link, order);
  };
  return make_file_agent(std::make_shared<FilePool>(std::move(start), false));
}

}  // namespace bawn::sandbox
