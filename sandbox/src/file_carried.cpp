// Files of a place that no descriptor comes from: their content comes and goes in requests, against
// copies in memory. An agent holds a file only within one call of this file, so that none is kept
// waiting by a caller, and what is staged in the place has no name until the commit.
#include "bawn/os/memfd.hpp"
#include "file_client.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace bawn::sandbox {

namespace {

using contract::Context;
using file_wire::kMaxContent;
using file_wire::Op;

constexpr std::uint64_t kMostCarried = std::uint64_t{256} << 20U;
/// Requests under way at the same time.
constexpr std::size_t kMostAtOnce = 8;
/// A file that changes while it is read is read once more.
constexpr int kMostReads = 2;
/// An agent that is killed again and again is given up.
constexpr int kMaxTries = 4;

Error too_large(const std::string& path, std::uint64_t size) {
  return {
      ErrorCode::ResourceExhausted,
      fmt::format("{} has {} bytes and is larger than {}, the most that can be carried over the "
                  "relay; use a command there",
                  path, size, kMostCarried)};
}

Error changing_error(const std::string& path) {
  return Error(ErrorCode::Busy,
               fmt::format("{} changed while it was read, and again; read it again later", path))
      .with_payload(FileFailure{FileFailure::Kind::Changed, path});
}

/// No change in between, as far as the times tell.
bool is_same(const FileStatus& before, const FileStatus& after) {
  return before.device == after.device && before.inode == after.inode &&
         before.size == after.size && before.mtime_ns == after.mtime_ns &&
         before.ctime_ns == after.ctime_ns;
}

/// Ends the agents when one sent what cannot be.
template <class T>
Result<T> believe(FileHold& hold, Result<T> result) {
  if (!result) {
    hold.distrust();
  }
  return result;
}

Result<> put(int fd, std::string_view bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno != EINTR) {
      return std::unexpected(Error::from_errno(errno, "pwrite", "cannot keep the file in memory"));
    }
    const std::size_t done = count > 0 ? static_cast<std::size_t>(count) : 0;
    bytes.remove_prefix(done);
    offset += done;
  }
  return {};
}

/// One reading of a file into memory.
class Copy {
 public:
  Copy(FileHold& hold, const Context& context, const std::string& path)
      : hold_(hold), context_(context), path_(path) {}

  Result<OpenedFile> run() {
    wire::Writer request;
    request.text(path_);
    const FileRequest open{Op::Open, request.data()};
    const auto replies = BAWN_TRY(hold_.ask(context_, {Op::Open, path_}, {&open, 1}));
    OpenedAnswer answer = BAWN_TRY(believe(hold_, read_opened(replies.front().payload)));
    status_ = answer.status;
    if (status_.size > kMostCarried) {
      return std::unexpected(too_large(path_, status_.size));
    }
    fd_ = BAWN_TRY(os::memfd("bawn-file"));
    BAWN_TRY(take(answer.content, answer.after));
    ended_ = answer.whole;
    while (!ended_ && !changed_) {
      BAWN_TRY(more());
    }
    BAWN_TRY(os::seal(fd_));
    return OpenedFile{std::move(fd_), status_, std::move(answer.attributes)};
  }
  [[nodiscard]] bool changed() const noexcept { return changed_; }

 private:
  Result<> take(std::string_view content, const FileStatus& after) {
    changed_ = changed_ || !is_same(status_, after);
    if (size_ + content.size() > kMostCarried) {
      return std::unexpected(too_large(path_, size_ + content.size()));
    }
    BAWN_TRY(put(fd_.get(), content, size_));
    size_ += content.size();
    return {};
  }

  /// As many parts as are to be expected, the one behind the end too.
  Result<> more() {
    const std::uint64_t left = status_.size - std::min(status_.size, size_);
    const std::size_t parts = std::min<std::size_t>(left / kMaxContent + 1, kMostAtOnce);
    std::vector<FileRequest> requests;
    for (std::size_t part = 0; part < parts; ++part) {
      wire::Writer request;
      request.u64(size_ + part * kMaxContent).u32(kMaxContent);
      requests.push_back({Op::ReadHeld, request.data()});
    }
    for (const FileReply& reply : BAWN_TRY(hold_.ask(context_, {Op::ReadHeld, path_}, requests))) {
      const auto part = BAWN_TRY(believe(hold_, read_content(reply.payload, kMaxContent)));
      if (ended_ && !part.content.empty()) {
        changed_ = true;  // it grew behind its end
        return {};
      }
      BAWN_TRY(take(part.content, part.after));
      ended_ = part.content.size() < kMaxContent;
    }
    return {};
  }

