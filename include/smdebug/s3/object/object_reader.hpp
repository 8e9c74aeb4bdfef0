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
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smdebug::inline v1::s3::detail {

/// Reads objects of one bucket under a prefix.  One thread.  Destroying it cancels the requests in flight, which a read
/// that has thrown or was ended by its sink leaves behind.
/// Memory: most_requests parts at once, beside the object being assembled.  Borrows: the client.
class object_reader {
public:
    explicit object_reader(const client& asked)
        : client_(asked), asked_(asked, std::max<std::size_t>(asked.options().most_requests, 1)) {}

    /// A part of an object, cut at the object's end; nothing if there is no such object.
    /// A range that comes in one answer shares its memory; otherwise the parts are copied together.
    /// An object that is replaced during the read is read again: versions are never mixed.
    /// `version`: gets the object's version, if not null.
    /// `begun`: the number of the request for the first part, if it has been made already.
    /// Errors: those of fail(); unavailable if it is replaced repeatedly; unsupported if `most` bytes are not enough.
    [[nodiscard]] std::optional<byte_buffer> read(std::string_view key, byte_range where,
                                                  object_version* version = nullptr,
                                                  std::optional<std::size_t> begun = std::nullopt,
                                                  std::uint64_t most = UINT64_MAX);

    /// See storage_base::read_each().  Errors: as read(); unsupported for an object above 256 MiB.
    void read_each(std::span<const std::string> keys, object_sink sink);

    /// See storage_base::read_ranges().  Errors: as read().
    void read_ranges(std::span<const object_range> ranges, range_sink sink);

private:
    [[nodiscard]] std::uint64_t part_bytes() const noexcept {
        return std::max<std::uint64_t>(client_.options().part_bytes, 1);
    }
    [[nodiscard]] std::size_t most_requests() const noexcept {
        return std::max<std::size_t>(client_.options().most_requests, 1);
    }
    /// Requests the first part of a range, and returns the number of the request.
    /// `version`: the ETag that the object must have; if empty, it may have any.
    std::size_t start(std::string_view key, byte_range where, std::string_view version = {});

    const client& client_;
    request_pipeline asked_;
};

}  // namespace smdebug::inline v1::s3::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/object/impl/object_reader.ipp>
#endif
