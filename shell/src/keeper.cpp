#include "keeper.hpp"

#include "pump.hpp"

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace bawn::shell {

contract::Result<std::unique_ptr<Keeper>> Keeper::start(std::function<void()> on_idle,
                                                        std::function<void()> on_spare) {
  os::UniqueFd timer(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!timer.is_open()) {
    return std::unexpected(Error::from_errno(errno, "timerfd_create", "cannot make a timer"));
  }
  os::EventFd wake = BAWN_TRY(os::EventFd::make());
  try {
    return std::unique_ptr<Keeper>(
        new Keeper(std::move(on_idle), std::move(on_spare), std::move(wake), std::move(timer)));
  } catch (const std::system_error& failed) {
    return contract::fail(ErrorCode::ResourceExhausted,
                          std::string("no thread can be had for the session: ") + failed.what());
  }
}

Keeper::Keeper(std::function<void()> on_idle, std::function<void()> on_spare, os::EventFd wake,
               os::UniqueFd timer)
    : on_idle_(std::move(on_idle)),
      on_spare_(std::move(on_spare)),
      wake_(std::move(wake)),
      timer_(std::move(timer)),
      thread_([this] { loop(); }) {}

Keeper::~Keeper() {
  stop();
}

void Keeper::watch(os::UniqueFd fd, CallPtr call, Stream stream) {
  {
    const std::lock_guard lock(mutex_);
    arrived_.push_back({std::move(fd), std::move(call), stream});
  }
  wake_.signal();
}

void Keeper::arm(std::chrono::milliseconds delay) const {
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(delay.count() / 1000);
  when.it_value.tv_nsec = static_cast<long>(delay.count() % 1000) * 1'000'000;
  timerfd_settime(timer_.get(), 0, &when, nullptr);
}

void Keeper::ask_spare() {
  {
    const std::lock_guard lock(mutex_);
    spare_asked_ = true;
  }
  wake_.signal();
}

void Keeper::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.signal();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Keeper::loop() {
  std::vector<Late> late;
  std::vector<pollfd> waiting;
  for (;;) {
    waiting.assign({{wake_.get(), POLLIN, 0}, {timer_.get(), POLLIN, 0}});
    for (const Late& one : late) {
      waiting.push_back({one.fd.get(), POLLIN, 0});
    }
    if (poll(waiting.data(), waiting.size(), -1) < 0) {
      continue;
    }
    for (std::size_t i = late.size(); i-- > 0;) {
      if (waiting[i + 2].revents != 0 && at_end(*late[i].call, late[i].stream, late[i].fd.get())) {
        late.erase(late.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    if (waiting[1].revents != 0) {
      std::uint64_t expirations = 0;
      if (read(timer_.get(), &expirations, sizeof expirations) == sizeof expirations) {
        on_idle_();
      }
    }
    if (waiting[0].revents != 0) {
      wake_.clear();
      bool spare = false;
      {
        const std::lock_guard lock(mutex_);
        if (stopping_) {
          return;
        }
        std::move(arrived_.begin(), arrived_.end(), std::back_inserter(late));
        arrived_.clear();
        spare = std::exchange(spare_asked_, false);
      }
      if (spare) {
        on_spare_();
      }
    }
  }
}

}  // namespace bawn::shell
