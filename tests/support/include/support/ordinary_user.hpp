/// \file
/// The tests of a program once more as an ordinary user, and places that every wall shows.
#pragma once

#include <filesystem>
#include <string>

namespace bawn::test {

/// A directory for tests behind a wall: neither /tmp nor /run, which a wall hides. For root
/// /var/lib, for others their home, or what run_as_ordinary_user() made.
std::filesystem::path visible_base();

/// Runs the tests of this program that `filter` names as user 65534, in a process of its own, and
/// returns its wait status; its output becomes failures of this test when that is not 0. For root
/// only.
int run_as_ordinary_user(const std::string& filter);

/// How many writes a race of swapped directories gets: BAWN_SWAP_WRITES, for whoever looks into
/// races and has minutes, or the usual number.
int swap_writes(int usual);

}  // namespace bawn::test
