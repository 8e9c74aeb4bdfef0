// Runs of tensors for the benchmarks that scan them, written into folders of their own, and the scan itself.
#pragma once

#include "bench.hpp"
#include "support/run_builder.hpp"

#include <smdebug/core/dtype.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/step_stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace bench {

/// Event files of so many float32 tensors of so many bytes.
struct run_size {
    long files;
    long tensors;
    long bytes;
};

inline smdebug_test::written_step event_step(const run_size& of, std::mt19937& random) {
    std::normal_distribution<float> normal{0.01F, 1.0F};
    std::vector<float> values(static_cast<std::size_t>(of.bytes) / sizeof(float));
    smdebug_test::written_step written;
    for (long i = 0; i < of.tensors; ++i) {
        if (i == 0 || values.size() < 1024) {
            std::generate(values.begin(), values.end(), [&] { return normal(random); });
        } else {
            std::rotate(values.begin(), values.begin() + 17, values.end());
        }
        const std::string name = "layer_" + std::to_string(i) + "/weight";
        written.tensors.push_back(values.size() == 1
                                      ? smdebug_test::tensor_of<float>(name, values, smdebug::shape_type{})
                                      : smdebug_test::tensor_of<float>(name, values));
    }
    return written;
}

/// A run in a folder of its own; each file is written in one large write.
struct written_run {
    data_folder folder;
    std::vector<std::string> paths;  ///< of the event files
    std::uint64_t bytes = 0;         ///< of these together

    written_run(const run_size& of, smdebug::record::footer_kind footers) {
        smdebug::local_storage store{folder.path()};
        std::mt19937 random{1};
        smdebug_test::run_builder build{store};
        build.collections();
        auto step = event_step(of, random);
        step.footers = footers;
        for (long i = 0; i < of.files; ++i) {
            step.step = i;
            build.step(step);
            const std::string key = smdebug::detail::locations::event_key(i, "worker_0");
            paths.push_back(folder.path() + "/" + key);
            bytes += *store.size(key);
        }
        build.end();
    }
};

inline void scan_all(const smdebug::local_trial& run, smdebug::reduction_set wanted, unsigned threads) {
    double total = 0;
    smdebug::for_each_tensor(
        run, {}, wanted,
        [&](const smdebug::reduced_tensor& found) { total += found.reductions(smdebug::reduction::mean); },
        {.threads = threads});
    keep(total);
}

}  // namespace bench
