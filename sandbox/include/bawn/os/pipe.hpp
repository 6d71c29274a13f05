/// \file
/// Pipes and socket pairs with named, owned ends.
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/os/unique_fd.hpp"

namespace bawn::os {

/// A pipe, both ends close-on-exec from birth.
///
/// Errors: ResourceExhausted (descriptors).
/// Source: pipe2(2).
struct Pipe {
  UniqueFd read;
  UniqueFd write;
  static contract::Result<Pipe> make();
};

/// A connected pair of Unix stream sockets, close-on-exec from birth.
///
/// Errors: ResourceExhausted (descriptors).
/// Source: socketpair(2).
struct SocketPair {
  UniqueFd near;
  UniqueFd far;
  static contract::Result<SocketPair> make();
};

}  // namespace bawn::os
