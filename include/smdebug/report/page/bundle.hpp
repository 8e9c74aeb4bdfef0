// What every report's page is made of: its style, its script, and what stands in it before the script has run.
// Made of report/src by report/build.mjs; the texts lie in page/impl/bundle.ipp, with the licence of what is not ours.
#pragma once

#include <smdebug/core/form.hpp>

#include <span>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace report {
namespace detail {

/// In pieces, to be put one behind the other, as compilers need not take longer ones.
[[nodiscard]] std::span<const std::string_view> page_style() noexcept;
[[nodiscard]] std::span<const std::string_view> page_script() noexcept;
/// "sha256-...", as a Content-Security-Policy names them.
[[nodiscard]] std::string_view page_style_hash() noexcept;
[[nodiscard]] std::string_view page_script_hash() noexcept;
[[nodiscard]] std::string_view page_body() noexcept;
/// Of the files in report/ that these were made of, see report/build.mjs.
[[nodiscard]] std::string_view page_source_hash() noexcept;

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/report/page/impl/bundle.ipp>
#endif
