#include "bawn/os/library_thread.hpp"

#include <signal.h>

#include <system_error>
#include <utility>

namespace bawn::os {

contract::Result<std::thread> joinable_library_thread(std::function<void()> body) {
  sigset_t every;
  sigset_t before;
  (void)::sigfillset(&every);
  (void)::pthread_sigmask(SIG_SETMASK, &every, &before);
  std::thread thread;
  int errnum = 0;
  try {
    thread = std::thread(std::move(body));
  } catch (const std::system_error& error) {
    errnum = error.code().value();
  }
  (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (errnum != 0) {
    return std::unexpected(
        contract::Error::from_errno(errnum, "pthread_create", "cannot start a thread"));
  }
  return thread;
}

contract::Result<> start_library_thread(std::function<void()> body) {
  auto thread = joinable_library_thread(std::move(body));
  if (!thread) {
    return std::unexpected(std::move(thread).error());
  }
  thread->detach();
  return {};
}

}  // namespace bawn::os
