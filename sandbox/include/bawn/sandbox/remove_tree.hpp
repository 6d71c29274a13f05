/// \file
/// Removes a tree that a hostile command filled.
#pragma once

#include <string>

namespace bawn::sandbox {

/// Removes `path` and all below it, by descriptors and without following links; directories without
/// permissions and trees of any depth included. What cannot be removed stays, silently: there is
/// nobody left to tell.
///
/// Blocking: for as long as the tree is large. At most 64 descriptors are open at a time.
void remove_tree(const std::string& path) noexcept;

}  // namespace bawn::sandbox
