#include <smdebug/trial/run_contents.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/formats/checkpoints/checkpoint_source.hpp>
#include <smdebug/formats/event_file_source.hpp>
#include <smdebug/formats/tensorboard/log_source.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/step_stream.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/xtensor.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

/// A source and nothing else: copyable, no default constructor, no comparison.
class source_archetype {
public:
    explicit source_archetype(std::vector<step_number> steps) : steps_(std::move(steps)) {}

    [[nodiscard]] bool update(run_contents& contents) {
        for (const step_number step : steps_) {
            contents.add_number({.step = step, .mode_step = step}, "x", static_cast<double>(step) / 2);
        }
        contents.set_ended(true);
        return !std::exchange(steps_, {}).empty();
    }

private:
    std::vector<step_number> steps_;
};

struct cannot_copy {
    cannot_copy() = default;
    cannot_copy(cannot_copy&&) = default;
    bool update(run_contents& contents);
};
struct tells_nothing {
    void update(run_contents& contents);
};
struct counts {
    int update(run_contents& contents);
};
struct only_const {
    bool update(const run_contents& contents, int more);
};

static_assert(catalog_source<source_archetype> && !std::default_initializable<source_archetype>);
static_assert(catalog_source<tensorboard_source> && catalog_source<event_file_source> &&
              catalog_source<checkpoint_source>);
static_assert(!catalog_source<cannot_copy> && !catalog_source<tells_nothing> && !catalog_source<counts> &&
              !catalog_source<only_const> && !catalog_source<int>);

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
    [[nodiscard]] any_storage run() { return as_run(store, mixed_source{.made = &made}); }
};

}  // namespace

TEST_CASE("catalog_source: the archetype is enough for a trial") {
    const trial run{as_run(any_storage{memory_storage{}}, source_archetype{{3, 1, 7}})};
    CHECK(run.steps() == std::vector<step_number>{1, 3, 7});
    CHECK(run.tensor("x").value<double>(7)() == 3.5);
    CHECK(run.loaded_all_steps());
}

