// A run in a fake S3 server, for tests that count requests.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include "support/fake_s3.hpp"
#include "support/run_builder.hpp"
#include "support/standard.hpp"

namespace smdebug_test {

/// A run in an S3 server that records requests, which need no signature.  Copies share the server.
class run_on_s3 {
public:
    struct shape {
        smdebug::step_number steps = 40;
        std::size_t workers = 1;
        std::size_t floats = 100;  // in each of the three tensors of an event file
        bool reduced = false;      // beside one of values that no rule looks at, reductions alone
    };

    explicit run_on_s3(shape made) : made_(made) {
        smdebug::memory_storage store;
        run_builder build{store};
        build.collections(workers(), {{"gradients", {"gradient"}}});
        put_all(store);
        for (smdebug::step_number step = 0; step < made.steps; ++step) {
            write(step);
        }
    }

    void write(smdebug::step_number step) const {
        smdebug::memory_storage store;
        for (const std::string& worker : workers()) {
            const std::vector<float> values(made_.floats, static_cast<float>(step + 1));
            written_step one{.step = step, .worker = worker};
            if (made_.reduced) {
                one.tensors = {tensor_of("weight", values),
                               tensor_of<float>("smdebug/reductions/abs_mean/gradient", {1}, {})};
            } else {
                one.tensors = {tensor_of("gradient", values), tensor_of("relu_output", values, {10, made_.floats / 10}),
                               tensor_of("weight", values)};
            }
            run_builder{store}.step(one);
        }
        put_all(store);
    }
    void end() const { server_.put("run/" + std::string{smdebug::detail::locations::end_of_job}, "end"); }

    [[nodiscard]] smdebug::any_storage storage(smdebug::cache_options kept = {}) const {
        smdebug::s3_options options = quick_options();
        options.anonymous = true;
        const smdebug::s3_storage bucket{"s3://bucket/run", options, server_};
        kept.cacheable = smdebug::is_written_once;
        return smdebug::cached_storage{bucket, std::move(kept)};
    }
    [[nodiscard]] smdebug::trial open(smdebug::cache_options kept = {}) const {
        return smdebug::trial{storage(std::move(kept))};
    }

    /// How often event files were fetched since the last call: times fetched -> number of files.
    [[nodiscard]] std::map<std::size_t, std::size_t> fetches() const {
        std::map<std::string, std::size_t> by_key;
        for (const std::string& key : server_.keys()) {
            if (key.ends_with(".tfevents")) {
                by_key[key] = 0;
            }
        }
        for (const fake_request& each : server_.requests()) {
            if (each.what == asks_for::get && by_key.contains(each.key)) {
                ++by_key[each.key];
            }
        }
        server_.forget_requests();
        std::map<std::size_t, std::size_t> counted;
        for (const auto& [key, times] : by_key) {
            ++counted[times];
        }
        return counted;
    }
    [[nodiscard]] std::size_t files() const { return static_cast<std::size_t>(made_.steps) * made_.workers; }
    [[nodiscard]] fake_s3 server() const { return server_; }

private:
    [[nodiscard]] std::vector<std::string> workers() const {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < made_.workers; ++i) {
            names.push_back("worker_" + std::to_string(i));
        }
        return names;
    }
    void put_all(const smdebug::memory_storage& store) const {
        for (const std::string& key : store.list("", "")) {
            server_.put("run/" + key, std::string{smdebug::as_text(store.read(key).view())});
        }
    }

    [[nodiscard]] static fake_s3_options for_everybody() {
        fake_s3_options how;
        how.keys.reset();
        return how;
    }

    shape made_;
    fake_s3 server_{for_everybody()};
};

}  // namespace smdebug_test
