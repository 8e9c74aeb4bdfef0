// A run's answers as comparable facts, and their changes when one of its files is damaged.
#pragma once

#include "support/allocation_count.hpp"
#include "support/sanitized.hpp"
#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/step_stream.hpp>

namespace smdebug_test {

/// A question and the run's answer; an answer that begins with '!' is an error of the library.
using facts = std::map<std::string, std::string>;

template <class Ask>
void note(facts& all, const std::string& question, Ask&& ask) {
    try {
        all[question] = ask();
    } catch (const smdebug::error& failed) {
        all[question] = std::string{"!"} + failed.what();
    }
}

[[nodiscard]] inline std::string text_of(const smdebug::shape_type& shape) {
    std::string text = "[";
    for (const std::size_t extent : shape) {
        text += std::to_string(extent) + ",";
    }
    return text + "]";
}

[[nodiscard]] inline std::string text_of(const smdebug::lookup<smdebug::tensor_value>& found) {
    using smdebug::lookup_failure_kind;
    if (!found) {
        return smdebug::is_lost(found.error()) ? "!lost" : "none";
    }
    std::string text = std::string{name_of(found->type())} + text_of(found->shape());
    text += smdebug::as_text(found->bytes());
    for (const std::string& each : found->strings()) {
        text += each + ";";
    }
    return text;
}

/// All answers of a run: names, steps, workers, collections, values, shapes, saved reductions; and the same
/// by a walk.
[[nodiscard]] inline facts everything_of(const smdebug::trial& run) {
    using namespace smdebug;
    facts all;
    all["workers"] = std::to_string(run.num_workers());
    for (const auto& [name, group] : run.collections()) {
        std::string& text = all["collection " + name];
        for (const std::string& each : group.tensor_names) {
            text += each + ",";
        }
        for (const std::string& each : group.include_regex) {
            text += each + ";";
        }
    }
    for (const step_number step : run.steps({.show_incomplete_steps = true})) {
        const auto in = run.mode(step);
        all["step " + std::to_string(step)] =
            in ? std::string{name_of(*in)} + std::to_string(run.mode_step(step).value_or(-1)) : "none";
    }
    for (const std::string& name : run.tensor_names()) {
        const auto tensor = run.tensor(name);
        all["tensor " + name] = tensor.original_name().value_or("");
        for (const step_number step : tensor.steps({.show_incomplete_steps = true})) {
            for (const std::string& worker : tensor.workers(step)) {
                const std::string where = name + "@" + std::to_string(step) + "/" + worker;
                note(all, "value " + where, [&] { return text_of(tensor.find_value(step, {.worker = worker})); });
                note(all, "shape " + where, [&] {
                    const auto found = tensor.find_shape(step, {.worker = worker});
                    return found ? text_of(*found) : is_lost(found.error()) ? "!lost" : "none";
                });
                note(all, "reductions " + where, [&] {
                    std::string text;
                    for (const auto& [key, number] : tensor.saved_reduction_values(step, {.worker = worker})) {
                        text += reduction_tensor_name(name, key) + "=" + std::to_string(number) + ",";
                    }
                    return text;
                });
            }
        }
    }
    note(all, "walk", [&] {
        for_each_tensor(run, {}, reduction_set::all(), [&](const reduced_tensor& found) {
            std::string& text = all["walk " + std::string{found.name} + "@" + std::to_string(found.step) + "/" +
                                    std::string{found.worker}];
            if (found.failure != nullptr || !found.saved_failures.empty()) {
                text = "!lost";
                return;
            }
            text = std::string{name_of(found.type)} + (found.shape != nullptr ? text_of(*found.shape) : "none");
            for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
                const reduction_key key{static_cast<reduction>(i % reduction_count), i >= reduction_count};
                text += found.reductions.computed.contains(key)
                            ? "," + std::to_string(found.reductions(key.what, key.abs))
                            : ",";
            }
        });
        return std::string{"ended"};
    });
    return all;
}

/// The effect of a damage.
enum class outcome {
    right,      ///< all answers unchanged
    told,       ///< answers are missing, and an error or a problem reports it
    missing,    ///< answers are missing without a report
    different,  ///< an answer has changed
};

