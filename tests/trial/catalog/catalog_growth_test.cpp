#include <smdebug/trial/catalog/catalog.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

namespace {

using steps_vector = std::vector<step_number>;

catalog run_of(std::vector<std::string> workers, std::size_t wanted) {
    catalog made;
    made.workers = std::move(workers);
    made.job = std::make_shared<const catalog::job_description>(
        catalog::job_description{.collections = {}, .collection_workers = {}, .num_workers = wanted});
    return made;
}

catalog::file file_of(step_number step, worker_id worker = 0, mode in = mode::train, step_number mode_step = -1,
                      std::uint32_t layout = 0) {
    return {
        .step = step, .mode_step = mode_step < 0 ? step : mode_step, .layout = layout, .worker = worker, .mode = in};
}

std::vector<catalog::file> files_of(const steps_vector& steps, worker_id worker = 0) {
    std::vector<catalog::file> made;
    for (const step_number step : steps) {
        made.push_back(file_of(step, worker));
    }
    return made;
}

steps_vector range(step_number begin, step_number end) {
    steps_vector made;
    for (step_number step = begin; step < end; ++step) {
        made.push_back(step);
    }
    return made;
}

std::vector<std::string> workers_at(const catalog& run, step_number step) {
    std::vector<std::string> found;
    if (const catalog::step_entry* held = run.find_step(step)) {
        for (const catalog::file& written : held->files()) {
            found.push_back(run.workers[written.worker]);
        }
    }
    return found;
}

}  // namespace

// --- add_mode_steps --------------------------------------------------------------------------------------------------

TEST_CASE("add_mode_steps: within one load the lowest step claims a mode step; earlier claims stay") {
    catalog run = run_of({"w"}, 1);
    detail::growth::add_mode_steps(run, std::vector{file_of(10, 0, mode::train, 4), file_of(11, 0, mode::train, 3),
                                                    file_of(12, 0, mode::train, 4)});
    CHECK(run.global_step(mode::train, 4) == 10);
    CHECK(run.global_step(mode::train, 3) == 11);
    detail::growth::add_mode_steps(run, std::vector{file_of(2, 0, mode::train, 4), file_of(5, 0, mode::train, 0)});
    CHECK(run.global_step(mode::train, 4) == 10);  // lower, but too late
    CHECK(run.global_step(mode::train, 0) == 5);
    CHECK_FALSE(run.global_step(mode::train, 2).has_value());
}

TEST_CASE("add_mode_steps: each mode has its own, and global files claim none") {
    catalog run = run_of({"w"}, 1);
    detail::growth::add_mode_steps(run, std::vector{file_of(1, 0, mode::train, 0), file_of(2, 0, mode::eval, 0),
                                                    file_of(3, 0, mode::predict, 0), file_of(4, 0, mode::global, 0)});
    CHECK(run.global_step(mode::train, 0) == 1);
    CHECK(run.global_step(mode::eval, 0) == 2);
    CHECK(run.global_step(mode::predict, 0) == 3);
    CHECK(run.mode_steps[catalog::place_of(mode::global)].empty());
}

TEST_CASE("add_mode_steps: the first step to come claims a mode step, load after load") {
    std::mt19937 random{41};
    const std::vector<mode> modes{mode::train, mode::eval, mode::predict, mode::global};
    for (int round = 0; round < 30; ++round) {
        catalog run = run_of({"a", "b"}, 2);
        std::map<mode, std::map<step_number, step_number>> model;
        std::vector<catalog> old;
        for (int load = 0; load < 10; ++load) {
            old.push_back(run);
            std::vector<catalog::file> files;
            auto step = static_cast<step_number>(random() % 50);
            for (auto left = random() % 60; left > 0; --left) {
                const mode in = modes[random() % modes.size()];
                const auto mode_step = static_cast<step_number>(random() % 80);
                files.push_back(file_of(step, static_cast<worker_id>(random() % 2), in, mode_step));
                step += static_cast<step_number>(random() % 3);
            }
            detail::growth::add_mode_steps(run, files);
            for (const catalog::file& held : files) {
                if (held.mode != mode::global) {
                    model[held.mode].emplace(held.mode_step, held.step);
                }
            }
            for (const mode which : modes) {
                const auto& of_mode = run.mode_steps[catalog::place_of(which)];
                const auto& wanted = model[which];
                REQUIRE(std::equal(of_mode.begin(), of_mode.end(), wanted.begin(), wanted.end(),
                                   [](const catalog::mode_step_entry& a, const auto& b) {
                                       return a.mode_step == b.first && a.step == b.second;
                                   }));
            }
        }
        for (const catalog& then : old) {  // published snapshots do not change
            for (const mode which : modes) {
                for (const catalog::mode_step_entry& held : then.mode_steps[catalog::place_of(which)]) {
                    REQUIRE(model[which].at(held.mode_step) == held.step);
                }
            }
        }
        CHECK(old.front().mode_steps[catalog::place_of(mode::train)].empty());
    }
}

