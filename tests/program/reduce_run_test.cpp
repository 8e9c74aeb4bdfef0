#include <program/reduce_run.hpp>

#include "program/captured.hpp"

#include <program/runs.hpp>
#include <smdebug/trial/step_stream.hpp>
#include <smdebug/trial/trial.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

TEST_CASE("unread_tensors: a missing event file gives one note, and no numbers") {
    const temporary_folder folder;
    write_sick_run(folder);
    std::filesystem::remove_all(folder.path() + "/events");
    const trial run = cli::detail::open_run(folder.path(), {});
    cli::detail::unread_tensors unread;
    for_each_tensor(run, {}, reduction_set::all(),
                    [&](const reduced_tensor& tensor) { CHECK_FALSE(unread.has_numbers(tensor, "it")); });
    CHECK(unread.notes.size() == 3);
    for (const auto& each : unread.notes) {
        CHECK(each.is_missing_file);
        CHECK(contains(each.text, "[run it]"));
    }
}
