// The bodies of <smdebug/trial/diff_runs.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/reduce/digest.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/diff_runs.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/read/entry_decoder.hpp>
#include <smdebug/trial/read/event_reader.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/read/selected_tensors.hpp>
#include <smdebug/trial/scanned_tensor.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1 {

SMDEBUG_INLINE std::string_view name_of(run_difference_kind kind) noexcept {
    constexpr std::array<std::string_view, 11> names{"collection", "step",       "worker", "mode",
                                                     "tensor",     "dtype",      "shape",  "reduction",
                                                     "values",     "unreadable", "digest"};
    return names[static_cast<std::size_t>(kind)];
}

namespace detail {

SMDEBUG_INLINE std::string_view name_of_run(unsigned run) noexcept { return run == 1 ? "first" : "second"; }

/// Reports differences and counts them.
class diff_log {
public:
    using diff_visit = function_ref<void(const run_difference&)>;
    using comparison = reduce::detail::element_comparison;

    /// Borrows both.  Errors: value_error for a tolerance.
    diff_log(const diff_options& options, diff_visit visit) : options_(options), visit_(visit) {
        for (const std::optional<double>& each : {options.rtol, options.atol}) {
            if (each && !(*each >= 0)) {
                throw value_error("a tolerance must be a number, 0 or more");
            }
        }
        if (options.rtol || options.atol) {
            within_ = reduce::detail::tolerance{options.rtol.value_or(0), options.atol.value_or(0), true};
        }
    }

    /// Steps are shown by mode.  Call before the first step.
    void count_by_mode() noexcept { by_mode_ = true; }
    [[nodiscard]] bool by_mode() const noexcept { return by_mode_; }

    [[nodiscard]] const std::optional<reduce::detail::tolerance>& within() const noexcept { return within_; }

    // The walk's position: views are borrowed until the next call.  An empty worker or tensor stands for all of them.
    void begin_step(const catalog::file& file) {
        step_ = {.step = by_mode_ ? file.mode_step : file.step, .mode_step = file.mode_step, .mode = file.mode};
        second_mode_ = file.mode;
        second_mode_step_ = file.mode_step;
        worker_ = {};
        tensor_ = {};
    }
    /// Ends a step that both runs have.
    void end_step() {
        ++summary.steps;
        if (options_.step_done) {
            options_.step_done(step_);
        }
    }
    void begin_worker(std::string_view worker, const catalog::file& first, const catalog::file& second) {
        worker_ = worker;
        tensor_ = {};
        step_.mode = first.mode;
        step_.mode_step = first.mode_step;
        second_mode_ = second.mode;
        second_mode_step_ = second.mode_step;
    }
    void begin_tensor(std::string_view tensor) noexcept {
        tensor_ = tensor;
        differs_ = false;
    }
    /// `bytes`: those of the values.
    void end_tensor(bool was_compared, std::uint64_t bytes) {
        if (was_compared) {
            summary.compared += 1;
            summary.bytes += bytes;
            step_.tensors += 1;
            step_.differing += differs_ ? 1U : 0U;
        }
        tensor_ = {};
    }
    void compared_by_digest() noexcept { ++summary.by_digest; }

    void report(run_difference_kind kind, unsigned run, std::string what) {
        run_difference found{.kind = kind, .run = run, .what = std::move(what)};
        report(found);
    }
    /// Reports that only one run has `what`: "its values".
    void report_alone(run_difference_kind kind, unsigned run, const std::string& what) {
        report(kind, run, "only the " + std::string{name_of_run(run)} + " run has " + what);
    }
    /// Reports the result of a comparison, if it found anything.
    void report(run_difference_kind kind, const comparison& result, std::string_view of, const shape_type* shape) {
        if (result.differing() == 0) {
            return;
        }
        run_difference found{.kind = kind,
                             .elements = result.elements(),
                             .differing = result.differing(),
                             .largest = result.largest(),
                             .largest_relative = result.largest_relative(),
                             .first = result.first(),
                             .farthest = result.farthest(),
                             .shape = shape};
        found.what = of.empty() ? std::to_string(found.differing) + " of " + std::to_string(found.elements) +
                                      (found.elements == 1 ? " element differs" : " elements differ")
                                : std::string{of} + " is " + found.first->first + " in the first run, " +
                                      found.first->second + " in the second";
        if (found.largest > step_.largest || step_.farthest_tensor.empty()) {
            step_.largest = is_nan(found.largest) ? step_.largest : found.largest;
            step_.farthest_tensor = tensor_;
        }
        if (found.largest_relative > step_.largest_relative) {
            step_.largest_relative = found.largest_relative;
        }
        report(found);
    }
    void unreadable(unsigned run, const lookup_error& why) {
        run_difference found{.kind = run_difference_kind::unreadable, .run = run};
        if (tensor_.empty() && why.why != lookup_failure_kind::event_file_missing) {
            found.what = why.where + " of the " + std::string{name_of_run(run)} + " run cannot be read: " + why.note;
        } else if (tensor_.empty()) {
            found.what = why.where + " of the " + std::string{name_of_run(run)} + " run is missing";
        } else {
            found.what = "in the " + std::string{name_of_run(run)} + " run: " +
                         what_of(why, std::string{tensor_}, step_.step, by_mode_ ? step_.mode : smdebug::mode::global);
        }
        report(found);
    }
    /// Compares the collections that the selection includes; none if it is by names or regexes.
    void compare_collections(const catalog::job_description& first, const catalog::job_description& second) {
        const tensor_selection& which = options_.which;
        if (which.names || which.regex.given()) {
            return;  // others among those that are left out may differ
        }
        step_ = {};
        second_mode_ = step_.mode;
        second_mode_step_ = step_.mode_step;
        worker_ = {};
        const auto differ = [&](std::string_view name, unsigned run, std::string what) {
            run_difference found{
                .kind = run_difference_kind::collection, .tensor = name, .run = run, .what = std::move(what)};
            report(found);
        };
        // One run may have digests in place of the other's values.
        const auto is_wanted = [&](const std::string& name) {
            return which.collection ? which.collection->name() == name : name != digests_collection;
        };
        const auto members = [&](const collection& mine, const collection& other, unsigned run) {
            std::vector<std::string> alone;
            std::set_difference(mine.tensor_names.begin(), mine.tensor_names.end(), other.tensor_names.begin(),
                                other.tensor_names.end(), std::back_inserter(alone));
            if (!alone.empty()) {
                const std::string more =
                    alone.size() == 1 ? std::string{} : " and " + std::to_string(alone.size() - 1) + " more";
                differ(mine.name, run,
                       "only in the " + std::string{name_of_run(run)} + " run it holds " + alone.front() + more);
            }
        };
        for (const auto& [name, mine] : first.collections) {
            const auto other = second.collections.find(name);
            if (!is_wanted(name)) {
                continue;
            }
            if (other == second.collections.end()) {
                differ(name, 1, "only the first run has it");
            } else {
                members(mine, other->second, 1);
                members(other->second, mine, 2);
            }
        }
        for (const auto& [name, mine] : second.collections) {
            if (is_wanted(name) && first.collections.find(name) == first.collections.end()) {
                differ(name, 2, "only the second run has it");
            }
        }
    }

