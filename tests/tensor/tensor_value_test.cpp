#include <smdebug/tensor/tensor_value.hpp>

#include "support/thrown_code.hpp"

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using smdebug::byte_buffer;
using smdebug::byte_view;
using smdebug::decoded_tensor;
using smdebug::dtype;
using smdebug::shape_type;
using smdebug::tensor_value;

static_assert(std::is_nothrow_move_constructible_v<tensor_value> && std::is_copy_constructible_v<tensor_value>);

namespace {

/// A buffer with `values` at `offset` from a 64-byte boundary, and a tensor decoded from it.
template <class T>
struct scene {
    std::shared_ptr<std::byte> block = smdebug::allocate_elements(1024);
    byte_buffer record;
    decoded_tensor decoded;

    scene(const std::vector<T>& values, std::size_t offset) {
        const auto bytes = std::as_bytes(std::span{values});
        std::copy(bytes.begin(), bytes.end(), block.get() + offset);
        record = byte_buffer{block, {block.get(), offset + bytes.size() + 4}};
        decoded.type = smdebug::dtype_of_v<T>;
        decoded.shape = {values.size()};
        decoded.bytes = {block.get() + offset, bytes.size()};
    }
};

bool is_aligned(const void* at, std::size_t alignment) { return reinterpret_cast<std::uintptr_t>(at) % alignment == 0; }

template <class T>
std::vector<T> elements(const tensor_value& tensor) {
    const auto span = tensor.elements<T>();
    return {span.begin(), span.end()};
}

}  // namespace

TEST_CASE("tensor_value: a default one has no dtype, no shape and no elements") {
    const tensor_value none;
    CHECK(none.type() == dtype::invalid);
    CHECK(none.shape().empty());
    CHECK(none.size() == 0);
    CHECK(none.bytes().empty());
    CHECK(none.strings().empty());
    CHECK(none.owner() == nullptr);
    CHECK_FALSE(none.copied());
    CHECK(none.view().type == dtype::invalid);
}

TEST_CASE("tensor_value: shares aligned elements with the record's owner") {
    scene<float> s{{1, 2, 3}, 4};
    const tensor_value tensor{std::move(s.decoded), s.record};
    CHECK_FALSE(tensor.copied());
    CHECK(tensor.owner() == s.record.owner());
    CHECK(tensor.bytes().data() == s.block.get() + 4);
    CHECK(tensor.type() == dtype::float32);
    CHECK(tensor.shape() == shape_type{3});
    CHECK(tensor.size() == 3);
    CHECK(elements<float>(tensor) == std::vector<float>{1, 2, 3});
}

TEST_CASE("tensor_value: copies misaligned elements once, to aligned memory") {
    for (std::size_t offset = 0; offset < 64; ++offset) {
        scene<double> s{{-1, 0.5}, offset};
        const tensor_value tensor{std::move(s.decoded), s.record};
        REQUIRE(tensor.copied() == (offset % alignof(double) != 0));
        REQUIRE(is_aligned(tensor.bytes().data(), tensor.copied() ? smdebug::element_alignment : alignof(double)));
        REQUIRE(elements<double>(tensor) == std::vector<double>{-1, 0.5});
    }
}

TEST_CASE("tensor_value: keeps its elements alive when everything else is gone") {
    for (const std::size_t offset : {0U, 1U}) {
        std::optional<scene<std::int16_t>> s{std::in_place, std::vector<std::int16_t>{1, -2, 3}, offset};
        std::optional<tensor_value> first{std::in_place, std::move(s->decoded), s->record};
        const tensor_value second = *first;
        first.reset();
        s.reset();
        CHECK(elements<std::int16_t>(second) == std::vector<std::int16_t>{1, -2, 3});
    }
}

TEST_CASE("tensor_value: copies expanded elements, so the decoder's memory may be used again") {
    decoded_tensor decoded;
    decoded.type = dtype::int32;
    decoded.shape = {2};
    decoded.expanded.resize(8, std::byte{1});
    decoded.bytes = decoded.expanded;
    const tensor_value tensor{std::move(decoded), byte_buffer::take(std::string{"record"})};
    decoded.expanded.assign(8, std::byte{9});
    CHECK(tensor.copied());
    CHECK(elements<std::int32_t>(tensor) == std::vector<std::int32_t>{0x01010101, 0x01010101});
}

TEST_CASE("tensor_value: shares aligned elements that a decoder made and owns; copies those that it does not own") {
    const byte_buffer record = byte_buffer::take(std::string{"encrypted"});
    for (const std::size_t offset : {4U, 3U}) {
        scene<float> s{{1, 2}, offset};
        s.decoded.owner = s.block;
        const std::weak_ptr<std::byte> block = s.block;
        std::optional<tensor_value> tensor{std::in_place, std::move(s.decoded), record};
        s.record = {};
        s.block.reset();
        s.decoded.owner.reset();
        CHECK(tensor->copied() == (offset == 3));
        CHECK(block.expired() == (offset == 3));
        CHECK(elements<float>(*tensor) == std::vector<float>{1, 2});
        tensor.reset();
        CHECK(block.expired());
    }
    // The owner of something else, as of strings: elements in the record or in `expanded` are not its own.
    scene<float> in_record{{1}, 0};
    in_record.decoded.owner = record.owner();
    CHECK(tensor_value{std::move(in_record.decoded), in_record.record}.owner() == in_record.record.owner());
    scene<float> not_owned{{1}, 0};
    not_owned.decoded.owner = record.owner();
    CHECK(tensor_value{std::move(not_owned.decoded), byte_buffer{nullptr, not_owned.record.view()}}.copied());
    decoded_tensor expanded;
    expanded.type = dtype::float32;
    expanded.shape = {1};
    expanded.expanded.resize(8);
    expanded.bytes = byte_view{expanded.expanded}.last(4);
    expanded.owner = record.owner();
    CHECK(tensor_value{std::move(expanded), record}.copied());
}