/// `is_told`: whether damage was reported.
[[nodiscard]] inline outcome compare(const facts& intact, const facts& now, bool is_told) {
    bool is_missing = false;
    for (const auto& [question, answer] : now) {
        const auto before = intact.find(question);
        if (answer.starts_with('!')) {
            is_told = is_missing = true;
        } else if (before == intact.end() || before->second != answer) {
            return outcome::different;
        }
    }
    for (const auto& [question, answer] : intact) {
        is_missing = is_missing || !now.contains(question);
    }
    return !is_missing ? outcome::right : is_told ? outcome::told : outcome::missing;
}

struct outcome_counts {
    std::size_t right = 0;
    std::size_t told = 0;
    std::size_t missing = 0;
    std::size_t different = 0;

    void add(outcome what) {
        ++(what == outcome::right     ? right
           : what == outcome::told    ? told
           : what == outcome::missing ? missing
                                      : different);
    }
    [[nodiscard]] std::string text() const {
        return std::to_string(right) + " right, " + std::to_string(told) + " reported, " + std::to_string(missing) +
               " missing, " + std::to_string(different) + " different";
    }
};

using file_texts = std::map<std::string, std::string>;

/// The answers of the run in those files; adds the reported damage to `problems`.
using asking = std::function<facts(const file_texts& files, std::vector<std::string>& problems)>;

/// A file, and the permitted effects of damage to it.
struct damaged_file {
    std::string key;
    /// Whether a flipped bit at an offset may change an answer, because nothing protects that byte; empty: never.
    std::function<bool(std::size_t offset)> unprotected = {};
    /// Whether a truncated file looks like one that is not completely written yet.
    bool may_be_short = false;
    bool matters = true;  ///< whether answers depend on its content
};

/// Every truncation and every flipped bit of a file; under a sanitizer, where an attempt takes ten times as long, one bit of
/// each byte, unless SMDEBUG_TEST_ALL_FAULTS is set.  No attempt allocates much more than reading the intact file,
/// apart from a decoder's buffers.
inline void damage_everywhere(const std::string& kind, const file_texts& files, const damaged_file& which,
                              const asking& ask) {
    CAPTURE(kind);
    CAPTURE(which.key);
    std::vector<std::string> problems;
    std::size_t before = allocated_bytes();
    const facts intact = ask(files, problems);
    const std::size_t most_bytes = 2 * (allocated_bytes() - before) + (std::size_t{4} << 20U);
    REQUIRE(problems.empty());
    REQUIRE(std::none_of(intact.begin(), intact.end(), [](const auto& each) { return each.second.starts_with('!'); }));
    const std::string& content = files.at(which.key);
    file_texts damaged = files;
    const auto attempt = [&](const std::string& changed) {
        damaged[which.key] = changed;
        problems.clear();
        before = allocated_bytes();
        outcome found = outcome::told;
        try {
            const facts now = ask(damaged, problems);
            found = compare(intact, now, !problems.empty());
        } catch (const smdebug::error&) {  // it cannot be opened
        }
        CHECK(allocated_bytes() - before <= most_bytes);
        return found;
    };
    outcome_counts cut;
    for (std::size_t length = 0; length < content.size(); ++length) {
        const outcome found = attempt(content.substr(0, length));
        const bool is_allowed =
            found == outcome::right || found == outcome::told || (found == outcome::missing && which.may_be_short);
        CHECK_MESSAGE(is_allowed, "cut to ", length);
        cut.add(found);
    }
    outcome_counts flipped;
    const std::size_t stride = sanitized && std::getenv("SMDEBUG_TEST_ALL_FAULTS") == nullptr ? 9 : 1;
    for (std::size_t bit = 0; bit < content.size() * 8; bit += stride) {  // 9: each byte's next bit
        std::string changed = content;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
        const outcome found = attempt(changed);
        const bool is_allowed =
            found == outcome::right || found == outcome::told || (which.unprotected && which.unprotected(bit / 8));
        CHECK_MESSAGE(is_allowed, "bit ", bit % 8, " of byte ", bit / 8, ": ", static_cast<int>(found));
        flipped.add(found);
    }
    CHECK((flipped.told > 0) == which.matters);
    CHECK((flipped.different > 0) == static_cast<bool>(which.unprotected));  // bytes declared unprotected are so
    MESSAGE(kind, ", ", which.key, ", ", content.size(), " bytes: cut: ", cut.text(), "; bits: ", flipped.text());
}

}  // namespace smdebug_test
