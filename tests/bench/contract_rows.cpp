#include "bawn/contract/admission.hpp"
#include "bawn/contract/canonical.hpp"
#include "bawn/contract/definition.hpp"
#include "bawn/contract/encode.hpp"
#include "bawn/contract/executor.hpp"
#include "bawn/contract/make_tool.hpp"
#include "groups.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace bawn::bench {
namespace {

using contract::field;
using contract::Result;

constexpr int kRounds = 300;
/// One measurement is this many operations, and their mean.
constexpr int kRepeats = 200;

/// As large as the arguments of a usual tool.
struct Args {
  std::string path{};
  int max_bytes = 65'536;
  std::string mode = "text";
  std::vector<std::string> tags{};
  std::optional<double> ratio{};
  static constexpr auto describe() {
    return contract::fields(
        field("path", &Args::path).desc("File to read"),
        field("max_bytes", &Args::max_bytes).desc("Stop after this many").optional().range(1, 1e6),
        field("mode", &Args::mode).one_of("text,bytes").optional(),
        field("tags", &Args::tags).optional(), field("ratio", &Args::ratio));
  }
};

constexpr const char* kArguments =
    R"({"path":"/home/user/project/README.md","max_bytes":4096,"mode":"text","tags":["a","b"]})";

/// The compiler may not leave out what made `value`.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");  // NOLINT(hicpp-no-assembler)
}

template <class Work>
Case many(std::string name, Work work, std::string floor = {}) {
  return {.name = std::move(name),
          .once = [work]() -> Result<Nanoseconds> {
            const auto start = std::chrono::steady_clock::now();
            for (int i = 0; i < kRepeats; ++i) {
              BAWN_TRY(work());
            }
            return (std::chrono::steady_clock::now() - start) / kRepeats;
          },
          .floor = std::move(floor)};
}

Result<> ended(const contract::Outcome& outcome) {
  return outcome.error ? Result<>(std::unexpected(*outcome.error)) : Result<>();
}

std::vector<contract::Job> no_op_jobs(const contract::ToolPtr& tool) {
  std::vector<contract::Job> jobs;
  for (int i = 0; i < 1000; ++i) {
    jobs.push_back({.tool = tool, .call = {.id = "c" + std::to_string(i)}});
  }
  return jobs;
}

/// Eight threads that take the same number of empty functions from one counter.
Case batch_floor() {
  return {.name = "8 threads, 1,000 empty std::functions",
          .once = []() -> Result<Nanoseconds> {
            const std::vector<std::function<void()>> jobs(1000, [] {});
            return timed([&]() -> Result<> {
              std::atomic<std::size_t> next = 0;
              std::vector<std::jthread> workers;
              for (int i = 0; i < contract::kDefaultMaxParallel; ++i) {
                workers.emplace_back([&] {
                  for (std::size_t at = next++; at < jobs.size(); at = next++) {
                    jobs[at]();
                  }
                });
              }
              return {};
            });
          },
          .every = 10};
}

Case batch_of(const contract::ToolPtr& tool) {
  return {.name = "executor, 1,000 jobs that do nothing, all 8 slots",
          .once = [tool]() -> Result<Nanoseconds> {
            std::vector<contract::Job> jobs = no_op_jobs(tool);
            return timed([&]() -> Result<> {
              for (const auto& outcome : contract::Executor().results({}, std::move(jobs))) {
                BAWN_TRY(ended(outcome));
              }
              return {};
            });
          },
          .floor = "8 threads, 1,000 empty std::functions",
          .every = 10};
}

}  // namespace

std::vector<Row> contract_rows(const Setup& setup) {
  const contract::ToolPtr typed =
      contract::make_tool<Args>("read", "Read a file",
                                [](const contract::Context&, const Args& args) {
                                  keep(args);
                                  return std::string();
                                })
          .value();
  const contract::ToolPtr raw =
      contract::make_raw_tool(
          "nothing", "", std::nullopt,
          [](const contract::Context&, const contract::Call&) { return contract::text_result(""); })
          .value();
  const auto binding = contract::Binding::bind(typed).value();
  const contract::Call call{.id = "c", .args = kArguments};
  const contract::Json schema =
      contract::parse_json(typed->definition().parameters.value()).value();
  const std::string canonical = contract::canonical_definition(typed->definition()).value();
  const std::function<void()> empty = [] {};
  std::vector<Case> cases = {
      many("an empty std::function",
           [empty]() -> Result<> {
             keep(empty);
             empty();
             return {};
           }),
      many(
          "typed call: read, validate, decode, dispatch",
          [typed, call] { return ended(typed->execute({}, call)); }, "an empty std::function"),
      many(
          "the same through the admission layer",
          [binding]() -> Result<> {
            const auto invocation = BAWN_TRY(binding.contract().prepare({"c", "read", kArguments}));
            return ended(binding.call({}, invocation));
          },
          "an empty std::function"),
      many("the schema's text, written from a ready document",
           [schema]() -> Result<> {
             keep(contract::dump_json(schema));
             return {};
           }),
      many(
          "schema of a described struct",
          []() -> Result<> {
            keep(BAWN_TRY(contract::schema_text_of<Args>()));
            return {};
          },
          "the schema's text, written from a ready document"),
      many("SHA-256 of a ready canonical form",
           [canonical]() -> Result<> {
             keep(contract::sha256_hex(canonical));
             return {};
           }),
      many(
          "canonical form and hash of a definition",
          [typed]() -> Result<> {
            keep(BAWN_TRY(contract::definition_hash(typed->definition())));
            return {};
          },
          "SHA-256 of a ready canonical form"),
      batch_floor(),
      batch_of(raw)};
  std::vector<Row> rows = measure("contract", cases, setup.rounds_of(kRounds));
  for (Row& row : rows) {
    if (row.name.starts_with("typed call")) {
      row.absolute = true;
      row.target = 5;
    }
  }
  return rows;
}

}  // namespace bawn::bench
