#include <smdebug/core/bytes.hpp>

#include "support/test.hpp"

using smdebug::byte_buffer;
using smdebug::byte_range;
using smdebug::byte_view;

static_assert(std::is_nothrow_move_constructible_v<byte_buffer>);
static_assert(std::is_nothrow_copy_constructible_v<byte_buffer>);
static_assert(byte_range{1, 2} == byte_range{1, 2});
static_assert(byte_range{1, 2} != byte_range{1, 3});
static_assert(byte_range{1, 2} != byte_range{0, 2});

TEST_CASE("byte_buffer: a default one is empty and can be sliced") {
    const byte_buffer none;
    CHECK(none.empty());
    CHECK(none.size() == 0);
    CHECK(none.view().empty());
    CHECK(none.owner() == nullptr);
    CHECK(none.slice({0, 10}).empty());
    CHECK(none.slice({5, 10}).empty());
}

TEST_CASE("byte_buffer: take() keeps a container's bytes where they are") {
    std::vector<std::byte> bytes(100, std::byte{7});
    const std::byte* const where = bytes.data();
    const auto buffer = byte_buffer::take(std::move(bytes));
    CHECK(buffer.data() == where);
    CHECK(buffer.size() == 100);
    CHECK(buffer.view()[99] == std::byte{7});
}

TEST_CASE("byte_buffer: take() keeps a short string alive, whose characters move with it") {
    const auto buffer = byte_buffer::take(std::string{"short"});
    CHECK(smdebug::as_text(buffer.view()) == "short");
}

TEST_CASE("byte_buffer: take() counts bytes, not elements") {
    const auto buffer = byte_buffer::take(std::vector<std::uint32_t>{1, 2, 3});
    REQUIRE(buffer.size() == 12);
    CHECK(smdebug::load_le<std::uint32_t>(buffer.data() + 8) == 3);
}

TEST_CASE("byte_buffer: copies share the bytes, and the last one frees them") {
    auto owner = std::make_shared<std::array<std::byte, 4>>();
    const std::weak_ptr<const void> watch = owner;
    const byte_view bytes{*owner};
    byte_buffer first{std::move(owner), bytes};
    {
        const byte_buffer second = first;  // NOLINT: the copy is the point
        CHECK(second.data() == first.data());
        first = byte_buffer{};
        CHECK(first.empty());
        CHECK_FALSE(watch.expired());
    }
    CHECK(watch.expired());
}

TEST_CASE("byte_buffer: a slice keeps the whole alive") {
    byte_buffer tail;
    {
        const auto whole = byte_buffer::take(std::string{"a longer text than any small-string buffer holds"});
        tail = whole.slice({2, 6});
        CHECK(tail.owner() == whole.owner());
    }
    CHECK(smdebug::as_text(tail.view()) == "longer");
}

TEST_CASE("byte_buffer: a slice is cut at the end, however long") {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    const auto buffer = byte_buffer::take(std::string{"0123456789"});
    const auto text_of = [&](byte_range where) { return std::string{smdebug::as_text(buffer.slice(where).view())}; };
    CHECK(text_of({0, 10}) == "0123456789");
    CHECK(text_of({0, 0}).empty());
    CHECK(text_of({8, 2}) == "89");
    CHECK(text_of({8, 3}) == "89");
    CHECK(text_of({9, most}) == "9");
    CHECK(text_of({10, 1}).empty());
    CHECK(text_of({11, 1}).empty());
    CHECK(text_of({most, most}).empty());
    CHECK(smdebug::as_text(buffer.slice({2, 6}).slice({1, 100}).view()) == "34567");
}

TEST_CASE_TEMPLATE("load_le: reads back what store_le wrote, at every alignment", T, std::uint8_t, std::int16_t,
                   std::uint32_t, std::int64_t, std::uint64_t, float, double) {
    std::array<std::byte, 24> bytes{};
    for (std::size_t at = 0; at < 16; ++at) {
        CAPTURE(at);
        smdebug::store_le(bytes.data() + at, static_cast<T>(-3));
        CHECK(smdebug::load_le<T>(bytes.data() + at) == static_cast<T>(-3));
    }
}

TEST_CASE("load_le: the least byte comes first") {
    const std::array bytes{std::byte{0x78}, std::byte{0x56}, std::byte{0x34}, std::byte{0x12}};
    CHECK(smdebug::load_le<std::uint32_t>(bytes.data()) == 0x12345678U);
    CHECK(smdebug::load_le<std::uint16_t>(bytes.data() + 1) == 0x3456U);
    std::array<std::byte, 4> written{};
    smdebug::store_le(written.data(), std::uint32_t{0x12345678U});
    CHECK(written == bytes);
}

TEST_CASE("as_bytes, as_text: borrow both ways, zeros and high bytes among them") {
    using namespace std::string_view_literals;
    constexpr auto text = "a\0\xFFz"sv;
    const byte_view bytes = smdebug::as_bytes(text);
    REQUIRE(bytes.size() == 4);
    CHECK(static_cast<const void*>(bytes.data()) == text.data());
    CHECK(bytes[1] == std::byte{0});
    CHECK(bytes[2] == std::byte{0xFF});
    CHECK(smdebug::as_text(bytes) == text);
    CHECK(smdebug::as_text({}).empty());
    CHECK(smdebug::as_bytes({}).empty());
}

TEST_CASE("bounded_sum: the sum, or the largest number if it overflows") {
    using smdebug::detail::bounded_sum;
    CHECK(bounded_sum(0, 0) == 0);
    CHECK(bounded_sum(UINT64_MAX - 3, 3) == UINT64_MAX);
    CHECK(bounded_sum(UINT64_MAX - 3, 4) == UINT64_MAX);
    CHECK(bounded_sum(4, UINT64_MAX - 3) == UINT64_MAX);
    CHECK(bounded_sum(UINT64_MAX - 3, 2) == UINT64_MAX - 1);
    CHECK(bounded_sum(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
}

TEST_CASE("is_same_text: of every length, with a difference at every place") {
    for (std::size_t length = 0; length < 40; ++length) {
        const std::string text(length, 'a');
        CHECK(smdebug::detail::is_same_text(text, std::string(length, 'a')));
        CHECK_FALSE(smdebug::detail::is_same_text(text, text + 'a'));
        for (std::size_t place = 0; place < length; ++place) {
            std::string other = text;
            other[place] = 'b';
            CHECK_FALSE(smdebug::detail::is_same_text(text, other));
        }
    }
    CHECK(smdebug::detail::is_same_text({}, ""));
}