  FileHold& hold_;
  const Context& context_;
  const std::string& path_;
  os::UniqueFd fd_;
  FileStatus status_;
  std::uint64_t size_ = 0;
  bool ended_ = false;
  bool changed_ = false;
};

class CarriedFile final : public StagedFile {
 public:
  CarriedFile(std::shared_ptr<FilePool> pool, std::string asked, StagedAnswer looked,
              os::UniqueFd fd)
      : pool_(std::move(pool)),
        asked_(std::move(asked)),
        looked_(std::move(looked)),
        fd_(std::move(fd)) {}

  [[nodiscard]] int fd() const noexcept override { return fd_.get(); }
  [[nodiscard]] Result<> set_mtime(std::int64_t mtime_ns) override {
    mtime_ns_ = mtime_ns;
    return {};
  }
  [[nodiscard]] bool set_attributes(const FileAttributes& attributes) override {
    more_ = attributes;
    return attributes.complete;
  }
  [[nodiscard]] const std::string& target() const noexcept override { return looked_.target; }
  [[nodiscard]] const std::optional<FileStatus>& present() const noexcept override {
    return looked_.present;
  }
  [[nodiscard]] int parents_made() const noexcept override { return looked_.parents_made; }

  [[nodiscard]] Result<CommittedFile> commit(const Context& context,
                                             const CommitOptions& options) override {
    if (!fd_.is_open()) {
      return contract::fail(ErrorCode::AlreadyExists, "the staged file was committed before");
    }
    const os::UniqueFd file = std::move(fd_);
    struct stat content{};
    (void)::fstat(file.get(), &content);
    const auto size = static_cast<std::uint64_t>(content.st_size);
    if (size > kMostCarried) {
      return std::unexpected(too_large(asked_, size));
    }
    for (int tries = 1;; ++tries) {
      const std::string hidden = BAWN_TRY(hidden_name());
      bool commits = false;
      auto committed = attempt(context, options, file.get(), size, hidden, commits);
      if (committed) {
        return committed;
      }
      const auto* const failure = committed.error().find<FileFailure>();
      if (failure != nullptr &&
          (failure->kind == FileFailure::Kind::Lost || failure->kind == FileFailure::Kind::Late)) {
        discard_hidden(*pool_, hidden, looked_.target);
      }
      // Before the commit nothing of it can be seen.
      if (commits || !is_lost(committed.error()) || tries == kMaxTries) {
        return committed;
      }
    }
  }

 private:
  Result<CommittedFile> attempt(const Context& context, const CommitOptions& options, int file,
                                std::uint64_t size, const std::string& hidden, bool& commits) {
    StagedAnswer staged;
    bool attributes_kept = true;
    Result<std::vector<FileReply>> replies;
    {
      FileHold hold = BAWN_TRY(pool_->hold(context, {Op::Stage, asked_}));
      staged = BAWN_TRY(carry(hold, context, file, size, hidden));
      attributes_kept = BAWN_TRY(dress(hold, context, staged));
      commits = true;
      const std::uint32_t time = mtime_ns_ ? file_wire::kWithTime : 0U;
      const FileRequest commit{
          Op::Commit, encode_commit(options, time, mtime_ns_.value_or(0), hidden, looked_.target)};
      replies = hold.ask(context, {Op::Commit, asked_, true}, {&commit, 1});
    }
    if (!replies) {
      return is_lost(replies.error())
                 ? find_out(replies.error(), staged, options, hidden, attributes_kept)
                 : std::unexpected(replies.error());
    }
    auto answer = read_committed(replies->front().payload);
    if (!answer) {
      pool_->distrust();
      return std::unexpected(answer.error());
    }
    CommittedFile committed = std::move(answer->file);
    committed.attributes_kept = attributes_kept;
    if (answer->old_kept && staged.present) {
      committed.old = make_kept_file(pool_, hidden, looked_.target, *staged.present);
    } else if (answer->old_kept) {
      discard_hidden(*pool_, hidden, looked_.target);  // it came after staging: nobody's to keep
    }
    return committed;
  }

