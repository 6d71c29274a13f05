#include "file_attributes.hpp"
#include "file_client.hpp"
#include "file_time.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>

namespace bawn::sandbox {

namespace {

/// Tidying up must not keep anybody for long.
constexpr std::chrono::seconds kTidyLimit{2};

class PooledKeptFile final : public KeptFile {
 public:
  PooledKeptFile(std::shared_ptr<FilePool> pool, std::string hidden, std::string target,
                 const FileStatus& status)
      : pool_(std::move(pool)),
        hidden_(std::move(hidden)),
        target_(std::move(target)),
        status_(status) {}
  ~PooledKeptFile() override {
    if (!decided_) {
      discard_hidden(*pool_, hidden_, target_);
    }
  }
  PooledKeptFile(const PooledKeptFile&) = delete;
  PooledKeptFile& operator=(const PooledKeptFile&) = delete;

  [[nodiscard]] const std::string& target() const noexcept override { return target_; }
  [[nodiscard]] std::string hidden_path() const override {
    return target_.substr(0, target_.rfind('/') + 1) + hidden_;
  }
  [[nodiscard]] Result<> put_back(const contract::Context& context,
                                  const Condition& there) override {
    decided_ = true;
    wire::Writer out;
    put_condition(out, there);
    out.u64(status_.device).u64(status_.inode).text(hidden_).text(target_);
    const auto reply =
        BAWN_TRY(pool_->ask(context, {file_wire::Op::PutBack, target_, true}, out.data()));
    return read_nothing(reply.payload);
  }

 private:
  std::shared_ptr<FilePool> pool_;
  std::string hidden_;
  std::string target_;
  FileStatus status_;
  bool decided_ = false;
};

class PooledStagedFile final : public StagedFile {
 public:
  PooledStagedFile(std::shared_ptr<FilePool> pool, std::string asked, std::string hidden,
                   StagedAnswer answer, os::UniqueFd fd)
      : pool_(std::move(pool)),
        asked_(std::move(asked)),
        hidden_(std::move(hidden)),
        answer_(std::move(answer)),
        fd_(std::move(fd)),
        // Set here and not by the agent, whose filter refuses the calls to all of the session.
        attributes_kept_(write_attributes(fd_.get(), answer_.attributes)),
        may_be_there_(answer_.named) {}
  ~PooledStagedFile() override {
    if (may_be_there_) {
      discard();
    }
  }
  PooledStagedFile(const PooledStagedFile&) = delete;
  PooledStagedFile& operator=(const PooledStagedFile&) = delete;

  [[nodiscard]] int fd() const noexcept override { return fd_.get(); }
  [[nodiscard]] Result<> set_mtime(std::int64_t mtime_ns) override {
    if (set_last_change(fd_.get(), mtime_ns) != 0) {
      return std::unexpected(Error::from_errno(errno, "futimens", "cannot set the file's time"));
    }
    return {};
  }
  [[nodiscard]] bool set_attributes(const FileAttributes& attributes) override {
    return write_attributes(fd_.get(), attributes);
  }
  [[nodiscard]] const std::string& target() const noexcept override { return answer_.target; }
  [[nodiscard]] const std::optional<FileStatus>& present() const noexcept override {
    return answer_.present;
  }
  [[nodiscard]] int parents_made() const noexcept override { return answer_.parents_made; }

