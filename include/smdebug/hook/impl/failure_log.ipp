// The bodies of <smdebug/hook/failure_log.hpp>.
#pragma once

#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/hook/failure_log.hpp>
#include <smdebug/hook/hook_options.hpp>

#include <cstdio>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE void failure_log::note(std::span<const lost_write> lost) {
    exception_collector failure;
    for (const lost_write& file : lost) {
        if (file.takes_step) {
            --counters_.steps;
            ++counters_.lost_steps;
        }
        failure.attempt([&] {
            attempt([&] { std::rethrow_exception(file.why); },
                    [&] { return file.key + (file.stays ? " is not removed" : " is lost"); });
        });
    }
    failure.rethrow();
}

SMDEBUG_INLINE void failure_log::note_abandoned(const std::string& sentence) {
    ++counters_.lost_steps;
    counters_.last_loss = sentence;
}

SMDEBUG_INLINE void failure_log::note_dropped(const std::string& sentence) {
    ++counters_.dropped_tensors;
    call(printable(sentence));
}

SMDEBUG_INLINE void failure_log::give_up(const std::string& loss) {
    report(printable(loss));
    if (options_->on_failure == failure_policy::raise) {
        throw;
    }
}

SMDEBUG_INLINE void failure_log::report(const std::string& loss) {
    counters_.last_loss = loss;
    if (options_->on_failure == failure_policy::drop) {
        call(loss);
    }
}

SMDEBUG_INLINE void failure_log::call(const std::string& sentence) {
    if (options_->on_drop && !std::exchange(calling_, true)) {
        try {
            options_->on_drop(sentence);
        } catch (...) {
        }
        calling_ = false;
    }
}

// Names the collections whose regexes matched no tensor: a likely reason why tensors are not saved.
[[nodiscard]] inline std::string idle_regexes(const collection_set& all) {
    std::string text;
    for (const std::string& name : all.unmatched()) {
        const collection& group = all[*all.find(name)];
        if (!group.include_regex.empty()) {
            text.append("; the include_regex of \"").append(name).append("\", \"");
            text.append(group.include_regex.front()).append("\", matches no tensor");
        }
    }
    return text;
}

SMDEBUG_INLINE std::vector<std::string> closing_notes(const hook_options& options, const collection_set& all,
                                                      const hook_counters& counters, std::uint64_t undue_steps,
                                                      const first_tensor_repeats& first) {
    std::vector<std::string> notes = options.notes;
    if (const std::vector<std::string> unsaved = all.unsaved(); !unsaved.empty()) {
        const bool one = unsaved.size() == 1;
        notes.push_back((one ? "1 tensor was" : std::to_string(unsaved.size()) + " tensors were") +
                        " offered and never saved" + (one ? ", \"" : ", the first \"") + unsaved.front() +
                        "\": no collection that is saved holds " + (one ? "it" : "them") +
                        ". Name one, save_tensor(\"" + unsaved.front() +
                        "\", values, {shape}, {\"default\"}), or set include_regex, include_collections or save_all" +
                        detail::idle_regexes(all));
    }
    std::string empty;
    for (const std::string& name : all.unmatched()) {
        const collection& group = all[*all.find(name)];
        if (group.include_regex.empty() && group.tensor_names.empty() && !known_collections::is_known(name)) {
            empty += (empty.empty() ? "\"" : ", \"") + name + "\"";
        }
    }
    if (!empty.empty() && counters.steps != 0) {
        notes.push_back("no tensor was put into " + empty +
                        ", and none can belong to it: a collection without include_regex or tensor_names holds what "
                        "is saved into it, save_tensor(name, values, {shape}, {collection})");
    }
    if (counters.steps == 1 && first.times > 1) {
        notes.push_back("\"" + first.name + "\" was saved " + std::to_string(first.times) + " times in step " +
                        std::to_string(first.step) +
                        ", the only one, which keeps the last: call end_step() at the end of each iteration");
    }
    if (undue_steps != 0 && counters.steps + counters.lost_steps == 0 && options.save_config.end_step != 0) {
        notes.push_back("nothing was saved: tensors were offered at " + std::to_string(undue_steps) +
                        (undue_steps == 1 ? " step" : " steps") +
                        " at which no collection was due, see save_config (its save_interval is " +
                        std::to_string(options.save_config.save_interval) + ")");
    }
    return notes;
}

SMDEBUG_INLINE void report_note(const hook_options& options, const std::string& note) {
    const std::string line = printable(note);
    if (options.on_note) {
        try {
            options.on_note(line);
        } catch (...) {  // a log that fails is no reason to fail
        }
    } else {
        static_cast<void>(std::fputs(("smdebug: " + line + "\n").c_str(), stderr));
    }
}

}  // namespace smdebug::inline v1::detail