  /// Stages it in the place, with its content.
  Result<StagedAnswer> carry(FileHold& hold, const Context& context, int file, std::uint64_t size,
                             const std::string& hidden) const {
    wire::Writer stage;
    stage.u32(0).text(hidden).text(looked_.target);
    std::vector<FileRequest> requests{{Op::Stage, stage.data()}};
    std::optional<StagedAnswer> staged;
    for (std::uint64_t offset = 0; offset < size || !staged;) {
      for (; offset < size && requests.size() < kMostAtOnce; offset += kMaxContent) {
        requests.push_back(BAWN_TRY(part_of(file, offset, size)));
      }
      const auto replies = BAWN_TRY(hold.ask(context, {Op::Stage, asked_}, requests));
      for (std::size_t at = 0; at < replies.size(); ++at) {
        if (requests[at].op == Op::Stage) {
          staged = BAWN_TRY(believe(hold, read_staged(replies[at].payload)));
        } else {
          BAWN_TRY(believe(hold, read_nothing(replies[at].payload)));
        }
      }
      requests.clear();
    }
    return *std::move(staged);
  }

  static Result<FileRequest> part_of(int file, std::uint64_t offset, std::uint64_t size) {
    std::string bytes(std::min<std::uint64_t>(size - offset, kMaxContent), '\0');
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::pread(file, bytes.data() + done, bytes.size() - done,
                                    static_cast<off_t>(offset + done));
      if (count <= 0) {
        return std::unexpected(Error::from_errno(errno, "pread", "cannot read the new content"));
      }
      done += static_cast<std::size_t>(count);
    }
    wire::Writer request;
    request.u64(offset).text(bytes);
    return FileRequest{Op::WriteHeld, request.data()};
  }

  /// Has the relay set the attributes: no process of the session may. Whether all are kept.
  Result<bool> dress(FileHold& hold, const Context& context, const StagedAnswer& staged) const {
    FileAttributes all = staged.attributes;
    all.complete = all.complete && more_.complete;
    all.values.insert(all.values.end(), more_.values.begin(), more_.values.end());
    if (all.values.empty()) {
      return all.complete;
    }
    const FileRequest hand{Op::HandHeld, {}};
    const auto replies = BAWN_TRY(hold.ask(context, {Op::Stage, asked_}, {&hand, 1}));
    BAWN_TRY(believe(hold, read_nothing(replies.front().payload)));
    return hold.set_attributes(all) && all.complete;
  }

  /// An agent that is gone does nothing any more: what it did last can be seen. `lost` when the
  /// name does not have the new file, or nobody can tell.
  Result<CommittedFile> find_out(const Error& lost, const StagedAnswer& staged,
                                 const CommitOptions& options, const std::string& hidden,
                                 bool attributes_kept) {
    wire::Writer out;
    out.u32(0).text(looked_.target);
    const auto reply = pool_->ask(soon(), {Op::Status, asked_}, out.data());
    const auto there = reply ? read_status(reply->payload) : std::unexpected(reply.error());
    if (!there || there->device != staged.device || there->inode != staged.inode) {
      return std::unexpected(lost);
    }
    CommittedFile committed;
    committed.status = *there;
    committed.replaced = staged.present.has_value();
    committed.owner_kept =
        !staged.present || (staged.present->uid == there->uid && staged.present->gid == there->gid);
    committed.attributes_kept = attributes_kept;
    if (options.keep_old && staged.present) {
      committed.old = make_kept_file(pool_, hidden, looked_.target, *staged.present);
    }
    return committed;
  }

  std::shared_ptr<FilePool> pool_;
  std::string asked_;
  StagedAnswer looked_;
  os::UniqueFd fd_;
  std::optional<std::int64_t> mtime_ns_;
  FileAttributes more_;
};

}  // namespace

Result<OpenedFile> open_carried(FilePool& pool, const Context& context, const std::string& path) {
  int reads = 0;
  for (int tries = 1;; ++tries) {
    FileHold hold = BAWN_TRY(pool.hold(context, {Op::Open, path}));
    Copy copy(hold, context, path);
    auto opened = copy.run();
    if (!opened && is_lost(opened.error()) && tries < kMaxTries) {
      continue;
    }
    if (!opened || !copy.changed()) {
      return opened;
    }
    if (++reads == kMostReads) {
      return std::unexpected(changing_error(path));
    }
  }
}

Result<std::unique_ptr<StagedFile>> make_carried_file(std::shared_ptr<FilePool> pool,
                                                      std::string asked, StagedAnswer looked) {
  return std::make_unique<CarriedFile>(std::move(pool), std::move(asked), std::move(looked),
                                       BAWN_TRY(os::memfd("bawn-staged")));
}

}  // namespace bawn::sandbox
