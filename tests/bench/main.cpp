/// \file
/// bawn_bench: what bawn costs beside the least that the kernel and bash cost, measured in one run.

#include "groups.hpp"
#include "report.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

namespace bawn::bench {
namespace {

constexpr std::string_view kUsage =
    R"(usage: bawn_bench [OPTIONS]
  --quick          fewer rounds, about 15 s
  --iterations N   exactly N rounds of everything: to see that it works, not to measure
  --only GROUP     contract, start, wall, calls, parallel, files, file-tools, mcp, first-answer, memory or output;
                   may be repeated
  --bawn PATH      the program under test (default: beside this one)
  --json [FILE]    JSON instead of the table, to standard output or FILE
exit status: 0 all was measured (targets are shown, not enforced), 1 something was not, 2 bad usage
)";

struct Group {
  std::string_view name;
  std::vector<Row> (*rows)(const Setup&);
};

constexpr Group kGroups[] = {{"contract", contract_rows},
                             {"start", start_rows},
                             {"wall", wall_rows},
                             {"calls", call_rows},
                             {"parallel", parallel_rows},
                             {"files", file_rows},
                             {"file-tools", file_tool_rows},
                             {"mcp", mcp_rows},
                             {"first-answer", first_answer_rows},
                             {"memory", memory_rows},
                             {"output", output_rows}};

struct Options {
  Setup setup;
  std::vector<std::string> only;
  bool json = false;
  std::string json_file;
};

std::string beside(std::string_view name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

bool is_group(std::string_view name) {
  return std::ranges::any_of(kGroups, [&](const Group& group) { return group.name == name; });
}

/// The options, or none after a sentence on standard error.
std::optional<Options> parse(const std::vector<std::string>& words) {
  Options options;
  options.setup.bawn = beside("bawn");
  options.setup.floor_mcp = beside("floor_mcp");
  options.setup.constant_mcp = beside("constant_mcp");
  options.setup.floor_http = beside("floor_http");
  options.setup.constant_http = beside("constant_http");
  options.setup.steady = beside("steady");
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string value = i + 1 < words.size() ? words[i + 1] : "";
    if (word == "--quick") {
      options.setup.quick = true;
    } else if (word == "--json") {
      options.json = true;
      if (!value.empty() && !value.starts_with("--")) {
        options.json_file = value;
        ++i;
      }
    } else if (word == "--bawn" && !value.empty()) {
      options.setup.bawn = std::filesystem::absolute(value).string();
      ++i;
    } else if (word == "--only" && is_group(value)) {
      options.only.push_back(value);
      ++i;
    } else if (word == "--iterations" &&
               std::from_chars(value.data(), value.data() + value.size(), options.setup.rounds)
                       .ec == std::errc{} &&
               options.setup.rounds > 0) {
      ++i;
    } else {
      fmt::print(stderr, "bawn_bench: bad option or value at {}\n{}", word, kUsage);
      return std::nullopt;
    }
  }
  return options;
}

bool wanted(const Options& options, std::string_view group) {
  return options.only.empty() || std::ranges::find(options.only, group) != options.only.end();
}

int run(Options options) {
  std::string scratch = std::filesystem::temp_directory_path() / "bawn-bench-XXXXXX";
  if (::mkdtemp(scratch.data()) == nullptr) {
    fmt::print(stderr, "bawn_bench: cannot make a directory like {}\n", scratch);
    return 1;
  }
  options.setup.workspace = scratch + "/workspace";
  options.setup.state_dir = scratch + "/state";
  std::filesystem::create_directory(options.setup.workspace);
  std::filesystem::create_directory(options.setup.state_dir);
  double load[1] = {0};
  ::getloadavg(load, 1);
  std::vector<Row> rows;
  for (const Group& group : kGroups) {
    if (wanted(options, group.name)) {
      const std::vector<Row> more = group.rows(options.setup);
      rows.insert(rows.end(), more.begin(), more.end());
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(scratch, ignored);
  compare(rows);
  if (!options.json) {
    fmt::print("{}", to_table(rows));
    if (load[0] > 1) {
      fmt::print(
          "\nThe load average was {:.1f} at the start: cases that need several processes at once "
          "suffer more from that than their floors do.\n",
          load[0]);
    }
  } else if (options.json_file.empty()) {
    fmt::print("{}\n", to_json(rows).dump(2));
  } else {
    std::ofstream(options.json_file) << to_json(rows).dump(2) << "\n";
  }
  const bool complete =
      std::ranges::all_of(rows, [](const Row& row) { return row.peer || row.failure.empty(); });
  return complete ? 0 : 1;
}

}  // namespace
}  // namespace bawn::bench

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (std::ranges::find(words, "--help") != words.end()) {
    fmt::print("{}", bawn::bench::kUsage);
    return 0;
  }
  // A server that died shows as EPIPE of one row, not as the end of the bench. A handler, not
  // SIG_IGN: what is ignored stays ignored across exec, and the commands under test would see that.
  struct sigaction nothing{};
  nothing.sa_handler = [](int) {};
  ::sigaction(SIGPIPE, &nothing, nullptr);
  auto options = bawn::bench::parse(words);
  return options ? bawn::bench::run(*std::move(options)) : 2;
}
