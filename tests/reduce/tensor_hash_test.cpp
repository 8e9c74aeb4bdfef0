#include <smdebug/reduce/tensor_hash.hpp>

#include <smdebug/reduce/element_walks.hpp>

#include "support/test.hpp"

using namespace smdebug;
using reduce::detail::tensor_hash;
using reduce::detail::tensor_hash_of;

namespace {

std::vector<std::byte> bytes_of(std::size_t size, unsigned seed) {
    std::mt19937 random{seed};
    std::vector<std::byte> bytes(size);
    for (std::byte& each : bytes) {
        each = static_cast<std::byte>(random());
    }
    return bytes;
}
tensor_hash hash(const std::vector<std::byte>& bytes, const std::vector<std::size_t>& shape,
                 dtype type = dtype::uint8) {
    return tensor_hash_of({type, shape, bytes, {}});
}

}  // namespace

TEST_CASE("tensor_hash: each bit of each length counts, wherever the bytes lie") {
    for (const std::size_t size : {1U, 7U, 8U, 63U, 64U, 65U, 200U}) {
        std::vector<std::byte> bytes = bytes_of(size, 3);
        const tensor_hash whole = hash(bytes, {size});
        std::set<std::pair<std::uint64_t, std::uint64_t>> seen{{whole.low, whole.high}};
        for (std::size_t bit = 0; bit < 8 * size; ++bit) {
            bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
            const tensor_hash other = hash(bytes, {size});
            CHECK_MESSAGE(seen.insert({other.low, other.high}).second, "bit " << bit << " of " << size);
            bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        }
        for (std::size_t shift = 1; shift < 9; ++shift) {
            std::vector<std::byte> moved(size + shift);
            std::copy(bytes.begin(), bytes.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
            const std::vector<std::size_t> shape{size};
            CHECK(tensor_hash_of({dtype::uint8, shape, std::span{moved}.subspan(shift), {}}) == whole);
        }
    }
}

TEST_CASE("tensor_hash: dtype, shape, length and place count, and bytes that change places") {
    const std::vector<std::byte> bytes = bytes_of(24, 1);
    const tensor_hash whole = hash(bytes, {24});
    CHECK_FALSE(hash(bytes, {4, 6}) == whole);
    CHECK_FALSE(hash(bytes, {6, 4}) == hash(bytes, {4, 6}));
    CHECK_FALSE(hash(bytes, {24}, dtype::int8) == whole);
    CHECK_FALSE(hash(bytes, {6}, dtype::float32) == hash(bytes, {6}, dtype::int32));
    const std::vector<std::byte> none(64);
    CHECK_FALSE(hash(none, {64}) == hash(std::vector<std::byte>(128), {128}));
    CHECK(hash({}, {0}) == hash({}, {0}));
    std::vector<std::byte> ends(128);
    ends.front() = std::byte{1};
    std::vector<std::byte> other(128);
    other[64] = std::byte{1};
    CHECK_FALSE(hash(ends, {128}) == hash(other, {128}));
}

TEST_CASE("tensor_hash: exchanged words count, wherever they lie") {
    const std::vector<std::byte> bytes = bytes_of(4096, 7);
    const tensor_hash whole = hash(bytes, {4096});
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen{{whole.low, whole.high}};
    constexpr std::size_t word = 8;
    for (const std::size_t apart : {8U, 16U, 64U, 128U, 1024U, 2048U}) {
        for (std::size_t at = 0; at + apart < bytes.size(); at += 64) {
            std::vector<std::byte> other = bytes;
            const auto place = [&](std::size_t of) { return other.begin() + static_cast<std::ptrdiff_t>(of); };
            std::swap_ranges(place(at), place(at + word), place(at + apart));
            const tensor_hash found = hash(other, {4096});
            CHECK_MESSAGE(seen.insert({found.low, found.high}).second, at << " and " << apart << " on");
        }
    }
}

TEST_CASE("tensor_hash: floats of few bits, as in trainings, do not collide") {
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    std::set<std::vector<std::uint32_t>> different;
    const std::vector<std::size_t> shape{64};
    for (std::size_t place = 0; place < 64; ++place) {
        for (const std::size_t second : {1U, 2U, 16U, 17U}) {
            for (const float value : {-2.0F, -1.0F, -0.5F, -0.0F, 0.5F, 1.0F, 2.0F}) {
                std::vector<std::uint32_t> values(64);
                values[place] = std::bit_cast<std::uint32_t>(value);
                values[(place + second) % 64] = std::bit_cast<std::uint32_t>(-value);
                const tensor_hash found = tensor_hash_of({dtype::float32, shape, std::as_bytes(std::span{values}), {}});
                seen.insert({found.low, found.high});
                different.insert(values);
            }
        }
    }
    CHECK(seen.size() == different.size());
}

TEST_CASE("tensor_hash: is the same on every machine") {
    const std::vector<std::byte> bytes = bytes_of(1000, 9);
    const tensor_hash whole = hash(bytes, {1000});
    CHECK(whole.low == 18057951907301757256U);
    CHECK(whole.high == 9137550230038053210U);
}
