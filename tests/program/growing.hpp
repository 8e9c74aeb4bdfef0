// A run on disk that a test writes step by step, while the program follows it.
#pragma once

#include "program/captured.hpp"

#include <smdebug/core/step.hpp>
#include <smdebug/storage/local_storage.hpp>

#include "support/standard.hpp"

namespace smdebug_test {

class growing {
public:
    growing() : growing({"worker_0"}) {}
    /// Begins as a run that has not started: `start` writes the collections files.
    explicit growing(std::vector<std::string> workers) : workers_(std::move(workers)) {}

    [[nodiscard]] std::string path() const { return folder_.path() + "/run"; }
    growing& start() {
        build_.collections(workers_);
        return *this;
    }
    /// A step with a tensor `w`, which holds an infinity if it is sick.
    growing& step(smdebug::step_number number, bool sick, const std::string& worker = "worker_0") {
        const float value = sick ? std::numeric_limits<float>::infinity() : 1.0F;
        build_.step({.step = number, .tensors = {tensor_of<float>("w", {value, 2})}, .worker = worker});
        return *this;
    }
    void end() { build_.end(); }
    void put(std::string_view key, std::string_view content) { build_.put(key, content); }
    void remove(std::string_view key) { folder_.remove("run/" + std::string{key}); }

private:
    temporary_folder folder_;
    smdebug::local_storage store_{folder_.path() + "/run"};
    run_builder<smdebug::local_storage> build_{store_};
    std::vector<std::string> workers_;
};

}  // namespace smdebug_test
