#include "bawn/os/spawn.hpp"

#include "bawn/os/library_thread.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace bawn::os {

namespace {

using contract::Error;

/// One thread that runs what it is given and never ends, not even at exit: the kernel sends a
/// child's PR_SET_PDEATHSIG when the thread that made it ends (prctl(2)).
class LastingThread {
 public:
  static LastingThread& instance() {
    static LastingThread* const only = new LastingThread;  // lives as long as its thread: for ever
    return *only;
  }

  contract::Result<> run(const std::function<void()>& work) {
    const std::scoped_lock one_at_a_time(callers_);
    if (!started_) {
      BAWN_TRY(start_library_thread([this] { serve(); }));
      started_ = true;
    }
    std::unique_lock lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [this] { return work_ == nullptr; });
    return {};
  }

 private:
  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return work_ != nullptr; });
      (*work_)();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex callers_;
  bool started_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
};

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) {
    pointers.push_back(const_cast<char*>(word.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

/// Descriptors are first copied above every number they may have to take, so that no order of
/// dup2 can destroy one that is still needed.
class FileActions {
 public:
  FileActions() { error_ = ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { (void)::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  int prepare(const std::vector<std::pair<int, int>>& fds) {
    int highest = 2;
    for (const auto& [from, to] : fds) {
      highest = std::max({highest, from, to});
    }
    int copy = highest;
    for (const auto& [from, to] : fds) {
      step(::posix_spawn_file_actions_adddup2(&actions_, from, ++copy));
    }
    for (const int standard : {0, 1, 2}) {
      step(::posix_spawn_file_actions_addopen(&actions_, standard, "/dev/null", O_RDWR, 0));
    }
    // Everything of ours is close-on-exec; this also closes what a host program forgot to mark,
    // and at the end the copies.
    int last = 2;
    for (const auto& [from, to] : fds) {
      last = std::max(last, to);
    }
    for (int gap = 3; gap <= last; ++gap) {
      step(::posix_spawn_file_actions_addclose(&actions_, gap));
    }
    copy = highest;
    for (const auto& [from, to] : fds) {
      step(::posix_spawn_file_actions_adddup2(&actions_, ++copy, to));
    }
    step(::posix_spawn_file_actions_addclosefrom_np(&actions_, last + 1));
    return error_;
  }

  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  void step(int error) { error_ = error_ != 0 ? error_ : error; }
  posix_spawn_file_actions_t actions_;
  int error_ = 0;
};

class Attributes {
 public:
  Attributes() {
    (void)::posix_spawnattr_init(&attributes_);
    sigset_t every;
    sigset_t none;
    (void)::sigfillset(&every);
    (void)::sigemptyset(&none);
    (void)::posix_spawnattr_setsigdefault(&attributes_, &every);
    (void)::posix_spawnattr_setsigmask(&attributes_, &none);
    (void)::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  ~Attributes() { (void)::posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

contract::Result<Pidfd> spawn_here(const SpawnOptions& options) {
  FileActions actions;
  if (const int error = actions.prepare(options.fds); error != 0) {
    return std::unexpected(
        Error::from_errno(error, "posix_spawn_file_actions", "cannot prepare descriptors"));
  }
  const Attributes attributes;
  const std::vector<char*> argv = pointers_to(options.argv);
  const std::vector<char*> env = pointers_to(options.env);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, options.program.c_str(), actions.get(), attributes.get(),
                                  argv.data(), env.data());
  if (error != 0) {
    return std::unexpected(
        Error::from_errno(error, "posix_spawn", fmt::format("cannot start {}", options.program)));
  }
  auto held = Pidfd::open(pid);
  if (!held) {
    // Unreaped, so the number is still its own.
    (void)::kill(pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  return held;
}

}  // namespace

contract::Result<Pidfd> spawn(const SpawnOptions& options) {
  if (!options.from_lasting_thread) {
    return spawn_here(options);
  }
  contract::Result<Pidfd> result =
      contract::fail(contract::ErrorCode::Internal, "nothing was started");
  BAWN_TRY(LastingThread::instance().run([&] { result = spawn_here(options); }));
  return result;
}

}  // namespace bawn::os
