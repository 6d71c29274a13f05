/// \file
/// A warden without a wall, for tests of the session alone: it starts processes as direct children
/// of the test program and finds those of a call by marker, ancestry and start time.
#pragma once

#include "bawn/sandbox/warden.hpp"

#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace bawn::test {

class FakeChild;

class FakeWarden final : public sandbox::Warden {
 public:
  /// Makes the test program the reaper of orphans, as a warden is.
  static std::shared_ptr<FakeWarden> make();
  ~FakeWarden() override;

  [[nodiscard]] const contract::Confinement& report() const noexcept override { return report_; }
  [[nodiscard]] int pid() const noexcept override;
  [[nodiscard]] std::uint64_t start_time() const noexcept override;
  [[nodiscard]] std::uint64_t pid_namespace() const noexcept override { return 0; }
  [[nodiscard]] contract::Result<std::unique_ptr<sandbox::Child>> spawn(
      sandbox::SpawnSpec spec) override;
  [[nodiscard]] contract::Result<int> signal(const sandbox::SignalTarget& target,
                                             int signal) override;
  [[nodiscard]] contract::Result<std::vector<sandbox::ProcessInfo>> tree() override;
  [[nodiscard]] bool alive() const noexcept override { return alive_; }
  void close() override;

  /// How many requests of each kind came.
  std::atomic<int> spawns{0};
  std::atomic<int> trees{0};
  std::atomic<int> signals{0};

 private:
  FakeWarden() = default;
  [[nodiscard]] contract::Result<std::unique_ptr<sandbox::Child>> start(
      const sandbox::SpawnSpec& spec);
  [[nodiscard]] bool is_of_call(const sandbox::ProcessInfo& process,
                                const sandbox::SignalTarget& target,
                                const std::map<int, sandbox::ProcessInfo>& all);
  [[nodiscard]] bool has_child_of_call(const std::string& call, int except);

  /// Starts every child: the signal of prctl(PR_SET_PDEATHSIG) comes with the end of the thread
  /// that forked, and a call's thread ends before the shell that it started.
  boost::asio::thread_pool parent_{1};
  std::mutex mutex_;
  std::map<int, std::string> started_;  ///< every child by its number, with its call
  contract::Confinement report_;
  std::atomic<bool> alive_{true};
};

}  // namespace bawn::test
