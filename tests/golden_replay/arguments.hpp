// The arguments of a recorded call, as the library's options want them.  What is missing or null is not given.
#pragma once

#include "questions.hpp"

#include <smdebug/core/step.hpp>
#include <smdebug/trial/options.hpp>

#include "support/standard.hpp"

namespace golden_replay {

class arguments {
public:
    arguments() = default;
    explicit arguments(std::optional<json::value> held) : held_(held) {
        if (held_ && !held_->is_object()) {
            wrong("expected an object of arguments", *held_);
        }
    }

    [[nodiscard]] std::optional<json::value> find(std::string_view key) const {
        return held_ ? look(*held_, key) : std::nullopt;
    }
    [[nodiscard]] json::value get(std::string_view key) const {
        const auto found = find(key);
        if (!found) {
            throw bad_question("expected an argument \"" + std::string{key} + "\", which is not there");
        }
        return *found;
    }

    [[nodiscard]] std::string name() const { return text_of(get("name")); }
    [[nodiscard]] smdebug::step_number step() const { return whole_of(get("step")); }
    [[nodiscard]] std::optional<smdebug::step_number> find_step() const { return find_whole("step"); }
    [[nodiscard]] smdebug::mode mode() const {
        const auto found = find("mode");
        return found ? mode_of(*found) : smdebug::mode::global;
    }
    [[nodiscard]] std::optional<std::string> worker() const {
        const auto found = find("worker");
        return found ? std::optional{text_of(*found)} : std::nullopt;
    }
    [[nodiscard]] bool flag(std::string_view key) const {
        const auto found = find(key);
        return found && truth_of(*found);
    }
    [[nodiscard]] std::optional<std::int64_t> find_whole(std::string_view key) const {
        const auto found = find(key);
        return found ? std::optional{whole_of(*found)} : std::nullopt;
    }

    [[nodiscard]] smdebug::steps_options steps() const {
        return {.mode = mode(), .show_incomplete_steps = flag("show_incomplete_steps")};
    }
    [[nodiscard]] smdebug::read_options read() const { return {.mode = mode(), .worker = worker()}; }
    [[nodiscard]] smdebug::value_options value() const { return {.mode = mode(), .worker = worker()}; }
    [[nodiscard]] smdebug::read_options values() const { return {.mode = mode(), .worker = worker()}; }
    [[nodiscard]] smdebug::reduction_options reduction() const {
        return {.mode = mode(), .worker = worker(), .abs = flag("abs")};
    }
    [[nodiscard]] smdebug::prev_steps_options prev_steps() const { return {.n = find_whole("n"), .mode = mode()}; }

private:
    std::optional<json::value> held_ = {};
};

}  // namespace golden_replay
