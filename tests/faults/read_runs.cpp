// Reads every tensor of runs and prints the results: for check_faults.py and check_power_loss.py.
//   read_runs [--cache FOLDER] [--skip-damaged] RUN...
// --cache: through a cache on disk; --skip-damaged: without damaged index files.  Prints, for each run:
//   run RUN | refused WHY | row STEP WORKER MODE MODE_STEP NAME FIRST HASH | reduced STEP WORKER REDUCTION VALUE |
//   error STEP WORKER NAME WHY
// FIRST: the first element; HASH: of all bytes.
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include "support/standard.hpp"

namespace {

using namespace smdebug;

std::string one_line(std::string text) {
    for (char& each : text) {
        each = each == '\n' ? ' ' : each;
    }
    return text;
}

// FNV-1a.
std::uint64_t hash_of(byte_view bytes) {
    std::uint64_t hash = 14695981039346656037U;
    for (const std::byte each : bytes) {
        hash = (hash ^ static_cast<std::uint64_t>(each)) * 1099511628211U;
    }
    return hash;
}

void print_tensor(const basic_trial<any_storage>& run, const std::string& name, step_number step,
                  const std::string& worker) {
    const auto tensor = run.tensor(name);
    const std::string place = std::to_string(step) + " " + worker + " ";
    try {
        const tensor_value values = tensor.value(step, {.worker = worker});
        const byte_view bytes = values.view().bytes;
        const auto which = run.mode(step);
        std::printf("row %s%s %lld %s %.9g %016llx\n", place.c_str(),
                    std::string{name_of(which.value_or(mode::global))}.c_str(),
                    static_cast<long long>(run.mode_step(step).value_or(-1)), name.c_str(),
                    bytes.size() < 4 ? 0.0 : static_cast<double>(load_le<float>(bytes.data())),
                    static_cast<unsigned long long>(hash_of(bytes)));
        for (const auto& [key, value] : tensor.saved_reduction_values(step, {.worker = worker})) {
            std::printf("reduced %s%s %.9g\n", place.c_str(), reduction_tensor_name(name, key).c_str(), value);
        }
    } catch (const error& why) {
        std::printf("error %s%s %s\n", place.c_str(), name.c_str(), one_line(why.what()).c_str());
    }
}

void print_run(const basic_trial<any_storage>& run) {
    for (const step_number step : run.steps({.show_incomplete_steps = true})) {
        for (const std::string& worker : run.workers(step)) {
            for (const std::string& name : run.tensor_names({.step = step})) {
                print_tensor(run, name, step, worker);
            }
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    std::optional<std::string> cache;
    trial_options options;
    for (int i = 1; i < argc; ++i) {
        const std::string what = argv[i];
        if (what == "--cache" && i + 1 < argc) {
            cache = argv[++i];
            continue;
        }
        if (what == "--skip-damaged") {
            options.damaged_index = damage_policy::skip;
            continue;
        }
        std::printf("run %s\n", what.c_str());
        try {
            const local_storage store{what};
            const cache_options cached_files{.folder = cache.value_or(""), .cacheable = is_written_once};
            print_run(basic_trial<any_storage>{
                cache ? any_storage{cached_storage{store, cached_files}} : any_storage{store}, options});
        } catch (const error& why) {
            std::printf("refused %s\n", one_line(why.what()).c_str());
        }
        std::fflush(stdout);
    }
    return 0;
}
