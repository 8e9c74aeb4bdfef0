#include <smdebug/formats/presented_run.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/for_each_tensor.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace smdebug;

namespace {

/// Elements in an object, elements that are made, numbers, and a shape.
struct mixed_source {
    std::size_t* made = nullptr;
    bool is_done = false;

    [[nodiscard]] bool update(run_contents& contents) {
        if (is_done) {
            return false;
        }
        is_done = true;
        const std::uint32_t weights = contents.object("weights");
        const std::array<std::size_t, 2> shape{2, 3};
        const std::array<std::size_t, 1> row{3};
        const std::array<std::size_t, 1> none{0};
        contents.add_elements({.step = 5, .mode_step = 5}, "w", {.type = dtype::float32, .shape = shape}, weights,
                              {8, 24});
        contents.add_made({.step = 5, .mode_step = 5}, "m", {.type = dtype::int16, .shape = row}, [count = made] {
            ++*count;
            const std::array<std::int16_t, 3> values{1, -2, 3};
            const auto bytes = std::as_bytes(std::span{values});
            return std::vector<std::byte>(bytes.begin(), bytes.end());
        });
        contents.add_number({.step = 5, .mode_step = 5}, "n", 2.5);
        contents.add_elements({.step = 5, .mode_step = 5}, "none", {.type = dtype::float64, .shape = none}, weights,
                              {0, 0});
        contents.add_shape({.step = 5, .mode_step = 5}, "s", shape);
        contents.add_to_collection("weights", "w");
        contents.set_ended(true);
        return true;
    }
};

struct mixed_run {
    memory_storage data{"data"};
    std::size_t made = 0;
    any_storage store;

    mixed_run() : store(fill(data)) {}
    static any_storage fill(memory_storage& data) {
        std::vector<std::byte> bytes(40);
        const std::array<float, 6> values{1, 2, 3, 4, 5, 6};
        std::memcpy(bytes.data() + 8, values.data(), sizeof values);
        data.write("weights", bytes);
        return any_storage{data};
    }
    [[nodiscard]] presented_run run() { return presented_run{store, mixed_source{.made = &made}}; }
};

}  // namespace

TEST_CASE("presented_run: a trial reads elements where they lie, made ones, numbers and shapes") {
    mixed_run mixed;
    const trial run{any_storage{mixed.run()}};
    CHECK(run.steps() == std::vector<step_number>{5});
    CHECK(run.tensor_names() == std::vector<std::string>{"m", "n", "none", "s", "w"});
    CHECK(run.tensor("w").shape(5) == shape_type{2, 3});
    CHECK(run.tensor("w").value<float>(5)(1, 2) == 6);
    CHECK(run.tensor("m").value<std::int16_t>(5)(1) == -2);
    CHECK(run.tensor("n").value<double>(5)() == 2.5);
    CHECK(run.tensor("none").value(5).size() == 0);
    CHECK(run.tensor("s").shape(5) == shape_type{2, 3});
    CHECK_THROWS_AS(static_cast<void>(run.tensor("s").value(5)), tensor_unavailable_for_step);
    CHECK(run.tensor("w").reduction_value(5, "sum") == 21);
    CHECK(run.tensor_names({.collection = "weights"}) == std::vector<std::string>{"w"});
    CHECK(run.loaded_all_steps());
    CHECK(run.quiet_time().count() >= 0);
}

TEST_CASE("presented_run: a scan sees the same") {
    mixed_run mixed;
    const trial run{any_storage{mixed.run()}};
    std::map<std::string, double> sums;
    for_each_tensor(run, {}, reduction::sum, [&](const reduced_tensor& tensor) {
        if (tensor.reductions.computed.contains(reduction::sum)) {
            sums[std::string{tensor.name}] = tensor.reductions(reduction::sum);
        }
    });
    CHECK(sums.at("w") == 21);
    CHECK(sums.at("m") == 2);
    CHECK(sums.at("n") == 2.5);
}

