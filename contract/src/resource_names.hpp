/// \file
/// When two names of resources mean something shared.
#pragma once

#include <string_view>

namespace bawn::contract {

/// A name that ends in '/' is a view: of what has the name before that slash, and of all whose
/// names begin with it, "file:/a/" of "file:/a" and "file:/a/b".
[[nodiscard]] inline bool is_view(std::string_view name) noexcept {
  return name.ends_with('/');
}

/// What is under a view. One view is never under another: those who only look do not wait for each
/// other.
[[nodiscard]] inline bool is_under(std::string_view name, std::string_view view) noexcept {
  return is_view(view) && !is_view(name) &&
         (name.starts_with(view) || name == view.substr(0, view.size() - 1));
}

}  // namespace bawn::contract
