/// \file
/// The JSON text of a confinement report. A session's calls report the same over and over, and
/// building the text costs more than the rest of an answer.
#pragma once

#include "bawn/contract/confinement.hpp"

#include <memory>
#include <mutex>
#include <string>

namespace bawn::mcp {

/// Remembers the last text and gives it again for an equal report.
///
/// Threads: thread-safe.
class ReportText {
 public:
  [[nodiscard]] std::shared_ptr<const std::string> of(const contract::Confinement& report) const;

 private:
  mutable std::mutex mutex_;
  mutable contract::Confinement last_;
  mutable std::shared_ptr<const std::string> text_;
};

}  // namespace bawn::mcp
