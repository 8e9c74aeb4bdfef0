// Reading objects in parts: concurrently, each checked against its request, assembled in order.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/request_pipeline.hpp>
#include <smdebug/s3/object/failure.hpp>
#include <smdebug/s3/object/list_page.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/range_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug::inline v1::s3::detail {

/// Reads objects of one bucket under a prefix.
/// Memory: most_requests parts at once, beside the object being assembled.  Borrows: the client.
template <class Client>
class object_reader {
public:
    explicit object_reader(const Client& asked) noexcept : client_(asked) {}

    /// A part of an object, cut at the object's end; nothing if there is no such object.
    /// An object that is replaced during the read is read again: versions are never mixed.
    /// Errors: those of fail(); unavailable if it is replaced repeatedly.
    [[nodiscard]] std::optional<byte_buffer> read(std::string_view key, byte_range where) const;

    /// A whole object and its version, the same as in a listing.  Errors: as read().
    [[nodiscard]] std::optional<versioned_object> read_versioned(std::string_view key) const;

    /// See storage/concepts.hpp.  Errors: as read(); unsupported for an object above 256 MiB.
    void read_each(std::span<const std::string> keys, object_sink sink) const;

    /// See storage/concepts.hpp.  Errors: as read().
    void read_ranges(std::span<const object_range> ranges, range_sink sink) const;

private:
    static constexpr std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();

    using requests = bounded_calls<Client>;

    /// The parts of one object in flight, in order.
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

    /// `version`: the ETag that the object must have; empty: any.
    [[nodiscard]] call part(std::string_view key, byte_range wanted, std::string_view version = {}) const;

    [[nodiscard]] std::optional<byte_buffer> read(requests& asked, std::string_view key, byte_range where,
                                                  object_version* version_told = nullptr) const;

    /// Reads all of `where`, whose first part has already been requested.
    [[nodiscard]] std::optional<byte_buffer> put_together(requests& asked, std::string_view key, byte_range where,
                                                          call_result first, std::uint64_t most,
                                                          object_version* version_told = nullptr) const;

    /// The same as in list_page; some servers have objects without an ETag.
    [[nodiscard]] static std::string version_of(const http::response& answer);

    [[nodiscard]] static object_version version_told_by(const http::response& answer, const held_part& part);

    [[nodiscard]] std::string name_of(std::string_view key) const {
        return "s3://" + client_.where().bucket + "/" + client_.where().prefix + std::string{key};
    }
    [[nodiscard]] std::string first_name(const call_result& of) const {
        return "s3://" + client_.where().bucket + "/" + of.asked.key;
    }

    /// Adds the first part of a range and requests the others; false if the object has been replaced.
    [[nodiscard]] bool join(requests& asked, std::string_view key, const call_result& first,
                            smdebug::detail::range_joiner& range) const;

    void give(smdebug::detail::range_assembly& assembly, requests& asked, std::size_t place, const object_range& wanted,
              call_result first) const;

    const Client& client_;
};

template <class Client>
std::optional<byte_buffer> object_reader<Client>::read(std::string_view key, byte_range where) const {
    requests asked{client_, most_requests()};
    return read(asked, key, where);
}

template <class Client>
std::optional<versioned_object> object_reader<Client>::read_versioned(std::string_view key) const {
    requests asked{client_, most_requests()};
    object_version version;
    auto bytes = read(asked, key, {0, everything}, &version);
    if (!bytes) {
        return std::nullopt;
    }
    // The answer for an empty object may lack the version, and some servers have objects without an ETag.
    return versioned_object{*std::move(bytes), version.tag.empty() ? "unknown" : std::move(version.tag)};
}

template <class Client>
void object_reader<Client>::read_each(std::span<const std::string> keys, object_sink sink) const {
    constexpr std::uint64_t most_at_once = std::uint64_t{256} << 20U;
    const byte_range whole{0, everything};
    requests asked{client_, most_requests()};
    std::map<std::size_t, std::size_t> numbers;  // of the first parts, by index in `keys`
    std::size_t started = 0;
    const auto fill = [&](std::size_t from) {
        for (; started < keys.size() && started - from < most_requests(); ++started) {
            if (!keys[started].empty()) {
                numbers[started] = asked.start(part(keys[started], first_part(whole)));
            }
        }
    };
    for (std::size_t i = 0; i < keys.size(); ++i) {
        fill(i);
        std::optional<byte_buffer> object;
        object_version version;
        if (const auto number = numbers.extract(i)) {
            call_result first = asked.wait(number.mapped());
            fill(i + 1);  // keeps the network busy
            object = put_together(asked, keys[i], whole, std::move(first), most_at_once, &version);
        }
        if (!sink(i, object ? std::optional{object->view()} : std::nullopt, version)) {
            return;
        }
    }
}

template <class Client>
void object_reader<Client>::read_ranges(std::span<const object_range> ranges, range_sink sink) const {
    const smdebug::detail::range_plan plan{ranges, {client_.options().merge_gap, part_bytes()}};
    const auto planned = plan.requests();
    smdebug::detail::range_assembly assembly{plan, sink, name_of({})};
    requests asked{client_, most_requests()};
    std::map<std::size_t, std::size_t> places;  // index in `planned` of each call in flight
    std::size_t started = 0;
    for (std::size_t first_open = 0; !assembly.complete();) {
        if (const auto again = assembly.ask_again()) {
            for (const auto& under_way : std::exchange(places, {})) {
                asked.drop(under_way.first);
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
                // HTTP has no empty ranges: reading one byte shows whether the object exists.
                const byte_range wanted{next.where.offset, std::max<std::uint64_t>(next.where.length, 1)};
                places[asked.start(part(next.key, first_part(wanted)))] = started;
            }
        }
        if (!asked.idle()) {  // otherwise earlier answers covered all of them
            auto [number, first] = asked.next();
            const std::size_t place = places.extract(number).mapped();
            give(assembly, asked, place, planned[place], std::move(first));
        }
    }
}

