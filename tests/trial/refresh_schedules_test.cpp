// The property that an open trial has: in whatever order a writer's bytes arrive, and whenever it is refreshed, it ends with
// the answers of a trial that is opened afterwards; and it never takes healthy data for damaged.
#include "support/archive_builder.hpp"
#include "support/checkpoint_schedules.hpp"
#include "support/log_schedules.hpp"
#include "support/run_builder.hpp"
#include "support/run_schedules.hpp"
#include "support/schedules.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/archive.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/formats.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/tensor_handle.hpp>
#include <smdebug/trial/trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

/// All that a trial answers, a sentence each.
class answers_of {
public:
    /// `ends`: whether the data end by themselves.
    answers_of(const trial& run, bool ends) : run_(run) {
        const no_refresh as_it_is{run};
        say("workers", joined(run.workers()) + " of " + std::to_string(run.num_workers()));
        if (ends) {
            say("ended", run.loaded_all_steps() ? "yes" : "no");
        }
        for (const auto& [name, group] : run.collections()) {
            say("collection " + name, joined(run.tensor_names({.collection = name})));
        }
        say("tensors", joined(run.tensor_names()));
        for (const mode in : run.modes()) {
            for (const bool incomplete : {false, true}) {
                std::string steps;
                for (const step_number step : run.steps({.mode = in, .show_incomplete_steps = incomplete})) {
                    steps += " " + std::to_string(step);
                }
                say(std::string{incomplete ? "all " : "complete "} + std::string{name_of(in)} + " steps", steps);
            }
            for (const step_number step : run.steps({.mode = in, .show_incomplete_steps = true})) {
                if (const auto global = run.global_step(in, step)) {
                    say(std::string{name_of(in)} + " step " + std::to_string(step),
                        joined(run.workers(*global)) + ", shown as " + std::to_string(run.shown_step(*global)));
                }
            }
        }
        for (const std::string& name : run.tensor_names()) {
            add(run.tensor(name));
        }
        for (const problem& one : run.problems()) {
            say("problem", text_of(one));
        }
        std::sort(all.begin(), all.end());
        std::sort(damaged.begin(), damaged.end());
    }

    texts all;
    texts damaged;  ///< those about data that cannot be trusted

private:
    void say(const std::string& of, const std::string& what) { all.push_back(of + ": " + what); }

    void add(const tensor_handle& tensor) {
        for (const mode in : run_.modes()) {
            for (const step_number step : tensor.steps({.mode = in, .show_incomplete_steps = true})) {
                for (const std::string& worker : tensor.workers(step, {.mode = in})) {
                    add(tensor, in, step, worker);
                }
            }
        }
    }

    void add(const tensor_handle& tensor, mode in, step_number step, const std::string& worker) {
        const std::string place =
            tensor.name() + " at " + std::string{name_of(in)} + " step " + std::to_string(step) + " of " + worker;
        const auto value = tensor.find_value(step, {.mode = in, .worker = worker});
        if (!value) {
            say(place, value.error().message());
            if (value.error().why == lookup_failure_kind::damaged) {
                damaged.push_back(place + ": " + value.error().message());
            }
            return;
        }
        std::string text = std::to_string(value->shape().size()) + " axes:";
        const auto numbers = converted<double>(*value);
        for (std::size_t i = 0; numbers.ok() && i < numbers->size(); ++i) {
            text += " " + std::to_string(numbers->elements<double>()[i]);
        }
        const auto mean = tensor.find_reduction(step, reduction::mean, {.mode = in, .worker = worker});
        say(place, text + ", mean " + (mean ? std::to_string(*mean) : mean.error().message()));
    }

    [[nodiscard]] static std::string joined(const texts& some) {
        std::string text;
        for (const std::string& one : some) {
            text += (text.empty() ? "" : ", ") + one;
        }
        return text;
    }

    const trial& run_;
};

void list(std::string& to, const std::string& what, const texts& a, const texts& b) {
    texts only;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
    for (std::size_t i = 0; i < std::min<std::size_t>(only.size(), 6); ++i) {
        to += "  " + what + ": " + only[i] + "\n";
    }
    to += only.size() > 6 ? "  ... and " + std::to_string(only.size() - 6) + " more\n" : "";
}

/// Objects as a bucket has them: with versions, and without a word when one changes.
class bucket_storage : public storage_base {
public:
    explicit bucket_storage(memory_storage objects) : objects_(std::move(objects)) {}

