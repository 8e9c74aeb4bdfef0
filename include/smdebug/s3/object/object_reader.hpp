// Reading objects in parts: concurrently, each checked against its request, assembled in order.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/client.hpp>
#include <smdebug/s3/call/request_pipeline.hpp>
#include <smdebug/s3/object/failure.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/range_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

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

/// The version as in a listing; some servers have objects without an ETag.
inline object_version version_told_by(const http::response& answer, const held_part& part) {
    if (answer.status == 416) {  // contains at most the object's size
        const bool has_size = answer.find_header("content-range").has_value();
        return {.size = has_size ? std::optional{part.total} : std::nullopt};
    }
    const std::string_view etag = unquoted(answer.find_header("etag").value_or(""));
    const std::string_view tag = etag.empty() ? answer.find_header("last-modified").value_or("unknown") : etag;
    return {.tag = std::string{tag}, .size = part.total};
}

/// The parts of one object in flight, in order.
struct parts_under_way {
    explicit parts_under_way(request_pipeline& through) : asked(through) {}
    parts_under_way(const parts_under_way&) = delete;
    parts_under_way& operator=(const parts_under_way&) = delete;
    ~parts_under_way() {
        for (const std::size_t number : numbers) {
            asked.drop(number);
        }
    }
    request_pipeline& asked;
    std::deque<std::size_t> numbers = {};
};

template <bool VerifiesEtags>
bool holds_part(const http::response& answer, byte_range wanted) {
    return part_in(answer, wanted).has_value() && disagreeing_checksum(answer, VerifiesEtags).empty();
}

inline std::optional<byte_buffer> object_reader::read(std::string_view key, byte_range where, object_version* version,
                                                      std::optional<std::size_t> begun, std::uint64_t most) {
    if (key.empty()) {
        return std::nullopt;  // its URL is that of the bucket or a folder
    }
    for (int times = 0; times < smdebug::detail::most_versions; ++times) {
        call_result got = asked_.wait(begun ? *begun : start(key, where));
        begun.reset();
        if (got.is_missing()) {
            return std::nullopt;
        }
        check_good(client_, got);
        held_part part = *part_in(got.answer, got.asked.wanted);
        object_version told = version_told_by(got.answer, part);
        const std::uint64_t length = part.total > where.offset ? std::min(where.length, part.total - where.offset) : 0;
        std::optional<byte_buffer> whole;
        if (part.bytes.size() >= length) {
            whole = byte_buffer{got.answer.body.owner(), part.bytes.first(std::size_t{length})};
        } else if (length > most) {
            const std::string name = client_.where().name_of(got.asked.key);
            throw unsupported("the object " + name + " has " + std::to_string(part.total) +
                                  " bytes, too many to be read at once: read it in pieces",
                              {.where = name});
        }
        const std::string etag{got.answer.find_header("etag").value_or("")};
        parts_under_way going{asked_};
        const auto block = whole ? nullptr : std::make_shared_for_overwrite<std::byte[]>(std::size_t{length});
        std::uint64_t requested = part.bytes.size();
        for (std::uint64_t size = 0; !whole;) {
            std::memcpy(block.get() + size, part.bytes.data(), part.bytes.size());
            size += part.bytes.size();
            if (size == length) {
                whole = byte_buffer{block, byte_view{block.get(), std::size_t{length}}};
                break;
            }
            for (; requested < length && going.numbers.size() < most_requests(); requested += part_bytes()) {
                going.numbers.push_back(start(key, {where.offset + requested, length - requested}, etag));
            }
            got = asked_.wait(going.numbers.front());
            going.numbers.pop_front();
            if (got.is_missing() || (got.answer.answered() && got.answer.status == 412)) {
                break;
            }
            check_good(client_, got);
            part = *part_in(got.answer, got.asked.wanted);
            // Not every server has versions, or respects the requested one.
            if (!told.merge(version_told_by(got.answer, part))) {
                break;
            }
        }
        if (whole) {
            if (version != nullptr) {
                *version = std::move(told);
            }
            return whole;
        }
    }
    smdebug::detail::throw_replaced(client_.where().name_of(client_.where().prefix + std::string{key}));
}

