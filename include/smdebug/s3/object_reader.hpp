// Reading objects in parts: many at once, each checked to be the part that was asked for, put together in order.
// Used by: s3/s3_storage.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/s3/bounded_calls.hpp>
#include <smdebug/s3/call.hpp>
#include <smdebug/s3/call_window.hpp>
#include <smdebug/s3/content_range.hpp>
#include <smdebug/s3/failure.hpp>
#include <smdebug/s3/list_page.hpp>
#include <smdebug/s3/object_checksum.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/range_plan.hpp>
#include <smdebug/storage/versioned_read.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {

/// Reads objects of one bucket below a prefix.
/// Memory: most_requests parts at once, beside the object that is put together.  Borrows: the client.
template <class Client>
class object_reader {
public:
    explicit object_reader(const Client& asked) noexcept : client_(asked) {}

    /// A part of an object, cut at its end; nothing where there is no such object.
    /// An object that is replaced while its parts are read is read anew: no two versions are mixed.
    /// Errors: those of fail(); unavailable where it is replaced again and again.
    [[nodiscard]] std::optional<byte_buffer> read(std::string_view key, byte_range where) const {
        requests asked{client_, most_requests()};
        return read(asked, key, where);
    }

    /// A whole object, and its version, as a listing tells it.  Errors: as read().
    [[nodiscard]] std::optional<versioned_object> read_versioned(std::string_view key) const {
        requests asked{client_, most_requests()};
        object_version version;
        auto bytes = read(asked, key, {0, everything}, &version);
        if (!bytes) {
            return std::nullopt;
        }
        // Of an object without bytes an answer may tell nothing; not all servers have an ETag for everything.
        return versioned_object{*std::move(bytes), version.tag.empty() ? "unknown" : std::move(version.tag)};
    }

    /// See storage/concepts.hpp.  Errors: as read(); unsupported for an object above 256 MiB.
    void read_each(std::span<const std::string> keys, object_sink sink) const {
        read_each_versioned(keys, [&](std::size_t i, std::optional<byte_view> bytes,
                                      const object_version& /*version*/) { sink(i, bytes); });
    }
    void read_each_versioned(std::span<const std::string> keys, versioned_object_sink sink) const {
        constexpr std::uint64_t most_at_once = std::uint64_t{256} << 20U;
        const byte_range whole{0, everything};
        requests asked{client_, most_requests()};
        std::map<std::size_t, std::size_t> numbers;  // of the first parts, by place in `keys`
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
                result first = asked.wait(number.mapped());
                fill(i + 1);  // the network has something to do meanwhile
                object = put_together(asked, keys[i], whole, std::move(first), most_at_once, &version);
            }
            sink(i, object ? std::optional{object->view()} : std::nullopt, version);
        }
    }

    /// See storage/concepts.hpp.  Errors: as read().
    void read_ranges(std::span<const object_range> ranges, range_sink sink) const {
        read_ranges_versioned(ranges, [&](std::size_t i, std::optional<byte_buffer> bytes,
                                          const object_version& /*version*/) { sink(i, std::move(bytes)); });
    }
    void read_ranges_versioned(std::span<const object_range> ranges, versioned_range_sink sink) const {
        const range_plan plan{ranges, {client_.options().merge_gap, part_bytes()}};
        const auto planned = plan.requests();
        range_assembly assembly{plan, sink, name_of({})};
        requests asked{client_, most_requests()};
        std::map<std::size_t, std::size_t> places;  // in `planned`, of what is under way
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
            // What has come out of order waits in memory: so not too far ahead of what is due.
            for (; started < planned.size() && started - first_open < most_requests(); ++started) {
                const object_range& next = planned[started];
                if (next.key.empty()) {
                    assembly.give(started, std::nullopt);
                } else if (!assembly.answered(started)) {
                    // A part of no bytes is not to be had; any other tells whether the object is there.
                    const byte_range wanted{next.where.offset, std::max<std::uint64_t>(next.where.length, 1)};
                    places[asked.start(part(next.key, first_part(wanted)))] = started;
                }
            }
            if (!asked.idle()) {  // else all of these were answered by what came before them
                auto [number, first] = asked.next();
                const std::size_t place = places.extract(number).mapped();
                give(assembly, asked, place, planned[place], std::move(first));
            }
        }
    }