    [[nodiscard]] storage_abilities abilities() const override {
        return {.batches_ranges = false, .views = false, .reads_ahead = false, .opens_small = false};
    }
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where = whole_object) const override {
        return objects_.read(key, where);
    }
    [[nodiscard]] versioned_object read_versioned(std::string_view key) const override {
        return objects_.read_versioned(key);
    }
    [[nodiscard]] texts list(std::string_view prefix, std::string_view after) const override {
        return objects_.list(prefix, after);
    }
    [[nodiscard]] std::optional<std::vector<object_entry>> entries(std::string_view prefix, std::string_view after,
                                                                   std::size_t most) const override {
        return objects_.entries(prefix, after, most);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override { return objects_.size(key); }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const override {
        return objects_.modified(key);
    }
    [[nodiscard]] std::string name() const override { return objects_.name(); }

private:
    memory_storage objects_;
};

/// Where a run lies.
enum class place : std::uint8_t { folder, memory, bucket, cached_bucket };

[[nodiscard]] std::string_view name_of(place where) {
    switch (where) {
        case place::memory:
            return "in memory";
        case place::bucket:
            return "in a bucket";
        case place::cached_bucket:
            return "in a bucket, cached";
        case place::folder:
            break;
    }
    return "in a folder";
}

/// A trial that is open while a schedule is played.
class open_trial_beside {
public:
    open_trial_beside(const schedule& of, std::uint64_t seed, place where) : of_(of), choose_(~seed), where_(where) {}

    /// What differs in the end, and what was taken for damaged on the way; empty: nothing.
    [[nodiscard]] std::string difference() {
        std::optional<trial> open;
        for (std::size_t i = 0; i < of_.actions.size(); ++i) {
            if (i >= of_.starts_at && !open) {
                open = try_to_open();
            }
            const action& one = of_.actions[i];
            if (one.does == action::kind::pause) {
                // A writer does not write a file twice within the resolution of its time.
                std::this_thread::sleep_for(std::chrono::milliseconds{std::min(one.number, 6)});
            } else {
                player_.play(one);
                put_into_bucket(one);
            }
            if (open && choose_.chance(35)) {
                look(*open, one.all_is_whole);
            }
        }
        if (!open) {
            return {};
        }
        player_.play({.does = action::kind::age});
        for (int i = 0; i < 3 && !open->loaded_all_steps(); ++i) {
            open->refresh();
        }
        const answers_of seen{*open, !of_.is_stopped};
        const answers_of afterwards{*try_to_open(), !of_.is_stopped};
        list(text_, "only an open trial says", seen.all, afterwards.all);
        list(text_, "only a new trial says", afterwards.all, seen.all);
        return text_;
    }

private:
    [[nodiscard]] std::string path() const { return folder_.path() + "/run"; }

    [[nodiscard]] std::optional<trial> try_to_open() const {
        const trial_options how{.missing_event_file_retry_limit = 0};
        try {
            switch (where_) {
                case place::memory:
                    return trial{objects_, how};
                case place::bucket:
                    return trial{bucket_storage{objects_}, how};
                case place::cached_bucket:
                    return trial{cached_storage{bucket_storage{objects_}, {.cacheable = is_written_once}}, how};
                case place::folder:
                    break;
            }
            return create_trial(path(), how);
        } catch (const error&) {
            return std::nullopt;  // it has not begun
        }
    }

    // Objects appear whole.
    void put_into_bucket(const action& one) {
        if (where_ == place::folder || one.key.empty() || one.does == action::kind::begin) {
            return;
        }
        if (one.does == action::kind::remove) {
            objects_.remove(one.key);
        } else {
            objects_.write(one.key, as_bytes(file_content(path() + "/" + one.key)));
        }
    }

    void look(const trial& run, bool all_is_whole) {
        try {
            run.refresh();
            if (!choose_.chance(60)) {
                return;
            }
            const answers_of seen{run, false};
            if (!all_is_whole || seen.damaged.empty() || !text_.empty()) {
                return;
            }
            for (int i = 0; i < 2; ++i) {
                run.refresh();
            }
            list(text_, "taken for damaged for longer than two refreshes", answers_of{run, false}.damaged,
                 answers_of{*try_to_open(), false}.damaged);
        } catch (const error& failed) {
            if (all_is_whole) {
                text_ += std::string{"  while it was written: "} + failed.what() + "\n";
            }
        }
    }

    const schedule& of_;
    dice choose_;
    place where_;
    temporary_folder folder_;
    schedule_player player_{path()};
    memory_storage objects_;
    std::string text_;
};

