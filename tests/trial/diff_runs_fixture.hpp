// Runs in memory, and how they differ, as lines.
#pragma once

#include "support/run_builder.hpp"
#include "support/standard.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/diff_runs.hpp>

namespace smdebug_test {

inline std::string line_of(const smdebug::run_difference& each) {
    std::string line = each.step < 0 ? std::string{} : std::to_string(each.step) + " ";
    line.append(each.worker).append(each.worker.empty() ? "" : " ");
    line.append(each.tensor).append(each.tensor.empty() ? "" : " ");
    return line + std::string{smdebug::name_of(each.kind)} + (each.run == 0 ? "" : " " + std::to_string(each.run)) +
           ": " + each.what;
}

struct diff_answer {
    std::vector<std::string> lines;
    std::vector<smdebug::run_difference> all;
    smdebug::diff_summary summary;
};

template <class First, class Second>
diff_answer diff(const First& first, const Second& second, const smdebug::diff_options& options = {}) {
    diff_answer got;
    got.summary = smdebug::diff_runs(first, second, options, [&](const smdebug::run_difference& each) {
        got.lines.push_back(line_of(each));
        got.all.push_back(each);
        got.all.back().shape = nullptr;  // borrowed
        got.all.back().worker = {};
        got.all.back().tensor = {};
    });
    return got;
}

inline smdebug::memory_storage run_of(const std::vector<written_step>& steps,
                                      const std::map<std::string, std::vector<std::string>>& groups = {},
                                      const std::vector<std::string>& workers = {"worker_0"}) {
    smdebug::memory_storage store;
    run_builder build{store};
    build.collections(workers, groups);
    for (const written_step& step : steps) {
        build.step(step);
    }
    build.end();
    return store;
}

inline diff_answer diff_of(const std::vector<written_step>& first, const std::vector<written_step>& second,
                           const smdebug::diff_options& options = {}) {
    return diff(smdebug::memory_trial{run_of(first)}, smdebug::memory_trial{run_of(second)}, options);
}

inline diff_answer diff_of(written_tensor first, written_tensor second, const smdebug::diff_options& options = {}) {
    return diff_of({{.tensors = {std::move(first)}}}, {{.tensors = {std::move(second)}}}, options);
}

}  // namespace smdebug_test
