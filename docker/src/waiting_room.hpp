/// \file
/// Where the server waits for a container's main process.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/os/pidfd.hpp"
#include "bawn/os/unique_fd.hpp"

#include <optional>
#include <string>

namespace bawn::container {

struct Visitor {
  os::UniqueFd stream;
  int pid = 0;  ///< its number here; 0 when it has none, because the engine runs elsewhere
};

class WaitingRoom {
 public:
  /// Listens at `path`, which everybody may connect to: the directory around it is what keeps
  /// others away.
  ///
  /// Errors: InvalidArgument (the path is too long for a socket), those of bind(2).
  static contract::Result<WaitingRoom> open(const std::string& path);
  WaitingRoom(WaitingRoom&&) noexcept = default;
  WaitingRoom& operator=(WaitingRoom&&) noexcept = default;
  ~WaitingRoom();

  /// The first that comes; none when `engine`'s command ended before. The socket is gone then.
  ///
  /// Errors: Cancelled, DeadlineExceeded.
  contract::Result<std::optional<Visitor>> await(const contract::Context& context,
                                                 const os::Pidfd& engine);

 private:
  WaitingRoom(os::UniqueFd listener, std::string path)
      : listener_(std::move(listener)), path_(std::move(path)) {}
  os::UniqueFd listener_;
  std::string path_;
};

}  // namespace bawn::container