// --- add_files -------------------------------------------------------------------------------------------------------

TEST_CASE("add_files: a step that one worker wrote holds its file in itself") {
    catalog run = run_of({"w"}, 1);
    detail::growth::add_files(run, {file_of(7, 0, mode::eval, 3, 12)});
    REQUIRE(run.steps.size() == 1);
    const catalog::step_entry& held = run.steps.front();
    CHECK(held.step == 7);
    CHECK(held.mode == mode::eval);
    CHECK(held.mode_step == 3);
    REQUIRE(held.files().size() == 1);
    CHECK(held.files().data() == &held.one);
    CHECK(held.files()[0].layout == 12);
    CHECK(run.file_count == 1);
    detail::growth::add_files(run, {});
    CHECK(run.steps.size() == 1);
    CHECK(run.file_count == 1);
}

TEST_CASE("add_files: the files of a step are in the order of their workers' names, not of their numbers") {
    catalog run = run_of({"worker_2", "worker_0", "worker_10"}, 3);
    detail::growth::add_files(run, {file_of(1, 0), file_of(1, 1), file_of(1, 2), file_of(2, 2), file_of(2, 0)});
    CHECK(workers_at(run, 1) == std::vector<std::string>{"worker_0", "worker_10", "worker_2"});
    CHECK(workers_at(run, 2) == std::vector<std::string>{"worker_10", "worker_2"});
    CHECK(run.file_count == 5);
}

TEST_CASE("add_files: within one load the first worker by name decides a step's mode") {
    catalog run = run_of({"worker_1", "worker_0"}, 2);
    detail::growth::add_files(run, {file_of(1, 0, mode::eval, 5), file_of(1, 1, mode::train, 9)});
    CHECK(run.find_step(1)->mode == mode::train);
    CHECK(run.find_step(1)->mode_step == 9);
}

TEST_CASE("add_files: later workers are inserted in the order of names, and the mode of the first stays") {
    catalog run = run_of({"worker_1"}, 3);
    detail::growth::add_files(run, {file_of(1, 0, mode::eval, 5, 100)});
    const catalog before = run;
    run.workers.push_back("worker_2");
    run.workers.push_back("worker_0");
    detail::growth::add_files(
        run, {file_of(1, 2, mode::train, 9, 300), file_of(1, 1, mode::predict, 8, 200), file_of(3, 2)});
    CHECK(workers_at(run, 1) == std::vector<std::string>{"worker_0", "worker_1", "worker_2"});
    const catalog::step_entry& held = *run.find_step(1);
    CHECK(held.mode == mode::eval);
    CHECK(held.mode_step == 5);
    CHECK(held.files()[0].layout == 300);
    CHECK(held.files()[0].mode == mode::train);  // the file keeps its own mode
    CHECK(held.files()[1].layout == 100);
    CHECK(held.files()[2].mode_step == 8);
    CHECK(run.file_count == 4);
    CHECK(before.find_step(1)->file_count == 1);
    CHECK(workers_at(before, 1) == std::vector<std::string>{"worker_1"});
    CHECK(before.find_step(3) == nullptr);
}

