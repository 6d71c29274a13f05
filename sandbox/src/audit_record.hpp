/// \file
/// The text of audit records, and how those of one event belong together. Pure.
#pragma once

#include "bawn/sandbox/audit.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::sandbox {

/// Message types of linux/audit.h. Those of user space are others, so that no program can write
/// these.
enum class AuditType : std::uint16_t {
  SystemCall = 1300,
  EndOfEvent = 1320,
  LandlockAccess = 1423,
  LandlockDomain = 1424,
};

/// "audit(TIME:SERIAL): key=value key="value" key=HEX", read.
struct AuditText {
  std::string event;                          ///< "TIME:SERIAL", the same for all of one event
  std::map<std::string, std::string> fields;  ///< the last one counts; texts decoded
};
/// nullopt: it is no such text.
[[nodiscard]] std::optional<AuditText> parse_audit_text(std::string_view text);

/// Gathers the records of events and keeps the denials of the domains that a followed process made.
///
/// Threads: not thread-safe.
class AuditEvents {
 public:
  static constexpr std::size_t kMostKept = 256;
  static constexpr std::size_t kMostOpen = 64;

  void follow(int pid) { maker_ = pid; }
  /// Takes one record. What is no denial of ours is dropped.
  void take(AuditType type, std::string_view text);
  /// What came after the denial of that number; events that are still open count as complete.
  [[nodiscard]] std::vector<AuditDenial> after(std::uint64_t number);

 private:
  struct Open {
    std::string event;
    std::vector<AuditDenial> denials;
    int pid = 0;
    int parent_pid = 0;
    std::string program;
  };
  Open& open_event(const std::string& event);
  void close(Open& event);
  void close_all();

  int maker_ = 0;
  std::deque<std::string> domains_;  ///< made by the followed process
  std::deque<Open> open_;
  std::deque<AuditDenial> kept_;
  std::uint64_t last_ = 0;
};

}  // namespace bawn::sandbox
