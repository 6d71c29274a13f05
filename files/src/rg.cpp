#include "rg.hpp"

#include "lines.hpp"
#include "utf8.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace bawn::files {

namespace {

/// A version that lacks one of the options.
bool is_too_old(const InsideRun& run) {
  return run.exit_code == 2 && (run.err.find("which wasn't expected") != std::string::npos ||
                                run.err.find("unrecognized flag") != std::string::npos);
}

std::string first_line(const std::string& errors) {
  const auto lines = split_lines(errors);
  return lines.empty() ? std::string()
                       : ": " + to_valid_utf8(without_line_end(lines.front()).substr(0, 300));
}

}  // namespace

std::vector<std::string> rg_arguments(const WalkOptions& options) {
  std::vector<std::string> arguments = {
      "rg",          "--no-config", "--color=never", "--no-ignore-global", "--no-ignore-dot",
      "--glob=!.git"};
  if (options.hidden) {
    arguments.emplace_back("--hidden");
  }
  if (options.ignored) {
    arguments.emplace_back("--no-ignore");
  }
  if (options.max_file_bytes != 0) {
    arguments.push_back(fmt::format("--max-filesize={}", options.max_file_bytes));
  }
  for (const std::string& type : options.types) {
    arguments.push_back("--type=" + type);
  }
  return arguments;
}

std::optional<std::string> why_no_rg(const InsideRun& run) {
  if (run.cut || run.late) {
    return std::nullopt;
  }
  if (run.exec_errno == ENOENT) {
    return "There is no rg (ripgrep) in this place";
  }
  if (run.exec_errno != 0) {
    return fmt::format("rg (ripgrep) cannot be started in this place ({})",
                       std::strerror(run.exec_errno));  // NOLINT(concurrency-mt-unsafe)
  }
  if (!run.exit_code) {
    return "The rg (ripgrep) of this place was ended by a signal";
  }
  if (is_too_old(run)) {
    return "The rg (ripgrep) of this place is too old";
  }
  if (*run.exit_code > 2) {
    return fmt::format("The rg (ripgrep) of this place does not work (it ended with {}{})",
                       *run.exit_code, first_line(run.err));
  }
  return std::nullopt;
}

std::string no_programs() {
  return "No rg (ripgrep) can be started in this place";
}

std::string no_rg_note(const std::string& why) {
  return why +
         ", so files were visited one by one, which is slower; a working ripgrep there speeds this "
         "up.";
}

std::vector<std::string> notes_of(const std::string& errors) {
  std::vector<std::string> notes;
  for (const std::string_view line : split_lines(errors)) {
    if (notes.size() == 10) {
      notes.emplace_back("…");
      break;
    }
    notes.push_back(to_valid_utf8(without_line_end(line).substr(0, 500)));
  }
  return notes;
}

}  // namespace bawn::files
