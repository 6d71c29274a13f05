#include "report.hpp"

#include <algorithm>
#include <charconv>

namespace bawn::shell {

namespace {

// A report is under 8 KiB (two paths' worth); more than this in the FIFO was not written by us.
constexpr std::size_t kMaxPending = 64 * 1024;

int number(std::string_view text) noexcept {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Cuts off what stands before the first `end`, which goes too; all of it where there is none.
std::string_view take_field(std::string_view& body, char end) {
  const std::size_t length = std::min(body.find(end), body.size());
  const std::string_view field = body.substr(0, length);
  body.remove_prefix(std::min(length + 1, body.size()));
  return field;
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

/// "STATUS FLAGS PM LAST STATUSES/DIRECTORY", and behind a NUL what `jobs -l` says. P and M are 1
/// with pipefail and without a directory; STATUSES are those of a pipeline, with blanks between.
std::optional<StepReport> read_body(std::string_view body) {
  std::string_view fields = take_field(body, '/');
  if (std::ranges::count(fields, ' ') < 4) {
    return std::nullopt;
  }
  StepReport report;
  report.status = number(take_field(fields, ' '));
  report.flags = take_field(fields, ' ');
  const std::string_view marks = take_field(fields, ' ');
  report.pipefail = marks.starts_with('1') || report.flags.find('|') != std::string::npos;
  report.cwd_missing = marks.ends_with('1');
  report.last_background = number(take_field(fields, ' '));
  while (!fields.empty()) {
    report.pipe_statuses.push_back(number(take_field(fields, ' ')));
  }
  report.cwd = take_field(body, '\0');
  report.jobs = job_lines(body);
  return report;
}

}  // namespace

void ReportParser::append(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffer_.size() > kMaxPending) {
    buffer_.erase(0, buffer_.size() - kMaxPending);
  }
}

std::optional<StepReport> ReportParser::take(std::string_view nonce) {
  // begin "<nonce> ", end "\1<nonce>\0"
  std::string frame_end = "\1";
  frame_end.append(nonce).push_back('\0');
  const std::size_t end = buffer_.find(frame_end);
  if (nonce.empty() || end == std::string::npos) {
    return std::nullopt;
  }
  std::string frame_begin(nonce);
  frame_begin.push_back(' ');
  // The last beginning before the end: an interrupted report may stand before the whole one.
  const std::size_t begin = end == 0 ? std::string::npos : buffer_.rfind(frame_begin, end - 1);
  std::optional<StepReport> report;
  if (begin != std::string::npos) {
    report = read_body(std::string_view(buffer_).substr(begin + frame_begin.size(),
                                                        end - begin - frame_begin.size()));
  }
  buffer_.erase(0, end + frame_end.size());
  return report;
}

}  // namespace bawn::shell
