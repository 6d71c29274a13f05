#include "report.hpp"

#include <charconv>

namespace bawn::shell {

namespace {

// A report is under 8 KiB (two paths' worth); more than this in the FIFO was not written by us.
constexpr std::size_t kMaxPending = 64 * 1024;
constexpr std::size_t kFields = 6;  // behind the nonce and before the pipe statuses

int number(std::string_view text) noexcept {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Cuts the first field, which ends with a NUL, off. None where there is no further one.
std::optional<std::string_view> take_field(std::string_view& body) {
  const std::size_t end = body.find('\0');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view field = body.substr(0, end);
  body.remove_prefix(end + 1);
  return field;
}

/// The pipe statuses, up to an empty field or the end.
std::vector<int> take_numbers(std::string_view& body) {
  std::vector<int> found;
  for (auto field = take_field(body); field && !field->empty(); field = take_field(body)) {
    found.push_back(number(*field));
  }
  return found;
}

/// Lines like "[1]+  1234 Stopped                 sleep 100".
std::vector<JobLine> job_lines(std::string_view text) {
  std::vector<JobLine> jobs;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t bracket = line.find(']');
    if (!line.starts_with('[') || bracket == std::string_view::npos) {
      continue;
    }
    line.remove_prefix(bracket + 1);
    line.remove_prefix(std::min(line.find_first_of("0123456789"), line.size()));
    const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    JobLine job;
    job.pid = number(line.substr(0, digits));
    line.remove_prefix(digits);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    job.stopped = line.starts_with("Stopped");
    if (job.pid > 0) {
      jobs.push_back(job);
    }
  }
  return jobs;
}

}  // namespace

void ReportParser::append(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffer_.size() > kMaxPending) {
    buffer_.erase(0, buffer_.size() - kMaxPending);
  }
}

std::optional<StepReport> ReportParser::take(std::string_view nonce) {
  // begin "<nonce>\0", fields each ended by \0, end "\1<nonce>\0"
  std::string frame_end = "\1";
  frame_end.append(nonce).push_back('\0');
  const std::size_t end = buffer_.find(frame_end);
  if (nonce.empty() || end == std::string::npos) {
    return std::nullopt;
  }
  std::string frame_begin(nonce);
  frame_begin.push_back('\0');
  // The last beginning before the end: an interrupted report may stand before the whole one.
  const std::size_t begin = end == 0 ? std::string::npos : buffer_.rfind(frame_begin, end - 1);
  std::optional<StepReport> report;
  if (begin != std::string::npos) {
    std::string_view body(buffer_);
    body = body.substr(begin + frame_begin.size(), end - begin - frame_begin.size());
    std::vector<std::string_view> fields;
    while (fields.size() < kFields) {
      const auto field = take_field(body);
      if (!field) {
        break;
      }
      fields.push_back(*field);
    }
    if (fields.size() == kFields) {
      report.emplace();
      report->status = number(fields[0]);
      report->flags = fields[1];
      report->pipefail = fields[2] == "1" || fields[1].find('P') != std::string_view::npos;
      report->cwd_missing = fields[3] == "1";
      report->cwd = fields[4];
      report->last_background = number(fields[5]);
      report->pipe_statuses = take_numbers(body);
      report->jobs = job_lines(body);
    }
  }
  buffer_.erase(0, end + frame_end.size());
  return report;
}

}  // namespace bawn::shell
