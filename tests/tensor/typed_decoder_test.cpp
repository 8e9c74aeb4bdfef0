#include <smdebug/tensor/proto_decoder.hpp>

#include "support/test.hpp"

#include "../wire/messages.hpp"

namespace wire = smdebug::detail::wire;
using namespace std::literals;
using smdebug::bfloat16;
using smdebug::decoded_tensor;
using smdebug::dtype;
using smdebug::dtype_of_v;
using smdebug::float16;
using smdebug::float8_e5m2;
using smdebug::shape_type;
using smdebug::status;
using wire::field_writer;

namespace {

/// Decodes the list in `message`; `shape` empty: the proto has none.
status decode(const messages::bytes& message, dtype type, std::optional<shape_type> shape, decoded_tensor& out,
              std::size_t* repeats = nullptr) {
    const auto tensor = wire::decode_tensor_proto(message);
    if (!tensor.ok()) {
        return tensor.code();
    }
    wire::tensor_proto with_shape = *tensor;
    if (shape) {
        with_shape.shape.emplace();
        out.shape = *shape;
    }
    out.type = type;
    return smdebug::decode_list(with_shape, out, repeats);
}

template <class T>
std::vector<T> elements(const decoded_tensor& tensor) {
    std::vector<T> values(tensor.bytes.size() / sizeof(T));
    if (!values.empty()) {
        std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    }
    return values;
}

/// The elements of a list that has a shape of `count` elements; requires that they decode.
template <class T>
std::vector<T> decoded(const messages::bytes& message, std::size_t count) {
    decoded_tensor out;
    REQUIRE(decode(message, dtype_of_v<T>, shape_type{count}, out) == status::ok);
    return elements<T>(out);
}

}  // namespace

TEST_CASE("decode_list: floats packed, single, and in mixed pieces are the same") {
    const std::vector<float> wanted{1.5F, -0.0F, std::numeric_limits<float>::infinity(), 1e-45F, 3.0F};
    const auto packed = messages::written([&](field_writer& w) { w.write_bytes(5, messages::packed(wanted)); });
    const auto single = messages::written([&](field_writer& w) {
        for (const float value : wanted) {
            w.write_float(5, value);
        }
    });
    const auto mixed = messages::written([&](field_writer& w) {
        w.write_float(5, wanted[0]);
        w.write_bytes(5, messages::packed<float>({wanted[1], wanted[2]}));
        w.write_varint(90, 1);
        w.write_bytes(5, {});
        w.write_float(5, wanted[3]);
        w.write_bytes(5, messages::packed<float>({wanted[4]}));
    });
    for (const auto& message : {packed, single, mixed}) {
        const auto values = decoded<float>(message, 5);
        CHECK(std::memcmp(values.data(), wanted.data(), 20) == 0);
    }
}

TEST_CASE("decode_list: one packed piece of the right count is borrowed, anything else is expanded") {
    const auto message = messages::written([](field_writer& w) {
        w.write_bytes(5, messages::packed<float>({1, 2, 3}));
    });
    decoded_tensor out;
    REQUIRE(decode(message, dtype::float32, shape_type{3}, out) == status::ok);
    CHECK(out.bytes.data() == message.data() + 2);
    CHECK_FALSE(out.owns_elements());
    decoded_tensor longer;
    REQUIRE(decode(message, dtype::float32, shape_type{4}, longer) == status::ok);
    CHECK(longer.owns_elements());
    CHECK(elements<float>(longer) == std::vector<float>{1, 2, 3, 3});
    decoded_tensor pairs;  // complex64 lies in another list
    CHECK(decode(message, dtype::complex64, shape_type{1}, pairs) == status::ok);
    CHECK(elements<std::complex<float>>(pairs) == std::vector<std::complex<float>>{{0, 0}});
}

