/// \file
/// Makes a new input out of known ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace bawn::fuzz {

/// Changes bytes, moves pieces within an input and between inputs. The same seed gives the same
/// inputs from the same corpus.
class Mutator {
 public:
  /// \param longest  no input grows beyond this many bytes
  Mutator(std::uint64_t seed, std::size_t longest) : random_(seed), longest_(longest) {}

  /// A changed copy of one of `corpus`, which must not be empty.
  [[nodiscard]] std::string next(const std::vector<std::string>& corpus);

 private:
  void mutate(std::string& input, const std::vector<std::string>& corpus);
  [[nodiscard]] std::size_t below(std::size_t bound);
  [[nodiscard]] std::string piece_of(const std::string& text);

  std::mt19937_64 random_;
  std::size_t longest_;
};

}  // namespace bawn::fuzz
