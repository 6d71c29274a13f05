#include "output_buffer.hpp"

#include "bawn/contract/count_newlines.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace bawn::shell {

std::uint64_t SpoolBudget::take(std::uint64_t wanted) noexcept {
  std::uint64_t left = left_.load();
  while (!left_.compare_exchange_weak(left, left - std::min(left, wanted))) {
  }
  return std::min(left, wanted);
}

OutputBuffer::OutputBuffer(std::size_t memory, std::uint64_t disk, std::string spool_dir,
                           std::shared_ptr<SpoolBudget> budget)
    : memory_(std::max<std::size_t>(memory, 2)),
      disk_(disk),
      spool_dir_(std::move(spool_dir)),
      budget_(std::move(budget)) {}

OutputBuffer::~OutputBuffer() {
  if (budget_ != nullptr) {
    budget_->give_back(spooled_);
  }
}

void OutputBuffer::append(std::string_view bytes) {
  if (bytes.empty()) {
    return;
  }
  newlines_ += contract::count_newlines(bytes);
  ends_in_newline_ = bytes.back() == '\n';
  if (whole_in_memory_ && head_.size() + bytes.size() > memory_) {
    begin_spooling();
  }
  bytes_ += bytes.size();
  if (whole_in_memory_) {
    head_.append(bytes);
    return;
  }
  if (head_.size() < memory_ / 2) {
    head_.append(bytes.substr(0, memory_ / 2 - head_.size()));
  }
  spool(bytes);
  push_tail(bytes);
}

std::uint64_t OutputBuffer::lines() const noexcept {
  return newlines_ + (ends_in_newline_ ? 0U : 1U);
}

std::uint64_t OutputBuffer::stored() const noexcept {
  if (whole_in_memory_ || tail_begin() <= std::max<std::uint64_t>(spooled_, head_.size())) {
    return bytes_;
  }
  return std::max<std::uint64_t>(spooled_, head_.size());
}

std::string OutputBuffer::read(std::uint64_t offset, std::size_t count) const {
  if (offset >= bytes_) {
    return {};
  }
  if (offset < head_.size()) {
    std::string text = head_.substr(static_cast<std::size_t>(offset), count);
    if (text.size() < count && !whole_in_memory_) {
      text += read(offset + text.size(), count - text.size());
    }
    return text;
  }
  if (offset >= tail_begin()) {
    return tail_.substr(static_cast<std::size_t>(offset - tail_begin()), count);
  }
  if (offset >= spooled_) {
    return {};
  }
  std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(count, spooled_ - offset)),
                   '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = pread(file_.get(), text.data() + filled, text.size() - filled,
                              static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  if (filled != 0 && filled < count && offset + filled >= tail_begin()) {
    text += read(offset + filled, count - filled);
  }
  return text;
}

void OutputBuffer::begin_spooling() {
  whole_in_memory_ = false;
  const std::string all = std::move(head_);
  if (!spool_dir_.empty() && disk_ > 0) {
    file_.reset(open(spool_dir_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!file_.is_open()) {
      // O_TMPFILE is missing on some overlay and network file systems: a name that goes at once.
      std::string name = spool_dir_ + "/spool-XXXXXX";
      file_.reset(mkostemp(name.data(), O_CLOEXEC));
      if (file_.is_open()) {
        unlink(name.c_str());
      }
    }
  }
  head_ = all.substr(0, memory_ / 2);
  spool(all);
  push_tail(all);
}

void OutputBuffer::spool(std::string_view bytes) {
  // A gap would make every later offset wrong, so the first failure ends it.
  while (file_.is_open() && !bytes.empty() && spooled_ < disk_) {
    std::uint64_t count = std::min<std::uint64_t>(bytes.size(), disk_ - spooled_);
    count = budget_ == nullptr ? count : budget_->take(count);
    const ssize_t put = count == 0
                            ? 0
                            : pwrite(file_.get(), bytes.data(), static_cast<std::size_t>(count),
                                     static_cast<off_t>(spooled_));
    if (budget_ != nullptr) {
      budget_->give_back(count - static_cast<std::uint64_t>(std::max<ssize_t>(put, 0)));
    }
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put <= 0) {
      disk_ = spooled_;
      return;
    }
    spooled_ += static_cast<std::uint64_t>(put);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

void OutputBuffer::push_tail(std::string_view bytes) {
  const std::size_t keep = memory_ / 2;
  if (bytes.size() >= keep) {
    tail_.assign(bytes.substr(bytes.size() - keep));
    return;
  }
  tail_.append(bytes);
  // Cutting only now and then makes it one move per `keep` bytes instead of one per read.
  if (tail_.size() > 2 * keep) {
    tail_.erase(0, tail_.size() - keep);
  }
}

}  // namespace bawn::shell
