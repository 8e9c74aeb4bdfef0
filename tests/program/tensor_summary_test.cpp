#include <program/tensor_summary.hpp>

#include "program/captured.hpp"

#include <program/runs.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/trial/trial_access.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

// One tensor by its handle, and its saved shapes and reductions layout by layout.
template <class Trial>
cli::detail::tensor_summary summary_of(const Trial& run, const std::string& name) {
    const auto from = catalog_of(run);
    const auto tensor = run.tensor(name);
    const name_id id = *from->names->find(name);
    cli::detail::tensor_summary about{.name = name, .steps = tensor.steps().size()};
    from->layouts.for_each([&](const auto& held) {
        about.saved = about.saved | held->saved_reductions(id);
        if (const auto* saved = held->shape(id); saved != nullptr && !about.shape) {
            about.shape = saved->extents;
        }
    });
    for (const catalog::file* held : from->files_in({})) {
        if (const auto value = tensor.find_value(held->step, {.worker = from->workers[held->worker]})) {
            about.type = value->type();
            about.shape = value->shape();
            break;
        }
    }
    return about;
}

}  // namespace

TEST_CASE("tensor_summary: says of every tensor of recorded runs what its handle says") {
    for (const char* recorded : {"checksummed", "collections", "dtypes", "incomplete_ended", "incomplete_workers",
                                 "missing_event", "mode_gaps", "mode_workers", "reductions_only", "reductions_raw",
                                 "shapes_only", "sparse_running", "tf_workers", "window", "damaged/flipped_length",
                                 "damaged/truncated_event", "damaged/index_swapped", "damaged/no_events_running"}) {
        CAPTURE(recorded);
        const trial run = cli::detail::open_run(golden(recorded), {});
        const no_refresh as_it_is{run};
        std::size_t told = 0;
        const auto all = cli::detail::summarize(*state_of(run), *catalog_of(run),
                                                [&](std::size_t read, std::size_t) { CHECK(read == ++told); });
        const auto names = run.tensor_names();
        REQUIRE(all.size() == names.size());
        for (std::size_t i = 0; i < names.size(); ++i) {
            CAPTURE(names[i]);
            const cli::detail::tensor_summary wanted = summary_of(run, names[i]);
            CHECK(all[i].name == names[i]);
            CHECK(all[i].type == wanted.type);
            CHECK(all[i].shape == wanted.shape);
            CHECK(all[i].steps == wanted.steps);
            CHECK(all[i].saved.mask == wanted.saved.mask);
        }
    }
}

TEST_CASE("tensor_summary: a step counts once, whichever of its workers have the tensor") {
    const temporary_folder place;
    local_storage store{place.path()};
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    for (step_number step = 0; step < 3; ++step) {
        build.step({.step = step, .tensors = {tensor_of<float>("both", {1}), tensor_of<float>("one", {1})}});
        build.step({.step = step, .tensors = {tensor_of<float>("both", {1})}, .worker = "worker_1"});
    }
    build.end();
    const trial run = cli::detail::open_run(place.path(), {});
    const auto all = cli::detail::summarize(*state_of(run), *catalog_of(run), [](std::size_t, std::size_t) {});
    REQUIRE(all.size() == 2);
    CHECK(all[0].steps == 3);
    CHECK(all[1].steps == 3);
}