template <class Make>
void refresh_all(const std::string& kind, const std::vector<std::uint64_t>& kept, std::size_t fresh, Make&& make) {
    const bool is_run = kind.find("-log") == std::string::npos && kind.find("-checkpoints") == std::string::npos;
    texts troubles;
    const auto seeds = seeds_of(kind, kept, fresh);
    for (const std::uint64_t number : seeds) {
        const std::uint64_t seed = seed_in(kind, number);
        const schedule one = make(seed);
        const place where = is_run ? static_cast<place>(number % 4) : place::folder;
        std::string text;
        try {
            text = open_trial_beside{one, seed, where}.difference();
        } catch (const std::exception& failed) {
            text = std::string{"  "} + failed.what() + "\n";
        }
        if (!text.empty()) {
            troubles.push_back(kind + "/" + std::to_string(number) + "\n  " + std::string{name_of(where)} + "\n" +
                               text + text_of(one));
        }
    }
    std::string names;
    for (const std::string& each : troubles) {
        names += " " + each.substr(0, each.find('\n'));
    }
    for (std::size_t i = 0; i < std::min(troubles.size(), most_printed()); ++i) {
        FAIL_CHECK("SMDEBUG_TEST_SEED=" << troubles[i]);
    }
    CHECK_MESSAGE(troubles.empty(), troubles.size(), " of ", seeds.size(), " schedules end otherwise:", names);
}

}  // namespace

TEST_CASE("an open trial ends as a new one: a run whose steps come in order, some workers late") {
    refresh_all("trial-run", {}, 8,
                [](std::uint64_t seed) { return run_schedule(seed, {.most_workers = 3, .lags = seed % 2 == 0}); });
}

TEST_CASE("an open trial ends as a new one: a run with late steps and a worker that is not counted") {
    refresh_all("trial-late", {}, 8, [](std::uint64_t seed) {
        return run_schedule(seed, {.most_workers = 3, .has_unknown_worker = seed % 2 == 0, .is_unordered = true});
    });
}

TEST_CASE("an open trial ends as a new one: a run that goes on from an earlier step") {
    refresh_all("trial-restart", {21, 35}, 10,
                [](std::uint64_t seed) { return run_schedule(seed, {.most_workers = 2, .restarts = true}); });
}

TEST_CASE("an open trial ends as a new one: a run whose collections grow") {
    refresh_all("trial-collections", {9, 20}, 4,
                [](std::uint64_t seed) { return run_schedule(seed, {.most_workers = 2, .collections_grow = true}); });
}

TEST_CASE("an open trial ends as a new one: logs") {
    refresh_all("trial-log", {23, 28, 43}, 6, [](std::uint64_t seed) {
        return log_schedule(seed, {.most_folders = 3,
                                   .has_counters = seed % 2 == 0,
                                   .has_files = seed % 3 == 0,
                                   .has_late_folder = seed % 4 == 0,
                                   .has_modes = seed % 5 == 0});
    });
}

TEST_CASE("an open trial ends as a new one: logs in pieces") {
    refresh_all("trial-log-cut", {14, 27}, 5, [](std::uint64_t seed) { return log_schedule(seed, {.is_cut = true}); });
}

TEST_CASE("an open trial ends as a new one: logs whose steps go back") {
    refresh_all("trial-log-back", {17, 30}, 5,
                [](std::uint64_t seed) { return log_schedule(seed, {.has_files = seed % 2 == 0, .repeats = true}); });
}

TEST_CASE("an open trial ends as a new one: checkpoints") {
    refresh_all("trial-checkpoints", {20, 36, 41}, 6, [](std::uint64_t seed) {
        return checkpoint_schedule(seed, {.is_unordered = seed % 2 == 0, .replaces = seed % 3 == 0});
    });
}

namespace {

// Writes a step of a run into all places.
template <class... Storage>
void write_step(const written_step& step, Storage&... stores) {
    (run_builder<Storage>{stores}.step(step), ...);
}

}  // namespace

TEST_CASE("an open trial reads a step that is written again with another layout") {
    const temporary_folder folder;
    local_storage files{folder.path()};
    memory_storage objects;
    const auto write = [&](step_number step, std::vector<written_tensor> tensors) {
        write_step({.step = step, .tensors = std::move(tensors)}, files, objects);
    };
    run_builder{files}.collections();
    run_builder{objects}.collections();
    for (step_number step = 0; step < 5; ++step) {
        const auto number = static_cast<float>(step);
        write(step, {tensor_of<float>("a", {number, number}), tensor_of<float>("b", {number})});
    }
    const std::vector<trial> open{local_trial{folder.path()}, trial{objects}, trial{bucket_storage{objects}},
                                  trial{cached_storage{bucket_storage{objects}, {.cacheable = is_written_once}}}};
    const auto largest = [](const trial& run, const char* name) {
        const auto found = run.tensor(name).find_reduction(3, reduction::max);
        return found ? std::to_string(*found) : found.error().message();
    };
    for (const trial& run : open) {
        CHECK(largest(run, "a") == "3.000000");
        CHECK(largest(run, "b") == "3.000000");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{20});  // the resolution of a file's time
    write(3, {tensor_of<float>("b", {55}), tensor_of<float>("a", {100, 101}), tensor_of<float>("c", {7})});
    run_builder{files}.end();
    run_builder{objects}.end();
    for (const trial& run : open) {
        CAPTURE(run.path());
        run.refresh();
        run.refresh();
        CHECK(largest(run, "a") == "101.000000");
        CHECK(largest(run, "b") == "55.000000");
        CHECK(run.has_tensor("c"));
        CHECK(run.problems().empty());
    }
}