TEST_CASE("add_files: agrees with a map of steps and names, for files and loads in any order") {
    std::mt19937 random{43};
    const std::vector<std::string> names{"worker_2", "worker_0", "/job:w/replica:0", "worker_10", "alpha"};
    const std::vector<mode> modes{mode::train, mode::eval, mode::predict, mode::global};
    struct step_model {
        mode in = mode::global;
        step_number mode_step = 0;
        std::map<std::string, std::uint32_t> layouts;  // by worker's name
    };
    const auto right = [&](const catalog& run, const std::map<step_number, step_model>& model) {
        std::size_t count = 0;
        std::size_t wrong = run.steps.size() == model.size() ? 0 : 1;
        for (const auto& [step, wanted] : model) {
            const catalog::step_entry* held = run.find_step(step);
            if (held == nullptr || held->step != step || held->mode != wanted.in ||
                held->mode_step != wanted.mode_step || held->file_count != wanted.layouts.size()) {
                ++wrong;
                continue;
            }
            wrong +=
                std::equal(held->files().begin(), held->files().end(), wanted.layouts.begin(), wanted.layouts.end(),
                           [&, at = step](const catalog::file& a, const auto& b) {
                               return a.step == at && run.workers[a.worker] == b.first && a.layout == b.second;
                           })
                    ? 0U
                    : 1U;
            count += wanted.layouts.size();
        }
        return wrong == 0 && run.file_count == count;
    };
    for (int round = 0; round < 20; ++round) {
        std::vector<catalog::file> coming;
        std::uint32_t layout = 0;
        for (step_number step = 0; step < 400; ++step) {
            for (worker_id worker = 0; worker < names.size(); ++worker) {
                if (random() % 3 != 0) {
                    const mode in = modes[random() % modes.size()];
                    coming.push_back(
                        file_of(step * 5, worker, in, static_cast<step_number>(random() % 1000), ++layout));
                }
            }
        }
        std::shuffle(coming.begin(), coming.end(), random);
        catalog run = run_of(names, names.size());
        std::map<step_number, step_model> model;
        std::vector<std::pair<catalog, std::map<step_number, step_model>>> old;
        while (!coming.empty()) {
            old.emplace_back(run, model);
            const std::size_t count = std::min<std::size_t>(coming.size(), 1 + random() % 400);
            const std::vector<catalog::file> load{coming.end() - static_cast<std::ptrdiff_t>(count), coming.end()};
            coming.resize(coming.size() - count);
            std::map<step_number, std::map<std::string, catalog::file>> arrived;
            for (const catalog::file& held : load) {
                arrived[held.step].emplace(names[held.worker], held);
            }
            for (const auto& [step, files] : arrived) {
                const catalog::file& first = files.begin()->second;
                const auto at = model.try_emplace(step, step_model{first.mode, first.mode_step, {}}).first;
                for (const auto& [name, held] : files) {
                    at->second.layouts.emplace(name, held.layout);
                }
            }
            detail::growth::add_files(run, load);
            REQUIRE(right(run, model));
        }
        for (const auto& [then, wanted] : old) {
            REQUIRE(right(then, wanted));
        }
    }
}

// --- complete_steps --------------------------------------------------------------------------------------------------

namespace {

/// decisions.md D7 and N6, word by word: a step that enough workers wrote is complete, and all before it; and while
/// more than `window` seen steps lie beyond the last complete one, the (window / 2)-th smallest of them becomes it.
step_number last_complete(const std::map<step_number, std::size_t>& writers, std::size_t wanted, step_number last,
                          std::size_t window) {
    for (const auto& [step, count] : writers) {
        if (count >= wanted) {
            last = std::max(last, step);
        }
    }
    for (;;) {
        steps_vector beyond;
        for (const auto& [step, count] : writers) {
            if (step > last) {
                beyond.push_back(step);
            }
        }
        if (beyond.size() <= window) {
            return last;
        }
        last = beyond[window / 2 - 1];
    }
}

}  // namespace

TEST_CASE("complete_steps: the last step that all workers wrote is the last complete one, whatever is missing before") {
    catalog run = run_of({"a", "b"}, 2);
    detail::growth::complete_steps(run, 1000);
    CHECK(run.last_complete_step == -1);
    detail::growth::add_files(run, files_of({1, 2, 3, 4}, 0));
    detail::growth::complete_steps(run, 1000);
    CHECK(run.last_complete_step == -1);
    detail::growth::add_files(run, files_of({3}, 1));
    detail::growth::complete_steps(run, 1000);
    CHECK(run.last_complete_step == 3);
    detail::growth::add_files(run, files_of({2}, 1));  // late: the last complete step stays
    detail::growth::complete_steps(run, 1000);
    CHECK(run.last_complete_step == 3);
}

TEST_CASE("complete_steps: a step that more workers wrote than the job has is also complete") {
    catalog run = run_of({"a", "b", "c"}, 2);
    detail::growth::add_files(run, {file_of(1, 0), file_of(1, 1), file_of(1, 2), file_of(2, 0)});
    detail::growth::complete_steps(run, 1000);
    CHECK(run.last_complete_step == 1);
}

