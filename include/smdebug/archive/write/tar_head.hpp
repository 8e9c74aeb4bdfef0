// Heads of a tar archive, to be written: ustar, and pax where that does not suffice.
#pragma once

#include <smdebug/core/form.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// What stands before a file's bytes: one head of 512 bytes, behind one of pax with its text where the name has more than 100
/// bytes or the file 8 GiB and more.  `seconds`: when the file was written, since 1970.
/// Source: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Extended Header".
[[nodiscard]] std::string tar_head(std::string_view name, std::uint64_t size, std::uint64_t seconds);

/// How many empty bytes follow a file of that size.
[[nodiscard]] constexpr std::uint64_t tar_padding(std::uint64_t size) noexcept { return (512 - size % 512) % 512; }

/// What stands at the end of an archive.
inline constexpr std::size_t tar_end_bytes = 1024;

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/write/impl/tar_head.ipp>
#endif
