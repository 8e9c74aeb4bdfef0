#include <smdebug/trial/read/reading_plan.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

/// A large tensor between two small ones.
memory_storage a_run() {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.tensors = {tensor_of<float>("first", {1}), tensor_of<float>("large", std::vector<float>(10'000, 2.0F)),
                           tensor_of<float>("last", {3, 4})}})
        .end();
    return store;
}

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
constexpr reading_limits limits{.in_place_from = 500, .largest_whole = 5000, .sparse_from = 1000};

read_strategy way(std::uint64_t end, std::uint64_t wanted, bool can_view = false) {
    return strategy_for({.end = end, .wanted = wanted, .records = 1}, limits, can_view);
}

}  // namespace

TEST_CASE("extent_of: the end of the last record, and the bytes that are wanted") {
    const memory_trial run{a_run()};
    const auto from = catalog_of(run);
    const layout& entries = from->layout_of(*from->files_in({}).front());
    const file_extent all = extent_of(entries, smdebug::detail::selected_tensors{{}, *from});
    const byte_range last = from->values_of(*from->files_in({}).front(), *from->names->find("last"))->record;
    CHECK(all.end == last.offset + last.length);
    CHECK(all.wanted > 40'000);
    CHECK(all.wanted <= all.end);
    const file_extent some = extent_of(entries, smdebug::detail::selected_tensors{{.regex = "^la(st|rge)$"}, *from});
    CHECK(some.end == all.end);
    CHECK(some.wanted < all.wanted);
    CHECK(extent_of(entries, smdebug::detail::selected_tensors{{.names = texts{"last"}}, *from}).wanted == last.length);
    CHECK(all.records == 3);
    CHECK(some.records == 2);
    CHECK(all.largest > 40'000);
    CHECK(some.largest == all.largest);
}

TEST_CASE("extent_of: numbers that overflow count as the largest, records by number") {
    const memory_trial run{a_run()};
    const auto from = catalog_of(run);
    std::vector<byte_range> places(3, byte_range{.offset = most - 3, .length = 10});
    const layout hostile{from->name_lists[0], places, {}};
    const file_extent found = extent_of(hostile, smdebug::detail::selected_tensors{{}, *from});
    CHECK(found == file_extent{.end = most, .wanted = 30, .records = 3, .largest = 10});
    places.assign(3, byte_range{.offset = 0, .length = std::uint64_t{1} << 63U});
    const file_extent halves =
        extent_of(layout{from->name_lists[0], places, {}}, smdebug::detail::selected_tensors{{}, *from});
    CHECK(halves.wanted == most);
    places.assign(3, byte_range{});
    CHECK(extent_of(layout{from->name_lists[0], places, {}}, smdebug::detail::selected_tensors{{}, *from}).records ==
          3);
}

TEST_CASE("strategy_for: by size, by how much is wanted, and by what the storage can do") {
    CHECK(strategy_for({.end = 100, .wanted = 0, .records = 0}, limits, true) == read_strategy::untouched);
    CHECK(strategy_for({.end = 100, .wanted = 0, .records = 1}, limits, true) == read_strategy::whole);
    CHECK(way(499, 499, true) == read_strategy::whole);
    CHECK(way(500, 500, true) == read_strategy::in_place);
    CHECK(way(500, 500) == read_strategy::whole);
    CHECK(way(999, 1) == read_strategy::whole);
    CHECK(way(1000, 124) == read_strategy::sparse);
    CHECK(way(1000, 124, true) == read_strategy::sparse);
    CHECK(way(1000, 125) == read_strategy::whole);
    CHECK(way(5000, 5000) == read_strategy::whole);
    CHECK(way(5001, 5001) == read_strategy::large);
    CHECK(way(5001, 5001, true) == read_strategy::in_place);
    CHECK(way(most, most) == read_strategy::large);
}

TEST_CASE("strategy_for: files that can be opened are, as long as no record of them is too large to be held") {
    constexpr reading_limits opening{
        .in_place_from = 500, .opened_from = 700, .largest_record = 600, .largest_whole = 5000, .sparse_from = 1000};
    const auto opened = [&](std::uint64_t end, std::uint64_t wanted, bool can_view, std::uint64_t largest = 0) {
        return strategy_for({.end = end, .wanted = wanted, .records = 1, .largest = largest}, opening, can_view, true);
    };
    CHECK(opened(499, 499, true) == read_strategy::whole);
    CHECK(opened(699, 699, true) == read_strategy::in_place);
    CHECK(opened(699, 699, false) == read_strategy::whole);
    CHECK(opened(700, 700, true) == read_strategy::in_place);
    CHECK(opened(700, 700, false) == read_strategy::opened);
    CHECK(opened(1000, 124, true) == read_strategy::sparse);
    CHECK(opened(5000, 5000, false, 5000) == read_strategy::opened);
    CHECK(opened(5001, 5001, false, 600) == read_strategy::opened);
    CHECK(opened(5001, 5001, false, 601) == read_strategy::large);
    CHECK(opened(5001, 5001, true, 601) == read_strategy::in_place);
    constexpr reading_limits opening_all{.in_place_from = 500, .opened_from = 0, .sparse_from = 1000};
    const file_extent little{.end = 2000, .wanted = 10, .records = 1, .largest = 10};
    CHECK(strategy_for(little, opening_all, false, true) == read_strategy::opened);
    CHECK(strategy_for(little, opening_all, true, true) == read_strategy::in_place);
    CHECK(strategy_for({.end = 10, .wanted = 10, .records = 1}, opening_all, true, true) == read_strategy::opened);
}

TEST_CASE("bytes_held: the whole of a file that is read whole, else what is wanted of it") {
    constexpr file_extent extent{.end = 100, .wanted = 7, .records = 1};
    CHECK(bytes_held(extent, read_strategy::whole) == 100);
    CHECK(bytes_held(extent, read_strategy::sparse) == 7);
    CHECK(bytes_held(extent, read_strategy::large) == 7);
    CHECK(bytes_held({.end = 100}, read_strategy::untouched) == 0);
}