    diff_summary summary;

private:
    void report(run_difference& found) {
        found.step = step_.step;
        found.mode_step = found.run == 2 ? second_mode_step_ : step_.mode_step;
        found.mode = found.run == 2 ? second_mode_ : step_.mode;
        found.worker = worker_;
        found.tensor = found.kind == run_difference_kind::collection ? found.tensor : tensor_;
        if (found.kind == run_difference_kind::unreadable) {
            ++summary.unreadable;
        } else {
            ++summary.differences;
            differs_ = true;
        }
        visit_(found);
    }

    const diff_options& options_;
    diff_visit visit_;
    std::optional<reduce::detail::tolerance> within_;
    compared_step step_;
    smdebug::mode second_mode_ = smdebug::mode::global;
    step_number second_mode_step_ = -1;
    std::string_view worker_;
    std::string_view tensor_;
    bool differs_ = false;
    bool by_mode_ = false;
};

/// One run of the two: its catalog, the selection, and its records.
struct diff_side {
    std::shared_ptr<const catalog> from;
    std::shared_ptr<const trial_state> state;
    std::optional<selected_tensors> names;  // nothing if the run does not have the collection
    bool has_digests = false;
    std::vector<const catalog::file*> files = {};
    std::vector<const catalog::file*> read = {};  // those of them at steps and workers that the other run has, too
    std::vector<std::size_t> place_in_read = {};  // by index in `files`
    std::optional<selected_tensors> all = {};     // selects all tensors
    std::optional<event_reader> reader = {};
    std::size_t opened = SIZE_MAX;  // index in `files` of the one that the reader has open
    const lookup_error* why_not = nullptr;