TEST_CASE("as_run: a trial reads elements in place, made ones, numbers and shapes") {
    mixed_run mixed;
    const trial run{mixed.run()};
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

TEST_CASE("as_run: a scan sees the same") {
    mixed_run mixed;
    const trial run{mixed.run()};
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

TEST_CASE("as_run: data that became shorter are an error, and nothing else is lost") {
    mixed_run mixed;
    const trial run{mixed.run()};
    mixed.data.write("weights", as_bytes("short"));
    CHECK_THROWS_AS(static_cast<void>(run.tensor("w").value(5)), error);
    CHECK(run.tensor("n").value<double>(5)() == 2.5);
    mixed.data.remove("weights");
    CHECK_THROWS_AS(static_cast<void>(run.tensor("w").value(5)), error);
}

TEST_CASE("as_run: an exception from a source propagates, and the next look tries again") {
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
    const any_storage store = as_run(any_storage{memory_storage{}}, failing{&fails});
    CHECK_THROWS_AS(trial{store}, unavailable);
    fails = false;
    CHECK(trial{store}.steps() == std::vector<step_number>{1});
}

TEST_CASE("as_run: until the source finds something there is no run, and nothing has ended") {
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
        const any_storage run = as_run(mixed.store, late_source{&has_come, &is_bad});
        CHECK_THROWS_AS(static_cast<void>(trial{run}), not_found);
        (as_problem ? is_bad : has_come) = true;
        const trial opened{run};
        CHECK(opened.steps().size() == (as_problem ? 0 : 1));
        CHECK(opened.loaded_all_steps());
    }
}

TEST_CASE("as_run: each trial has its own source, and the storage keeps none for another") {
    mixed_run mixed;
    const any_storage run = mixed.run();
    for (int i = 0; i < 2; ++i) {
        CHECK(trial{run}.tensor_names().size() == 5);
    }
    CHECK(run.source() != nullptr);
    CHECK(run.with_source(nullptr).source() == nullptr);
    CHECK(mixed.store.source() == nullptr);
    // A storage around it is of the same run.
    CHECK(trial{cached_storage{run}}.tensor_names().size() == 5);
}

TEST_CASE("as_run: names are bytes; new tensors join a known step, and another value of a known name is read anew") {
    static int written = 1;  // what the writer has written so far
    written = 1;
    struct source {
        int looks = 0;
        [[nodiscard]] bool update(run_contents& contents) {
            const std::uint32_t log = contents.object("log");
            const run_contents::place where{.step = 1, .mode_step = 1};
            const int before = std::exchange(looks, written);
            if (before == 0) {
                contents.add_number(where, "", 1, dtype::float32, log);
                contents.add_number(where, "a//b", written == 1 ? 2 : 5, dtype::float32, log);
                contents.add_number(where, "\xff", 3, dtype::float32, log);
            }
            if (before < 2 && written >= 2) {
                contents.add_number(where, "late", 4, dtype::float32, contents.object("another log"));
                if (before == 1) {
                    contents.add_number(where, "a//b", 5, dtype::float32, log);
                }
            }
            contents.set_ended(written > 2);
            return before < written;
        }
    };
    const trial run{as_run(any_storage{memory_storage{}}, source{})};
    const no_refresh still{run};
    CHECK(run.tensor_names() == std::vector<std::string>{"", "a//b", "\xff"});
    CHECK(run.tensor("").value<float>(1)() == 1);
    CHECK(run.tensor("\xff").value<float>(1)() == 3);
    written = 2;
    run.refresh();
    CHECK(run.tensor_names().size() == 4);
    CHECK(run.tensor("late").value<float>(1)() == 4);
    CHECK(run.tensor("a//b").value<float>(1)() == 5);
    CHECK(run.workers(1) == std::vector<std::string>{"worker_0"});
    CHECK(run.problems().empty());
    std::size_t seen = 0;
    for_each_tensor(run, {}, reduction::sum, [&](const reduced_tensor&) { ++seen; });
    CHECK(seen == 4);
}

TEST_CASE("as_run: elements in another order are converted, and large ones are reduced in pieces") {
    struct source {
        [[nodiscard]] bool update(run_contents& contents) {
            const std::uint32_t object = contents.object("object");
            const std::array<std::size_t, 2> shape{2, 3};
            const std::array<std::size_t, 1> many{400'000};
            const run_contents::place where{.step = 1, .mode_step = 1};
            const auto form = [&](bool big_endian, bool column_major) {
                return run_contents::tensor_form{dtype::int16, shape, big_endian, column_major};
            };
            contents.add_elements(where, "plain", form(false, false), object, {0, 12});
            contents.add_elements(where, "big", form(true, false), object, {0, 12});
            contents.add_elements(where, "columns", form(false, true), object, {0, 12});
            contents.add_elements(where, "large", {.type = dtype::float32, .shape = many}, object, {12, 1'600'000});
            contents.set_ended(true);
            return true;
        }
    };
    std::vector<std::byte> bytes(12 + 1'600'000);
    for (std::size_t i = 0; i < 6; ++i) {
        bytes[2 * i] = static_cast<std::byte>(i + 1);
    }
    for (std::size_t i = 0; i < 400'000; ++i) {
        const float one = i % 2 == 0 ? 1 : -3;
        std::memcpy(bytes.data() + 12 + 4 * i, &one, sizeof one);
    }
    memory_storage files{"files"};
    files.write("object", bytes);
    const trial run{as_run(any_storage{files}, source{}), {.limits = {.record = 1000}}};
    const auto plain = run.tensor("plain").value<std::int16_t>(1);
    const auto big = run.tensor("big").value<std::int16_t>(1);
    const auto columns = run.tensor("columns").value<std::int16_t>(1);
    CHECK(plain(0, 1) == 2);
    CHECK(big(0, 1) == 0x200);
    CHECK(columns(0, 1) == 3);
    CHECK(columns(1, 2) == 6);
    CHECK(run.tensor("large").reduction_value(1, "min") == -3);
    CHECK(run.tensor("large").reduction_value(1, "sum") == -400'000);
    CHECK(run.tensor("large").shape(1) == shape_type{400'000});
    CHECK_THROWS_WITH_AS(static_cast<void>(run.tensor("large").value(1)),
                         doctest::Contains("allowed in memory at once"), unavailable);
    double mean = 0;
    for_each_tensor(run, {}, reduction::mean, [&](const reduced_tensor& tensor) {
        mean = tensor.name == "large" ? tensor.reductions(reduction::mean) : mean;
    });
    CHECK(mean == -1);
}
