// The fixed parts of every report's page: its style, its script, and the markup before the script has run.
// report/build.mjs makes them from report/src; the texts lie in page/impl/bundle.ipp, with the licences of third-party
// code.
#pragma once

#include <smdebug/core/form.hpp>

#include <span>
#include <string_view>

namespace smdebug::inline v1::report::detail {

/// In pieces, to be concatenated, as compilers limit the length of a literal.
[[nodiscard]] std::span<const std::string_view> page_style() noexcept;
[[nodiscard]] std::span<const std::string_view> page_script() noexcept;
/// "sha256-...", as in a Content-Security-Policy.
[[nodiscard]] std::string_view page_style_hash() noexcept;
[[nodiscard]] std::string_view page_script_hash() noexcept;
[[nodiscard]] std::string_view page_body() noexcept;
/// The hash of the files in report/ that these were made from, see report/build.mjs.
[[nodiscard]] std::string_view page_source_hash() noexcept;

}  // namespace smdebug::inline v1::report::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/report/page/impl/bundle.ipp>
#endif