    [[nodiscard]] bool wants(name_id name) const noexcept { return names && names->contains(name); }
    /// Whether a name is that of a digest that is compared with its tensor.  A digest that is wanted although its tensor
    /// is not counts as a tensor of its own.
    [[nodiscard]] bool is_digest(name_id name) const {
        const std::string& text = (*from->names)[name];
        if (!has_digests || !smdebug::is_digest(text)) {
            return false;
        }
        const auto tensor = from->find_tensor(tensor_of_digest(text));
        return !tensor || wants(*tensor) || !wants(name);
    }
    [[nodiscard]] const std::string& worker(const catalog::file& file) const { return from->workers[file.worker]; }
    /// Why a file cannot be read, or null.
    [[nodiscard]] const lookup_error* open(std::size_t place) {
        if (opened != place) {
            opened = place;
            why_not = reader->open(read, place_in_read[place]);
        }
        return why_not;
    }
};

/// The files of one worker at one step of a run, by index in diff_side::files; mostly one, for other data also more.
struct file_group {
    std::size_t begin = 0;
    std::size_t end = 0;
    [[nodiscard]] bool empty() const noexcept { return begin == end; }
};

/// What both runs have of the same step and worker.
struct file_pair {
    file_group first = {};
    file_group second = {};
};

/// Compares the values of two records, block by block while both are in the CPU's cache.  A record that is shorter
/// because its last value repeats is continued with that value.  False for each run whose checksum is wrong.
[[nodiscard]] inline std::array<bool, 2> compare_in_memory(scanned_values& first, scanned_values& second,
                                                           reduce::detail::element_comparison& into) {
    constexpr std::size_t block = std::size_t{64} << 10U;
    const tensor_view a = first.tensor->view();
    const tensor_view b = second.tensor->view();
    if (a.type == dtype::string) {
        into.add(a.strings, b.strings);
        return {first.check.holds(), second.check.holds()};
    }
    const std::size_t size = size_of(a.type);
    const std::size_t both = std::min(a.bytes.size(), b.bytes.size());
    for (std::size_t begin = 0; begin < both; begin += block) {
        const std::size_t length = std::min(block, both - begin);
        into.add(a.bytes.subspan(begin, length), b.bytes.subspan(begin, length));
        first.check.pass(a.bytes.subspan(begin, length));
        second.check.pass(b.bytes.subspan(begin, length));
    }
    const auto last = [&](const tensor_view& of) { return of.bytes.last(std::min(size, of.bytes.size())); };
    const bool first_is_longer = a.bytes.size() > both;
    const byte_view longer = (first_is_longer ? a : b).bytes.subspan(both);
    for (std::size_t begin = 0; begin < longer.size(); begin += size) {
        const byte_view element = longer.subspan(begin, size);
        first_is_longer ? into.add_repeated(element, last(b), 1) : into.add_repeated(last(a), element, 1);
    }
    const std::size_t shown = both / size + longer.size() / size;
    const std::size_t all = a.bytes.size() / size + first.repeats;
    if (all > shown) {
        into.add_repeated(last(a), last(b), all - shown);
    }
    return {first.check.holds(), second.check.holds()};
}

using value_digest = reduce::detail::running_digest<any_kernel>;
/// Of the first run and of the second; one that a run has not saved is not of interest.
using saved_digests = std::array<std::optional<std::int64_t>, 2>;

/// Compares values that are left in their files, piece by piece; both streams have begun.  The values are added to
/// `digests`, unless it is null.
inline void compare_streams(value_stream& first, value_stream& second, reduce::detail::element_comparison& into,
                            std::array<value_digest, 2>* digests) {
    constexpr std::size_t piece = std::size_t{128} << 10U;
    for (std::size_t begin = 0; begin < first.size();) {
        const std::size_t length = std::min(piece, first.size() - begin);
        const byte_view a = first.more(begin, length);
        const byte_view b = second.more(begin, length);
        if (a.size() < length || b.size() < length) {
            return;  // finish() returns the reason
        }
        into.add(a.first(length), b.first(length));
        if (digests != nullptr) {
            (*digests)[0].add(a.first(length));
            (*digests)[1].add(b.first(length));
        }
        begin += length;
    }
}

/// The walk through both runs.
class diff_walk {
public:
    diff_walk(std::shared_ptr<const trial_state> first, std::shared_ptr<const trial_state> second,
              const diff_options& options, diff_log& log)
        : options_(options), log_(log) {
        std::exception_ptr missing;
        begin(a_, std::move(first), missing);
        begin(b_, std::move(second), missing);
        if (!a_.names && !b_.names) {
            std::rethrow_exception(missing);
        }
        if (a_.from->steps_are_synthetic || b_.from->steps_are_synthetic) {
            log_.count_by_mode();
        }
        select_files(a_);
        select_files(b_);
        pair_files();
    }

    void run() {
        log_.compare_collections(*a_.from->job, *b_.from->job);
        const std::size_t all = pairs_.size();
        for (std::size_t begin = 0; begin < all;) {
            std::size_t end = begin;
            while (end < all && step_of(pairs_[end]) == step_of(pairs_[begin])) {
                ++end;
            }
            compare_step(begin, end);
            begin = end;
            if (options_.how.progress) {
                options_.how.progress(end, all);
            }
            if (options_.how.stop.stop_requested() && end < all) {
                log_.summary.stopped = true;
                break;
            }
        }
        log_.summary.tensors = static_cast<std::size_t>(std::count(seen_.begin(), seen_.end(), true));
    }

private:
    static constexpr name_id unknown = static_cast<name_id>(-1);

    void begin(diff_side& side, std::shared_ptr<const trial_state> run, std::exception_ptr& missing) {
        side.from = run->current();
        side.has_digests = side.from->has_digests();
        side.state = std::move(run);
        const tensor_selection names{.names = options_.which.names,
                                     .regex = options_.which.regex,
                                     .collection = options_.which.collection,
                                     .digests = true};
        try {
            side.names.emplace(names, *side.from);
        } catch (const not_found& none) {
            if (none.code() != error_code::collection_unavailable) {
                throw;
            }
            missing = std::current_exception();
        }
    }

    /// The key by which steps are matched: the number that is shown, and the mode if it counts in one.
    [[nodiscard]] std::pair<step_number, mode> step_key(const catalog::file& file) const noexcept {
        return log_.by_mode() ? std::pair{file.mode_step, file.mode} : std::pair{file.step, mode::global};
    }

    void select_files(diff_side& side) {
        if (!log_.by_mode()) {
            side.files = side.from->files_in(options_.which.range);
            return;
        }
        side.files = side.from->files_in({});
        std::erase_if(side.files,
                      [&](const catalog::file* file) { return !options_.which.range.contains(file->mode_step); });
        std::stable_sort(side.files.begin(), side.files.end(),
                         [&](const catalog::file* one, const catalog::file* other) {
                             return std::pair<const std::pair<step_number, mode>, const std::string&>{
                                        step_key(*one), side.worker(*one)} <
                                    std::pair<const std::pair<step_number, mode>, const std::string&>{
                                        step_key(*other), side.worker(*other)};
                         });
    }

