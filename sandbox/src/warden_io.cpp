// The one thread of a process that reads all wardens' streams.
#include "bawn/os/library_thread.hpp"
#include "warden_link.hpp"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <unordered_map>

namespace bawn::sandbox {

namespace {

class IoThread {
 public:
  static IoThread& instance() {
    // Never destroyed: its thread may run until the process is gone.
    static IoThread* const only = new IoThread;
    return *only;
  }

  Result<> add(const std::shared_ptr<WardenLink>& link) {
    const std::scoped_lock lock(mutex_);
    BAWN_TRY(start());
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = link->descriptor();
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, link->descriptor(), &event) != 0) {
      return std::unexpected(Error::from_errno(errno, "epoll_ctl", "cannot watch a warden"));
    }
    links_[link->descriptor()] = link;
    return {};
  }

 private:
  Result<> start() {
    if (!epoll_.is_open()) {
      epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    }
    if (!epoll_.is_open()) {
      return std::unexpected(Error::from_errno(errno, "epoll_create1", "cannot watch wardens"));
    }
    if (!running_) {
      BAWN_TRY(os::start_library_thread([this] { run(); }));
      running_ = true;
    }
    return {};
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 16> events;
    for (;;) {
      const int count =
          ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
      for (int at = 0; at < count; ++at) {
        serve(events[static_cast<std::size_t>(at)].data.fd);
      }
    }
  }

  void serve(int descriptor) {
    const std::shared_ptr<WardenLink> link = find(descriptor);
    if (link != nullptr && !link->on_readable()) {
      remove(descriptor);
      link->lose();
    }
  }

  std::shared_ptr<WardenLink> find(int descriptor) {
    const std::scoped_lock lock(mutex_);
    const auto found = links_.find(descriptor);
    return found == links_.end() ? nullptr : found->second;
  }

  void remove(int descriptor) {
    const std::scoped_lock lock(mutex_);
    (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
    links_.erase(descriptor);
  }

  os::UniqueFd epoll_;
  bool running_ = false;
  std::mutex mutex_;
  std::unordered_map<int, std::shared_ptr<WardenLink>> links_;
};

}  // namespace

Result<> start_reading(const std::shared_ptr<WardenLink>& link) {
  return IoThread::instance().add(link);
}

}  // namespace bawn::sandbox
