// Reading objects in parts: many at once, each checked to be the part that was asked for, put together in order.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/bounded_calls.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/call_window.hpp>
#include <smdebug/s3/call/content_range.hpp>
#include <smdebug/s3/object/failure.hpp>
#include <smdebug/s3/object/list_page.hpp>
#include <smdebug/s3/object/object_checksum.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/range_plan.hpp>
#include <smdebug/storage/versioned_read.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// Reads objects of one bucket below a prefix.
/// Memory: most_requests parts at once, beside the object that is put together.  Borrows: the client.
template <class Client>
class object_reader {
public:
    explicit object_reader(const Client& asked) noexcept : client_(asked) {}

    /// A part of an object, cut at its end; nothing where there is no such object.
    /// An object that is replaced while its parts are read is read anew: no two versions are mixed.
    /// Errors: those of fail(); unavailable where it is replaced again and again.
    [[nodiscard]] std::optional<byte_buffer> read(std::string_view key, byte_range where) const;

    /// A whole object, and its version, as a listing tells it.  Errors: as read().
    [[nodiscard]] std::optional<versioned_object> read_versioned(std::string_view key) const;

    /// See storage/concepts.hpp.  Errors: as read(); unsupported for an object above 256 MiB.
    void read_each(std::span<const std::string> keys, object_sink sink) const;
    void read_each_versioned(std::span<const std::string> keys, versioned_object_sink sink) const;

    /// See storage/concepts.hpp.  Errors: as read().
    void read_ranges(std::span<const object_range> ranges, range_sink sink) const;
    void read_ranges_versioned(std::span<const object_range> ranges, versioned_range_sink sink) const;

private:
    static constexpr std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();

    using requests = bounded_calls<Client>;

    /// The parts of one object that are under way, in order.
    struct parts_under_way {
        explicit parts_under_way(requests& through) : asked(through) {}
        parts_under_way(const parts_under_way&) = delete;
        parts_under_way& operator=(const parts_under_way&) = delete;
        ~parts_under_way();
        requests& asked;
        std::deque<std::size_t> numbers = {};
    };

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
    template <bool VerifiesEtags>
    [[nodiscard]] static bool holds_part(const http::response& answer, byte_range wanted) {
        return part_in(answer, wanted).has_value() && disagreeing_checksum(answer, VerifiesEtags).empty();
    }

    /// `version`: an ETag that the object must have; empty: any.
    [[nodiscard]] call part(std::string_view key, byte_range wanted, std::string_view version = {}) const;

    [[nodiscard]] std::optional<byte_buffer> read(requests& asked, std::string_view key, byte_range where,
                                                  object_version* version_told = nullptr) const;

    /// The whole of `where`, whose first part has been asked for.
    [[nodiscard]] std::optional<byte_buffer> put_together(requests& asked, std::string_view key, byte_range where,
                                                          call_result first, std::uint64_t most,
                                                          object_version* version_told = nullptr) const;

    /// As list_page has it; not all servers have an ETag for everything.
    [[nodiscard]] static std::string version_of(const http::response& answer);

    [[nodiscard]] static object_version version_told_by(const http::response& answer, const held_part& part);

    [[nodiscard]] std::string name_of(std::string_view key) const {
        return "s3://" + client_.where().bucket + "/" + client_.where().prefix + std::string{key};
    }
    [[nodiscard]] std::string first_name(const call_result& of) const {
        return "s3://" + client_.where().bucket + "/" + of.asked.key;
    }

    /// Adds the first part of a range and asks for the others; false where the object is not the same any more.
    [[nodiscard]] bool join(requests& asked, std::string_view key, const call_result& first,
                            smdebug::detail::range_joiner& range) const;

    void give(smdebug::detail::range_assembly& assembly, requests& asked, std::size_t place, const object_range& wanted,
              call_result first) const;

    const Client& client_;
};

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#include <smdebug/s3/object/impl/object_reader.tpp>