    [[nodiscard]] std::pair<step_number, mode> step_of(const file_pair& pair) const noexcept {
        return step_key(first_of(pair));
    }
    // The first run's file, or the second's if the first has none.
    [[nodiscard]] const catalog::file& first_of(const file_pair& pair) const noexcept {
        return !pair.first.empty() ? *a_.files[pair.first.begin] : *b_.files[pair.second.begin];
    }

    void pair_files() {
        const auto is_wanted = [&](const diff_side& side, const file_group& group) {
            const catalog::file& file = *side.files[group.begin];
            return (!options_.which.worker || *options_.which.worker == side.worker(file)) &&
                   (options_.which.mode == mode::global || file.mode == options_.which.mode);
        };
        const auto group_at = [&](const diff_side& side, std::size_t begin) {
            std::size_t end = begin + 1;
            while (end < side.files.size() && step_key(*side.files[end]) == step_key(*side.files[begin]) &&
                   side.files[end]->worker == side.files[begin]->worker) {
                ++end;
            }
            return file_group{begin, end};
        };
        for (std::size_t a = 0, b = 0; a < a_.files.size() || b < b_.files.size();) {
            int order = a == a_.files.size() ? 1 : (b == b_.files.size() ? -1 : 0);
            if (order == 0 && step_key(*a_.files[a]) != step_key(*b_.files[b])) {
                order = step_key(*a_.files[a]) < step_key(*b_.files[b]) ? -1 : 1;
            } else if (order == 0) {
                order = a_.worker(*a_.files[a]).compare(b_.worker(*b_.files[b]));
            }
            file_pair pair;
            bool wanted = false;
            if (order <= 0) {
                pair.first = group_at(a_, a);
                a = pair.first.end;
                wanted = is_wanted(a_, pair.first);
            }
            if (order >= 0) {
                pair.second = group_at(b_, b);
                b = pair.second.end;
                wanted = wanted || is_wanted(b_, pair.second);
            }
            if (wanted) {
                pairs_.push_back(pair);
            }
        }
        read_both(a_, &file_pair::first);
        read_both(b_, &file_pair::second);
    }

    void read_both(diff_side& side, file_group file_pair::*group) {
        side.place_in_read.resize(side.files.size());
        for (const file_pair& pair : pairs_) {
            if (!pair.first.empty() && !pair.second.empty()) {
                for (std::size_t i = (pair.*group).begin; i < (pair.*group).end; ++i) {
                    side.place_in_read[i] = side.read.size();
                    side.read.push_back(side.files[i]);
                }
            }
        }
        side.all.emplace(tensor_selection{.tables = true, .digests = true}, *side.from);
        side.reader.emplace(*side.state, *side.from, *side.all, reduction_set{},
                            reading_config{.defer_checks = true, .keep_repeats = true, .stream = true});
    }

    void compare_step(std::size_t begin, std::size_t end) {
        std::size_t of_first = 0;
        std::size_t of_second = 0;
        for (std::size_t i = begin; i < end; ++i) {
            of_first += pairs_[i].first.empty() ? 0U : 1U;
            of_second += pairs_[i].second.empty() ? 0U : 1U;
        }
        log_.begin_step(first_of(pairs_[begin]));
        if (of_first == 0 || of_second == 0) {
            const unsigned run = of_first == 0 ? 2 : 1;
            log_.report_alone(run_difference_kind::step, run, "the step");
            return;
        }
        for (std::size_t i = begin; i < end; ++i) {
            const file_pair& pair = pairs_[i];
            const catalog::file& first = first_of(pair);
            const catalog::file& second = pair.second.empty() ? first : *b_.files[pair.second.begin];
            log_.begin_worker(!pair.first.empty() ? a_.worker(first) : b_.worker(second), first, second);
            if (pair.first.empty() || pair.second.empty()) {
                const unsigned run = pair.first.empty() ? 2 : 1;
                log_.report(run_difference_kind::worker, run,
                            "only in the " + std::string{name_of_run(run)} + " run the worker has saved the step");
                continue;
            }
            compare_files(pair);
        }
        log_.end_step();
    }

    void compare_files(const file_pair& pair) {
        const catalog::file& first = *a_.files[pair.first.begin];
        const catalog::file& second = *b_.files[pair.second.begin];
        if (first.mode != second.mode || first.mode_step != second.mode_step) {
            const auto words = [](const catalog::file& file) {
                return std::string{name_of(file.mode)} + " " + std::to_string(file.mode_step);
            };
            log_.report(run_difference_kind::mode, 0,
                        "the step is " + words(first) + " in the first run, " + words(second) + " in the second");
        }
        at_ = pair;
        const std::vector<bool> first_readable = open_all(a_, pair.first, 1);
        const std::vector<bool> second_readable = open_all(b_, pair.second, 2);
        const auto any = [](name_id) { return true; };
        for (std::size_t i = pair.first.begin; i < pair.first.end; ++i) {
            const catalog::file& mine = *a_.files[i];
            each_tensor(*a_.from, mine, any, [&](name_id name, const layout::entry*) {
                if (a_.is_digest(name)) {
                    if (all_of(first_readable) && all_of(second_readable)) {
                        compare_lone_digest(a_, name, 1);
                    }
                    return;
                }
                const name_id there = in_second(name);
                if (!a_.wants(name) && (there == unknown || !b_.wants(there))) {
                    return;
                }
                const std::size_t other = there == unknown ? pair.second.end : file_with(b_, pair.second, there);
                const bool has_other = other < pair.second.end;
                if (!first_readable[i - pair.first.begin] ||
                    (has_other ? !second_readable[other - pair.second.begin] : !all_of(second_readable))) {
                    return;  // reported once for the file
                }
                if (a_.open(i) == nullptr && (!has_other || b_.open(other) == nullptr)) {
                    compare_tensor(mine, name, has_other ? b_.files[other] : nullptr, there);
                }
            });
        }
        for (std::size_t i = pair.second.begin; i < pair.second.end && all_of(first_readable); ++i) {
            if (!second_readable[i - pair.second.begin]) {
                continue;
            }
            each_tensor(*b_.from, *b_.files[i], any, [&](name_id name, const layout::entry*) {
                if (b_.is_digest(name)) {
                    if (all_of(second_readable)) {
                        compare_lone_digest(b_, name, 2);
                    }
                    return;
                }
                const std::string& text = (*b_.from->names)[name];
                const std::optional<name_id> here = a_.from->find_tensor(text);
                const bool both = here && file_with(a_, pair.first, *here) < pair.first.end;
                if (!both && (b_.wants(name) || (here && a_.wants(*here)))) {
                    log_.begin_tensor(text);
                    if (saves_digest(a_, text)) {
                        compare_digests(text);
                    } else {
                        end_alone(2, "it");
                    }
                }
            });
        }
    }

