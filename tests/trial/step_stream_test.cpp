#include <smdebug/trial/step_stream.hpp>

#include "support/footprint.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

/// Steps 0, 10, 20, ... of some workers: "w" of four elements, and "loss", which the last worker lacks.
memory_storage run_of(long steps, long workers, std::size_t elements = 4) {
    memory_storage store;
    run_builder build{store};
    texts names;
    for (long worker = 0; worker < workers; ++worker) {
        names.push_back("worker_" + std::to_string(worker));
    }
    build.collections(names, {{"losses", {"loss"}}});
    for (long step = 0; step < steps; ++step) {
        for (long worker = 0; worker < workers; ++worker) {
            const auto value = static_cast<float>(100 * step + worker);
            written_step one{.step = 10 * step,
                             .tensors = {tensor_of<float>("w", std::vector<float>(elements, value))},
                             .mode = step % 2 == 0 ? mode::train : mode::eval,
                             .mode_step = step / 2,
                             .worker = names[static_cast<std::size_t>(worker)]};
            if (worker + 1 < workers || workers == 1) {
                one.tensors.push_back(tensor_of<float>("loss", {value}, shape_type{}));
            }
            build.step(one);
        }
    }
    build.end();
    return store;
}

float first_of(byte_view values) {
    float first = 0;
    std::memcpy(&first, values.data(), sizeof first);
    return first;
}

/// "10: worker_0/w=100 worker_0/loss=100 ..."
texts lines_of(step_stream steps) {
    texts lines;
    while (const auto* const step = steps.next()) {
        std::string line = std::to_string(step->step) + ":";
        for (const reduced_tensor& tensor : step->tensors) {
            CHECK(tensor.step == step->step);
            CHECK(tensor.mode == step->mode);
            CHECK(tensor.mode_step == step->mode_step);
            line.append(" ").append(tensor.worker).append("/").append(tensor.name).append("=");
            line += tensor ? std::to_string(static_cast<long>(tensor.reductions(reduction::max))) : "unread";
            REQUIRE((tensor.shape == nullptr || tensor.shape->size() <= 1));
        }
        lines.push_back(line);
    }
    CHECK(steps.is_complete());
    CHECK(steps.next() == nullptr);
    return lines;
}

}  // namespace

TEST_CASE("step_stream: each step whole, in order, the workers together, on any number of threads") {
    const memory_trial run{run_of(150, 3)};
    texts expected;
    for (long step = 0; step < 150; ++step) {
        std::string line = std::to_string(10 * step) + ":";
        for (long worker = 0; worker < 3; ++worker) {
            const std::string value = std::to_string(100 * step + worker);
            line += " worker_" + std::to_string(worker) + "/w=" + value;
            line += worker < 2 ? " worker_" + std::to_string(worker) + "/loss=" + value : "";
        }
        expected.push_back(line);
    }
    for (const unsigned threads : {0U, 1U, 2U, 5U}) {
        CHECK(lines_of(step_stream{run, {.how = {.threads = threads}}}) == expected);
    }
}

