#include <program/run_notes.hpp>

#include "program/captured.hpp"

#include <program/run_places.hpp>
#include <program/runs.hpp>
#include <smdebug/core/stop_token.hpp>

#include <doctest/doctest.h>

#include <filesystem>

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("run_notes: a run with its notes answers without its event files; steps of others are read as ever") {
    const temporary_folder folder;
    write_sick_run(folder);
    const any_storage store = smdebug::detail::open_storage_of_run(folder.path(), {});
    const cli::detail::run_place place{.path = folder.path(), .store = store};
    const auto run = cli::detail::open_run(place, {});
    CHECK(cli::detail::parts_for_rules(run, store, {}, {.above = 1, .most = 9}, {}).size() == 3);
    CHECK(cli::detail::parts_for_rules(run, store, {}, {.above = 1, .most = 9}, 1'000).empty());
    const auto rows = cli::detail::noted_steps(run, store, {.begin = 1}, {});
    CHECK(rows->size() == 4);
    std::stop_source stop;
    stop.request_stop();
    CHECK(cli::detail::noted_steps(run, store, {}, stop.get_token())->size() == 0);
    for (const auto& each : std::filesystem::recursive_directory_iterator{folder.path() + "/events"}) {
        if (each.is_regular_file()) {
            const auto size = each.file_size();
            std::filesystem::resize_file(each.path(), 0);
            std::filesystem::resize_file(each.path(), size);
        }
    }
    const auto noted = cli::detail::open_run(cli::detail::with_notes(place, *rows), {});
    CHECK(noted.tensor("g").reduction_value(1, reduction::max) > 0);
    CHECK(noted.tensor("g").reduction_value(2, reduction::max) == 0.5);
    CHECK_THROWS_AS(static_cast<void>(noted.tensor("g").reduction_value(0, reduction::max)), corrupt_data);
    CHECK(cli::detail::noted_steps(run, store, {}, {})->size() == 0);  // damaged files give nothing
}