private:
    static constexpr std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();

    using requests = bounded_calls<Client>;

    /// The parts of one object that are under way, in order.
    struct parts_under_way {
        explicit parts_under_way(requests& through) : asked(through) {}
        parts_under_way(const parts_under_way&) = delete;
        parts_under_way& operator=(const parts_under_way&) = delete;
        ~parts_under_way() {
            for (const std::size_t number : numbers) {
                asked.drop(number);
            }
        }
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

    [[nodiscard]] bool verifies_etags() const {
        const etag_check when = client_.options().verify_etags;
        return when == etag_check::always || (when == etag_check::without_tls && client_.server().starts_with("http:"));
    }
    template <bool VerifiesEtags>
    [[nodiscard]] static bool holds_part(const http::response& answer, byte_range wanted) {
        return part_in(answer, wanted).has_value() && disagreeing_checksum(answer, VerifiesEtags).empty();
    }

    /// `version`: an ETag that the object must have; empty: any.
    [[nodiscard]] call part(std::string_view key, byte_range wanted, std::string_view version = {}) const {
        // A server that knows no parts may send all of a small object.
        constexpr std::uint64_t whole_objects_to = std::uint64_t{16} << 20U;
        call asked{.key = std::string{client_.where().prefix}.append(key),
                   .most = std::max(wanted.length, whole_objects_to),
                   .wanted = wanted,
                   .check = verifies_etags() ? holds_part<true> : holds_part<false>,
                   .doing = "reading"};
        asked.headers.push_back({"range", range_header(wanted)});
        if (wanted.offset == 0) {  // it may be all: then the server is to say what checksum it has
            asked.headers.push_back({"x-amz-checksum-mode", "ENABLED"});
        }
        if (!version.empty()) {
            asked.headers.push_back({"if-match", std::string{version}});
        }
        return asked;
    }

    [[nodiscard]] std::optional<byte_buffer> read(requests& asked, std::string_view key, byte_range where,
                                                  object_version* version_told = nullptr) const {
        if (key.empty()) {
            return std::nullopt;  // its URL is that of the bucket, or of a folder
        }
        result first = asked.wait(asked.start(part(key, first_part(where))));
        return put_together(asked, key, where, std::move(first), everything, version_told);
    }

    /// The whole of `where`, whose first part has been asked for.
    [[nodiscard]] std::optional<byte_buffer> put_together(requests& asked, std::string_view key, byte_range where,
                                                          result first, std::uint64_t most,
                                                          object_version* version_told = nullptr) const {
        constexpr int most_versions = 5;
        for (int version = 1; version <= most_versions; ++version) {
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
            if (version_told != nullptr) {
                *version_told = version_told_by(first.answer, begin);
            }
            const std::uint64_t length =
                begin.total > where.offset ? std::min(where.length, begin.total - where.offset) : 0;
            if (begin.bytes.size() >= length) {
                return byte_buffer{first.answer.body.owner(), begin.bytes.first(static_cast<std::size_t>(length))};
            }
            if (length > most) {
                throw unsupported("the object " + first_name(first) + " has " + std::to_string(begin.total) +
                                      " bytes, too many to be read at once: read it in pieces",
                                  {.where = first_name(first)});
            }
            if (auto whole = join(asked, key, {where.offset, length}, first, begin)) {
                return whole;
            }
        }
        throw_replaced(first_name(first));
    }

    /// As list_page has it; not all servers have an ETag for everything.
    [[nodiscard]] static std::string version_of(const http::response& answer) {
        const std::string_view etag = unquoted(answer.find_header("etag").value_or(""));
        return std::string{etag.empty() ? answer.find_header("last-modified").value_or("unknown") : etag};
    }

    [[nodiscard]] static object_version version_told_by(const http::response& answer, const held_part& part) {
        if (answer.status == 416) {  // tells at most where the object ends
            const bool has_size = answer.find_header("content-range").has_value();
            return {.size = has_size ? std::optional{part.total} : std::nullopt};
        }
        return {.tag = version_of(answer), .size = part.total};
    }

    [[nodiscard]] std::string name_of(std::string_view key) const {
        return "s3://" + client_.where().bucket + "/" + client_.where().prefix + std::string{key};
    }
    [[nodiscard]] std::string first_name(const result& of) const {
        return "s3://" + client_.where().bucket + "/" + of.asked.key;
    }

    /// The parts behind the first one, in their places; nothing where the object is not the same any more.
    [[nodiscard]] std::optional<byte_buffer> join(requests& asked, std::string_view key, byte_range where,
                                                  const result& first, const held_part& begin) const {
        // Uninitialised on purpose: each byte is written, or this throws.
        const auto block = std::make_shared_for_overwrite<std::byte[]>(static_cast<std::size_t>(where.length));
        std::memcpy(block.get(), begin.bytes.data(), begin.bytes.size());
        const std::string_view etag = first.answer.find_header("etag").value_or("");
        const std::string version = version_of(first.answer);
        parts_under_way going{asked};
        std::uint64_t started = begin.bytes.size();
        while (started < where.length || !going.numbers.empty()) {
            while (started < where.length && going.numbers.size() < most_requests()) {
                const byte_range next{where.offset + started, std::min(part_bytes(), where.length - started)};
                going.numbers.push_back(asked.start(part(key, next, etag)));
                started += next.length;
            }
            const result ended = asked.wait(going.numbers.front());
            going.numbers.pop_front();
            if (ended.is_missing() || (ended.answer.answered() && ended.answer.status == 412)) {
                return std::nullopt;
            }
            if (!ended.good) {
                fail(client_.where(), client_.server(), ended);
            }
            const byte_range wanted = ended.asked.wanted;
            const held_part next = *part_in(ended.answer, wanted);
            // Not every server knows versions, or looks at the one that is asked for.
            if (next.bytes.size() != wanted.length || next.total != begin.total ||
                version_of(ended.answer) != version) {
                return std::nullopt;
            }
            std::memcpy(block.get() + (wanted.offset - where.offset), next.bytes.data(), next.bytes.size());
        }
        return byte_buffer{block, byte_view{block.get(), static_cast<std::size_t>(where.length)}};
    }

    void give(range_assembly& assembly, requests& asked, std::size_t place, const object_range& wanted,
              result first) const {
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

    const Client& client_;
};

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
