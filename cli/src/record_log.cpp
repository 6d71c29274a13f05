#include "record_log.hpp"

#include <utility>

namespace bawn::cli {

using contract::Result;

Result<std::shared_ptr<RecordLog>> RecordLog::open(const std::string& runtime_dir) {
  std::string path = BAWN_TRY(own_file_in(runtime_dir + "/records"));
  auto lines = BAWN_TRY(JsonLines::open(std::move(path), kMaxBytes));
  return std::shared_ptr<RecordLog>(new RecordLog(std::move(lines)));
}

RecordLog::~RecordLog() {
  lines_->remove();
}

Result<> RecordLog::append(const contract::Record& record) {
  return lines_->append({{"namespace", record.name_space}, {"data", record.data}});
}

}  // namespace bawn::cli
