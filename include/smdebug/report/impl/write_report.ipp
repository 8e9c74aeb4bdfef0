// The bodies of <smdebug/report/write_report.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/report/run_series.hpp>
#include <smdebug/report/write_report.hpp>
#include <smdebug/storage/posix/output.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/read/selected_tensors.hpp>
#include <smdebug/trial/scanned_tensor.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace smdebug::inline v1 {
namespace report::detail {

/// What a thread computes of one tensor.  Names are the catalog's.
struct seen_tensor {
    step_number step = 0;
    std::string_view worker = {};
    std::string_view name = {};
    std::optional<dtype> type = {};
    std::optional<shape_type> shape = {};
    std::optional<std::uint64_t> elements = {};
    series_row row = {};
    std::optional<distribution> spread = {};
    bool sampled = false;
    bool unreadable = false;
    bool file_failed = false;
    std::vector<std::string> failures = {};
};

/// What a thread computes of some files; reused.
class seen_tensors {
public:
    [[nodiscard]] seen_tensor& next() {
        if (size_ == all_.size()) {
            all_.emplace_back();
        }
        return all_[size_++];
    }
    template <class Take>
    void hand_out(Take&& take) {
        for (std::size_t i = 0; i < size_; ++i) {
            take(all_[i]);
        }
        size_ = 0;
    }
    std::vector<std::byte> buffer = {};  // of distributions
    reduced_tensor reduced = {};         // the last one

private:
    std::vector<seen_tensor> all_;
    std::size_t size_ = 0;
};

/// Notes a tensor, and with its values their distribution.
inline void note_tensor(seen_tensor& seen, const smdebug::detail::scanned_tensor& scanned, const reduced_tensor& tensor,
                        bool with_values, std::vector<std::byte>& buffer) {
    seen.step = tensor.step;
    seen.worker = tensor.worker;
    seen.name = tensor.name;
    // Where only reductions were saved, there is no dtype, and mostly no shape.
    const bool has_values = tensor.type != dtype::invalid;
    seen.type = has_values ? std::optional{tensor.type} : std::nullopt;
    if (tensor.shape != nullptr) {
        seen.shape = *tensor.shape;
    } else {
        seen.shape.reset();
    }
    const auto counted = seen.shape ? element_count(*seen.shape) : std::nullopt;
    seen.elements = has_values ? std::optional{tensor.reductions.count} : counted;
    seen.unreadable = tensor.failure != nullptr;
    seen.file_failed = tensor.file_failed;
    seen.failures.clear();
    const auto say = [&](const lookup_error& why) {
        if (tensor.file_failed) {
            const bool missing = why.why == lookup_failure_kind::event_file_missing;
            seen.failures.push_back(why.where + (missing ? " is missing" : " cannot be read: " + why.note));
            return;
        }
        seen.failures.push_back(
            smdebug::detail::what_of(why, std::string{tensor.name}, tensor.shown_step, tensor.shown_mode()));
    };
    if (tensor.failure != nullptr) {
        say(*tensor.failure);
    }
    const reduction_set shown = numbers_of_reports();
    for (const unread_reduction& bad : tensor.saved_failures) {
        if (shown.contains(bad.key)) {  // rules may have requested others
            say(bad.why);
        }
    }
    seen.row = row_of(tensor.reductions);
    seen.spread.reset();
    if (with_values && scanned.values() != nullptr && scanned.repeats() == 0 && tensor) {
        const tensor_view values = scanned.values()->view();
        seen.spread = distribution_of(values, buffer);
        seen.sampled = seen.spread && values.count() > elements_looked_at;
    }
}

inline void take_tensor(reported_run& to, const seen_tensor& seen, std::size_t most_damage) {
    for (const std::string& each : seen.failures) {
        if (seen.file_failed && each == to.last_failed) {  // of another tensor of that file
            continue;
        }
        ++to.damaged;
        to.last_failed = seen.file_failed ? each : std::string{};
        if (to.damage.size() < most_damage) {
            to.damage.push_back(each);
        }
    }
    if (seen.unreadable) {
        return;
    }
    const auto where = to.axes.place_of(seen.step);
    tensor_series* series = where ? to.series.add(seen.name, seen.worker, *where, seen.row, seen.elements) : nullptr;
    ++to.values;
    to.bytes += seen.elements.value_or(0) * size_of(seen.type.value_or(dtype::invalid));
    if (series == nullptr) {
        return;
    }
    to.facts.resize(to.series.tensors().size());
    tensor_facts& facts = to.facts[series->tensor];
    const auto learn = [&](auto& known, const auto& now) {
        facts.changes = facts.changes || (known && now && *known != *now);
        if (!known) {
            known = now;
        }
    };
    learn(facts.type, seen.type);
    learn(facts.shape, seen.shape);
    if (seen.spread) {
        series->distributions.emplace_back(where->bucket, *seen.spread);
        to.sampled = to.sampled || seen.sampled;
    }
}

SMDEBUG_INLINE run_gatherer::run_gatherer(const trial& run, gather_options options)
    : options_(std::move(options)), run_(run), from_(smdebug::detail::catalog_of(run)) {
    all_.name = run.name();
    all_.path = run.path();
    all_.state = run.job_state();
    all_.most_band_bytes = options_.most_bytes / 16;  // besides: data_bytes() has left that much
    for (const problem& each : run.problems()) {
        all_.problems.push_back(text_of(each));
    }
    const std::vector<axis_step> steps = steps_of(*from_, options_.which);
    const std::vector<std::string> tensors = run.tensor_names();
    all_.num_workers = run.num_workers();
    all_.tensors = tensors.size();
    if (const step_number last = run.last_complete_step(); last != -1) {
        all_.last_complete = from_->shown_step_of(last);
    }
    all_.steps_are_synthetic = from_->steps_are_synthetic;
    std::size_t tensors_of_modes = 0;
    for (const mode each : run.modes()) {
        tensors_of_modes += run.tensor_names({.mode = each}).size();
    }
    tensors_of_modes = std::max(tensors_of_modes, all_.tensors);  // steps of no mode have some, too
    const room_of_run room = room_for(steps.size(), tensors_of_modes, all_.tensors,
                                      std::max<std::size_t>(run.workers().size(), 1), options_.most_bytes);
    all_.axes = step_axes{steps, room.buckets};
    all_.series = series_book{room.merge_workers, room.tensors, options_.first};
    for (const auto& [name, group] : run.collections()) {
        all_.collections.emplace_back(name, run.tensor_names({.collection = name}));
    }
    looked_at_ = all_.axes.some(room.distributions);
    looks_at_all_ = looked_at_.size() >= steps.size();
    next_ = options_.which.range.begin;
    const smdebug::detail::selected_tensors selected{options_.which, *from_};
    for (const std::string& name : tensors) {
        if (const auto id = from_->names->find_tensor(name); id && selected.contains(*id)) {
            names_.push_back(name);
        }
    }
    if (selected.names() != nullptr) {
        shown_.emplace(names_.begin(), names_.end());
    }
}

SMDEBUG_INLINE bool run_gatherer::shows(const tensor_place& tensor) const {
    const tensor_selection& which = options_.which;
    return which.range.contains(tensor.step) && (which.mode == mode::global || which.mode == tensor.mode) &&
           (!which.worker || *which.worker == tensor.worker) && (!shown_ || shown_->contains(tensor.name));
}

SMDEBUG_INLINE bool run_gatherer::has_steps(std::optional<step_number> begin, std::optional<step_number> end) const {
    const auto first = from_->steps.lower_bound(begin.value_or(0));
    return first != from_->steps.end() && (!end || first->step < *end);
}

SMDEBUG_INLINE bool run_gatherer::begin(const step_range& steps) {
    if (has_steps(next_, steps.begin)) {
        walk_to(steps.begin);
    }
    next_ = steps.end;
    const auto first = std::lower_bound(looked_at_.begin(), looked_at_.end(), steps.begin.value_or(0));
    return looks_at_all_ || (first != looked_at_.end() && steps.contains(*first));
}

SMDEBUG_INLINE void run_gatherer::look(const smdebug::detail::scanned_tensor& scanned, const reduced_tensor& tensor) {
    if (shows(tensor)) {
        const bool with_values = looks_at_all_ || std::binary_search(looked_at_.begin(), looked_at_.end(), tensor.step);
        seen_tensor seen;
        note_tensor(seen, scanned, tensor, with_values, buffer_);
        take_tensor(all_, seen, options_.most_damage);
    }
}

SMDEBUG_INLINE reported_run run_gatherer::finish(const std::vector<rule_result>& verdicts) {
    if (failure_) {
        std::rethrow_exception(failure_);
    }
    walk_to(options_.which.range.end);
    const std::size_t shown = all_.series.tensors().size();
    std::set<std::string> first;
    bool lacks_one = false;
    for (const rule_result& each : verdicts) {
        for (const finding& found : each.outcome.findings) {
            const bool is_out = all_.series.is_left_out(found.tensor);
            lacks_one = lacks_one || is_out;
            if (first.size() < shown && (is_out || all_.series.tensor_place(found.tensor) < shown)) {
                first.insert(found.tensor);
            }
        }
    }
    if (lacks_one && std::exchange(options_.first, std::move(first)).empty()) {
        return run_gatherer{run_, options_}.finish();
    }
    return std::move(all_);
}

SMDEBUG_INLINE void run_gatherer::walk_to(std::optional<step_number> end) {
    const auto upto = [&](std::optional<step_number> piece_end, bool with_values) {
        if (has_steps(next_, piece_end)) {
            walk({next_, piece_end}, with_values);
        }
        next_ = piece_end;
    };
    if (!looks_at_all_) {
        for (auto each = std::lower_bound(looked_at_.begin(), looked_at_.end(), next_.value_or(0));
             each != looked_at_.end() && (!end || *each < *end); ++each) {
            upto(*each, false);
            upto(*each + 1, true);
        }
    }
    upto(end, looks_at_all_);
}

SMDEBUG_INLINE void run_gatherer::walk(const step_range& range, bool with_values) {
    const auto& kernel = smdebug::detail::state_of(run_)->kernel();
    smdebug::detail::scan_options scanning{.which = options_.which,
                                           .saved = numbers_of_reports(),
                                           .how = options_.how,
                                           .reading = {.in_place = true,
                                                       .defer_checks = true,
                                                       .keep_repeats = kernel.abilities().repeats,
                                                       .stream = !with_values}};
    scanning.which.range = range;
    smdebug::detail::part_stream<seen_tensors> parts{
        smdebug::detail::state_of(run_),
        scanning,
        {},
        [&](seen_tensors& part, const smdebug::detail::scanned_tensor& scanned) {
            reduce_into(scanned, scanning.saved, kernel, part.reduced);
            note_tensor(part.next(), scanned, part.reduced, with_values, part.buffer);
        }};
    while (seen_tensors* const part = parts.next()) {
        part->hand_out([&](const seen_tensor& seen) { take_tensor(all_, seen, options_.most_damage); });
    }
    all_.stopped = all_.stopped || !parts.is_complete();
}

SMDEBUG_INLINE reported_run gather_run(const trial& run, const gather_options& options,
                                       const std::vector<rule_result>& verdicts) {
    return run_gatherer{run, options}.finish(verdicts);
}

SMDEBUG_INLINE void write_page(const page& what, const std::string& path) {
    smdebug::detail::posix::whole_file_output file{path};
    for (const std::string& piece : page_text(what)) {
        const std::array<byte_view, 1> bytes{as_bytes(piece)};
        file.append(bytes);
    }
    file.commit(durability::on_disk);  // replaces an older page
}

SMDEBUG_INLINE gather_options gathering(const write_report_options& options) {
    return {.which = options.which, .how = options.how, .most_bytes = data_bytes(options.most_bytes)};
}

SMDEBUG_INLINE void write_page_of(reported_run shown, const write_report_options& options, const std::string& path) {
    page whole;
    whole.title = options.title.empty() ? shown.name : options.title;
    whole.runs.push_back(std::move(shown));
    write_page(whole, path);
}

}  // namespace report::detail
SMDEBUG_INLINE void write_report(const trial& run, const write_report_options& options, const std::string& path) {
    report::detail::reported_run shown =
        report::detail::gather_run(run, report::detail::gathering(options), options.verdicts);
    shown.verdicts = options.verdicts;
    report::detail::write_page_of(std::move(shown), options, path);
}

}  // namespace smdebug::inline v1