TEST_CASE("decode_list: integers of every width are read, negative ones too, and keep their low bits") {
    const auto ints = messages::written([](field_writer& w) {
        w.write_int(7, -1);
        w.write_bytes(7, messages::packed_varints({5, 0x12345, static_cast<std::uint64_t>(-128)}));
    });
    CHECK(decoded<std::int32_t>(ints, 4) == std::vector<std::int32_t>{-1, 5, 0x12345, -128});
    CHECK(decoded<std::int16_t>(ints, 4) == std::vector<std::int16_t>{-1, 5, 0x2345, -128});
    CHECK(decoded<std::int8_t>(ints, 4) == std::vector<std::int8_t>{-1, 5, 0x45, -128});
    CHECK(decoded<std::uint16_t>(ints, 4) == std::vector<std::uint16_t>{0xffff, 5, 0x2345, 0xff80});
    CHECK(decoded<std::uint8_t>(ints, 4) == std::vector<std::uint8_t>{0xff, 5, 0x45, 0x80});

    const auto wide = messages::written([](field_writer& w) {
        w.write_int(10, std::numeric_limits<std::int64_t>::min());
        w.write_int(10, std::numeric_limits<std::int64_t>::max());
        w.write_varint(16, 0xffffffff);
        w.write_varint(17, ~std::uint64_t{0});
    });
    CHECK(decoded<std::int64_t>(wide, 2) == std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(),
                                                                      std::numeric_limits<std::int64_t>::max()});
    CHECK(decoded<std::uint32_t>(wide, 1) == std::vector<std::uint32_t>{0xffffffff});
    CHECK(decoded<std::uint64_t>(wide, 1) == std::vector<std::uint64_t>{~std::uint64_t{0}});
}

TEST_CASE("decode_list: doubles, booleans, halves and complex numbers") {
    const auto doubles = messages::written([](field_writer& w) {
        w.write_double(6, 5e-324);
        w.write_double(6, -1.5);
    });
    CHECK(decoded<double>(doubles, 2) == std::vector<double>{5e-324, -1.5});

    const auto bools = messages::written([](field_writer& w) {
        w.write_bytes(11, messages::packed_varints({0, 1, 2, 256}));
        w.write_varint(11, 0);
    });
    decoded_tensor flags;
    REQUIRE(decode(bools, dtype::boolean, shape_type{5}, flags) == status::ok);
    CHECK(messages::bytes(flags.bytes.begin(), flags.bytes.end()) == messages::of("\x00\x01\x01\x01\x00"sv));

    const auto halves = messages::written([](field_writer& w) {
        w.write_bytes(13, messages::packed_varints({0x3c00, 0xfc00, 0x13c00}));
    });
    const auto f16 = decoded<float16>(halves, 3);
    CHECK(f16[0].bits == 0x3c00);
    CHECK(f16[1].bits == 0xfc00);
    CHECK(f16[2].bits == 0x3c00);
    CHECK(decoded<bfloat16>(halves, 3)[0].bits == 0x3c00);

    const auto eighths = messages::written([](field_writer& w) {
        w.write_bytes(18, messages::of("\x01"sv));
        w.write_bytes(18, messages::of("\x38\xfe\x80"sv));  // not repeated: the last one counts
        w.write_varint(18, 0x44);
    });
    decoded_tensor borrowed;
    REQUIRE(decode(eighths, dtype::float8_e4m3fn, shape_type{3}, borrowed) == status::ok);
    CHECK(messages::bytes(borrowed.bytes.begin(), borrowed.bytes.end()) == messages::of("\x38\xfe\x80"sv));
    CHECK(borrowed.expanded.empty());
    const auto repeated = decoded<float8_e5m2>(eighths, 5);
    CHECK(repeated[0].bits == 0x38);
    CHECK(repeated[4].bits == 0x80);
    decoded_tensor refused;
    CHECK(decode(eighths, dtype::float8_e5m2, shape_type{2}, refused) == status::size_mismatch);

    using c64 = std::complex<float>;
    const auto complex = messages::written([](field_writer& w) {
        w.write_bytes(9, messages::packed<float>({1, 2, 3}));
        w.write_float(9, 4);
        w.write_bytes(12, messages::packed<double>({-1, 0.5}));
    });
    CHECK(decoded<c64>(complex, 3) == std::vector<c64>{{1, 2}, {3, 4}, {3, 4}});
    CHECK(decoded<std::complex<double>>(complex, 1) == std::vector<std::complex<double>>{{-1, 0.5}});
}

