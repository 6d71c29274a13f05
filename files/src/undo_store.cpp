#include "undo_store.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <linux/falloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace bawn::files {

namespace {

using contract::Error;
using contract::ErrorCode;

/// Not every file system has O_TMPFILE; there the name lives for an instant.
Result<os::UniqueFd> nameless_file(const std::string& directory) {
  os::UniqueFd file(open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600));
  if (file.get() < 0) {
    std::string name = directory + "/undo-XXXXXX";
    file = os::UniqueFd(mkostemp(name.data(), O_CLOEXEC));
    if (file.get() < 0) {
      return std::unexpected(
          Error::from_errno(errno, "open", "cannot make the file for undo in " + directory));
    }
    unlink(name.c_str());
  }
  return file;
}

bool write_at(int fd, std::string_view bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t wrote = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
    offset += static_cast<std::uint64_t>(wrote);
  }
  return true;
}

bool read_at(int fd, std::string& bytes, std::uint64_t offset) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got =
        pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return false;
    }
    done += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

UndoStore::UndoStore(os::UniqueFd file, const Limits& limits)
    : file_(std::move(file)), limits_(limits) {}

Result<std::shared_ptr<UndoStore>> UndoStore::make(const std::string& directory,
                                                   const Limits& limits) {
  return std::shared_ptr<UndoStore>(new UndoStore(BAWN_TRY(nameless_file(directory)), limits));
}

UndoStore::Stored::Stored(Stored&& other) noexcept
    : store_(std::exchange(other.store_, nullptr)),
      offset_(other.offset_),
      size_(other.size_),
      sizes_(std::move(other.sizes_)) {}

UndoStore::Stored& UndoStore::Stored::operator=(Stored&& other) noexcept {
  std::swap(store_, other.store_);
  std::swap(offset_, other.offset_);
  std::swap(size_, other.size_);
  sizes_.swap(other.sizes_);
  return *this;
}

UndoStore::Stored::~Stored() {
  if (store_ != nullptr) {
    store_->give_up(*this);
  }
}

void UndoStore::release(std::uint64_t offset, std::uint64_t size) const {
  // Where holes cannot be punched the file keeps its size; the limit then counts what is in use.
  static_cast<void>(fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                              static_cast<off_t>(offset), static_cast<off_t>(size)));
}

void UndoStore::make_room(std::uint64_t size) {
  while (!kept_.empty() &&
         (kept_.size() + stored_ >= limits_.changes || bytes_ + size > limits_.bytes)) {
    release(kept_.front().offset, kept_.front().size);
    bytes_ -= kept_.front().size;
    kept_.pop_front();
  }
  if (kept_.empty() && stored_ == 0) {
    end_ = 0;
  }
}

std::optional<UndoStore::Stored> UndoStore::store(const std::vector<std::string_view>& contents) {
  Stored stored;
  for (const std::string_view bytes : contents) {
    stored.sizes_.push_back(bytes.size());
    stored.size_ += bytes.size();
  }
  if (stored.size_ > limits_.bytes || limits_.changes == 0) {
    return std::nullopt;
  }
  {
    const std::lock_guard lock(mutex_);
    make_room(stored.size_);
    if (bytes_ + stored.size_ > limits_.bytes || kept_.size() + stored_ >= limits_.changes) {
      return std::nullopt;  // others are being stored at this moment
    }
    stored.store_ = this;
    stored.offset_ = end_;
    end_ += stored.size_;
    bytes_ += stored.size_;
    ++stored_;
  }
  std::uint64_t at = stored.offset_;
  for (const std::string_view bytes : contents) {
    if (!write_at(file_.get(), bytes, at)) {
      return std::nullopt;
    }
    at += bytes.size();
  }
  return stored;
}

void UndoStore::give_up(const Stored& stored) {
  const std::lock_guard lock(mutex_);
  release(stored.offset_, stored.size_);
  bytes_ -= stored.size_;
  --stored_;
}

