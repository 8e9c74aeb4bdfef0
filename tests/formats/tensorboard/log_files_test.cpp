#include <smdebug/formats/tensorboard/log_files.hpp>

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("is_tensorboard_log: by the name") {
    CHECK(is_tensorboard_log("a/events.out.tfevents.1700000000.host.12.0.v2"));
    CHECK(is_tensorboard_log("events.out.tfevents.1"));
    CHECK(is_tensorboard_log("events.tfevents"));
    CHECK(is_tensorboard_log("TRAIN/000000000000_worker_0.tfevents"));  // of the hook, and of the Python package
    CHECK(is_tensorboard_log("7/events.out.tfevents.1"));
    CHECK_FALSE(is_tensorboard_log("events.out.tfevents.1.profile-empty"));
    CHECK_FALSE(is_tensorboard_log("a/._events.out.tfevents.1"));
    CHECK_FALSE(is_tensorboard_log("events/000000000000/000000000000_worker_0.tfevents"));
    CHECK_FALSE(is_tensorboard_log("tfevents/notes.txt"));
}

TEST_CASE("log_folders: folders with logs, those of modes as parts of the one above") {
    memory_storage files;
    for (const char* key : {"a/events.out.tfevents.1", "a/events.out.tfevents.2", "a/train/events.out.tfevents.1",
                            "a/loss_train/events.out.tfevents.1", "b/c/validation/events.out.tfevents.1", "d/notes.txt",
                            "events/000000000000/000000000000_worker_0.tfevents"}) {
        files.write(key, {});
    }
    CHECK(log_folders(any_storage{files}) == std::vector<std::string>{"a", "a/loss_train", "b/c"});
    files.write("train/events.out.tfevents.1", {});
    CHECK(log_folders(any_storage{files}) == std::vector<std::string>{"", "a", "a/loss_train", "b/c"});
    CHECK(log_folders(any_storage{memory_storage{}}).empty());
}

TEST_CASE("mode_of_folder: as people name them") {
    CHECK(detail::mode_of_folder("train") == mode::train);
    CHECK(detail::mode_of_folder("TRAIN") == mode::train);
    CHECK(detail::mode_of_folder("val") == mode::eval);
    CHECK(detail::mode_of_folder("eval_test") == mode::eval);
    CHECK(detail::mode_of_folder("predict") == mode::predict);
    CHECK_FALSE(detail::mode_of_folder("trainer"));
    CHECK_FALSE(detail::mode_of_folder(""));
}
