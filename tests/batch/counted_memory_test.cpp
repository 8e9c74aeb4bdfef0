#include <smdebug/batch/counted_memory.hpp>

#include "support/sanitized.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

using namespace smdebug;

TEST_CASE("counted_memory: what is allocated is counted while a run is entered, and given back") {
    detail::memory_count count{std::uint64_t{1} << 20U};
    CHECK(count.has_room(std::size_t{1} << 20U));
    CHECK_FALSE(count.has_room((std::size_t{1} << 20U) + 1));
    count.add(std::size_t{1} << 20U);
    CHECK_FALSE(count.has_room(8192));
    CHECK(count.has_room(100));  // what tells of the failure
    count.add(std::size_t{9} << 20U);
    CHECK_FALSE(count.has_room(100));
    count.remove(std::size_t{10} << 20U);
    CHECK(count.used() == 0);
    CHECK(count.most() == std::uint64_t{1} << 20U);
}

#ifndef SMDEBUG_TEST_SANITIZED  // sanitizers have their own operators

TEST_CASE("counted_memory: a thread gets no more than its run may have, others as much as they like") {
    const detail::counted_run_memory none{0};
    CHECK(none.words() == "the 0 MiB that one run may have");
    const auto memory = smdebug::counted_memory(std::uint64_t{64} << 20U);
    REQUIRE(memory);
    CHECK(memory->words() == "the 64 MiB that one run may have");
    CHECK_FALSE(memory->refused());
    std::vector<std::vector<char>> blocks;
    bool refused = false;
    std::thread{[&] {
        memory->enter();
        try {
            for (int i = 0; i < 100; ++i) {
                blocks.emplace_back(std::size_t{1} << 20U);
            }
        } catch (const std::bad_alloc&) {
            refused = true;
        }
        CHECK(blocks.size() > 55);
        CHECK(blocks.size() <= 64);
        blocks.resize(10);  // there is room again
        CHECK_NOTHROW(blocks.emplace_back(std::size_t{20} << 20U));
        struct alignas(256) wide {
            char bytes[256];
        };
        const auto aligned = std::make_unique<wide>();
        CHECK(reinterpret_cast<std::uintptr_t>(aligned.get()) % 256 == 0);
        memory->leave();
        CHECK_NOTHROW(std::vector<char>(std::size_t{100} << 20U));
    }}.join();
    CHECK(refused);
    CHECK(memory->refused());
    CHECK_NOTHROW(std::vector<char>(std::size_t{100} << 20U));
}

#endif