TEST_CASE("complete_steps: while more than a window of steps lie beyond, half a window of them becomes complete") {
    const auto after = [](const steps_vector& steps, std::size_t window) {
        catalog run = run_of({"a"}, 2);
        detail::growth::add_files(run, files_of(steps));
        detail::growth::complete_steps(run, window);
        return run.last_complete_step;
    };
    // As many as the window: none is given up yet.
    CHECK(after({10, 20}, 2) == -1);
    CHECK(after({10, 20, 30}, 2) == 10);
    CHECK(after({10, 20, 30, 40}, 2) == 20);
    CHECK(after({10, 20, 30}, 3) == -1);
    CHECK(after({10, 20, 30, 40}, 3) == 10);  // 3 / 2 is 1
    CHECK(after({10, 20, 30, 40, 50}, 3) == 20);
    CHECK(after({10, 20, 30, 40}, 4) == -1);
    CHECK(after({10, 20, 30, 40, 50}, 4) == 20);
    CHECK(after({10, 20, 30, 40, 50, 60}, 4) == 20);
    CHECK(after({10, 20, 30, 40, 50, 60, 70}, 4) == 40);
    CHECK(after({10, 20, 30, 40, 50}, 5) == -1);
    CHECK(after({10, 20, 30, 40, 50, 60}, 5) == 20);
    CHECK(after(range(0, 1000), 1000) == -1);
    CHECK(after(range(0, 1001), 1000) == 499);
    CHECK(after(range(0, 1500), 1000) == 499);
    CHECK(after(range(0, 1501), 1000) == 999);
    CHECK(after(range(0, 2500), 1000) == 1499);
}

TEST_CASE("complete_steps: the window counts from the last complete step on") {
    catalog run = run_of({"a", "b"}, 2);
    detail::growth::add_files(run, files_of(range(0, 10), 0));
    detail::growth::add_files(run, files_of({6}, 1));
    detail::growth::complete_steps(run, 3);
    CHECK(run.last_complete_step == 6);  // 7, 8 and 9 are within the window
    detail::growth::add_files(run, files_of({10}, 0));
    detail::growth::complete_steps(run, 3);
    CHECK(run.last_complete_step == 7);
    detail::growth::complete_steps(run, 3);
    CHECK(run.last_complete_step == 7);  // nothing new, no change
}

TEST_CASE("complete_steps: advances as the decision says, load after load, for windows of all sizes") {
    std::mt19937 random{47};
    for (const std::size_t window : {2U, 3U, 4U, 5U, 17U, 1000U}) {
        CAPTURE(window);
        std::size_t given_up = 0;
        std::size_t completed = 0;
        for (int round = 0; round < 12; ++round) {
            const std::size_t workers = 1 + random() % 3;
            const auto dead = random() % 4;  // how many of four steps the last worker skips
            const std::size_t steps = window < 1000 ? 150 : 4000;
            // Files in the order of their steps except for delays, as independent workers write them.
            std::vector<std::pair<std::size_t, catalog::file>> coming;
            step_number step = 0;
            for (std::size_t i = 0; i < steps; ++i) {
                step += 1 + static_cast<step_number>(random() % 20);
                for (worker_id worker = 0; worker < workers; ++worker) {
                    const bool missing = worker + 1 == workers && (random() % 4 < dead || (round % 2 == 0 && i > 20));
                    if (!missing) {
                        coming.emplace_back(i + random() % (window < 1000 ? 12 : 300), file_of(step, worker));
                    }
                }
            }
            std::stable_sort(coming.begin(), coming.end(),
                             [](const auto& a, const auto& b) { return a.first < b.first; });
            catalog run = run_of({"c", "a", "b"}, workers);
            std::map<step_number, std::size_t> writers;
            step_number wanted = -1;
            for (std::size_t begin = 0; begin < coming.size();) {
                const std::size_t most = window < 1000 ? 25 : 1500;
                const std::size_t end = std::min<std::size_t>(coming.size(), begin + 1 + random() % most);
                std::vector<catalog::file> load;
                for (; begin < end; ++begin) {
                    load.push_back(coming[begin].second);
                    ++writers[coming[begin].second.step];
                }
                detail::growth::add_files(run, std::move(load));
                detail::growth::complete_steps(run, window);
                const step_number before = wanted;
                wanted = last_complete(writers, workers, before, window);
                REQUIRE(run.last_complete_step == wanted);
                if (wanted != before) {
                    (writers.at(wanted) >= workers ? completed : given_up) += 1;
                }
            }
        }
        CHECK(completed > 10);  // both cases occur
        CHECK(given_up > 10);
    }
}

// --- end -------------------------------------------------------------------------------------------------------------

TEST_CASE("end: everything is complete up to the last step, however few workers wrote it") {
    catalog run = run_of({"a"}, 3);
    detail::growth::add_files(run, files_of({5, 70, 9}));
    detail::growth::complete_steps(run, 1000);
    REQUIRE(run.last_complete_step == -1);
    detail::growth::end(run);
    CHECK(run.loaded_all_steps);
    CHECK(run.last_complete_step == 70);
    CHECK(run.steps_of(mode::global, false) == steps_vector{5, 9, 70});
}

TEST_CASE("end: a job that wrote nothing has no last step") {
    catalog run = run_of({}, 1);
    detail::growth::end(run);
    CHECK(run.loaded_all_steps);
    CHECK(run.last_complete_step == -1);
}
