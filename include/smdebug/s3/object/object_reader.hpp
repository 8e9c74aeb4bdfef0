// Reading objects in parts: concurrently, each checked against its request, assembled in order.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/client.hpp>
#include <smdebug/s3/call/request_pipeline.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/range_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smdebug::inline v1::s3::detail {

/// Reads objects of one bucket under a prefix.
/// Memory: most_requests parts at once, beside the object being assembled.  Borrows: the client.
class object_reader {
public:
    explicit object_reader(const client& asked) noexcept : client_(asked) {}

    /// A part of an object, cut at the object's end; nothing if there is no such object.
    /// An object that is replaced during the read is read again: versions are never mixed.
    /// `version`: gets the object's version, if not null.
    /// Errors: those of fail(); unavailable if it is replaced repeatedly.
    [[nodiscard]] std::optional<byte_buffer> read(std::string_view key, byte_range where,
                                                  object_version* version = nullptr) const;

    /// A whole object and its version, the same as in a listing.  Errors: as read().
    [[nodiscard]] std::optional<versioned_object> read_versioned(std::string_view key) const;

    /// See storage/concepts.hpp.  Errors: as read(); unsupported for an object above 256 MiB.
    void read_each(std::span<const std::string> keys, object_sink sink) const;

    /// See storage/concepts.hpp.  Errors: as read().
    void read_ranges(std::span<const object_range> ranges, range_sink sink) const;

private:
    static constexpr std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();

    [[nodiscard]] std::uint64_t part_bytes() const noexcept {
        return std::max<std::uint64_t>(client_.options().part_bytes, 1);
    }
    [[nodiscard]] std::size_t most_requests() const noexcept {
        return std::max<std::size_t>(client_.options().most_requests, 1);
    }
    [[nodiscard]] byte_range first_part(byte_range where) const noexcept {
        return {where.offset, std::min(where.length, part_bytes())};
    }

    [[nodiscard]] bool verifies_etags() const;

    /// `version`: the ETag that the object must have; empty: any.
    [[nodiscard]] call part(std::string_view key, byte_range wanted, std::string_view version = {}) const;

    /// Reads all of `where`, whose first part has already been requested.
    [[nodiscard]] std::optional<byte_buffer> put_together(request_pipeline& asked, std::string_view key,
                                                          byte_range where, call_result first, std::uint64_t most,
                                                          object_version* version_told = nullptr) const;

    /// Adds the first part of a range and requests the others; false if the object has been replaced.
    [[nodiscard]] bool join(request_pipeline& asked, std::string_view key, const call_result& first,
                            smdebug::detail::range_joiner& range) const;

    void give(smdebug::detail::range_assembly& assembly, request_pipeline& asked, std::size_t place,
              const object_range& wanted, call_result first) const;

    const client& client_;
};

}  // namespace smdebug::inline v1::s3::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/object/impl/object_reader.ipp>
#endif