TEST_CASE("an open trial sees a tensor in the collection that it joins later") {
    memory_storage objects;
    run_builder build{objects};
    build.collections({"worker_0"}, {{"losses", {"loss"}}})
        .step({.step = 0, .tensors = {tensor_of<float>("loss", {1})}});
    const trial followed{objects};
    const trial listed{bucket_storage{objects}};
    CHECK(followed.tensor_names({.collection = "weights"}).empty());
    CHECK(listed.tensor_names({.collection = "weights"}).empty());
    build.collections({"worker_0"}, {{"losses", {"loss"}}, {"weights", {"attn"}}})
        .step({.step = 1, .tensors = {tensor_of<float>("attn", {0, 0})}});
    CHECK(followed.tensor_names({.collection = "weights"}) == texts{"attn"});
    CHECK(listed.tensor_names({.collection = "weights"}) == texts{"attn"});
}

TEST_CASE("an open trial does not take a step for another one because its files are touched") {
    const temporary_folder folder;
    schedule_player player{folder.path()};
    local_storage files{folder.path()};
    run_builder build{files};
    build.collections().step({.step = 0, .tensors = {tensor_of<float>("w", {1})}});
    const trial run = create_trial(folder.path());
    player.play({.does = action::kind::age});
    run.refresh();
    CHECK(run.steps() == std::vector<step_number>{0});
    CHECK(run.problems().empty());
    CHECK(run.tensor("w").find_value(0).has_value());

    const temporary_folder checkpoints;
    schedule_player writer{checkpoints.path() + "/run"};
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
    header.resize(117, ' ');
    const std::string array =
        std::string("\x93NUMPY\1\0", 8) + little(std::uint16_t{118}) + header + "\n" + little(1.0F);
    writer.play({.does = action::kind::put,
                 .key = "step_1.npz",
                 .bytes = zip_of(std::map<std::string, std::string>{{"w.npy", array}}, 0),
                 .number = 15});
    const trial zipped = create_trial(checkpoints.path() + "/run");
    CHECK(zipped.tensor("w").find_value(1).has_value());
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    writer.play({.does = action::kind::age});
    zipped.refresh();
    CHECK(zipped.problems().empty());
    const auto again = zipped.tensor("w").find_value(1);
    CHECK_MESSAGE(again.has_value(), (again ? std::string{} : again.error().message()));
}

TEST_CASE("an open trial reads a checkpoint that is written again with another layout") {
    const temporary_folder folder;
    schedule_player player{folder.path() + "/run"};
    const auto save = [&](const char* key, const std::string& header, std::vector<float> numbers) {
        std::string data(numbers.size() * sizeof(float), '\0');
        std::memcpy(data.data(), numbers.data(), data.size());
        player.play({.does = action::kind::put,
                     .key = key,
                     .bytes = little(std::uint64_t{header.size()}) + header + data,
                     .number = 15});
    };
    const auto entry = [](const char* name, int size, int begin, int end) {
        return std::string{"\""} + name + R"(":{"dtype":"F32","shape":[)" + std::to_string(size) +
               R"(],"data_offsets":[)" + std::to_string(begin) + "," + std::to_string(end) + "]}";
    };
    save("step_1.safetensors", "{" + entry("a", 2, 0, 8) + "," + entry("b", 1, 8, 12) + "}", {1, 1, 2});
    save("step_2.safetensors", "{" + entry("a", 2, 0, 8) + "," + entry("b", 1, 8, 12) + "}", {1, 1, 2});
    const trial run = create_trial(folder.path() + "/run");
    const auto largest = [&](const char* name) {
        run.refresh();
        const auto found = run.tensor(name).find_reduction(1, reduction::max);
        return found ? std::to_string(*found) : found.error().message();
    };
    CHECK(largest("a") == "1.000000");
    CHECK(largest("b") == "2.000000");
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    save("step_1.safetensors", "{" + entry("b", 1, 0, 4) + "," + entry("a", 2, 4, 12) + "}", {20, 10, 10});
    CHECK(largest("a") == "10.000000");
    CHECK(largest("b") == "20.000000");
}
