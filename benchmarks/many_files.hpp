// Runs of very many index files, made quickly: no event files, as neither opening nor refreshing reads them.
#pragma once

#include "support/run_builder.hpp"

#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// What differs from step to step.
enum class differing { nothing, places, names };

struct run_shape {
    long steps = 0;
    long tensors = 0;
    long workers = 1;
    differing in = differing::nothing;
};

inline std::string worker_name(long worker) { return "worker_" + std::to_string(worker); }

/// Writes one index file.
inline void put_index(smdebug::local_storage& store, const run_shape& shape, long step, long worker) {
    smdebug_test::written_step written{.step = step, .worker = worker_name(worker)};
    std::vector<smdebug::byte_range> places;
    // Every layout differs: in its places, or in which of twice as many tensors it has.
    const long file = step * shape.workers + worker;
    std::uint64_t random = static_cast<std::uint64_t>(file) * 0x9E3779B97F4A7C15U + 1;
    const auto length = static_cast<std::uint64_t>(shape.in == differing::places ? 4200 + file : 4200);
    for (long i = 0; i < shape.tensors; ++i) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        const long number = shape.in == differing::names ? 2 * i + static_cast<long>(random >> 63U) : i;
        written.tensors.push_back(
            {.name = "layer_" + std::to_string(number) + "/dense/kernel:0", .shape = {}, .content = {}});
        places.push_back({static_cast<std::uint64_t>(i) * length, length});
    }
    store.write(smdebug::detail::locations::index_key(step, written.worker),
                smdebug::as_bytes(smdebug_test::index_text(
                    written, places, smdebug::detail::locations::event_key(step, written.worker))));
}

/// Writes a run, with or without its end mark.
inline void make_run(smdebug::local_storage& store, const run_shape& shape, bool ended) {
    std::vector<std::string> workers;
    for (long worker = 0; worker < shape.workers; ++worker) {
        workers.push_back(worker_name(worker));
    }
    smdebug_test::run_builder build{store};
    build.collections(workers);
    for (long step = 0; step < shape.steps; ++step) {
        for (long worker = 0; worker < shape.workers; ++worker) {
            put_index(store, shape, step, worker);
        }
    }
    if (ended) {
        build.end();
    }
}

}  // namespace bench
