#include "kernel_release.hpp"

#include <charconv>

namespace bawn::sandbox {

bool kernel_at_least(std::string_view release, int major, int minor) noexcept {
  int have_major = 0;
  int have_minor = 0;
  const char* const end = release.data() + release.size();
  const auto first = std::from_chars(release.data(), end, have_major);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '.') {
    return false;
  }
  if (std::from_chars(first.ptr + 1, end, have_minor).ec != std::errc{}) {
    return false;
  }
  return have_major != major ? have_major > major : have_minor >= minor;
}

}  // namespace bawn::sandbox