TEST_CASE("decode_list: the last value repeats") {
    const auto message = messages::written([](field_writer& w) {
        w.write_varint(7, 1);
        w.write_varint(7, 2);
    });
    CHECK(decoded<std::int16_t>(message, 2) == std::vector<std::int16_t>{1, 2});
    CHECK(decoded<std::int16_t>(message, 5) == std::vector<std::int16_t>{1, 2, 2, 2, 2});
}

TEST_CASE("decode_list: no values are zeros") {
    CHECK(decoded<double>({}, 3) == std::vector<double>{0, 0, 0});
    CHECK(decoded<double>({}, 0).empty());
    const auto empty_chunk = messages::of("\x32\x00"sv);
    CHECK(decoded<double>(empty_chunk, 2) == std::vector<double>{0, 0});
}

TEST_CASE("decode_list: a tensor used before leaves nothing behind") {
    decoded_tensor out;
    const auto sevens = messages::of("\x38\x07"sv);
    REQUIRE(decode(sevens, dtype::int32, shape_type{4}, out) == status::ok);
    CHECK(elements<std::int32_t>(out) == std::vector<std::int32_t>{7, 7, 7, 7});
    REQUIRE(decode({}, dtype::int32, shape_type{2}, out) == status::ok);
    CHECK(elements<std::int32_t>(out) == std::vector<std::int32_t>{0, 0});
}

TEST_CASE("decode_list: without a shape one value is 0-d, other numbers are 1-d") {
    decoded_tensor one;
    CHECK(decode(messages::of("\x38\x07"sv), dtype::int32, std::nullopt, one) == status::ok);
    CHECK(one.shape.empty());
    CHECK(elements<std::int32_t>(one) == std::vector<std::int32_t>{7});
    decoded_tensor two;
    CHECK(decode(messages::of("\x38\x07\x38\x08"sv), dtype::int32, std::nullopt, two) == status::ok);
    CHECK(two.shape == shape_type{2});
    decoded_tensor none;
    CHECK(decode({}, dtype::int32, std::nullopt, none) == status::ok);
    CHECK(none.shape == shape_type{0});
}

TEST_CASE("decode_list: more values than elements, and half a complex number, are mismatches") {
    decoded_tensor out;
    const auto two = messages::of("\x38\x07\x38\x08"sv);
    CHECK(decode(two, dtype::int32, shape_type{1}, out) == status::size_mismatch);
    CHECK(decode(two, dtype::int32, shape_type{0}, out) == status::size_mismatch);
    CHECK(decode(two, dtype::int32, shape_type{}, out) == status::size_mismatch);
    const auto half = messages::written([](field_writer& w) { w.write_float(9, 1); });
    CHECK(decode(half, dtype::complex64, shape_type{1}, out) == status::size_mismatch);
}

TEST_CASE("decode_list: a small file cannot ask for much memory") {
    const auto one = messages::of("\x38\x07"sv);
    for (const shape_type& shape :
         {shape_type{std::size_t{1} << 40}, shape_type{smdebug::max_repeated_bytes / 4 + 1},
          shape_type{std::size_t{1} << 62}, shape_type{std::size_t{1} << 40, std::size_t{1} << 40}}) {
        decoded_tensor out;
        CHECK(decode(one, dtype::int32, shape, out) == status::too_large);
        CHECK(decode({}, dtype::int32, shape, out) == status::too_large);
        CHECK(out.expanded.capacity() == 0);
    }
}