    // Which files of a group can be read; failures are reported.
    [[nodiscard]] std::vector<bool> open_all(diff_side& side, const file_group& group, unsigned run) {
        std::vector<bool> readable;
        for (std::size_t i = group.begin; i < group.end; ++i) {
            const lookup_error* const why_not = side.open(i);
            if (why_not != nullptr) {
                log_.unreadable(run, *why_not);
            }
            readable.push_back(why_not == nullptr);
        }
        return readable;
    }

    [[nodiscard]] static bool all_of(const std::vector<bool>& readable) {
        return std::find(readable.begin(), readable.end(), false) == readable.end();
    }

    // The file of a group that has a tensor, or the group's end.
    [[nodiscard]] static std::size_t file_with(const diff_side& side, const file_group& group, name_id name) {
        std::size_t i = group.begin;
        while (i < group.end && !side.from->layout_of(*side.files[i]).contains(name)) {
            ++i;
        }
        return i;
    }

    // The second run's number of the first run's name.
    [[nodiscard]] name_id in_second(name_id name) {
        while (translated_.size() <= name) {
            const std::string& text = (*a_.from->names)[static_cast<name_id>(translated_.size())];
            translated_.push_back(b_.from->find_tensor(text).value_or(unknown));
        }
        return translated_[name];
    }

    // Ends a tensor that only one run has.
    void end_alone(unsigned run, const std::string& what) {
        log_.report_alone(run_difference_kind::tensor, run, what);
        log_.end_tensor(false, 0);
    }

    // `in_other`: null if no file of the second run has it.
    void compare_tensor(const catalog::file& in_mine, name_id name, const catalog::file* in_other, name_id there) {
        const std::string& text = (*a_.from->names)[name];
        log_.begin_tensor(text);
        if (in_other == nullptr && !saves_digest(b_, text)) {
            return end_alone(1, "it");
        }
        note_seen(name);
        if (in_other == nullptr) {
            compare_digests(text);
            return;
        }
        const layout& mine = a_.from->layout_of(in_mine);
        const layout& other = b_.from->layout_of(*in_other);
        const reduction_set saved = mine.saved_reductions(name);
        const reduction_set other_saved = other.saved_reductions(there);
        const std::optional<layout::entry> values = a_.from->values_of(in_mine, name);
        const std::optional<layout::entry> other_values = b_.from->values_of(*in_other, there);
        const bool both = values && other_values;
        const saved_digests digests{both ? saved_digest(a_, 1, text) : std::nullopt,  // before the values, as in files
                                    both ? saved_digest(b_, 2, text) : std::nullopt};
        const auto request = [&](const std::optional<layout::entry>& entry, bool may_stream) {
            return tensor_request{
                .saved = saved & other_saved, .values = both ? &*entry : nullptr, .stream = may_stream};
        };
        const scanned_tensor& first = a_.reader->tensor(name, request(values, true));
        const bool streams = std::holds_alternative<value_stream*>(first.content);
        const scanned_tensor& second = b_.reader->tensor(there, request(other_values, streams));
        bool was_compared = compare_reductions(saved, first, other_saved, second);
        std::uint64_t bytes = 0;
        if (both) {
            if (streams && !std::holds_alternative<value_stream*>(second.content)) {
                static_cast<void>(a_.reader->tensor(name, {.values = &*values}));  // `first` is in memory then, too
            }
            const std::optional<std::uint64_t> size = compare_values(first, second, digests);
            was_compared = size.has_value();
            bytes = size.value_or(0);
        } else if (has_digest_for(a_, text, values) && has_digest_for(b_, text, other_values)) {
            compare_digests(text);
            return;
        } else if (values || other_values) {
            const unsigned run = values ? 1 : 2;
            log_.report_alone(run_difference_kind::tensor, run, "its values");
        } else {
            const layout::shape_entry* const shape = mine.shape(name);
            const layout::shape_entry* const other_shape = other.shape(there);
            if (shape != nullptr && other_shape != nullptr) {
                compare_shapes(shape->extents, other_shape->extents);
            } else if (shape != nullptr || other_shape != nullptr) {
                const unsigned run = shape != nullptr ? 1 : 2;
                log_.report_alone(run_difference_kind::tensor, run, "its shape");
            }
            if (const bool first_has = saves_digest(a_, text); first_has != saves_digest(b_, text)) {
                const unsigned run = first_has ? 1 : 2;
                log_.report_alone(run_difference_kind::tensor, run, "its digest");
            }
        }
        log_.end_tensor(was_compared, bytes);
    }

