// Debian ships libfmt as a shared library only. This file compiles its own headers into an archive,
// so that `bawn` links it statically; see Dependencies.cmake for why.
#include <fmt/format-inl.h>

#include <locale>

namespace fmt {
inline namespace v9 {
namespace detail {
template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template char decimal_point_impl<char>(locale_ref);
template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, basic_format_args<buffer_context<char>>,
                         locale_ref);
template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
}  // namespace detail
}  // namespace v9
}  // namespace fmt

// fmt/chrono.h asks for it in whoever formats a time.
template std::locale fmt::detail::locale_ref::get<std::locale>() const;
