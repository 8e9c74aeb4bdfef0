#include <smdebug/hook/tensorboard_writer.hpp>

#include "hook/tensorboard_writer_fixture.hpp"
#include "support/faulty_storage.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test::tensorboard_files;
using namespace std::chrono_literals;
using smdebug_test::faulty_storage;

TEST_CASE("tensorboard_writer: scalars come with mode, step, time and cleaned tag") {
    memory_storage store;
    auto writer = writer_to(store);
    writer.add_scalar(at_step(0), "CrossEntropyLoss_output:0", 0.75F);
    writer.add_scalar(at_step(0), "scalar/learning rate", 0.0F);
    writer.add_scalar(at_step(0, mode::eval), "/accuracy", -1.5F);
    writer.end_step(1000);
    CHECK(store.list("", "") ==
          std::vector<std::string>{"EVAL/000000000000_worker_0.tfevents", "TRAIN/000000000000_worker_0.tfevents"});

    const auto train = values_in(store, "TRAIN/000000000000_worker_0.tfevents");
    REQUIRE(train.size() == 2);
    CHECK(train[0].tag == "CrossEntropyLoss_output_0");
    CHECK(train[0].scalar == 0.75F);
    CHECK(train[0].step == 0);
    CHECK(train[0].wall_time == 1000);
    CHECK(train[1].tag == "scalar/learning_rate");
    CHECK(train[1].scalar == 0.0F);
    const auto eval = values_in(store, "EVAL/000000000000_worker_0.tfevents");
    REQUIRE(eval.size() == 1);
    CHECK(eval[0].tag == "accuracy");
    CHECK(eval[0].scalar == -1.5F);
}

TEST_CASE("tensorboard_writer: a file each step, named by its first step, mode and worker") {
    memory_storage store;
    tensorboard_writer writer{into(store), "/job:worker/replica:0/task:1/device:GPU:0"};
    for (const step_number step : {7, 8, 1'234'567}) {
        writer.add_scalar(at_step(step, mode::global), "loss", 1);
        writer.end_step(0);
    }
    CHECK(store.list("", "") ==
          std::vector<std::string>{"GLOBAL/000000000007__job-worker_replica-0_task-1_device-GPU-0.tfevents",
                                   "GLOBAL/000000000008__job-worker_replica-0_task-1_device-GPU-0.tfevents",
                                   "GLOBAL/000001234567__job-worker_replica-0_task-1_device-GPU-0.tfevents"});
}

TEST_CASE("tensorboard_writer: with an interval, the first step at once and then all of it in one file") {
    memory_storage store;
    auto writer = writer_to(store, {.interval = 10s});
    for (step_number step = 0; step < 25; ++step) {
        writer.add_scalar(at_step(step), "loss", static_cast<float>(step));
        writer.end_step(at_step(step).wall_time);
    }
    CHECK(store.list("", "") == std::vector<std::string>{"TRAIN/000000000000_worker_0.tfevents",
                                                         "TRAIN/000000000001_worker_0.tfevents",
                                                         "TRAIN/000000000011_worker_0.tfevents"});
    CHECK(values_in(store, "TRAIN/000000000001_worker_0.tfevents").size() == 10);
    CHECK(writer.held_bytes() > 0);
    writer.close();
    CHECK(writer.held_bytes() == 0);
    const auto last = values_in(store, "TRAIN/000000000021_worker_0.tfevents");
    REQUIRE(last.size() == 4);
    CHECK(last[3].step == 24);
    CHECK(last[3].scalar == 24.0F);
}

TEST_CASE("tensorboard_writer: steps that have nothing make nothing wait") {
    memory_storage store;
    auto writer = writer_to(store, {.interval = 100ms});
    for (const double time : {1.7e9 + 0.3, 1.7e9 + 0.35}) {
        writer.end_step(time);
    }
    writer.add_scalar(at_step(2), "loss", 1);
    writer.end_step(1.7e9 + 0.4);
    CHECK(store.list("", "").size() == 1);
}

TEST_CASE("tensorboard_writer: a clock that is put back makes nothing wait") {
    memory_storage store;
    auto writer = writer_to(store, {.interval = 10s});
    writer.add_scalar(at_step(0), "loss", 1);
    writer.end_step(5000);
    writer.add_scalar(at_step(1), "loss", 1);
    writer.end_step(5001);
    CHECK(store.list("", "").size() == 1);
    writer.end_step(4000);
    CHECK(store.list("", "").size() == 2);
}

TEST_CASE("tensorboard_writer: what is held is bounded, whatever the interval") {
    memory_storage store;
    auto writer = writer_to(store, {.interval = 1h, .max_bytes = 2000});
    std::size_t largest = 0;
    for (step_number step = 0; step < 100; ++step) {
        writer.add_scalar(at_step(step), "loss", 1);
        writer.add_scalar(at_step(step, mode::eval), "loss", 1);
        writer.end_step(1);
        largest = std::max(largest, writer.held_bytes());
    }
    CHECK(largest < 2000);
    writer.close();
    std::size_t train = 0;
    std::size_t eval = 0;
    for (const std::string& key : store.list("", "")) {
        (key.starts_with("TRAIN/") ? train : eval) += values_in(store, key).size();
    }
    CHECK(train == 100);
    CHECK(eval == 100);
    CHECK(store.list("", "").size() < 20);
}

TEST_CASE("tensorboard_writer: nothing to write leaves no file") {
    memory_storage store;
    auto writer = writer_to(store);
    writer.end_step(0);
    writer.close();
    writer.close();
    CHECK(store.list("", "").empty());
}

TEST_CASE("tensorboard_writer: what could not be written is held, and written by the next call") {
    const faulty_storage store{{}, {.first = 0, .count = 1000}};
    const memory_storage& objects = store.objects();
    tensorboard_writer writer{into(store), "worker_0"};
    writer.add_scalar(at_step(1), "loss", 1);
    CHECK_THROWS_AS(writer.end_step(0), unavailable);
    writer.add_scalar(at_step(2), "loss", 2);
    CHECK_THROWS_AS(writer.close(), unavailable);
    CHECK(objects.list("", "").empty());
    store.plan({});
    writer.end_step(0);
    CHECK(values_in(objects, "TRAIN/000000000001_worker_0.tfevents").size() == 2);
}

TEST_CASE("tensorboard_writer: what is held stays bounded where nothing can be written") {
    const faulty_storage store{{}, {.first = 0, .count = 1000}};
    const memory_storage& objects = store.objects();
    tensorboard_writer writer{into(store), "worker_0", {.max_bytes = 1000}};
    for (step_number step = 0; step < 100; ++step) {
        writer.add_scalar(at_step(step), "loss", 1);
        CHECK_THROWS_AS(writer.end_step(0), unavailable);
        CHECK(writer.held_bytes() < 1000);
    }
    store.plan({});
    writer.add_scalar(at_step(100), "loss", 1);
    writer.end_step(0);
    REQUIRE(objects.list("", "").size() == 1);
    const auto values = values_in(objects, objects.list("", "")[0]);
    CHECK(values.back().step == 100);
    CHECK(values.size() < 40);
}
