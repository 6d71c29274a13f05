/// \file
/// One output stream of one call: exact counts, head and tail in memory, the rest on disk to a cap.
#pragma once

#include "bawn/os/unique_fd.hpp"
#include "bawn/shell/session.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bawn::shell {

/// Takes any amount of bytes in bounded memory.
///
/// Up to `memory` bytes all of it is in memory and no file exists. Beyond, the first and last
/// halves stay there and everything from the start to `disk` bytes goes to a nameless file.
///
/// Threads: not thread-safe.
class OutputBuffer {
 public:
  /// `spool_dir` holds the file, which has no name there; empty = never to disk. `budget` is what
  /// all files together may take; null = no such bound.
  OutputBuffer(std::size_t memory, std::uint64_t disk, std::string spool_dir,
               std::shared_ptr<SpoolBudget> budget = nullptr);
  ~OutputBuffer();
  OutputBuffer(OutputBuffer&&) noexcept = default;
  OutputBuffer(const OutputBuffer&) = delete;
  OutputBuffer& operator=(const OutputBuffer&) = delete;

  void append(std::string_view bytes);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Newlines, plus one for an unfinished last line.
  [[nodiscard]] std::uint64_t lines() const noexcept;
  [[nodiscard]] std::uint64_t newlines() const noexcept { return newlines_; }
  /// How many bytes from the start can be read by offset.
  [[nodiscard]] std::uint64_t stored() const noexcept;
  /// Offset of the first byte of the tail that is kept in memory.
  [[nodiscard]] std::uint64_t tail_begin() const noexcept { return bytes_ - tail_.size(); }

  /// At most `count` kept bytes beginning at `offset`, or fewer where what is kept ends: at the end
  /// of the stream, or where the gap before the tail begins.
  [[nodiscard]] std::string read(std::uint64_t offset, std::size_t count) const;

 private:
  void begin_spooling();
  void spool(std::string_view bytes);
  void push_tail(std::string_view bytes);

  std::size_t memory_;
  std::uint64_t disk_;
  std::string spool_dir_;
  std::shared_ptr<SpoolBudget> budget_;
  std::uint64_t bytes_ = 0;
  std::uint64_t newlines_ = 0;
  bool ends_in_newline_ = true;
  bool whole_in_memory_ = true;
  std::string head_;
  std::string tail_;
  os::UniqueFd file_;
  std::uint64_t spooled_ = 0;
};

}  // namespace bawn::shell