TEST_CASE("presented_run: models storage: every range of every object is that part of the whole") {
    mixed_run mixed;
    const presented_run run = mixed.run();
    const std::vector<std::string> keys = run.list("", "");
    CHECK(keys == std::vector<std::string>{"collections/000000000/worker_0_collections.json",
                                           "events/000000000005/000000000005_worker_0.tfevents",
                                           "index/000000000/000000000005_worker_0.json", "training_job_end.ts"});
    CHECK(std::is_sorted(keys.begin(), keys.end()));
    for (const std::string& key : keys) {
        CAPTURE(key);
        const byte_buffer whole = run.read(key);
        CHECK(run.size(key) == whole.size());
        const auto opened = run.open(key);
        for (std::size_t begin = 0; begin <= whole.size() + 1; ++begin) {
            for (const std::size_t length :
                 {std::size_t{0}, std::size_t{1}, std::size_t{7}, whole.size(), whole.size() + 9}) {
                const byte_view expected = whole.slice({begin, length}).view();
                const byte_buffer part = run.read(key, {begin, length});
                REQUIRE(std::ranges::equal(part.view(), expected));
                std::vector<std::byte> into(length);
                if (opened) {
                    REQUIRE(opened->read_at(begin, into) == expected.size());
                    REQUIRE(std::equal(expected.begin(), expected.end(), into.begin()));
                }
            }
        }
        for (const std::string& after : keys) {
            const std::vector<std::string> rest = run.list("", after);
            CHECK(rest == std::vector<std::string>(std::upper_bound(keys.begin(), keys.end(), after), keys.end()));
        }
        CHECK(run.list(key, "") == std::vector<std::string>{key});
    }
    CHECK(run.list("index/1", "").empty());
    CHECK(run.list("events/", "").size() == 1);
    for (const char* missing : {"index/000000000/000000000006_worker_0.json", "index/000000000/000000000005_other.json",
                                "events/000000000006/000000000006_worker_0.tfevents", "nothing", ""}) {
        CHECK_FALSE(run.size(missing).has_value());
        CHECK_THROWS_AS(static_cast<void>(run.read(missing)), not_found);
    }
    CHECK(run.read("weights").size() == 40);  // the data themselves
    CHECK(run.name() == "memory:data");
    CHECK(mixed.made > 0);
}

TEST_CASE("presented_run: data that have become shorter are an error, and nothing else is lost") {
    mixed_run mixed;
    const trial run{any_storage{mixed.run()}};
    mixed.data.write("weights", as_bytes("short"));
    CHECK_THROWS_AS(static_cast<void>(run.tensor("w").value(5)), error);
    CHECK(run.tensor("n").value<double>(5)() == 2.5);
    mixed.data.remove("weights");
    CHECK_THROWS_AS(static_cast<void>(run.tensor("w").value(5)), error);
}

TEST_CASE("presented_run: what a source throws comes out, and the next look tries again") {
    struct failing {
        bool* fails = nullptr;
        [[nodiscard]] bool update(run_contents& contents) const {
            if (*fails) {
                throw unavailable("no answer");
            }
            contents.add_number({.step = 1}, "x", 1);
            contents.set_ended(true);
            return true;
        }
    };
    bool fails = true;
    const any_storage store{presented_run{any_storage{memory_storage{}}, failing{&fails}}};
    CHECK_THROWS_AS(trial{store}, unavailable);
    fails = false;
    CHECK(trial{store}.steps() == std::vector<step_number>{1});
}

TEST_CASE("presented_run: where the source comes upon nothing there is no run, and nothing has ended, until it does") {
    struct late_source {
        bool* has_come = nullptr;
        bool* is_bad = nullptr;
        [[nodiscard]] bool update(run_contents& contents) {
            if (*has_come) {
                contents.add_number({.step = 1}, "n", 2.5);
            }
            if (*is_bad) {
                contents.note_problem("weights", "it is cut");
            }
            contents.set_ended(true);
            return *has_come;
        }
    };
    for (const bool as_problem : {false, true}) {
        CAPTURE(as_problem);
        mixed_run mixed;
        bool has_come = false;
        bool is_bad = false;
        const presented_run run{mixed.store, late_source{&has_come, &is_bad}};
        auto follower = run.follow("");
        CHECK(run.list("", "").empty());
        CHECK(follower.next().empty());
        CHECK_FALSE(run.size("training_job_end.ts"));
        CHECK_THROWS_AS(static_cast<void>(trial{any_storage{run}}), not_found);
        (as_problem ? is_bad : has_come) = true;
        CHECK(follower.next().size() == (as_problem ? 2 : 4));
        const trial opened{any_storage{run}};
        CHECK(opened.steps().size() == (as_problem ? 0 : 1));
        CHECK(opened.loaded_all_steps());
    }
}
