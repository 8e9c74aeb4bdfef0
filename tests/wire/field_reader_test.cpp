#include <smdebug/wire/field.hpp>

#include "support/test.hpp"

#include "messages.hpp"

namespace wire = smdebug::detail::wire;
using namespace std::literals;
using smdebug::status;
using wire::wire_type;

namespace {

struct outcome {
    std::vector<wire::field_number> numbers;
    status code = status::ok;
};

outcome read_all(const messages::bytes& message) {
    outcome seen;
    wire::field_reader reader{message};
    for (wire::field f; reader.next(f);) {
        seen.numbers.push_back(f.number);
    }
    seen.code = reader.code();
    return seen;
}

outcome read_all(std::string_view text) { return read_all(messages::of(text)); }

/// A message, and how reading it ends.
struct ending {
    const char* what;
    std::string_view message;
    status code;
};

void check(std::initializer_list<ending> all) {
    for (const ending& each : all) {
        CAPTURE(each.what);
        CHECK(read_all(each.message).code == each.code);
    }
}

/// A message with a field of every layout, and where each of its fields ends.
messages::bytes one_of_each(std::vector<std::size_t>& ends) {
    messages::bytes message;
    wire::field_writer writer{message};
    writer.write_varint(1, 300);
    ends.push_back(message.size());
    writer.write_double(2, -2.5);
    ends.push_back(message.size());
    writer.write_text(3, "some text");
    ends.push_back(message.size());
    writer.write_float(400, 0.5F);
    ends.push_back(message.size());
    return message;
}

}  // namespace

TEST_CASE("field_reader: an empty message has no fields") {
    CHECK(read_all(""sv).code == status::ok);
    CHECK(read_all(""sv).numbers.empty());
}

TEST_CASE("field_reader: gives every layout its value, in order") {
    std::vector<std::size_t> ends;
    const auto message = one_of_each(ends);
    wire::field_reader reader{message};
    wire::field f;
    REQUIRE(reader.next(f));
    CHECK(f.is(1, wire_type::varint));
    CHECK(f.as_uint64() == 300);
    REQUIRE(reader.next(f));
    CHECK(f.is(2, wire_type::fixed64));
    CHECK(f.as_double() == -2.5);
    REQUIRE(reader.next(f));
    CHECK(f.is(3, wire_type::length_delimited));
    CHECK(f.as_text() == "some text");
    CHECK(f.scalar == 0);
    REQUIRE(reader.next(f));
    CHECK(f.is(400, wire_type::fixed32));
    CHECK(f.as_float() == 0.5F);
    CHECK(f.bytes.empty());
    CHECK_FALSE(reader.next(f));
    CHECK(reader.code() == status::ok);
    CHECK_FALSE(reader.next(f));
}

TEST_CASE("field_reader: texts of every length up to where lengths take three bytes, each followed by a field") {
    for (std::size_t length = 0; length < 16'500; length += length < 300 ? 1 : 127) {
        messages::bytes message;
        wire::field_writer writer{message};
        writer.write_varint(14, 7);
        writer.write_text(15, std::string(length, 'x'));
        writer.write_text(16, std::string(length, 'y'));
        wire::field_reader reader{message};
        wire::field f;
        REQUIRE(reader.next(f));
        REQUIRE(f.scalar == 7);
        for (const char letter : {'x', 'y'}) {
            REQUIRE(reader.next(f));
            REQUIRE(f.number == (letter == 'x' ? 15 : 16));
            REQUIRE(f.type == wire_type::length_delimited);
            REQUIRE(f.scalar == 0);  // nothing of the number before it
            REQUIRE(smdebug::as_text(f.bytes) == std::string(length, letter));
        }
        REQUIRE_FALSE(reader.next(f));
        REQUIRE(reader.code() == status::ok);
    }
}

TEST_CASE("field_reader: bytes are borrowed from the message") {
    const auto message = messages::of("\x1a\x03xyz"sv);
    wire::field_reader reader{message};
    wire::field f;
    REQUIRE(reader.next(f));
    CHECK(f.bytes.data() == message.data() + 2);
}

TEST_CASE("field_reader: every prefix that is not a whole number of fields is truncated") {
    std::vector<std::size_t> ends;
    const auto message = one_of_each(ends);
    for (std::size_t size = 0; size < message.size(); ++size) {
        std::size_t whole = 0;
        bool between = size == 0;
        for (const std::size_t end : ends) {
            whole += end <= size ? 1U : 0U;
            between = between || end == size;
        }
        const outcome seen = read_all(messages::prefix(message, size));
        REQUIRE(seen.numbers.size() == whole);
        REQUIRE(seen.code == (between ? status::ok : status::truncated));
    }
}

TEST_CASE("field_reader: no flipped bit makes it read outside the message") {
    std::vector<std::size_t> ends;
    const auto message = one_of_each(ends);
    for (std::size_t bit = 0; bit < 8 * message.size(); ++bit) {
        const auto damaged = messages::flipped(message, bit);
        wire::field_reader reader{damaged};
        for (wire::field f; reader.next(f);) {
            REQUIRE(f.bytes.size() <= damaged.size());
        }
        const status code = reader.code();
        REQUIRE((code == status::ok || code == status::truncated || code == status::malformed));
    }
}

TEST_CASE("field_reader: bad tags are malformed, and end the reading") {
    check({{"number 0", "\x00"sv, status::malformed},
           {"number 0, and wire type 6", "\x06\x01"sv, status::malformed},
           {"wire type 7", "\x0f\x01"sv, status::malformed},
           {"more than 64 bits", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"sv, status::malformed}});
    const outcome seen = read_all("\x08\x01\x00\x08\x02"sv);
    CHECK(seen.numbers.size() == 1);
    CHECK(seen.code == status::malformed);
}

TEST_CASE("field_reader: a length beyond the message is truncated, however large") {
    check({{"one byte more", "\x1a\x04xyz"sv, status::truncated},
           {"the largest length", "\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01xyz"sv, status::truncated}});
}

TEST_CASE("field_reader: groups are skipped with all they hold") {
    // field 1; group 2 { field 1, group 3 {}, text 4 }; field 5
    const outcome seen = read_all("\x08\x01\x13\x08\x02\x1b\x1c\x22\x01x\x14\x28\x03"sv);
    CHECK(seen.code == status::ok);
    CHECK(seen.numbers == std::vector<wire::field_number>{1, 5});
}

TEST_CASE("field_reader: groups that do not end, end twice or end another are errors") {
    check({{"begins and does not end", "\x13\x08\x01"sv, status::truncated},
           {"ends another group", "\x13\x1c"sv, status::malformed},
           {"ends and has not begun", "\x14"sv, status::malformed},
           {"ends twice", "\x13\x14\x14"sv, status::malformed}});
}

TEST_CASE("field_reader: groups may nest up to a limit") {
    constexpr std::size_t most = wire::field_reader::max_group_depth;
    const auto nested = [](std::size_t depth) { return std::string(depth, '\x13') + std::string(depth, '\x14'); };
    CHECK(read_all(nested(most)).code == status::ok);
    CHECK(read_all(nested(most + 1)).code == status::malformed);
    CHECK(read_all(std::string(1000000, '\x13')).code == status::malformed);
}
