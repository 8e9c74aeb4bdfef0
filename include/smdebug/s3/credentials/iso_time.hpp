// Times as ISO 8601 writes them: "2026-11-21T10:00:00Z".
#pragma once

#include <smdebug/core/form.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// Takes pieces off the front of a text; what is not there makes it fail, and leave the rest.
class time_pieces {
public:
    explicit time_pieces(std::string_view text) noexcept : left_(text) {}

    [[nodiscard]] bool whole() const noexcept { return good_ && left_.empty(); }
    [[nodiscard]] bool skip(std::string_view any_of) noexcept;
    void expect(std::string_view any_of) noexcept { good_ = skip(any_of) && good_; }
    /// Exactly so many digits, up to a largest value.
    [[nodiscard]] int number(std::size_t digits, int largest) noexcept;
    /// Digits behind the point, at least one; beyond nanoseconds they are cut off.
    [[nodiscard]] std::chrono::nanoseconds fraction() noexcept;

private:
    [[nodiscard]] std::optional<int> digit() noexcept;

    std::string_view left_;
    bool good_ = true;
};

/// A time with its zone: "2026-11-21T10:00:00Z", with a fraction of a second behind '.' or ',', with "+01:00", "+0100"
/// or "+01" instead of the 'Z'.  Exact as far as the system's clock counts; what lies beyond its range is the nearest
/// that it knows.  Nothing for all else: a time without a zone, too.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> parse_iso_time(std::string_view text) noexcept;

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/iso_time.ipp>
#endif