template <class Client>
object_reader<Client>::parts_under_way::~parts_under_way() {
    for (const std::size_t number : numbers) {
        asked.drop(number);
    }
}

template <class Client>
bool object_reader<Client>::verifies_etags() const {
    const etag_check when = client_.options().verify_etags;
    return when == etag_check::always || (when == etag_check::without_tls && client_.server().starts_with("http:"));
}

template <class Client>
call object_reader<Client>::part(std::string_view key, byte_range wanted, std::string_view version) const {
    // A server without range requests may send all of a small object.
    constexpr std::uint64_t whole_objects_to = std::uint64_t{16} << 20U;
    call asked{.key = std::string{client_.where().prefix}.append(key),
               .most = std::max(wanted.length, whole_objects_to),
               .wanted = wanted,
               .check = verifies_etags() ? holds_part<true> : holds_part<false>,
               .doing = "reading"};
    asked.headers.push_back({"range", range_header(wanted)});
    if (wanted.offset == 0) {  // may be the whole object: request its checksum
        asked.headers.push_back({"x-amz-checksum-mode", "ENABLED"});
    }
    if (!version.empty()) {
        asked.headers.push_back({"if-match", std::string{version}});
    }
    return asked;
}

template <class Client>
std::optional<byte_buffer> object_reader<Client>::read(requests& asked, std::string_view key, byte_range where,
                                                       object_version* version_told) const {
    if (key.empty()) {
        return std::nullopt;  // its URL is that of the bucket or a folder
    }
    call_result first = asked.wait(asked.start(part(key, first_part(where))));
    return put_together(asked, key, where, std::move(first), everything, version_told);
}

template <class Client>
std::optional<byte_buffer> object_reader<Client>::put_together(requests& asked, std::string_view key, byte_range where,
                                                               call_result first, std::uint64_t most,
                                                               object_version* version_told) const {
    for (int version = 1; version <= smdebug::detail::most_versions; ++version) {
        if (version > 1) {
            first = asked.wait(asked.start(part(key, first_part(where))));
        }
        if (first.is_missing()) {
            return std::nullopt;
        }
        if (!first.good) {
            fail(client_.where(), client_.server(), first);
        }
        const held_part begin = *part_in(first.answer, first.asked.wanted);
        const std::uint64_t length =
            begin.total > where.offset ? std::min(where.length, begin.total - where.offset) : 0;
        if (length > most && begin.bytes.size() < length) {
            throw unsupported("the object " + first_name(first) + " has " + std::to_string(begin.total) +
                                  " bytes, too many to be read at once: read it in pieces",
                              {.where = first_name(first)});
        }
        smdebug::detail::range_joiner range{{where.offset, length}};
        if (join(asked, key, first, range)) {
            if (version_told != nullptr) {
                *version_told = range.version();
            }
            return std::move(range).take();
        }
    }
    smdebug::detail::throw_replaced(first_name(first));
}

template <class Client>
std::string object_reader<Client>::version_of(const http::response& answer) {
    const std::string_view etag = unquoted(answer.find_header("etag").value_or(""));
    return std::string{etag.empty() ? answer.find_header("last-modified").value_or("unknown") : etag};
}

template <class Client>
object_version object_reader<Client>::version_told_by(const http::response& answer, const held_part& part) {
    if (answer.status == 416) {  // contains at most the object's size
        const bool has_size = answer.find_header("content-range").has_value();
        return {.size = has_size ? std::optional{part.total} : std::nullopt};
    }
    return {.tag = version_of(answer), .size = part.total};
}

template <class Client>
bool object_reader<Client>::join(requests& asked, std::string_view key, const call_result& first,
                                 smdebug::detail::range_joiner& range) const {
    using progress = smdebug::detail::range_joiner::progress;
    const auto add = [&](const call_result& next) {
        const byte_range wanted = next.asked.wanted;
        const held_part received = *part_in(next.answer, wanted);
        // Not every server has versions, or respects the requested one.
        return range.add({next.answer.body.owner(), received.bytes}, wanted, version_told_by(next.answer, received));
    };
    const std::string_view etag = first.answer.find_header("etag").value_or("");
    parts_under_way going{asked};
    progress state = add(first);
    for (byte_range rest = range.rest(); state == progress::partial;) {
        while (rest.length > 0 && going.numbers.size() < most_requests()) {
            const byte_range next = first_part(rest);
            going.numbers.push_back(asked.start(part(key, next, etag)));
            rest = {next.offset + next.length, rest.length - next.length};
        }
        const call_result ended = asked.wait(going.numbers.front());
        going.numbers.pop_front();
        if (ended.is_missing() || (ended.answer.answered() && ended.answer.status == 412)) {
            return false;
        }
        if (!ended.good) {
            fail(client_.where(), client_.server(), ended);
        }
        state = add(ended);
    }
    return state == progress::complete;
}

template <class Client>
void object_reader<Client>::give(smdebug::detail::range_assembly& assembly, requests& asked, std::size_t place,
                                 const object_range& wanted, call_result first) const {
    std::optional<byte_buffer> bytes;
    object_version version;
    try {
        bytes = put_together(asked, wanted.key, wanted.where, std::move(first), everything, &version);
    } catch (const error&) {
        assembly.fail(place, std::current_exception());
        return;
    }
    assembly.give(place, std::move(bytes), version);
}

}  // namespace smdebug::inline v1::s3::detail
