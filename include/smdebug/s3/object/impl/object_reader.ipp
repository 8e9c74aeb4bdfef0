// The bodies of <smdebug/s3/object/object_reader.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/object/failure.hpp>
#include <smdebug/s3/object/object_reader.hpp>
#include <smdebug/s3/options.hpp>

#include <deque>
#include <exception>
#include <map>
#include <utility>

namespace smdebug::inline v1::s3::detail {

/// The same as in a listing; some servers have objects without an ETag.
SMDEBUG_INLINE std::string version_of(const http::response& answer) {
    const std::string_view etag = unquoted(answer.find_header("etag").value_or(""));
    return std::string{etag.empty() ? answer.find_header("last-modified").value_or("unknown") : etag};
}

SMDEBUG_INLINE object_version version_told_by(const http::response& answer, const held_part& part) {
    if (answer.status == 416) {  // contains at most the object's size
        const bool has_size = answer.find_header("content-range").has_value();
        return {.size = has_size ? std::optional{part.total} : std::nullopt};
    }
    return {.tag = version_of(answer), .size = part.total};
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

SMDEBUG_INLINE std::optional<byte_buffer> object_reader::read(std::string_view key, byte_range where,
                                                              object_version* version) const {
    if (key.empty()) {
        return std::nullopt;  // its URL is that of the bucket or a folder
    }
    request_pipeline asked{client_, most_requests()};
    call_result first = asked.wait(asked.start(part(key, first_part(where))));
    return put_together(asked, key, where, std::move(first), everything, version);
}

SMDEBUG_INLINE std::optional<versioned_object> object_reader::read_versioned(std::string_view key) const {
    object_version version;
    auto bytes = read(key, {0, everything}, &version);
    if (!bytes) {
        return std::nullopt;
    }
    // The answer for an empty object may lack the version, and some servers have objects without an ETag.
    return versioned_object{*std::move(bytes), version.tag.empty() ? "unknown" : std::move(version.tag)};
}

SMDEBUG_INLINE void object_reader::read_each(std::span<const std::string> keys, object_sink sink) const {
    constexpr std::uint64_t most_at_once = std::uint64_t{256} << 20U;
    const byte_range whole{0, everything};
    request_pipeline asked{client_, most_requests()};
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

SMDEBUG_INLINE void object_reader::read_ranges(std::span<const object_range> ranges, range_sink sink) const {
    const smdebug::detail::range_plan plan{ranges, {client_.options().merge_gap, part_bytes()}};
    const auto planned = plan.requests();
    smdebug::detail::range_assembly assembly{plan, sink, client_.where().name_of(client_.where().prefix)};
    request_pipeline asked{client_, most_requests()};
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

SMDEBUG_INLINE bool object_reader::verifies_etags() const {
    const etag_check when = client_.options().verify_etags;
    return when == etag_check::always || (when == etag_check::without_tls && client_.server().starts_with("http:"));
}

SMDEBUG_INLINE call object_reader::part(std::string_view key, byte_range wanted, std::string_view version) const {
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

SMDEBUG_INLINE std::optional<byte_buffer> object_reader::put_together(request_pipeline& asked, std::string_view key,
                                                                      byte_range where, call_result first,
                                                                      std::uint64_t most,
                                                                      object_version* version_told) const {
    for (int version = 1; version <= smdebug::detail::most_versions; ++version) {
        if (version > 1) {
            first = asked.wait(asked.start(part(key, first_part(where))));
        }
        if (first.is_missing()) {
            return std::nullopt;
        }
        check_good(client_, first);
        const held_part begin = *part_in(first.answer, first.asked.wanted);
        const std::uint64_t length =
            begin.total > where.offset ? std::min(where.length, begin.total - where.offset) : 0;
        if (length > most && begin.bytes.size() < length) {
            throw unsupported("the object " + client_.where().name_of(first.asked.key) + " has " +
                                  std::to_string(begin.total) +
                                  " bytes, too many to be read at once: read it in pieces",
                              {.where = client_.where().name_of(first.asked.key)});
        }
        smdebug::detail::range_joiner range{{where.offset, length}};
        if (join(asked, key, first, range)) {
            if (version_told != nullptr) {
                *version_told = range.version();
            }
            return std::move(range).take();
        }
    }
    smdebug::detail::throw_replaced(client_.where().name_of(first.asked.key));
}

SMDEBUG_INLINE bool object_reader::join(request_pipeline& asked, std::string_view key, const call_result& first,
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
        check_good(client_, ended);
        state = add(ended);
    }
    return state == progress::complete;
}

SMDEBUG_INLINE void object_reader::give(smdebug::detail::range_assembly& assembly, request_pipeline& asked,
                                        std::size_t place, const object_range& wanted, call_result first) const {
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
