// Opening a run as a question says: its range of steps, its environment, and short waits, as no file changes any more.
#pragma once

#include "questions.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/load/opening.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/reduce_in_passing.hpp>

#include "support/standard.hpp"

namespace golden_replay {

/// What can be waited for is there at the first look, so this only has to be longer than nothing.
inline constexpr std::chrono::milliseconds patience{150};
inline constexpr std::chrono::milliseconds look_again_after{10};

/// Sets environment variables, and puts back what was there.  Variables that the library reads and that are not named
/// are unset, so that the caller's own environment is no part of the question.
class scoped_environment {
public:
    /// `env`: an object of texts; null unsets.
    explicit scoped_environment(std::optional<json::value> env) {
        set(smdebug::environment::incomplete_step_wait_window, std::nullopt);
        set(smdebug::environment::missing_event_file_retry_limit, std::nullopt);
        if (env) {
            for (const auto& [name, value] : fields_of(*env)) {
                set(name, value.is_null()     ? std::nullopt
                          : value.is_string() ? std::optional{text_of(value)}
                                              : std::optional{echo(value).json()});
            }
        }
    }
    scoped_environment(const scoped_environment&) = delete;
    scoped_environment& operator=(const scoped_environment&) = delete;
    ~scoped_environment() {
        for (auto held = before_.rbegin(); held != before_.rend(); ++held) {
            put(held->first, held->second);
        }
    }

private:
    void set(const std::string& name, const std::optional<std::string>& value) {
        const char* const now = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): one thread
        before_.emplace_back(name, now != nullptr ? std::optional<std::string>{now} : std::nullopt);
        put(name, value);
    }
    static void put(const std::string& name, const std::optional<std::string>& value) noexcept {
        if (value) {
            static_cast<void>(::setenv(name.c_str(), value->c_str(), 1));  // NOLINT(concurrency-mt-unsafe)
        } else {
            static_cast<void>(::unsetenv(name.c_str()));  // NOLINT(concurrency-mt-unsafe)
        }
    }

    std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

/// [begin or null, end or null], or nothing.
[[nodiscard]] inline smdebug::step_range range_of(std::optional<json::value> asked) {
    smdebug::step_range range;
    if (asked) {
        const auto bounds = items_of(*asked);
        if (bounds.size() != 2) {
            wrong("expected [begin, end]", *asked);
        }
        const auto bound = [](json::value held) {
            return held.is_null() ? std::nullopt : std::optional<smdebug::step_number>{whole_of(held)};
        };
        range = {bound(bounds[0]), bound(bounds[1])};
    }
    return range;
}

/// Opens the run at `place`.
[[nodiscard]] inline smdebug::trial open_run(const std::string& place, smdebug::step_range range = {}) {
    smdebug::trial_options options;
    options.range = range;
    options.open_timeout = patience;
    options.poll_interval = look_again_after;
    if (std::getenv(smdebug::environment::missing_event_file_retry_limit) ==
        nullptr) {  // NOLINT(concurrency-mt-unsafe)
        options.missing_event_file_retry_limit = 1;
    }
    smdebug::storage_options far;
    far.s3.look_interval = look_again_after;
    far.formats.as = smdebug::data_format::smdebug;         // the Python package opens nothing else
    far.archive.in_passing = smdebug::reduce_in_passing();  // so that what is remembered gives the answers, too
    try {
        return smdebug::create_trial(place, options, far);
    } catch (const smdebug::not_found& nothing) {
        // A place without any file of a run: the library waited for one to begin, and says what it did not find.
        // Its leaves (no collections files though the job has ended) are answers of their own.
        if (nothing.python_name() == "NotFound") {
            throw smdebug::unavailable(smdebug::error_code::timed_out, std::string{nothing.message()});
        }
        throw;
    }
}

}  // namespace golden_replay
