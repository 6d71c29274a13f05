#include "report.hpp"

#include <charconv>

namespace bawn::shell {

namespace {

// A report is under 8 KiB (two paths' worth); more than this in the FIFO was not written by us.
constexpr std::size_t kMaxPending = 64 * 1024;
constexpr std::size_t kFields = 6;

int number(std::string_view text) noexcept {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<int> numbers(std::string_view text) {
  std::vector<int> found;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    if (blank != 0) {
      found.push_back(number(text.substr(0, blank)));
    }
    text.remove_prefix(std::min(blank + 1, text.size()));
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
    while (fields.size() < kFields && body.find('\0') != std::string_view::npos) {
      fields.push_back(body.substr(0, body.find('\0')));
      body.remove_prefix(fields.back().size() + 1);
    }
    if (fields.size() == kFields) {
      report.emplace();
      report->status = number(fields[0]);
      report->pipe_statuses = numbers(fields[1]);
      report->flags = fields[2];
      report->pipefail = fields[3] == "1" || fields[2].find('P') != std::string_view::npos;
      report->cwd_missing = fields[4] == "1";
      report->cwd = fields[5];
      report->jobs = job_lines(body);
    }
  }
  buffer_.erase(0, end + frame_end.size());
  return report;
}

}  // namespace bawn::shell
