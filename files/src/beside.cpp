#include "beside.hpp"

#include "bawn/os/library_thread.hpp"

#include <utility>

namespace bawn::files {

Beside::Beside(const std::function<void()>& work, Size size) {
  if (size == Size::Large) {
    auto thread = os::joinable_library_thread([this, &work] {
      try {
        work();
      } catch (...) {
        failed_ = std::current_exception();
      }
    });
    if (thread) {
      thread_ = *std::move(thread);
      return;
    }
  }
  work();
}

Beside::~Beside() {
  join();
}

void Beside::finish() {
  join();
  if (failed_) {
    std::rethrow_exception(failed_);
  }
}

void Beside::join() {
  if (thread_.joinable()) {
    thread_.join();
  }
}

}  // namespace bawn::files
