// Logs in memory, opened as a run: for the tests of tensorboard_source.
#pragma once

#include <smdebug/formats/tensorboard/log_source.hpp>

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

#include "support/standard.hpp"

namespace smdebug_test::logs_in_memory {

using namespace smdebug;

struct log_folder {
    memory_storage files = memory_storage{"logs"};
    std::vector<std::string> problems = {};                             ///< when it was opened
    std::chrono::seconds age{std::chrono::minutes{60}};                 ///< of all files, as the source reports it
    std::optional<std::chrono::system_clock::time_point> stopped = {};  ///< when the clock was stopped

    /// Files are a minute old, too young for the log to have ended; only `age` advances the time.
    void stop_clock() {
        stopped = std::chrono::system_clock::now();
        age = std::chrono::minutes{1};
    }
    void write(const std::string& key, const std::string& bytes) { files.write(key, as_bytes(bytes)); }
    [[nodiscard]] trial open(const step_range& range = {}) {
        const any_storage store{files};
        tensorboard_source source{store,
                                  {.now = [this] { return stopped.value_or(std::chrono::system_clock::now()) + age; }}};
        trial run{as_run(store, std::move(source)),
                  {.range = range, .incomplete_step_wait_window = 2, .missing_event_file_retry_limit = 0}};
        problems = texts_of(run);
        return run;
    }
    [[nodiscard]] static std::vector<std::string> texts_of(const trial& run) {
        std::vector<std::string> texts;
        for (const problem& one : run.problems()) {
            texts.push_back(text_of(one));
        }
        return texts;
    }
};

[[nodiscard]] inline double number(const trial& run, const std::string& tensor, step_number step,
                                   mode in = mode::global) {
    return run.tensor(tensor).value<double>(step, {.mode = in, .convert = true})();
}

}  // namespace smdebug_test::logs_in_memory
