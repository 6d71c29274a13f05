#include "report_text.hpp"

#include "json_text.hpp"

namespace bawn::mcp {

std::shared_ptr<const std::string> ReportText::of(const contract::Confinement& report) const {
  const std::scoped_lock lock(mutex_);
  if (text_ == nullptr || !(last_ == report)) {
    std::string text;
    append_json(text, contract::to_json(report));
    text_ = std::make_shared<const std::string>(std::move(text));
    last_ = report;
  }
  return text_;
}

}  // namespace bawn::mcp
