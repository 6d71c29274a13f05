/// \file
/// Calls that name one resource run in the order in which they came; others beside each other.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bawn::contract {

/// Places in line, taken in order and known by number only; what a call shares is said when it is
/// known. Until then those behind it wait, and from then on only those that share something.
///
/// Threads: thread-safe.
class ResourceOrder {
 private:
  struct Line;
  struct Entry;

 public:
  /// A place in line, given up when it is destroyed.
  ///
  /// Threads: for one thread at a time.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept = default;
    Place& operator=(Place&& other) noexcept;
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { leave(); }

    /// Says what is shared and waits until no call before this one shares any of it. At most once;
    /// a default place has no line and waits for nobody.
    ///
    /// Errors: of the context (cancellation_error); the place is then given up.
    /// Blocking: until the calls before it are done, or the context ends.
    [[nodiscard]] Result<> wait(const Context& context, std::vector<std::string> resources);
    /// Gives it up.
    void leave() noexcept;

   private:
    friend class ResourceOrder;
    std::shared_ptr<Line> line_;
    std::shared_ptr<Entry> entry_;
  };

  ResourceOrder();
  /// Takes the place behind all others. Never blocks for long.
  [[nodiscard]] Place arrive();

 private:
  std::shared_ptr<Line> line_;
};

}  // namespace bawn::contract