TEST_CASE("decode_list: packed pieces that end within a value are malformed") {
    decoded_tensor out;
    CHECK(decode(messages::of("\x2a\x03\x00\x00\x00"sv), dtype::float32, shape_type{1}, out) == status::malformed);
    CHECK(decode(messages::of("\x3a\x02\x01\x80"sv), dtype::int32, shape_type{2}, out) == status::malformed);
    CHECK(decode(messages::of("\x3a\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv), dtype::int32, shape_type{1},
                 out) == status::malformed);
}

TEST_CASE("decode_list: a list in another layout is an unknown field") {
    CHECK(decoded<float>(messages::of("\x28\x05"sv), 1) == std::vector<float>{0});
    CHECK(decoded<std::int32_t>(messages::of("\x3d\x01\x00\x00\x00"sv), 1) == std::vector<std::int32_t>{0});
}

TEST_CASE("decode_list: a last value that repeats for long may be left out: what is there, and what is not, is all") {
    constexpr std::size_t block = smdebug::repeated_block;
    std::size_t shortened = 0;
    for (std::uint64_t code = 0; code < 32; ++code) {
        const dtype type = smdebug::dtype_from_code(code);
        if (!is_numeric(type)) {
            continue;
        }
        for (const std::size_t values : {0U, 1U, 5U}) {
            const auto number = wire::list_of(type);
            const bool is_float = type == dtype::float32 || type == dtype::complex64;
            const bool is_double = type == dtype::float64 || type == dtype::complex128;
            const std::size_t parts = is_complex(type) ? 2 * values : values;
            const auto message = messages::written([&](field_writer& w) {
                if (number == wire::tensor_field::float8_val) {
                    w.write_bytes(number, messages::of("\1\2\3\4\5"sv.substr(0, values)));
                    return;
                }
                for (std::size_t i = 1; i <= parts; ++i) {
                    is_float    ? w.write_float(number, 0.1F * static_cast<float>(i))
                    : is_double ? w.write_double(number, 0.1 * static_cast<double>(i))
                                : w.write_varint(number, i);
                }
            });
            for (const std::size_t count : {block - 1, block, block + 1, 2 * block - 1, 2 * block, 2 * block + 1,
                                            3 * block + 7, std::size_t{100'003}}) {
                decoded_tensor whole;
                REQUIRE(decode(message, type, shape_type{count}, whole) == status::ok);
                decoded_tensor held;
                std::size_t repeats = 0;
                REQUIRE(decode(message, type, shape_type{count}, held, &repeats) == status::ok);
                const auto all = smdebug::with_repeats(held.view(), repeats);
                CHECK(held.shape == shape_type{count});
                CHECK(messages::bytes(whole.bytes.begin(), whole.bytes.end()) == all);
                CHECK(held.view().count() + repeats == count);
                CHECK(held.view().count() <= 2 * block);
                if (repeats > 0) {
                    ++shortened;
                    REQUIRE(held.view().count() % block == 0);
                    const auto last = held.view().bytes.last(block * size_of(type));
                    CHECK(std::memcmp(last.data(), last.data() + size_of(type), last.size() - size_of(type)) == 0);
                }
            }
        }
    }
    CHECK(shortened > 100);
}

TEST_CASE("decode_list: what is too large is so whether it is left out or not; a complete list is borrowed") {
    decoded_tensor out;
    std::size_t repeats = 0;
    const auto one = messages::of("\x38\x07"sv);
    CHECK(decode(one, dtype::int32, shape_type{smdebug::max_repeated_bytes / 4 + 1}, out, &repeats) ==
          status::too_large);
    CHECK(out.expanded.capacity() == 0);
    CHECK(decode(one, dtype::int32, shape_type{smdebug::max_repeated_bytes / 4}, out, &repeats) == status::ok);
    CHECK(out.expanded.capacity() <= std::size_t{64} << 10U);
    CHECK(out.view().count() + repeats == smdebug::max_repeated_bytes / 4);

    const std::vector<float> many(100'000, 1.5F);
    const auto complete = messages::written([&](field_writer& w) { w.write_bytes(5, messages::packed(many)); });
    decoded_tensor borrowed;
    repeats = 0;
    REQUIRE(decode(complete, dtype::float32, shape_type{100'000}, borrowed, &repeats) == status::ok);
    CHECK_FALSE(borrowed.owns_elements());
    CHECK(repeats == 0);
}

TEST_CASE("decode_list: a message that is damaged behind its list is an error, and asks for no memory") {
    wire::tensor_proto tensor;
    tensor.shape.emplace();
    for (const auto& [text, why] : {std::pair{"\x38\x07\x38"sv, status::truncated},
                                    {"\x38\x07\x00"sv, status::malformed},
                                    {"\x3a\x02\x07\x08\x3a\x05\x09"sv, status::truncated}}) {
        const auto message = messages::of(text);
        tensor.message = message;
        for (const dtype type : {dtype::int32, dtype::float64}) {  // of which one is in it
            decoded_tensor out;
            out.type = type;
            out.shape = {2};
            CHECK(smdebug::decode_list(tensor, out) == why);
            CHECK(out.expanded.capacity() == 0);
        }
    }
}