TEST_CASE("tensor_value: copies elements without an owner, and elements outside of the record") {
    scene<float> unowned{{1}, 0};
    const tensor_value first{std::move(unowned.decoded), byte_buffer{nullptr, unowned.record.view()}};
    CHECK(first.copied());
    scene<float> elsewhere{{1}, 0};
    const tensor_value second{std::move(elsewhere.decoded), byte_buffer::take(std::string{"another record"})};
    CHECK(second.copied());
    CHECK(elements<float>(second) == std::vector<float>{1});
}

TEST_CASE("tensor_value: empty and 0-d tensors") {
    scene<float> empty{{}, 3};
    empty.decoded.shape = {3, 0};
    const tensor_value none{std::move(empty.decoded), empty.record};
    CHECK(none.shape() == shape_type{3, 0});
    CHECK(none.size() == 0);
    CHECK(none.elements<float>().empty());
    CHECK_FALSE(none.copied());

    scene<double> one{{2.5}, 8};
    one.decoded.shape = {};
    const tensor_value scalar{std::move(one.decoded), one.record};
    CHECK(scalar.shape().empty());
    CHECK(scalar.size() == 1);
    CHECK(scalar.elements<double>()[0] == 2.5);
}

TEST_CASE("tensor_value: owns its strings") {
    tensor_value tensor;
    {
        const auto record = byte_buffer::take(std::string{"foobar, long enough not to lie in a string itself"});
        const std::string_view text = smdebug::as_text(record.view());
        decoded_tensor decoded;
        decoded.type = dtype::string;
        decoded.shape = {3};
        decoded.strings = {text.substr(0, 3), "", text};
        tensor = tensor_value{std::move(decoded), record};
    }
    REQUIRE(tensor.strings().size() == 3);
    CHECK(tensor.strings()[0] == "foo");
    CHECK(tensor.strings()[1].empty());
    CHECK(tensor.size() == 3);
    CHECK(tensor.bytes().empty());
    CHECK(tensor.copied());
    const tensor_value copy = tensor;
    CHECK(copy.view().strings[0] == "foo");
    CHECK(copy.view().strings[2].data() == tensor.strings()[2].data());
}

TEST_CASE("tensor_value: is made from elements and strings of one's own") {
    const std::vector<std::complex<float>> values{{1, 2}, {3, 4}};
    const auto complex = tensor_value::copy_of<std::complex<float>>({1, 2}, values);
    CHECK(complex.type() == dtype::complex64);
    CHECK(elements<std::complex<float>>(complex) == values);
    CHECK(complex.view().count() == 2);
    const std::array<std::string_view, 2> texts{"a", "b"};
    const auto strings = tensor_value::of_strings({2}, texts);
    CHECK(strings.type() == dtype::string);
    CHECK(strings.strings()[1] == "b");
    const auto empty = tensor_value::copy_of<float>({0, 4}, {});
    CHECK(empty.size() == 0);
    CHECK(empty.shape() == shape_type{0, 4});

    const auto block = smdebug::allocate_elements(8);
    std::memset(block.get(), 0, 8);
    const tensor_value adopted{dtype::float32, {2}, block, {block.get(), 8}};
    CHECK_FALSE(adopted.copied());
    CHECK(adopted.elements<float>()[1] == 0);
}

TEST_CASE("allocate_elements: returns aligned memory, and null for size 0") {
    CHECK(smdebug::allocate_elements(0) == nullptr);
    for (const std::size_t size : {1U, 63U, 4096U}) {
        CHECK(is_aligned(smdebug::allocate_elements(size).get(), smdebug::element_alignment));
    }
}

TEST_CASE("tensor_value: elements of another type than the dtype's are refused, also where the sizes agree") {
    const tensor_value floats = tensor_value::copy_of<float>({2}, std::array{1.0F, 2.0F});
    CHECK(floats.elements<float>().size() == 2);
    CHECK(smdebug_test::thrown_code([&] { (void)floats.elements<double>(); }) == smdebug::error_code::wrong_dtype);
    CHECK(smdebug_test::thrown_code([&] { (void)floats.elements<std::int32_t>(); }) ==
          smdebug::error_code::wrong_dtype);
    const std::array<std::string_view, 1> word{"word"};
    const tensor_value words = tensor_value::of_strings({1}, word);
    CHECK(smdebug_test::thrown_code([&] { (void)words.elements<float>(); }) == smdebug::error_code::wrong_dtype);
    const tensor_value none;
    CHECK(smdebug_test::thrown_code([&] { (void)none.elements<float>(); }) == smdebug::error_code::wrong_dtype);
}

TEST_CASE("tensor_value: a temporary is the argument of a call that takes a view") {
    const auto count = [](const smdebug::tensor_view& view) { return view.count(); };
    CHECK(count(tensor_value::copy_of<float>({2}, std::array{1.0F, 2.0F})) == 2);
}
