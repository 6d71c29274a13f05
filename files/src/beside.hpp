/// \file
/// Work that is done beside other work.
#pragma once

#include <exception>
#include <functional>
#include <thread>

namespace bawn::files {

/// Runs a function in a thread of its own, or at once where it is small or no thread can be had.
/// What it uses must outlive this object, whose destructor waits for it.
///
/// Threads: for one thread at a time.
class Beside {
 public:
  enum class Size { Small, Large };
  Beside(const std::function<void()>& work, Size size);
  ~Beside();
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  /// Waits for its end. Lets an exception out that the function let out.
  void finish();

 private:
  void join();

  std::thread thread_;
  std::exception_ptr failed_;
};

}  // namespace bawn::files
