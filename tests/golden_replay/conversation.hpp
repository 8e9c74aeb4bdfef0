// Calls on one trial, in order, with the no_refresh blocks that lie around them.
#pragma once

#include "sections.hpp"

#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial.hpp>

#include "support/standard.hpp"

namespace golden_replay {

class conversation {
public:
    explicit conversation(smdebug::trial run) : run_(std::move(run)) {}
    conversation(const conversation&) = delete;
    conversation& operator=(const conversation&) = delete;
    ~conversation() {
        while (!guards_.empty()) {  // blocks within blocks end in reverse order
            guards_.pop_back();
        }
    }

    [[nodiscard]] const smdebug::trial& run() const noexcept { return run_; }

    /// One call, by its name in the README.  Throws what the library throws.
    [[nodiscard]] fragment make(const std::string& name, const arguments& args) {
        if (name == "no_refresh.enter") {
            guards_.push_back(std::make_unique<guard>(run_));
            return null();
        }
        if (name == "no_refresh.exit") {
            if (guards_.empty()) {
                throw bad_question("no_refresh.exit without an enter");
            }
            guards_.pop_back();
            return null();
        }
        return call(run_, name, args);
    }

private:
    using guard = smdebug::no_refresh;

    smdebug::trial run_;
    std::vector<std::unique_ptr<guard>> guards_;
};

}  // namespace golden_replay
