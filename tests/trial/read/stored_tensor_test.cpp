#include <smdebug/trial/read/entry_decoder.hpp>

#include "support/log_builder.hpp"
#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

[[nodiscard]] layout::entry entry_of(const stored_form& form, std::size_t bytes, const timed_number* number = nullptr) {
    return {.record = {0, bytes}, .what = {}, .form = &form, .number = number};
}

[[nodiscard]] std::string content(const decoded_tensor& tensor) { return std::string{as_text(tensor.bytes)}; }

}  // namespace

TEST_CASE("decode_stored: elements as stored, with swapped bytes, and too few of them") {
    const std::string bytes{"\1\0\2\0\3\0\4\0\5\0\6\0", 12};
    struct one {
        bool big_endian;
        bool column_major;
        std::string expected;
    };
    for (const auto& [big_endian, column_major, expected] :
         {one{false, false, bytes},
          {true, false, std::string{"\0\1\0\2\0\3\0\4\0\5\0\6", 12}},
          {false, true, std::string{"\1\0\3\0\5\0\2\0\4\0\6\0", 12}},
          {true, true, std::string{"\0\1\0\3\0\5\0\2\0\4\0\6", 12}}}) {
        const stored_form form{.as = storage_form::elements,
                               .type = dtype::int16,
                               .big_endian = big_endian,
                               .column_major = column_major,
                               .shape = {2, 3}};
        decoded_tensor out;
        REQUIRE(decode_stored(entry_of(form, 12), as_bytes(bytes), out) == status::ok);
        CHECK(out.type == dtype::int16);
        CHECK(out.shape == shape_type{2, 3});
        CHECK(content(out) == expected);
        CHECK(decode_stored(entry_of(form, 12), as_bytes(bytes).first(11), out) == status::truncated);
    }
    const stored_form flags{.as = storage_form::elements, .type = dtype::boolean, .shape = {2}};
    decoded_tensor out;
    REQUIRE(decode_stored(entry_of(flags, 2), as_bytes(std::string{"\0\7", 2}), out) == status::ok);
    CHECK(content(out) == std::string{"\0\1", 2});
}

TEST_CASE("decode_stored: numbers need no bytes, and have the time at which they were written") {
    const timed_number number{.value = 2.5, .wall_time = 7};
    decoded_tensor out;
    const stored_form small{.as = storage_form::number, .type = dtype::float32};
    REQUIRE(decode_stored(entry_of(small, 0, &number), {}, out) == status::ok);
    CHECK(load_le<float>(out.bytes.data()) == 2.5F);
    CHECK(out.wall_time == 7);
    const stored_form large{.as = storage_form::number, .type = dtype::float64};
    REQUIRE(decode_stored(entry_of(large, 0, &number), {}, out) == status::ok);
    CHECK(load_le<double>(out.bytes.data()) == 2.5);
    CHECK(out.shape.empty());
}

TEST_CASE("decode_stored: a function must make as many elements as its form says") {
    decoded_tensor out;
    const auto make = [] { return std::vector<std::byte>(8); };
    const stored_form good{.as = storage_form::made, .type = dtype::float32, .shape = {2}, .make = make};
    CHECK(decode_stored(entry_of(good, 0), {}, out) == status::ok);
    const stored_form bad{.as = storage_form::made, .type = dtype::float32, .shape = {3}, .make = make};
    CHECK(decode_stored(entry_of(bad, 0), {}, out) == status::size_mismatch);
}

TEST_CASE("decode_stored: messages of logs; a cut message is an error") {
    decoded_tensor out;
    const std::string rows =
        proto::fixed(1, -1.0) + proto::fixed(2, 9.0) + proto::packed(6, {1, 2, 3}) + proto::packed(7, {0, 5, 0});
    const stored_form histogram{.as = storage_form::histogram};
    REQUIRE(decode_stored(entry_of(histogram, rows.size()), as_bytes(rows), out) == status::ok);
    CHECK(out.shape == shape_type{1, 3});
    CHECK(out.type == dtype::float64);
    CHECK(load_le<double>(out.bytes.data() + 8) == 9);
    for (const storage_form as : {storage_form::message, storage_form::histogram, storage_form::histogram_tensor}) {
        const stored_form form{.as = as};
        CHECK(decode_stored(entry_of(form, rows.size()), as_bytes(rows).first(0), out) == status::truncated);
    }
}
