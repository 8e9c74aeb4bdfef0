#include <smdebug/batch/row_spool.hpp>

#include <smdebug/core/error.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace smdebug;

namespace {

reduction_row row_of(int number) {
    reduction_row row{.step = number,
                      .mode_step = -number,
                      .mode = mode::eval,
                      .worker = "worker_" + std::to_string(number % 3),
                      .name = std::string(static_cast<std::size_t>(number % 50), 'n') + '\0' + "\xff",
                      .dtype = "float32",
                      .shape = number % 2 == 0 ? std::optional<std::string>{"2x3"} : std::nullopt};
    row.reductions.value[3] = std::numeric_limits<double>::infinity();
    row.reductions.value[4] = 0.1 * number;
    row.reductions.count = 6;
    row.reductions.zeros = 1;
    row.reductions.computed = reduction_set::all();
    return row;
}

bool same(const reduction_row& one, const reduction_row& other) {
    bool equal = one.step == other.step && one.mode_step == other.mode_step && one.mode == other.mode &&
                 one.worker == other.worker && one.name == other.name && one.dtype == other.dtype &&
                 one.shape == other.shape && one.reductions.count == other.reductions.count &&
                 one.reductions.zeros == other.reductions.zeros && one.reductions.computed == other.reductions.computed;
    for (std::size_t i = 0; i < one.reductions.value.size(); ++i) {
        equal = equal && std::bit_cast<std::uint64_t>(one.reductions.value[i]) ==
                             std::bit_cast<std::uint64_t>(other.reductions.value[i]);
    }
    return equal;
}

}  // namespace

TEST_CASE("row_spool: gives back what it was given, from memory and from a file, as often as it is asked") {
    for (const std::size_t most : {std::size_t{16} << 20U, std::size_t{1000}, std::size_t{0}}) {
        row_spool spool{most};
        for (int i = 0; i < 5000; ++i) {
            spool.add(row_of(i));
        }
        CHECK(spool.size() == 5000);
        for (int turn = 0; turn < 2; ++turn) {
            int next = 0;
            int wrong = 0;
            spool.for_each([&](const reduction_row& row) { wrong += same(row, row_of(next++)) ? 0 : 1; });
            CHECK(next == 5000 + turn);
            CHECK(wrong == 0);
            spool.add(row_of(next));
        }
    }
}

TEST_CASE("row_spool: as bytes from one to another; what is cut or too long is refused and changes nothing") {
    row_spool from{2000};
    for (int i = 0; i < 3000; ++i) {
        from.add(row_of(i));
    }
    row_spool to{100'000};
    std::string first;
    from.for_each_piece([&](std::string_view piece) {
        first = first.empty() ? std::string{piece} : first;
        to.add_bytes(piece);
    });
    CHECK(to.size() == 3000);
    int next = 0;
    to.for_each([&](const reduction_row& row) { CHECK(same(row, row_of(next++))); });
    row_spool strict;
    for (const std::string& wrong : {first.substr(0, first.size() - 1), first + "x", std::string{"\1\0\0\0x", 5},
                                     std::string{"\xff\xff\xff\xff"}}) {
        CHECK_THROWS_AS(strict.add_bytes(wrong), corrupt_data);
    }
    CHECK(strict.size() == 0);
    row_spool none;
    none.for_each([](const reduction_row&) { FAIL("there is none"); });
}

TEST_CASE("row_spool: others behind it are a part of it, rows and bytes, whether they lie in files or not") {
    row_spool all{1000};
    all.add(row_of(0));
    for (int first = 1; first < 1501; first += 500) {
        auto part = std::make_shared<row_spool>(first == 501 ? 100 : 1'000'000);
        for (int i = 0; i < 500; ++i) {
            part->add(row_of(first + i));
        }
        all.append(part);
    }
    all.append(std::make_shared<row_spool>());
    CHECK(all.size() == 1501);
    row_spool copy;
    all.for_each_piece([&](std::string_view piece) { copy.add_bytes(piece); });
    for (row_spool* const each : {&all, &copy}) {
        int next = 0;
        int wrong = 0;
        each->for_each([&](const reduction_row& row) { wrong += same(row, row_of(next++)) ? 0 : 1; });
        CHECK(next == 1501);
        CHECK(wrong == 0);
    }
}

TEST_CASE("row_spool: a row with bytes behind its end is refused") {
    row_spool from;
    from.add(row_of(1));
    std::string row;
    from.for_each_piece([&](std::string_view piece) { row += piece; });
    std::uint32_t size = 0;
    std::memcpy(&size, row.data(), sizeof size);
    REQUIRE(row.size() == sizeof size + size);
    ++size;
    std::memcpy(row.data(), &size, sizeof size);
    row_spool strict;
    CHECK_THROWS_WITH_AS(strict.add_bytes(row + "x"),
                         "CorruptData: rows of reductions that were passed on are too long", corrupt_data);
    CHECK_THROWS_WITH_AS(strict.add_bytes(row), "CorruptData: rows of reductions that were passed on are cut",
                         corrupt_data);
    CHECK(strict.size() == 0);
}