    // Digests, where a run has no values ---------------------------------------------------------------------------

    void note_seen(name_id name) {
        seen_.resize(std::max<std::size_t>(seen_.size(), std::size_t{name} + 1));
        seen_[name] = true;
    }

    [[nodiscard]] const file_group& group_of(const diff_side& side) const noexcept {
        return &side == &a_ ? at_.first : at_.second;
    }
    // Where the current files of a run have something by that name.
    struct found_entry {
        std::size_t place = 0;
        name_id name = 0;
    };
    [[nodiscard]] std::optional<found_entry> find_in(const diff_side& side, std::optional<name_id> name) const {
        const std::size_t place = name ? file_with(side, group_of(side), *name) : group_of(side).end;
        return place < group_of(side).end ? std::optional{found_entry{place, *name}} : std::nullopt;
    }
    [[nodiscard]] bool saves_digest(const diff_side& side, const std::string& tensor) const {
        return side.has_digests && find_in(side, side.from->find_digest_of(tensor));
    }
    [[nodiscard]] bool has_digest_for(const diff_side& side, const std::string& tensor,
                                      const std::optional<layout::entry>& values) const {
        return values || saves_digest(side, tensor);
    }

    // A digest that stands alone in its run: the other one has it, too, or has nothing.  With anything else under the
    // tensor's name it is looked at there.
    void compare_lone_digest(const diff_side& side, name_id digest, unsigned run) {
        const std::string tensor{tensor_of_digest((*side.from->names)[digest])};
        const auto is_wanted_by = [&](const diff_side& one) {
            const auto there = one.from->find_digest_of(tensor);
            return there && one.wants(*there);
        };
        const diff_side& other = run == 1 ? b_ : a_;
        if (!(is_wanted_by(a_) || is_wanted_by(b_)) || find_in(a_, a_.from->find_tensor(tensor)) ||
            find_in(b_, b_.from->find_tensor(tensor))) {
            return;
        }
        const bool both = saves_digest(other, tensor);
        if (both && run == 2) {
            return;  // compared already
        }
        log_.begin_tensor(tensor);
        if (both) {
            note_seen(digest);
            compare_digests(tensor);
        } else {
            end_alone(run, "it, as a digest");
        }
    }

    // Ends the tensor.
    void compare_digests(const std::string& tensor) {
        std::uint64_t bytes = 0;
        const std::optional<std::int64_t> first = digest_in(a_, 1, tensor, bytes);
        const std::optional<std::int64_t> second = digest_in(b_, 2, tensor, bytes);
        if (first && second) {
            log_.compared_by_digest();
            if (*first != *second) {
                log_.report(run_difference_kind::values, 0,
                            "its digest is " + std::to_string(*first) + " in the first run, " +
                                std::to_string(*second) + " in the second" +
                                (log_.within() ? "; without values nothing says whether that is within the tolerance"
                                               : std::string{}));
            }
        }
        log_.end_tensor(first && second, bytes);
    }

    // The saved digest of a tensor; nothing if there is none, or after a report.
    std::optional<std::int64_t> saved_digest(diff_side& side, unsigned run, const std::string& tensor) {
        std::uint64_t bytes = 0;
        return side.has_digests ? digest_of(side, run, side.from->find_digest_of(tensor), true, bytes) : std::nullopt;
    }

    // The digest of a tensor's values, whose size is added to `bytes`; without values the saved one.  Nothing after a
    // report.
    std::optional<std::int64_t> digest_in(diff_side& side, unsigned run, const std::string& tensor,
                                          std::uint64_t& bytes) {
        const std::optional<std::int64_t> saved = saved_digest(side, run, tensor);
        const auto name = side.from->find_tensor(tensor);
        const auto there = find_in(side, name);
        if (!there || !side.from->values_of(*side.files[there->place], there->name)) {
            return saved;
        }
        const std::optional<std::int64_t> of_values = digest_of(side, run, name, false, bytes);
        if (of_values) {
            check_digest(run, saved, *of_values);
        }
        return of_values;
    }

    // Reports a saved digest that is not that of the values.
    void check_digest(unsigned run, const std::optional<std::int64_t>& saved, std::int64_t of_values) {
        if (saved && *saved != of_values) {
            log_.report(run_difference_kind::digest, run,
                        "its values in the " + std::string{name_of_run(run)} +
                            " run are not what the hook saw: their digest is " + std::to_string(of_values) +
                            ", the saved one " + std::to_string(*saved));
        }
    }

