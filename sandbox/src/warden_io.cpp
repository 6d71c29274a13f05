// The one thread of a process that reads all wardens' streams.
#include "warden_link.hpp"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <thread>
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

  void add(const std::shared_ptr<WardenLink>& link) {
    const std::scoped_lock lock(mutex_);
    links_[link->descriptor()] = link;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = link->descriptor();
    (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, link->descriptor(), &event);
  }

 private:
  IoThread() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    std::thread([this] { run(); }).detach();
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
  std::mutex mutex_;
  std::unordered_map<int, std::shared_ptr<WardenLink>> links_;
};

}  // namespace

void start_reading(const std::shared_ptr<WardenLink>& link) {
  IoThread::instance().add(link);
}

}  // namespace bawn::sandbox
