// Results of runs for the tests of what stores them, and comparing them.
#pragma once

#include <smdebug/batch/row_spool.hpp>
#include <smdebug/batch/run_result.hpp>

#include "support/standard.hpp"

namespace smdebug_test {

/// A run that ended, with so many verdicts, of which one was met.
inline smdebug::run_result some_result(std::uint64_t place, std::size_t rules = 12) {
    using namespace smdebug;
    const std::string number = std::to_string(place);
    run_result result{
        .run = {.place = place, .path = "runs/" + number, .version = "1:" + number, .bytes = 100'000 + place},
        .steps = 20,
        .workers = 1,
        .tensors = 12,
        .last_step = 190,
        .seconds = 0.001};
    for (std::size_t i = 0; i < rules; ++i) {
        result.verdicts.push_back({.name = "rule_" + std::to_string(i),
                                   .outcome = {.evaluated = 20, .tensors = 240},
                                   .status = rule_status::no_issues_found,
                                   .summary = "all of 20 steps were evaluated, and nothing was found"});
    }
    if (rules > 0) {
        rule_result& met = result.verdicts.front();
        met.status = rule_status::issues_found;
        met.outcome.met_at = {10, 20};
        met.summary = "gradient/fc1.weight has 1e-09 at step " + number;
        for (const step_number step : {step_number{10}, step_number{20}}) {
            met.outcome.findings.push_back({.met = true,
                                            .tensor = "gradient/fc1.weight",
                                            .worker = "worker_0",
                                            .rule = met.name,
                                            .step = step,
                                            .mode_step = step,
                                            .mode = mode::train,
                                            .value = 1e-9 / static_cast<double>(step),
                                            .threshold = 1e-7,
                                            .message = "the mean of its magnitudes is below the threshold"});
        }
    }
    return result;
}

/// A run that could not be opened.
inline smdebug::run_result failed_result(std::uint64_t place, const std::string& why = "it is not there") {
    smdebug::run_result result = some_result(place, 0);
    result.state = smdebug::run_state::failed;
    result.error = why;
    return result;
}

/// Some rows of reductions: one with all, one with a mean alone, one of strings, which has none.
inline std::vector<smdebug::reduction_row> some_reductions(std::size_t count = 3) {
    using namespace smdebug;
    std::vector<reduction_row> rows;
    for (std::size_t i = 0; i < count; ++i) {
        reduction_row& row = rows.emplace_back();
        row.step = static_cast<step_number>(10 * i);
        row.mode_step = static_cast<step_number>(i);
        row.mode = mode::train;
        row.worker = "worker_0";
        row.name = "fc1.weight";
        if (i % 3 == 2) {
            row.dtype = "string";
            row.shape = "";
            continue;
        }
        row.dtype = "float32";
        row.shape = "64x2";
        row.reductions.count = 128;
        row.reductions.computed = i % 3 == 0 ? reduction_set::all() : reduction_set{reduction::mean};
        for (std::size_t k = 0; k < row.reductions.value.size(); ++k) {
            if (row.reductions.computed.contains(reduction_key::from_index(k))) {
                row.reductions.value[k] = 0.1 * static_cast<double>(k) - 1.0 / 3.0;
            }
        }
        row.reductions.zeros = i % 3 == 0 ? 7 : 0;
    }
    return rows;
}

/// A run that brings these rows.
inline smdebug::run_result with_reductions(smdebug::run_result run, const std::vector<smdebug::reduction_row>& rows) {
    run.reductions = std::make_shared<smdebug::row_spool>();
    for (const smdebug::reduction_row& row : rows) {
        run.reductions->add(row);
    }
    return run;
}

/// Whether two doubles are the same, -0.0 not being 0.0, and any NaN like another.
inline bool same(double a, double b) {
    return (a != a && b != b) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

inline bool same(const smdebug::finding& a, const smdebug::finding& b) {
    return a.met == b.met && a.damaged == b.damaged && a.tensor == b.tensor && a.worker == b.worker &&
           a.rule == b.rule && a.step == b.step && a.mode_step == b.mode_step && a.mode == b.mode &&
           same(a.value, b.value) && same(a.threshold, b.threshold) && a.message == b.message;
}

/// What a database keeps of a rule's result.
inline bool same(const smdebug::rule_result& a, const smdebug::rule_result& b) {
    const auto& found_a = a.outcome.findings;
    const auto& found_b = b.outcome.findings;
    bool alike = a.name == b.name && a.status == b.status && a.outcome.evaluated == b.outcome.evaluated &&
                 a.outcome.met_at.size() == b.outcome.met_at.size() && a.outcome.skipped == b.outcome.skipped &&
                 a.outcome.tensors == b.outcome.tensors && a.outcome.unread == b.outcome.unread &&
                 a.summary == b.summary && found_a.size() == found_b.size();
    for (std::size_t i = 0; alike && i < found_a.size(); ++i) {
        alike = same(found_a[i], found_b[i]);
    }
    return alike;
}

inline bool same(const smdebug::run_result& a, const smdebug::run_result& b) {
    bool alike = a.run.place == b.run.place && a.run.path == b.run.path && a.run.version == b.run.version &&
                 a.run.bytes == b.run.bytes && a.state == b.state && a.error == b.error && a.steps == b.steps &&
                 a.workers == b.workers && a.tensors == b.tensors && a.last_step == b.last_step &&
                 same(a.seconds, b.seconds) && a.verdicts.size() == b.verdicts.size() &&
                 a.messages.size() == b.messages.size();
    for (std::size_t i = 0; alike && i < a.verdicts.size(); ++i) {
        alike = same(a.verdicts[i], b.verdicts[i]);
    }
    for (std::size_t i = 0; alike && i < a.messages.size(); ++i) {
        alike = a.messages[i].what == b.messages[i].what && a.messages[i].text == b.messages[i].text;
    }
    return alike;
}

inline bool same(const smdebug::reduction_row& a, const smdebug::reduction_row& b) {
    bool alike = a.step == b.step && a.mode_step == b.mode_step && a.mode == b.mode && a.worker == b.worker &&
                 a.name == b.name && a.dtype == b.dtype && a.shape == b.shape &&
                 a.reductions.computed == b.reductions.computed && a.reductions.count == b.reductions.count &&
                 a.reductions.nan == b.reductions.nan && a.reductions.pos_inf == b.reductions.pos_inf &&
                 a.reductions.neg_inf == b.reductions.neg_inf && a.reductions.zeros == b.reductions.zeros;
    for (std::size_t i = 0; alike && i < a.reductions.value.size(); ++i) {
        alike = same(a.reductions.value[i], b.reductions.value[i]);
    }
    return alike;
}

}  // namespace smdebug_test
