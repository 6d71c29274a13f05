/// \file
/// A place in a container beside the same session on the host, and beside the engine's own command:
/// medians and their ratios, all in one run and interleaved.
///
///     container_bench IMAGE [ROUNDS]
///
/// The engine is the first that the environment leads to; the image needs /bin/bash.
#include "bawn/container/place.hpp"
#include "bawn/os/spawn.hpp"
#include "bawn/shell/session.hpp"
#include "support/temp_dir.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bawn;
using contract::Result;
using Clock = std::chrono::steady_clock;

struct Measured {
  std::string name;
  std::function<Result<>()> once;
  std::vector<double> milliseconds{};

  Result<> take() {
    const auto began = Clock::now();
    BAWN_TRY(once());
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - began).count());
    return {};
  }
  [[nodiscard]] double median() const {
    std::vector<double> sorted = milliseconds;
    std::ranges::sort(sorted);
    return sorted.empty() ? 0 : sorted[sorted.size() / 2];
  }
};

std::vector<std::string> environment() {
  std::vector<std::string> entries;
  for (char** at = environ; *at != nullptr; ++at) {
    entries.emplace_back(*at);
  }
  return entries;
}

Result<> run_command(const std::string& program, std::vector<std::string> words) {
  os::SpawnOptions spawn;
  spawn.program = program;
  spawn.argv = {program};
  spawn.argv.insert(spawn.argv.end(), words.begin(), words.end());
  spawn.env = environment();
  BAWN_TRY(os::spawn(spawn)).wait();
  return {};
}

class Bench {
 public:
  explicit Bench(std::string image) : image_(std::move(image)) {}

  Result<> open() {
    const contract::Context context;
    auto addresses = container::find_engines(environment());
    if (addresses.empty()) {
      return contract::fail(contract::ErrorCode::Unsupported, "there is no container engine here");
    }
    setup_.engine = BAWN_TRY(container::Engine::connect(context, addresses.front(), environment()));
    setup_.version = BAWN_TRY(setup_.engine->version(context));
    setup_.state_dir = state_.path();
    setup_.bounds = {.workspace = workspace_.path(), .write_workspace = true, .network = false};
    place_ = BAWN_TRY(container::Place::open(context, spec("bawn-bench-one"), setup_));
    inside_ = BAWN_TRY(place_->start_session({}));
    shell::SessionConfig config;
    config.policy = BAWN_TRY(sandbox::preset("workspace-write"));
    config.workspace = workspace_.path();
    config.state_dir = state_.path();
    config.environment = {"PATH=/usr/bin:/bin", "HOME=/"};
    outside_ = BAWN_TRY(shell::Session::start(std::move(config)));
    return {};
  }

  [[nodiscard]] Result<> compare_calls(int rounds) {
    const std::string name = place_->spec().name;
    std::vector<Measured> cases = {
        {"bash : on the host", [this] { return bash(*outside_); }},
        {"bash : in the place", [this] { return bash(*inside_); }},
        {"exec true on the host", [this] { return exec(*outside_); }},
        {"exec true in the place", [this] { return exec(*inside_); }},
    };
    BAWN_TRY(measure(cases, rounds));
    Measured engine{setup_.engine->name() + " exec true", [&] {
                      return run_command(setup_.engine->address().command, {"exec", name, "true"});
                    }};
    std::vector<Measured> slow = {std::move(engine)};
    BAWN_TRY(measure(slow, std::max(3, rounds / 20)));
    print(cases[1], cases[0]);
    print(cases[3], cases[2]);
    print(cases[3], slow[0]);
    return {};
  }

  [[nodiscard]] Result<> compare_opening(int rounds) {
    int count = 0;
    std::vector<Measured> cases = {
        {setup_.engine->name() + " run --rm true",
         [this] {
           return run_command(setup_.engine->address().command,
                              {"run", "--rm", "--network", "none", "--pull", "never",
                               "--log-driver", "none", image_, "true"});
         }},
        {"open, first command, close", [this, &count]() -> Result<> {
           const contract::Context context;
           auto place = BAWN_TRY(container::Place::open(
               context, spec(fmt::format("bawn-bench-{}", count++)), setup_));
           {
             const auto session = BAWN_TRY(place->start_session({}));
             BAWN_TRY(bash(*session));
             session->close();
           }
           return place->close(context);
         }}};
    BAWN_TRY(measure(cases, rounds));
    print(cases[1], cases[0]);
    return {};
  }

  Result<> close() {
    inside_->close();
    outside_->close();
    return place_->close(contract::Context());
  }

 private:
  [[nodiscard]] container::PlaceSpec spec(const std::string& name) const {
    container::PlaceSpec wanted;
    wanted.name = name + "-" + std::to_string(getpid());
    wanted.image = image_;
    return wanted;
  }
  static Result<> bash(shell::Session& session) {
    shell::BashRequest request;
    request.command = ":";
    BAWN_TRY(session.run(contract::Context(), std::move(request)));
    return {};
  }
  static Result<> exec(shell::Session& session) {
    shell::ExecRequest request;
    request.argv = {"true"};
    BAWN_TRY(session.exec(contract::Context(), std::move(request)));
    return {};
  }
  static Result<> measure(std::vector<Measured>& cases, int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (Measured& one : cases) {
        BAWN_TRY(one.take());
      }
    }
    return {};
  }
  static void print(const Measured& ours, const Measured& floor) {
    fmt::print("{:<28}{:9.3f} ms   {:<28}{:9.3f} ms   ratio {:.3f}, {:+.3f} ms\n", ours.name,
               ours.median(), floor.name, floor.median(), ours.median() / floor.median(),
               ours.median() - floor.median());
  }

  std::string image_;
  test::TempDir workspace_;
  test::TempDir state_;
  container::PlaceSetup setup_;
  std::shared_ptr<container::Place> place_;
  std::shared_ptr<shell::Session> inside_;
  std::shared_ptr<shell::Session> outside_;
};

Result<> run(const std::string& image, int rounds) {
  Bench bench(image);
  BAWN_TRY(bench.open());
  BAWN_TRY(bench.compare_calls(rounds));
  BAWN_TRY(bench.compare_opening(std::max(3, rounds / 20)));
  return bench.close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: container_bench IMAGE [ROUNDS]\n", stderr);
    return 2;
  }
  if (const auto done = run(argv[1], argc > 2 ? std::atoi(argv[2]) : 200); !done) {
    fmt::print(stderr, "container_bench: {}\n", done.error().message());
    return 1;
  }
  return 0;
}
