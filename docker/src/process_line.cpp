#include "process_line.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace bawn::container {
namespace {

template <class Number>
bool next(std::string_view& rest, Number& number) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return error == std::errc();
}

}  // namespace

std::optional<ProcessLine> process_of(std::string_view line) {
  constexpr int kBetween = 15;  // tty_nr (7) to itrealvalue (21), proc_pid_stat(5)
  ProcessLine process;
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open ||
      close + 3 > line.size()) {
    return std::nullopt;
  }
  std::string_view number = line.substr(0, open);
  if (!next(number, process.pid) || process.pid <= 0) {
    return std::nullopt;
  }
  process.name = line.substr(open + 1, close - open - 1);
  process.state = line[close + 2];
  std::string_view rest = line.substr(close + 3);
  if (!next(rest, process.parent) || !next(rest, process.pgid) || !next(rest, process.sid)) {
    return std::nullopt;
  }
  for (int field = 0; field < kBetween; ++field) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    rest.remove_prefix(std::min(rest.find(' '), rest.size()));
  }
  return next(rest, process.start_time) ? std::optional(std::move(process)) : std::nullopt;
}

}  // namespace bawn::container
