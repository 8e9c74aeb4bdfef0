// Digests: the published vectors, which tests/check_digests.py computes; what changes one; pieces.
#include <smdebug/core/error.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/reduce/digest.hpp>
#include <smdebug/reduce/dispatched_kernel.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>

#include "support/test.hpp"

using namespace smdebug;

static_assert(detail::word_mixer<scalar_kernel> && detail::word_mixer<dispatched_kernel> &&
              detail::word_mixer<default_kernel> && detail::word_mixer<detail::any_kernel>);
static_assert(has_digest(dtype::complex64) && has_digest(dtype::boolean) && !has_digest(dtype::string));

namespace {

/// A line of the vectors.
struct vector_line {
    std::string text;
    dtype type = dtype::invalid;
    std::vector<std::size_t> shape;
    std::vector<std::byte> bytes;
    std::int64_t digest = 0;

    [[nodiscard]] tensor_view view() const { return {type, shape, bytes, {}}; }
};

std::vector<std::byte> pattern(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t k = 0; k < size; ++k) {
        bytes[k] = static_cast<std::byte>((k * k + 7 * k + 13) % 251);
    }
    return bytes;
}

std::vector<std::byte> content_of(const std::string& text) {
    constexpr std::string_view counted = "pattern:";
    if (text.starts_with(counted)) {
        return pattern(std::stoul(text.substr(counted.size())));
    }
    std::vector<std::byte> bytes;
    for (std::size_t at = 0; text != "-" && at < text.size(); at += 2) {
        bytes.push_back(static_cast<std::byte>(std::stoul(text.substr(at, 2), nullptr, 16)));
    }
    return bytes;
}

std::vector<vector_line> published() {
    std::ifstream file{SMDEBUG_TEST_DATA "/digests/vectors.txt"};
    std::vector<vector_line> all;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words{line};
        std::string type;
        std::string shape;
        std::string content;
        vector_line& vector = all.emplace_back();
        words >> type >> shape >> content >> vector.digest;
        REQUIRE(words);
        vector.text = line.substr(0, 80);
        for (std::uint64_t code = 0; code < 32; ++code) {
            if (name_of(dtype_from_code(code)) == type) {
                vector.type = dtype_from_code(code);
            }
        }
        std::replace(shape.begin(), shape.end(), 'x', ' ');
        std::istringstream extents{shape};
        for (std::size_t extent = 0; extents >> extent;) {
            vector.shape.push_back(extent);
        }
        vector.bytes = content_of(content);
    }
    return all;
}

std::int64_t digest_of_bytes(byte_view bytes) {
    const std::array<std::size_t, 1> shape{bytes.size()};
    return digest_of({dtype::uint8, shape, bytes, {}});
}

}  // namespace

TEST_CASE("digest: the published vectors, by every kernel, at any alignment") {
    const std::vector<vector_line> vectors = published();
    CHECK(vectors.size() > 70);
    for (const vector_line& vector : vectors) {
        CAPTURE(vector.text);
        REQUIRE(vector.type != dtype::invalid);
        CHECK(digest_of(vector.view()) == vector.digest);
        CHECK(digest_of(vector.view(), scalar_kernel{}) == vector.digest);
        CHECK(digest_of(vector.view(), default_kernel{}) == vector.digest);
        std::vector<std::byte> moved(vector.bytes.size() + 3);
        std::copy(vector.bytes.begin(), vector.bytes.end(), moved.begin() + 3);
        for (const dispatched_kernel& kernel : dispatched_kernel::available()) {
            CAPTURE(kernel.name());
            CHECK(digest_of(vector.view(), kernel) == vector.digest);
            CHECK(digest_of({vector.type, vector.shape, std::span{moved}.subspan(3), {}}, kernel) == vector.digest);
            CHECK(digest_of(vector.view(), detail::any_kernel{kernel}) == vector.digest);
        }
    }
}

TEST_CASE("digest: one changed bit changes it, wherever it is") {
    for (const std::size_t size : {1U, 7U, 8U, 63U, 64U, 65U, 300U}) {
        std::vector<std::byte> bytes = pattern(size);
        std::set<std::int64_t> seen{digest_of_bytes(bytes)};
        for (std::size_t bit = 0; bit < 8 * size; ++bit) {
            const auto flip = [&] { bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8)); };
            flip();
            CHECK_MESSAGE(seen.insert(digest_of_bytes(bytes)).second, "bit " << bit << " of " << size);
            flip();
        }
    }
}

TEST_CASE("digest: words that change places, the two sign bits, zeros behind: all of them count") {
    const std::vector<std::byte> bytes = pattern(64);
    std::set<std::int64_t> seen{digest_of_bytes(bytes)};
    for (std::size_t i = 0; i < 8; ++i) {
        for (std::size_t j = i + 1; j < 8; ++j) {
            std::vector<std::byte> swapped = bytes;
            std::swap_ranges(swapped.begin() + static_cast<std::ptrdiff_t>(8 * i),
                             swapped.begin() + static_cast<std::ptrdiff_t>(8 * i + 8),
                             swapped.begin() + static_cast<std::ptrdiff_t>(8 * j));
            CHECK(seen.insert(digest_of_bytes(swapped)).second);
            std::vector<std::byte> negated = bytes;
            negated[8 * i + 7] ^= std::byte{0x80};
            negated[8 * j + 7] ^= std::byte{0x80};
            CHECK(seen.insert(digest_of_bytes(negated)).second);
        }
    }
    std::vector<std::byte> longer = bytes;
    for (std::size_t i = 0; i < 20; ++i) {
        longer.push_back(std::byte{0});
        CHECK(seen.insert(digest_of_bytes(longer)).second);
    }
}

TEST_CASE("digest: pieces of any length give the digest of the whole") {
    const std::vector<std::byte> bytes = pattern(5000);
    const std::array<std::size_t, 1> shape{bytes.size()};
    for (const std::size_t length : {1U, 3U, 7U, 8U, 9U, 61U, 64U, 1000U, 4999U, 5000U}) {
        const default_kernel kernel;
        reduce::detail::running_digest<default_kernel> digest{kernel};
        for (std::size_t at = 0; at < bytes.size(); at += length) {
            digest.add(byte_view{bytes}.subspan(at, std::min(length, bytes.size() - at)));
            digest.add({});
        }
        CHECK(digest.bytes() == bytes.size());
        CHECK(digest.value(dtype::uint8, shape) == digest_of_bytes(bytes));
    }
}

TEST_CASE("digest: a kernel of one's own that mixes no words is helped out by plain loops") {
    struct reducer {
        [[nodiscard]] result<reduction_values> reduce(const tensor_view&, reduction_set) const { return status::ok; }
        [[nodiscard]] std::string name() const { return "mine"; }
    };
    const std::vector<std::byte> bytes = pattern(333);
    const std::array<std::size_t, 1> shape{bytes.size()};
    const tensor_view view{dtype::uint8, shape, bytes, {}};
    CHECK(digest_of(view, detail::any_kernel{reducer{}}) == digest_of(view));
    const reduce::detail::compiled_kernel table{"mine", nullptr};
    CHECK(digest_of(view, dispatched_kernel{table}) == digest_of(view));
}