    // The digest of the values under a name, whose size is added to `bytes`; or, where that is the name of a saved digest
    // (`is_saved`), its number.  Nothing if there are none, or after a report.
    std::optional<std::int64_t> digest_of(diff_side& side, unsigned run, std::optional<name_id> name, bool is_saved,
                                          std::uint64_t& bytes) {
        const auto there = find_in(side, name);
        if (!there || side.open(there->place) != nullptr) {
            return std::nullopt;
        }
        const auto entry = side.from->values_of(*side.files[there->place], there->name);
        if (!entry) {
            return std::nullopt;
        }
        const scanned_tensor& read = side.reader->tensor(there->name, {.values = &*entry, .stream = !is_saved});
        std::optional<lookup_error> failed;
        std::optional<std::int64_t> digest;
        if (auto* const* const stream = std::get_if<value_stream*>(&read.content)) {
            digest = digest_of_stream(side, read, **stream, failed);
            bytes += (*stream)->size();
        } else if (read.failure() != nullptr) {
            failed = *read.failure();
        } else {
            scanned_values values = std::get<scanned_values>(read.content);
            const tensor_view view = values.tensor->view();
            if (!values.check.holds()) {
                failed = read.damaged(status::bad_payload_checksum);
            } else if (is_saved && view.type == dtype::int64 && view.bytes.size() == sizeof(std::int64_t)) {
                digest = load_le<std::int64_t>(view.bytes.data());
            } else if (is_saved) {
                log_.report(run_difference_kind::digest, run,
                            "its digest in the " + std::string{name_of_run(run)} + " run is not an int64 scalar");
            } else if (has_digest(view.type)) {
                digest = digest_of_repeated(side, view, values.repeats);
                bytes += view.bytes.size() + values.repeats * size_of(view.type);
            } else {
                log_.report(run_difference_kind::tensor, run,
                            "the " + std::string{name_of_run(run)} + " run has text, the other one only a digest");
            }
        }
        if (failed) {
            log_.unreadable(run, *failed);
            return std::nullopt;
        }
        return digest;
    }

    [[nodiscard]] static std::int64_t digest_of_repeated(const diff_side& side, const tensor_view& held,
                                                         std::size_t repeats) {
        constexpr std::size_t most = std::size_t{16} << 10U;
        value_digest digest{side.state->kernel()};
        digest.add(held.bytes);
        const std::size_t size = size_of(held.type);
        const byte_view last = held.bytes.last(std::min(size, held.bytes.size()));
        std::vector<std::byte> some(last.begin(), last.end());
        some.resize(std::min(repeats, most / size) * size + last.size());
        repeat_element(some.data() + last.size(), some.data() + some.size(), size);
        for (std::size_t left = repeats * size; left > 0;) {
            const byte_view piece = byte_view{some}.subspan(0, std::min(left, some.size() - last.size()));
            digest.add(piece);
            left -= piece.size();
        }
        return digest.value(held.type, held.shape);
    }

    // Why reading values that are left in their file failed, if it did; reads() returns their status.
    template <class Reads>
    [[nodiscard]] static std::optional<lookup_error> attempt(const scanned_tensor& of, Reads&& reads) {
        try {
            const status ended = reads();
            return ended == status::ok ? std::nullopt : std::optional{of.damaged(ended)};
        } catch (const std::exception&) {
            return of.failed();
        }
    }

    [[nodiscard]] static std::optional<std::int64_t> digest_of_stream(const diff_side& side, const scanned_tensor& of,
                                                                      value_stream& values,
                                                                      std::optional<lookup_error>& failed) {
        constexpr std::size_t piece = std::size_t{128} << 10U;
        value_digest digest{side.state->kernel()};
        failed = attempt(of, [&] {
            values.start();
            while (digest.bytes() < values.size()) {
                const std::size_t begin{digest.bytes()};
                const std::size_t length = std::min(piece, values.size() - begin);
                const byte_view some = values.more(begin, length);
                if (some.size() < length) {
                    break;  // finish() returns the reason
                }
                digest.add(some.first(length));
            }
            return values.finish();
        });
        return failed ? std::nullopt : std::optional{digest.value(values.type(), values.shape())};
    }

    bool compare_shapes(const shape_type& first, const shape_type& second) {
        if (first != second) {
            log_.report(run_difference_kind::shape, 0,
                        "its shape is (" + shape_text(first) + ") in the first run, (" + shape_text(second) +
                            ") in the second");
        }
        return first == second;
    }

    // Whether the values can be compared.
    bool compare_forms(dtype first, const shape_type& first_shape, dtype second, const shape_type& second_shape) {
        if (first != second) {
            log_.report(run_difference_kind::dtype, 0,
                        "it holds " + std::string{name_of(first)} + " in the first run, " +
                            std::string{name_of(second)} + " in the second");
        }
        return compare_shapes(first_shape, second_shape) && first == second;
    }

    // False if one of them cannot be read.
    bool compare_reductions(reduction_set first, const scanned_tensor& mine, reduction_set second,
                            const scanned_tensor& other) {
        bool readable = true;
        for (const unsigned run : {1U, 2U}) {
            const reduction_set alone = run == 1 ? first - second : second - first;
            std::string names;
            for (std::size_t i = 0; !alone.empty() && i < 2 * reduction_count; ++i) {
                if (const auto key = reduction_key::from_index(i); alone.contains(key)) {
                    names += (names.empty() ? "" : ", ") + key.name();
                }
            }
            if (!names.empty()) {
                log_.report_alone(run_difference_kind::tensor, run, "its " + names);
            }
        }
        const reduction_set both = first & second;
        for (std::size_t i = 0; !both.empty() && i < 2 * reduction_count; ++i) {
            const auto key = reduction_key::from_index(i);
            if (!both.contains(key)) {
                continue;
            }
            const auto failure = [&](const scanned_tensor& of) {
                const auto found = std::find_if(of.saved_failures.begin(), of.saved_failures.end(),
                                                [&](const unread_reduction& each) { return each.key == key; });
                return found != of.saved_failures.end() ? &found->why : nullptr;
            };
            if (!report_unreadable(failure(mine), failure(other))) {
                readable = false;
                continue;
            }
            const auto number = [&](const scanned_tensor& of) {
                return std::as_bytes(std::span{&of.saved_value[key.index()], 1});
            };
            reduce::detail::element_comparison found{dtype::float64, log_.within()};
            found.add(number(mine), number(other));
            log_.report(run_difference_kind::reduction, found, "its saved " + key.name(), nullptr);
        }
        return readable;
    }