  [[nodiscard]] Result<CommittedFile> commit(const contract::Context& context,
                                             const CommitOptions& options) override {
    if (!fd_.is_open()) {
      return contract::fail(ErrorCode::AlreadyExists, "the staged file was committed before");
    }
    const os::UniqueFd file = std::move(fd_);
    const std::string request = encode_commit(options, answer_.named ? file_wire::kIsNamed : 0U, 0,
                                              hidden_, answer_.target);
    auto reply = pool_->ask(context, {file_wire::Op::Commit, asked_, true}, request, file.get());
    if (!reply) {
      const auto* const failure = reply.error().find<FileFailure>();
      if (is_lost(reply.error())) {
        if (auto found = find_out(file)) {
          if (options.keep_old && answer_.present) {
            found->old = make_kept_file(pool_, hidden_, answer_.target, *answer_.present);
          }
          return *std::move(found);
        }
      }
      // The agent may have been ended between the hidden name and the real one.
      may_be_there_ = may_be_there_ || failure == nullptr ||
                      failure->kind == FileFailure::Kind::Lost ||
                      failure->kind == FileFailure::Kind::Late;
      return std::unexpected(std::move(reply).error());
    }
    may_be_there_ = false;
    auto answer = read_committed(reply->payload);
    if (!answer) {
      pool_->distrust();
      return std::unexpected(answer.error());
    }
    CommittedFile committed = std::move(answer->file);
    committed.attributes_kept = attributes_kept_;
    // One that came after staging is nobody's to keep.
    may_be_there_ = answer->old_kept && !answer_.present;
    if (answer->old_kept && answer_.present) {
      committed.old = make_kept_file(pool_, hidden_, answer_.target, *answer_.present);
    }
    const FileStatus told = committed.status;
    committed.status = BAWN_TRY(check_descriptor(file, O_WRONLY, told));
    return committed;
  }

 private:
  /// An agent that is gone does nothing any more: what it did last can be seen. None when the name
  /// does not have the new file, or nobody can tell.
  std::optional<CommittedFile> find_out(const os::UniqueFd& file) {
    wire::Writer out;
    out.u32(0).text(answer_.target);
    const auto reply = pool_->ask(soon(), {file_wire::Op::Status, asked_}, out.data());
    const auto there = reply ? read_status(reply->payload) : std::unexpected(reply.error());
    const auto own = there ? check_descriptor(file, O_WRONLY, *there) : there;
    if (!own || there->device != own->device || there->inode != own->inode) {
      return std::nullopt;
    }
    CommittedFile committed;
    committed.status = *own;
    committed.replaced = answer_.present.has_value();
    committed.owner_kept =
        !answer_.present || (answer_.present->uid == own->uid && answer_.present->gid == own->gid);
    committed.attributes_kept = attributes_kept_;
    return committed;
  }

  void discard() { discard_hidden(*pool_, hidden_, answer_.target); }

  std::shared_ptr<FilePool> pool_;
  std::string asked_;
  std::string hidden_;
  StagedAnswer answer_;
  os::UniqueFd fd_;
  bool attributes_kept_;
  bool may_be_there_;  ///< the hidden name
};

}  // namespace

std::string encode_commit(const CommitOptions& options, std::uint32_t flags, std::int64_t mtime_ns,
                          const std::string& hidden, const std::string& target) {
  wire::Writer out;
  out.u32(flags | (options.mode ? file_wire::kWithMode : 0U) |
          (options.durable ? file_wire::kDurable : 0U) |
          (options.keep_old ? file_wire::kKeepOld : 0U));
  out.u32(options.mode.value_or(0)).u64(static_cast<std::uint64_t>(mtime_ns));
  put_condition(out, options.condition);
  out.text(hidden).text(target);
  return out.data();
}

contract::Context soon() {
  return contract::Context().with_deadline(contract::Context::Clock::now() + kTidyLimit);
}

void discard_hidden(FilePool& pool, const std::string& hidden, const std::string& target) {
  wire::Writer out;
  out.text(hidden).text(target);
  // Doing it twice is doing it once: asked again when an agent is lost over it.
  (void)pool.ask(soon(), {file_wire::Op::Discard, target, false}, out.data());
}

std::unique_ptr<KeptFile> make_kept_file(std::shared_ptr<FilePool> pool, std::string hidden,
                                         std::string target, const FileStatus& status) {
  return std::make_unique<PooledKeptFile>(std::move(pool), std::move(hidden), std::move(target),
                                          status);
}

std::unique_ptr<StagedFile> make_staged_file(std::shared_ptr<FilePool> pool, std::string asked,
                                             std::string hidden, StagedAnswer answer,
                                             os::UniqueFd fd) {
  return std::make_unique<PooledStagedFile>(std::move(pool), std::move(asked), std::move(hidden),
                                            std::move(answer), std::move(fd));
}

}  // namespace bawn::sandbox