std::string UndoStore::keep(Stored stored, UndoChange change) {
  const std::lock_guard lock(mutex_);
  stored.store_ = nullptr;
  --stored_;
  for (UndoFile& file : change.files) {
    if (file.before) {
      file.before->bytes = std::string();
    }
  }
  change.call = fmt::format("change-{}", next_id_++);
  std::string call = change.call;
  kept_.push_back({.change = std::move(change),
                   .offset = stored.offset_,
                   .size = stored.size_,
                   .sizes = std::move(stored.sizes_)});
  return call;
}

Result<UndoChange> UndoStore::find(const std::string& session, const std::string& call) const {
  const std::lock_guard lock(mutex_);
  const Kept* last = nullptr;
  for (const Kept& kept : kept_) {
    if (kept.change.session != session) {
      continue;
    }
    last = &kept;
    if (kept.change.call != call) {
      continue;
    }
    UndoChange change = kept.change;
    std::uint64_t offset = kept.offset;
    for (std::size_t i = 0; i < change.files.size(); ++i) {
      if (change.files[i].before) {
        change.files[i].before->bytes.resize(kept.sizes[i]);
        if (!read_at(file_.get(), change.files[i].before->bytes, offset)) {
          return contract::fail(ErrorCode::Internal, "the old content can no longer be read");
        }
        offset += kept.sizes[i];
      }
    }
    return change;
  }
  const auto undone = std::ranges::find_if(
      undone_, [&](const Undone& one) { return one.session == session && one.call == call; });
  if (undone != undone_.end()) {
    return contract::fail(
        ErrorCode::NotFound,
        fmt::format("{} was undone already, by {}; undo that one to have the change back", call,
                    undone->by));
  }
  return contract::fail(
      ErrorCode::NotFound,
      fmt::format("no change {:.40} of this session is kept{}", call,
                  last == nullptr ? "" : fmt::format("; the newest is {}", last->change.call)));
}

std::vector<std::string> UndoStore::paths_of(const std::string& call) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> paths;
  for (const Kept& kept : kept_) {
    if (kept.change.call == call) {
      for (const UndoFile& file : kept.change.files) {
        paths.push_back(file.path);
        paths.push_back(file.from.value_or(file.path));
      }
    }
  }
  return paths;
}

std::list<UndoStore::Kept>::iterator UndoStore::kept(const std::string& session,
                                                     const std::string& call) {
  return std::ranges::find_if(kept_, [&](const Kept& one) {
    return one.change.session == session && one.change.call == call;
  });
}

void UndoStore::stand_in(const Kept& undone, const Kept& by) {
  for (const UndoFile& file : undone.change.files) {
    const std::string& path = file.from ? *file.from : file.target;
    const auto again = std::ranges::find_if(
        by.change.files, [&](const UndoFile& made) { return made.after && made.target == path; });
    if (!file.before || again == by.change.files.end()) {
      continue;
    }
    for (Kept& one : kept_) {
      for (UndoFile& earlier : one.change.files) {
        if (one.change.session == undone.change.session && earlier.after &&
            earlier.target == path && earlier.after->status.device == file.before->status.device &&
            earlier.after->status.inode == file.before->status.inode) {
          earlier.after->status.device = again->after->status.device;
          earlier.after->status.inode = again->after->status.inode;
        }
      }
    }
  }
}

void UndoStore::undone(const std::string& session, const std::string& call, const std::string& by) {
  const std::lock_guard lock(mutex_);
  const auto found = kept(session, call);
  if (found == kept_.end()) {
    return;
  }
  if (const auto made = kept(session, by); made != kept_.end()) {
    stand_in(*found, *made);
  }
  release(found->offset, found->size);
  bytes_ -= found->size;
  kept_.erase(found);
  constexpr std::size_t kRemembered = 200;
  undone_.push_back({session, call, by});
  if (undone_.size() > kRemembered) {
    undone_.pop_front();
  }
}

}  // namespace bawn::files