inline void object_reader::read_each(std::span<const std::string> keys, object_sink sink) {
    constexpr std::uint64_t most_at_once = std::uint64_t{256} << 20U;
    std::deque<std::size_t> begun;  // the requests for first parts, from object i on
    for (std::size_t i = 0; i < keys.size(); ++i) {
        // One more than may be in flight: the network is busy while the sink works.
        for (std::size_t next = i + begun.size(); next < keys.size() && begun.size() <= most_requests(); ++next) {
            begun.push_back(keys[next].empty() ? 0 : start(keys[next], whole_object));
        }
        object_version version;
        const auto object = read(keys[i], whole_object, &version, begun.front(), most_at_once);
        begun.pop_front();
        if (!sink(i, object ? std::optional{object->view()} : std::nullopt, version)) {
            return;
        }
    }
}

inline void object_reader::read_ranges(std::span<const object_range> ranges, range_sink sink) {
    const smdebug::detail::range_plan plan{ranges, {client_.options().merge_gap, part_bytes()}};
    const auto planned = plan.requests();
    smdebug::detail::range_assembly assembly{plan, sink, client_.where().name_of(client_.where().prefix)};
    std::map<std::size_t, std::size_t> places;  // index in `planned` of each call in flight
    std::size_t started = 0;
    for (std::size_t first_open = 0; !assembly.complete();) {
        if (const auto again = assembly.ask_again()) {
            for (const auto& under_way : std::exchange(places, {})) {
                asked_.drop(under_way.first);
            }
            first_open = started = *again;
        }
        while (first_open < started && assembly.answered(first_open)) {
            ++first_open;
        }
        // Parts that arrive out of order wait in memory: limit the distance from the first missing one.
        for (; started < planned.size() && started - first_open < most_requests(); ++started) {
            const object_range& next = planned[started];
            if (next.key.empty()) {
                assembly.give(started, std::nullopt);
            } else if (!assembly.answered(started)) {
                places[start(next.key, next.where)] = started;
            }
        }
        if (asked_.idle()) {
            continue;  // earlier answers covered all of them
        }
        const std::size_t number = asked_.next();
        const std::size_t place = places.extract(number).mapped();
        std::optional<byte_buffer> bytes;
        object_version version;
        try {
            bytes = read(planned[place].key, planned[place].where, &version, number);
        } catch (const error&) {
            assembly.fail(place, std::current_exception());
            continue;
        }
        assembly.give(place, std::move(bytes), version);
    }
}

inline std::size_t object_reader::start(std::string_view key, byte_range where, std::string_view version) {
    // A server without range requests may send all of a small object.
    constexpr std::uint64_t whole_objects_to = std::uint64_t{16} << 20U;
    // HTTP has no empty ranges: reading one byte shows whether the object exists.
    const byte_range wanted{where.offset, std::clamp<std::uint64_t>(where.length, 1, part_bytes())};
    const etag_check when = client_.options().verify_etags;
    const bool verifies_etags =
        when == etag_check::always || (when == etag_check::without_tls && client_.server().starts_with("http:"));
    call asked{.key = std::string{client_.where().prefix}.append(key),
               .most = std::max(wanted.length, whole_objects_to),
               .wanted = wanted,
               .check = verifies_etags ? holds_part<true> : holds_part<false>,
               .doing = "reading"};
    asked.headers.push_back({"range", range_header(wanted)});
    if (wanted.offset == 0) {  // may be the whole object: request its checksum
        asked.headers.push_back({"x-amz-checksum-mode", "ENABLED"});
    }
    if (!version.empty()) {
        asked.headers.push_back({"if-match", std::string{version}});
    }
    return asked_.start(std::move(asked));
}

}  // namespace smdebug::inline v1::s3::detail
