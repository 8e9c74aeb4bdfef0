// Reading many objects or parts of them through a cache: what is near from there, the rest in one call.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/cache/caching_reader.hpp>
#include <smdebug/storage/cache/known_objects.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/read_each.hpp>
#include <smdebug/storage/read_ranges.hpp>
#include <smdebug/storage/versioned_read.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Hands over things in their order, of which some are near and others come from a call that gives them all.
/// `far`: the places of the others, ascending.  call(take) is to call take(i, what...) for each of them, i counting
/// within `far`; near(place) hands over one that is near, give(place, what...) one of the others.
/// Errors: what these throw.  When it is `call`, all that stands before what it failed at has been handed over.
template <class Near, class Give, class Call>
void in_order(std::size_t count, std::span<const std::size_t> far, Near&& near, Give&& give, Call&& call) {
    std::size_t next = 0;
    std::size_t come = 0;
    bool handing = false;
    const auto near_before = [&](std::size_t end) {
        for (; next < end; ++next) {
            near(next);
        }
    };
    try {
        if (!far.empty()) {
            call([&](std::size_t i, auto&&... what) {
                handing = true;
                near_before(far[i]);
                ++next;
                come = i + 1;
                give(far[i], std::forward<decltype(what)>(what)...);
                handing = false;
            });
        }
    } catch (...) {
        if (!handing && come < far.size()) {
            near_before(far[come]);
        }
        throw;
    }
    near_before(count);
}

/// One batch.  Borrows the reader.
template <class Reader>
class cached_batch {
public:
    explicit cached_batch(Reader& reader) : reader_(reader) {}

    /// As read_each_versioned().  What is not near is kept by a cache for scans, and by no other: it would push out
    /// everything.
    void read_each_versioned(std::span<const std::string> keys, versioned_object_sink sink);

    /// As read_ranges_versioned().  A cache for scans brings the objects of which much is wanted, or which are small,
    /// whole, first.
    void read_ranges_versioned(std::span<const object_range> ranges, versioned_range_sink sink);

    /// Fetches parts for object_holder, without looking into held_parts.  Hands over nothing where an object is not
    /// there, or cannot be read.  What comes whole is kept by a cache for scans, and by no other.
    /// Errors: what `sink` throws.
    void bring(std::span<const object_range> parts, versioned_range_sink sink);

private:
    static constexpr bool keeps_scans = Reader::keeps_scans;

    struct no_room {};
    using kept_list = std::vector<std::pair<std::string, known_object>>;

    template <class Near, class Give>
    void read_far(std::span<const std::string> keys, std::span<const std::size_t> far, Near&& near, Give&& give) {
        const auto call = [&](std::span<const std::string> asked) {
            detail::in_order(keys.size(), far, near, give, [&](auto&& take) {
                smdebug::read_each_versioned(std::as_const(reader_.inner()), asked, take);
            });
        };
        try {
            if (far.size() == keys.size()) {
                call(keys);
            } else {
                std::vector<std::string> asked;
                asked.reserve(far.size());
                for (const std::size_t place : far) {
                    asked.push_back(keys[place]);
                }
                call(asked);
            }
        } catch (...) {
            confirm();
            throw;
        }
        confirm();
    }

    /// Brings whole those objects of which much is asked for, where the cache keeps what a scan brings.
    void bring_wholes(std::span<const object_range> ranges);

    /// Returns what is now known of the object.
    known_object keep([[maybe_unused]] const std::string& key, const known_object& known,
                      [[maybe_unused]] byte_view bytes, [[maybe_unused]] const object_version& version);
    void confirm();

    /// Whether all ranges of the first one's object, up to the next object, are in held_parts.  If one is not, all come
    /// from elsewhere, so that they are of one version.
    [[nodiscard]] bool holds_all(std::span<const object_range> ranges) const;

    // The cache may have dropped an object since: it is then read.  Nothing where the storage does not have it.
    [[nodiscard]] std::optional<byte_buffer> whole_of(const std::string& key, const std::optional<known_object>& known,
                                                      object_version& version);
    [[nodiscard]] std::optional<byte_buffer> cached_whole(const std::string& key, const known_object& known,
                                                          object_version& version);
    [[nodiscard]] std::optional<byte_buffer> part_of(const object_range& wanted,
                                                     const std::optional<known_object>& known, object_version& version);

    // Bytes that take about as long as the round trip of a request to a server far away.
    static constexpr std::uint64_t worth_a_request = std::uint64_t{1} << 20U;
    static constexpr std::uint64_t most_counted = std::uint64_t{1} << 40U;  // of a range: the sum must not overflow

    Reader& reader_;
    kept_list kept_;
    std::uint64_t state_ = 0;  // of what was known when the batch began
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#include <smdebug/storage/cache/impl/cached_batch.tpp>
