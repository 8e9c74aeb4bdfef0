#include <smdebug/trial/read/event_source.hpp>

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

namespace {

/// Bytes that encode their position; counts reads, and can fail or end early.
struct numbered_file final : opened_object {
    explicit numbered_file(std::size_t size) : bytes(size) {
        for (std::size_t i = 0; i < size; ++i) {
            bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
        }
    }
    [[nodiscard]] std::uint64_t size() const noexcept override { return bytes.size(); }
    [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override {
        if (fails) {
            throw unavailable("fails", {.where = "file"});
        }
        const std::size_t begin = std::min<std::size_t>(offset, there);
        const std::size_t size = std::min(into.size(), std::min(bytes.size(), there) - begin);
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), size, into.begin());
        ++reads;
        total += size;
        return size;
    }
    [[nodiscard]] bool is(byte_view seen, std::size_t begin, std::size_t length) const {
        return std::ranges::equal(seen, std::span{bytes}.subspan(begin, length));
    }

    std::vector<std::byte> bytes;
    bool fails = false;
    std::size_t there = std::size_t{1} << 40U;
    mutable std::size_t reads = 0;
    mutable std::size_t total = 0;
};

}  // namespace

TEST_CASE("opened_event_file: records of any size by ascending offset cost each byte once") {
    for (const std::size_t piece : {1U, 64U, 100U, 1000U, 100'000U}) {
        const numbered_file file{20'000};
        piece_buffer buffer;
        opened_event_file source{file, buffer, piece};
        std::size_t offset = 0;
        for (std::size_t i = 0; offset < 20'000; ++i) {
            const std::size_t length = std::min<std::size_t>(20'000 - offset, i % 5 == 4 ? 900 : 1 + i * 13 % 97);
            CHECK(file.is(source.at({.offset = offset, .length = length}), offset, length));
            offset += length;
        }
        CHECK(file.total == 20'000);
        CHECK(file.reads <= (piece == 1 ? 1000 : 20'000 / piece * 2 + 80));
    }
}

TEST_CASE("opened_event_file: small records come with one read, large ones with one each, without extra bytes") {
    const numbered_file file{10'000};
    piece_buffer buffer;
    opened_event_file source{file, buffer, 1000};
    for (std::uint64_t offset = 0; offset < 1000; offset += 100) {
        CHECK(source.at({.offset = offset, .length = 100}).size() == 100);
    }
    CHECK(file.reads == 1);
    CHECK(file.total == 1000);
    CHECK(file.is(source.at({.offset = 1000, .length = 500}), 1000, 500));
    CHECK(file.total == 1500);
    CHECK(file.is(source.at({.offset = 1500, .length = 5000}), 1500, 5000));
    CHECK(file.total == 6500);
}

TEST_CASE("opened_event_file: skipped records can be read later, and records are cut at the file's end") {
    const numbered_file file{5000};
    piece_buffer buffer;
    opened_event_file source{file, buffer, 1000};
    CHECK(file.is(source.at({.offset = 4000, .length = 100}), 4000, 100));
    CHECK(file.is(source.at({.offset = 10, .length = 100}), 10, 100));
    CHECK(file.is(source.at({.offset = 4990, .length = 100}), 4990, 10));
    CHECK(source.at({.offset = 5000, .length = 100}).empty());
    CHECK(source.at({.offset = ~std::uint64_t{0}, .length = ~std::uint64_t{0}}).empty());
    CHECK(file.is(source.at({.offset = 0, .length = ~std::uint64_t{0}}), 0, 5000));
}

TEST_CASE("opened_event_file: a truncated file gives fewer bytes, and after a failure the read can be retried") {
    numbered_file file{5000};
    file.there = 150;
    piece_buffer buffer;
    opened_event_file source{file, buffer, 1000};
    CHECK(file.is(source.at({.offset = 0, .length = 100}), 0, 100));
    CHECK(file.is(source.at({.offset = 100, .length = 100}), 100, 50));
    CHECK(source.at({.offset = 200, .length = 100}).empty());
    file.fails = true;
    CHECK_THROWS_AS(static_cast<void>(source.at({.offset = 0, .length = 100})), unavailable);
    file.fails = false;
    CHECK(file.is(source.at({.offset = 50, .length = 100}), 50, 100));
}

TEST_CASE("piece_buffer: is aligned like the file, keeps the requested bytes, and grows") {
    piece_buffer buffer;
    std::span<std::byte> room = buffer.room_for(100, 70);
    CHECK(reinterpret_cast<std::uintptr_t>(room.data()) % 64 == 6);
    std::fill(room.begin(), room.end(), std::byte{7});
    for (const std::size_t size : {50U, 100U, 100'000U}) {
        room = buffer.room_for(size, size, byte_view{room}.last(20));
        CHECK(room.size() == size);
        CHECK(reinterpret_cast<std::uintptr_t>(room.data()) % 64 == size % 64);
        CHECK(std::ranges::count(room.first(20), std::byte{7}) == 20);
        std::fill(room.begin(), room.end(), std::byte{7});
    }
}