TEST_CASE("step_stream: a step whose files several threads read is put together, also if it is the last") {
    // A part is 4 MiB: each step, 3 workers of 3 MB, is of two or three parts.
    const memory_trial run{run_of(5, 3, 750'000)};
    const texts expected = lines_of(step_stream{run, {.how = {.memory = std::uint64_t{1} << 40U}}});
    CHECK(expected.size() == 5);
    CHECK(expected[4] == "40: worker_0/w=400 worker_0/loss=400 worker_1/w=401 worker_1/loss=401 worker_2/w=402");
    for (const unsigned threads : {1U, 2U, 4U}) {
        CHECK(lines_of(step_stream{run, {.how = {.threads = threads}}}) == expected);
        CHECK(lines_of(step_stream{run, {.how = {.threads = threads, .memory = std::uint64_t{1} << 20U}}}) == expected);
    }
}

TEST_CASE("step_stream: a part of the tensors; steps of which nothing is selected are left out") {
    const memory_trial run{run_of(4, 2)};
    CHECK(lines_of(step_stream{run, {.tensors = {.collection = "losses", .range = {10, 30}}}}) ==
          texts{"10: worker_0/loss=100", "20: worker_0/loss=200"});
    CHECK(lines_of(step_stream{run, {.tensors = {.mode = mode::eval, .worker = "worker_1"}}}) ==
          texts{"10: worker_1/w=101", "30: worker_1/w=301"});
    CHECK(lines_of(step_stream{run, {.tensors = {.regex = "loss", .worker = "worker_1"}}}).empty());
    CHECK(thrown_code([&] {
              static_cast<void>(step_stream{run, {.tensors = {.collection = "unknown"}}});
          }) == error_code::collection_unavailable);
    CHECK_THROWS_AS((step_stream{run, {.tensors = {.regex = "("}}}), value_error);
}

TEST_CASE("step_stream: only what is wanted is computed; measures and small values come beside it") {
    const memory_trial run{run_of(3, 1, 100)};
    const auto first = [](const tensor_view& values) {
        return static_cast<double>(values.bytes.size()) + (values.shape.empty() ? 0.5 : 0);
    };
    for (const unsigned threads : {1U, 3U}) {
        step_stream steps{
            run,
            {.reductions = reduction::l1, .measures = {first, first}, .values_up_to = 64, .how = {.threads = threads}}};
        int seen = 0;
        while (const auto* const step = steps.next()) {
            REQUIRE(step->tensors.size() == 2);
            const reduced_tensor& w = step->tensors[0];
            const reduced_tensor& loss = step->tensors[1];
            CHECK(w.reductions.computed.contains(reduction::l1));
            CHECK_FALSE(w.reductions.computed.contains(reduction::std));
            CHECK(w.measured == std::vector<double>{400, 400});
            CHECK_FALSE(w.value);
            CHECK(w.shape->front() == 100);
            CHECK(loss.measured == std::vector<double>{4.5, 4.5});
            REQUIRE(loss.value);
            CHECK(first_of(loss.value->bytes()) == static_cast<float>(10 * step->step));
            ++seen;
        }
        CHECK(seen == 3);
    }
    step_stream without{run, {.reductions = {}}};
    CHECK(without.next()->tensors[0].reductions.computed.empty());
    CHECK(without.next()->tensors[0].measured.empty());
}

TEST_CASE("step_stream: what cannot be read says why, and the rest is there") {
    memory_storage store = run_of(3, 2);
    store.remove(smdebug::detail::locations::event_key(10, "worker_0"));
    const memory_trial run{store};
    step_stream steps{run};
    CHECK(steps.next()->step == 0);
    const auto* const damaged = steps.next();
    REQUIRE(damaged->tensors.size() == 3);
    CHECK_FALSE(damaged->tensors[0]);
    CHECK(damaged->tensors[0].file_failed);
    CHECK(damaged->tensors[0].error().why == lookup_failure_kind::event_file_missing);
    CHECK(damaged->tensors[2]);
    CHECK(steps.next()->tensors[0]);
    CHECK(steps.next() == nullptr);
}

TEST_CASE("step_stream: a stop ends it after whole steps; a measure's exception comes at its step") {
    const memory_trial run{run_of(500, 2)};
    for (const unsigned threads : {1U, 3U}) {
        std::stop_source source;
        step_stream steps{run, {.how = {.threads = threads, .stop = source.get_token()}}};
        std::size_t seen = 0;
        while (const auto* const step = steps.next()) {
            CHECK(step->tensors.size() == 3);
            ++seen;
            source.request_stop();
        }
        CHECK(seen > 0);
        CHECK(seen < 500);
        CHECK_FALSE(steps.is_complete());

        const auto fails = [](const tensor_view& values) -> double {
            if (first_of(values.bytes) == 20'000) {
                throw std::logic_error("mine");
            }
            return 0;
        };
        step_stream failing{run, {.measures = {fails}, .how = {.threads = threads}}};
        const auto take_all = [&] {
            while (failing.next() != nullptr) {
            }
        };
        CHECK_THROWS_AS(take_all(), std::logic_error);
        CHECK_THROWS_AS(take_all(), std::logic_error);
        CHECK_FALSE(failing.is_complete());
    }
}

TEST_CASE("step_stream: progress counts files; a stream can be moved, and ended at any place") {
    const memory_trial run{run_of(200, 2)};
    for (const unsigned threads : {1U, 3U}) {
        std::size_t told = 0;
        std::size_t all = 0;
        const auto progress = [&](std::size_t done, std::size_t of) {
            CHECK(done > told);
            told = done;
            all = of;
        };
        step_stream begun{run, {.how = {.threads = threads, .progress = progress}}};
        CHECK(begun.next()->step == 0);
        step_stream steps{std::move(begun)};
        CHECK(lines_of(std::move(steps)).size() == 199);
        CHECK(told == 400);
        CHECK(all == 400);
        step_stream left{run, {.how = {.threads = threads}}};
        CHECK(left.next() != nullptr);
    }
}

TEST_CASE("step_stream: no file is held while the caller looks at a step") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    const memory_storage made = run_of(3, 1, 200'000);
    for (const std::string& key : made.list("", "")) {
        store.write(key, made.read(key).view());
    }
    const local_trial run{folder.path()};
    for (const unsigned threads : {1U, 2U}) {
        step_stream steps{run, {.reductions = reduction::sum, .how = {.threads = threads}}};
        while (const auto* const step = steps.next()) {
            // Under a lease this would wait for 45 s.
            std::ofstream own{folder.path() + "/" + smdebug::detail::locations::event_key(step->step, "worker_0"),
                              std::ios::app};
            CHECK(own.good());
        }
        CHECK(steps.is_complete());
    }
}

TEST_CASE("step_stream: a run of 4 GB in 64 MiB") {
    constexpr long steps = 85;
    const temporary_folder folder;
    local_storage store{folder.path()};
    const memory_storage made = run_of(steps, 1);
    const memory_storage large = run_of(1, 1, 12'000'000);  // 48 MB
    const std::string first = smdebug::detail::locations::event_key(0, "worker_0");
    for (const std::string& key : made.list("", "")) {
        if (key.find(".tfevents") == std::string::npos) {
            store.write(key, made.read(key).view());
        }
    }
    store.write(first, large.read(first).view());
    const byte_buffer index = large.read(smdebug::detail::locations::index_key(0, "worker_0"));
    for (long step = 0; step < steps; ++step) {  // the same bytes under many names
        const std::string key = smdebug::detail::locations::event_key(10 * step, "worker_0");
        std::string text{as_text(index.view())};
        for (std::size_t at = text.find(first); step > 0 && at != std::string::npos; at = text.find(first, at + 1)) {
            text.replace(at, first.size(), key);
        }
        store.write(smdebug::detail::locations::index_key(10 * step, "worker_0"), as_bytes(text));
        if (step > 0) {
            std::filesystem::create_directories(std::filesystem::path{folder.path() + "/" + key}.parent_path());
            std::filesystem::create_hard_link(folder.path() + "/" + first, folder.path() + "/" + key);
        }
    }
    const local_trial run{folder.path()};
    for (const unsigned threads : {1U, 2U}) {
        const std::size_t before = footprint_now().heap;
        std::atomic<std::size_t> most = before;
        std::size_t seen = 0;
        {
            std::jthread sampler{[&](const std::stop_token& ended) {
                while (!ended.stop_requested()) {
                    most = std::max(most.load(), footprint_now().heap);
                    std::this_thread::sleep_for(std::chrono::milliseconds{1});
                }
            }};
            step_stream steps_of{
                run, {.reductions = reduction::mean, .how = {.threads = threads, .memory = std::uint64_t{64} << 20U}}};
            while (const auto* const step = steps_of.next()) {
                CHECK(step->tensors[0].reductions.count == 12'000'000);
                ++seen;
            }
        }
        CHECK(seen == steps);
        CHECK(most - before < std::size_t{64} << 20U);
    }
}
