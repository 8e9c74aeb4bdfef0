// "s3://bucket/prefix", taken apart.
#pragma once

#include <smdebug/core/form.hpp>

#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {

/// Where a run lies.
struct location {
    std::string bucket;
    std::string prefix;  ///< empty, or with '/' at its end: what a storage's keys get before them

    /// "s3://bucket/prefix", without '/' at its end.
    [[nodiscard]] std::string text() const;
    friend bool operator==(const location&, const location&) = default;
};

/// Slashes at the end do not count; everything else of the prefix is taken as it stands, '%' and "//" too.
/// Errors: value_error for anything else than s3://, and for a name that no bucket can have.
[[nodiscard]] location parse_location(std::string_view uri);

}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/impl/location.ipp>
#endif