    bool report_unreadable(const lookup_error* first, const lookup_error* second) {
        if (first != nullptr) {
            log_.unreadable(1, *first);
        }
        if (second != nullptr) {
            log_.unreadable(2, *second);
        }
        return first == nullptr && second == nullptr;
    }
    bool report_unreadable(const std::optional<lookup_error>& first, const std::optional<lookup_error>& second) {
        return report_unreadable(first ? &*first : nullptr, second ? &*second : nullptr);
    }

    // Returns the bytes of the values; nothing if they cannot be read.
    std::optional<std::uint64_t> compare_values(const scanned_tensor& mine, const scanned_tensor& other,
                                                const saved_digests& saved) {
        const auto* const first_stream = std::get_if<value_stream*>(&mine.content);
        const auto* const second_stream = std::get_if<value_stream*>(&other.content);
        if (first_stream != nullptr && second_stream != nullptr) {
            return compare_streamed(mine, **first_stream, other, **second_stream, saved);
        }
        if (!report_unreadable(mine.failure(), other.failure())) {
            return std::nullopt;
        }
        scanned_values first = std::get<scanned_values>(mine.content);
        scanned_values second = std::get<scanned_values>(other.content);
        const tensor_view values = first.tensor->view();
        std::optional<reduce::detail::element_comparison> found;
        std::array<bool, 2> holds{};
        if (values.type == second.tensor->type && first.tensor->shape == second.tensor->shape) {
            found.emplace(values.type, log_.within());
            holds = compare_in_memory(first, second, *found);
        } else {
            holds = {first.check.holds(), second.check.holds()};
        }
        const auto damage = [](bool is_whole, const scanned_tensor& of) {
            return is_whole ? std::nullopt : std::optional{of.damaged(status::bad_payload_checksum)};
        };
        if (!report_unreadable(damage(holds[0], mine), damage(holds[1], other))) {
            return std::nullopt;
        }
        if (found) {
            log_.report(run_difference_kind::values, *found, {}, &first.tensor->shape);
        } else {
            static_cast<void>(
                compare_forms(values.type, first.tensor->shape, second.tensor->type, second.tensor->shape));
        }
        for (const unsigned run : {1U, 2U}) {
            const scanned_values& of = run == 1 ? first : second;
            if (saved[run - 1] && has_digest(of.tensor->type)) {
                check_digest(run, saved[run - 1],
                             digest_of_repeated(run == 1 ? a_ : b_, of.tensor->view(), of.repeats));
            }
        }
        return found ? values.bytes.size() + first.repeats * size_of(values.type) : 0;
    }

    std::optional<std::uint64_t> compare_streamed(const scanned_tensor& mine, value_stream& first,
                                                  const scanned_tensor& other, value_stream& second,
                                                  const saved_digests& saved) {
        std::array digests{value_digest{a_.state->kernel()}, value_digest{b_.state->kernel()}};
        reduce::detail::element_comparison found{first.type(), log_.within()};
        const bool comparable = first.type() == second.type() && first.shape() == second.shape();
        const auto started = attempt(mine, [&] { return first.start(), status::ok; });
        const auto other_started = attempt(other, [&] { return second.start(), status::ok; });
        if (!report_unreadable(started, other_started)) {
            return std::nullopt;
        }
        if (comparable) {
            compare_streams(first, second, found, saved[0] || saved[1] ? &digests : nullptr);
        }
        const auto failed = attempt(mine, [&] { return first.finish(); });
        const auto other_failed = attempt(other, [&] { return second.finish(); });
        if (!report_unreadable(failed, other_failed)) {
            return std::nullopt;
        }
        if (!comparable) {
            static_cast<void>(compare_forms(first.type(), first.shape(), second.type(), second.shape()));
            return 0;
        }
        log_.report(run_difference_kind::values, found, {}, &first.shape());
        for (const unsigned run : {1U, 2U}) {
            check_digest(run, saved[run - 1], digests[run - 1].value(first.type(), first.shape()));
        }
        return first.size();
    }

    const diff_options& options_;
    diff_log& log_;
    diff_side a_;
    diff_side b_;
    std::vector<file_pair> pairs_;
    file_pair at_;  // the current one
    std::vector<name_id> translated_;
    std::vector<bool> seen_;  // by the first run's name_id
};

}  // namespace detail

SMDEBUG_INLINE diff_summary detail::diff_states(std::shared_ptr<const trial_state> first,
                                                std::shared_ptr<const trial_state> second, const diff_options& options,
                                                function_ref<void(const run_difference&)> visit) {
    diff_log log{options, visit};
    diff_walk{std::move(first), std::move(second), options, log}.run();
    return log.summary;
}

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
