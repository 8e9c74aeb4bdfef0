// The bodies of <smdebug/trial/diff_runs.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/diff_runs.hpp>
#include <smdebug/trial/read/event_puller.hpp>
#include <smdebug/trial/read/value_stream.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE std::string_view name_of(run_difference_kind kind) noexcept {
    constexpr std::array<std::string_view, 10> names{"collection", "step",  "worker",    "mode",   "tensor",
                                                     "dtype",      "shape", "reduction", "values", "unreadable"};
    return names[static_cast<std::size_t>(kind)];
}

namespace detail {

SMDEBUG_INLINE std::string_view name_of_run(unsigned run) noexcept { return run == 1 ? "first" : "second"; }

SMDEBUG_INLINE diff_log::diff_log(const diff_options& options, diff_visit visit) : options_(options), visit_(visit) {
    for (const std::optional<double>& each : {options.rtol, options.atol}) {
        if (each && !(*each >= 0)) {
            throw value_error("a tolerance must be a number, 0 or more");
        }
    }
    if (options.rtol || options.atol) {
        within_ = reduce::detail::tolerance{options.rtol.value_or(0), options.atol.value_or(0), true};
    }
}

SMDEBUG_INLINE void diff_log::begin_step(const catalog::file& file) {
    step_ = {.step = by_mode_ ? file.mode_step : file.step, .mode_step = file.mode_step, .mode = file.mode};
    second_mode_ = file.mode;
    second_mode_step_ = file.mode_step;
    worker_ = {};
    tensor_ = {};
}

SMDEBUG_INLINE void diff_log::end_step() {
    ++summary.steps;
    if (options_.step_done) {
        options_.step_done(step_);
    }
}

SMDEBUG_INLINE void diff_log::begin_worker(std::string_view worker, const catalog::file& first,
                                           const catalog::file& second) {
    worker_ = worker;
    tensor_ = {};
    step_.mode = first.mode;
    step_.mode_step = first.mode_step;
    second_mode_ = second.mode;
    second_mode_step_ = second.mode_step;
}

SMDEBUG_INLINE void diff_log::begin_tensor(std::string_view tensor) noexcept {
    tensor_ = tensor;
    differs_ = false;
}

SMDEBUG_INLINE void diff_log::end_tensor(bool was_compared, std::uint64_t bytes) {
    if (was_compared) {
        summary.compared += 1;
        summary.bytes += bytes;
        step_.tensors += 1;
        step_.differing += differs_ ? 1U : 0U;
    }
    tensor_ = {};
}

SMDEBUG_INLINE void diff_log::tell(run_difference& found) {
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

SMDEBUG_INLINE void diff_log::tell(run_difference_kind kind, unsigned run, std::string what) {
    run_difference found{.kind = kind, .run = run, .what = std::move(what)};
    tell(found);
}

SMDEBUG_INLINE void diff_log::tell(run_difference_kind kind, const comparison& result, std::string_view of,
                                   const shape_type* shape) {
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
        step_.largest = std::isnan(found.largest) ? step_.largest : found.largest;
        step_.farthest_tensor = tensor_;
    }
    if (found.largest_relative > step_.largest_relative) {
        step_.largest_relative = found.largest_relative;
    }
    tell(found);
}

SMDEBUG_INLINE void diff_log::unreadable(unsigned run, const lookup_error& why) {
    run_difference found{.kind = run_difference_kind::unreadable, .run = run};
    if (tensor_.empty() && why.why != absence::event_file_missing) {
        found.what = why.where + " of the " + std::string{name_of_run(run)} + " run cannot be read: " + why.note;
    } else if (tensor_.empty()) {
        found.what = why.where + " of the " + std::string{name_of_run(run)} + " run is missing";
    } else {
        found.what = "in the " + std::string{name_of_run(run)} + " run: " +
                     words_of(why, std::string{tensor_}, step_.step, by_mode_ ? step_.mode : smdebug::mode::global);
    }
    tell(found);
}

SMDEBUG_INLINE void diff_log::compare_collections(const catalog::job_description& first,
                                                  const catalog::job_description& second) {
    const tensor_selection& which = options_.which;
    if (which.names || which.regex.given()) {
        return;  // members may be others among those that are left out
    }
    step_ = {};
    second_mode_ = step_.mode;
    second_mode_step_ = step_.mode_step;
    worker_ = {};
    const auto differ = [&](std::string_view name, unsigned run, std::string what) {
        run_difference found{
            .kind = run_difference_kind::collection, .tensor = name, .run = run, .what = std::move(what)};
        tell(found);
    };
    const auto is_wanted = [&](const std::string& name) {
        return !which.collection || which.collection->name() == name;
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

/// One run of the two: what its catalog says, what is selected of it, and its records.
struct diff_side {
    std::shared_ptr<const catalog> from;
    std::shared_ptr<const trial_state> state;
    std::optional<selected_tensors> names;  // nothing: it does not have the collection
    std::vector<const catalog::file*> files;
    std::optional<event_puller> puller;
    pulled_values values;

    [[nodiscard]] bool wants(name_id name) const noexcept { return names && names->contains(name); }
    [[nodiscard]] const std::string& worker(const catalog::file& file) const { return from->workers[file.worker]; }
};

/// A file of each run, by place among those that are read, of the same step and worker.
struct file_pair {
    const catalog::file* first = nullptr;
    const catalog::file* second = nullptr;
};

/// The values of two records, block by block while both are in the CPU's cache; where one says less, as its last value
/// repeats, that goes on.  False where a checksum does not hold, by run.
[[nodiscard]] inline std::array<bool, 2> compare_pulled(pulled_values& first, pulled_values& second,
                                                        reduce::detail::element_comparison& into) {
    constexpr std::size_t block = std::size_t{64} << 10U;
    const tensor_view a = first.tensor.view();
    const tensor_view b = second.tensor.view();
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

/// The same of values that are left in their files, piece by piece; both have begun.
inline void compare_streams(value_stream& first, value_stream& second, reduce::detail::element_comparison& into) {
    constexpr std::size_t piece = std::size_t{128} << 10U;
    for (std::size_t begin = 0; begin < first.size();) {
        const std::size_t length = std::min(piece, first.size() - begin);
        const byte_view a = first.more(begin, length);
        const byte_view b = second.more(begin, length);
        if (a.size() < length || b.size() < length) {
            return;  // finish() tells why
        }
        into.add(a.first(length), b.first(length));
        begin += length;
    }
}

/// The walk through both.
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
        side.state = std::move(run);
        const tensor_selection names{
            .names = options_.which.names, .regex = options_.which.regex, .collection = options_.which.collection};
        try {
            side.names.emplace(names, *side.from);
        } catch (const collection_unavailable&) {
            missing = std::current_exception();
        }
    }

    /// What steps are matched by: the number that is shown, and the mode where it counts in one.
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
        return step_key(pair.first != nullptr ? *pair.first : *pair.second);
    }

    // Only what both have is read.
    void pair_files() {
        const std::vector<const catalog::file*> of_first = std::exchange(a_.files, {});
        const std::vector<const catalog::file*> of_second = std::exchange(b_.files, {});
        auto a = of_first.begin();
        auto b = of_second.begin();
        const auto is_wanted = [&](const catalog::file* file, const std::string& worker) {
            return (!options_.which.worker || *options_.which.worker == worker) &&
                   (options_.which.mode == mode::global || file->mode == options_.which.mode);
        };
        while (a != of_first.end() || b != of_second.end()) {
            int order = a == of_first.end() ? 1 : (b == of_second.end() ? -1 : 0);
            if (order == 0 && step_key(**a) != step_key(**b)) {
                order = step_key(**a) < step_key(**b) ? -1 : 1;
            } else if (order == 0) {
                order = a_.worker(**a).compare(b_.worker(**b));
            }
            file_pair pair;
            bool wanted = false;
            if (order <= 0) {
                pair.first = *a++;
                wanted = is_wanted(pair.first, a_.worker(*pair.first));
            }
            if (order >= 0) {
                pair.second = *b++;
                wanted = wanted || is_wanted(pair.second, b_.worker(*pair.second));
            }
            if (wanted) {
                pairs_.push_back(pair);
            }
            if (wanted && order == 0) {
                a_.files.push_back(pair.first);
                b_.files.push_back(pair.second);
            }
        }
        a_.puller.emplace(*a_.state, *a_.from, a_.files);
        b_.puller.emplace(*b_.state, *b_.from, b_.files);
    }

    void compare_step(std::size_t begin, std::size_t end) {
        std::size_t of_first = 0;
        std::size_t of_second = 0;
        for (std::size_t i = begin; i < end; ++i) {
            of_first += pairs_[i].first != nullptr ? 1U : 0U;
            of_second += pairs_[i].second != nullptr ? 1U : 0U;
        }
        log_.begin_step(pairs_[begin].first != nullptr ? *pairs_[begin].first : *pairs_[begin].second);
        if (of_first == 0 || of_second == 0) {
            const unsigned run = of_first == 0 ? 2 : 1;
            log_.tell(run_difference_kind::step, run,
                      "only the " + std::string{name_of_run(run)} + " run has the step");
            return;
        }
        for (std::size_t i = begin; i < end; ++i) {
            const file_pair& pair = pairs_[i];
            const catalog::file& first = pair.first != nullptr ? *pair.first : *pair.second;
            const catalog::file& second = pair.second != nullptr ? *pair.second : *pair.first;
            log_.begin_worker(pair.first != nullptr ? a_.worker(first) : b_.worker(second), first, second);
            if (pair.first == nullptr || pair.second == nullptr) {
                const unsigned run = pair.first == nullptr ? 2 : 1;
                log_.tell(run_difference_kind::worker, run,
                          "only in the " + std::string{name_of_run(run)} + " run the worker has saved the step");
                continue;
            }
            compare_files(*pair.first, *pair.second, read_++);
        }
        log_.end_step();
    }

    void compare_files(const catalog::file& first, const catalog::file& second, std::size_t place) {
        if (first.mode != second.mode || first.mode_step != second.mode_step) {
            const auto words = [](const catalog::file& file) {
                return std::string{name_of(file.mode)} + " " + std::to_string(file.mode_step);
            };
            log_.tell(run_difference_kind::mode, 0,
                      "the step is " + words(first) + " in the first run, " + words(second) + " in the second");
        }
        const lookup_error* const why_not_first = a_.puller->open(place);
        const lookup_error* const why_not_second = b_.puller->open(place);
        if (why_not_first != nullptr) {
            log_.unreadable(1, *why_not_first);
        }
        if (why_not_second != nullptr) {
            log_.unreadable(2, *why_not_second);
        }
        if (why_not_first != nullptr || why_not_second != nullptr) {
            return;
        }
        const layout& mine = a_.from->layout_of(first);
        const layout& other = b_.from->layout_of(second);
        each_tensor(mine, [&](name_id name) {
            const name_id there = in_second(name);
            if (a_.wants(name) || (there != unknown && b_.wants(there))) {
                compare_tensor(mine, name, other, there);
            }
        });
        each_tensor(other, [&](name_id name) {
            const std::string& text = (*b_.from->names)[name];
            const std::optional<name_id> here = a_.from->find_tensor(text);
            const bool both = here && mine.contains(*here);
            if (!both && (b_.wants(name) || (here && a_.wants(*here)))) {
                log_.begin_tensor(text);
                log_.tell(run_difference_kind::tensor, 2, "only the second run has it");
                log_.end_tensor(false, 0);
            }
        });
    }

    // In the order of a scan.
    template <class Visit>
    static void each_tensor(const layout& entries, Visit&& visit) {
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (entries.names().leads(i)) {
                visit(entries[i].what.name);
            }
        }
        for (const layout::shape_entry& shape : entries.shapes()) {
            if (entries.shape(shape.name) == &shape && !entries.values(shape.name) &&
                entries.saved_reductions(shape.name).empty()) {
                visit(shape.name);
            }
        }
    }

    // The number of the first run's name in the second.
    [[nodiscard]] name_id in_second(name_id name) {
        while (translated_.size() <= name) {
            const std::string& text = (*a_.from->names)[static_cast<name_id>(translated_.size())];
            translated_.push_back(b_.from->find_tensor(text).value_or(unknown));
        }
        return translated_[name];
    }

    void compare_tensor(const layout& mine, name_id name, const layout& other, name_id there) {
        const std::string& text = (*a_.from->names)[name];
        log_.begin_tensor(text);
        if (there == unknown || !other.contains(there)) {
            log_.tell(run_difference_kind::tensor, 1, "only the first run has it");
            log_.end_tensor(false, 0);
            return;
        }
        seen_.resize(std::max<std::size_t>(seen_.size(), std::size_t{name} + 1));
        seen_[name] = true;
        // Before the values: reading a saved reduction may invalidate bytes that were given before.
        bool was_compared = compare_reductions(mine, name, other, there, text);
        const std::optional<layout::entry> values = mine.values(name);
        const std::optional<layout::entry> other_values = other.values(there);
        std::uint64_t bytes = 0;
        if (values && other_values) {
            const std::optional<std::uint64_t> size = compare_values(*values, *other_values, text);
            was_compared = size.has_value();
            bytes = size.value_or(0);
        } else if (values || other_values) {
            const unsigned run = values ? 1 : 2;
            log_.tell(run_difference_kind::tensor, run,
                      "only the " + std::string{name_of_run(run)} + " run has its values");
        } else {
            const layout::shape_entry* const shape = mine.shape(name);
            const layout::shape_entry* const other_shape = other.shape(there);
            if (shape != nullptr && other_shape != nullptr) {
                compare_shapes(shape->extents, other_shape->extents);
            } else if (shape != nullptr || other_shape != nullptr) {
                const unsigned run = shape != nullptr ? 1 : 2;
                log_.tell(run_difference_kind::tensor, run,
                          "only the " + std::string{name_of_run(run)} + " run has its shape");
            }
        }
        log_.end_tensor(was_compared, bytes);
    }

    bool compare_shapes(const shape_type& first, const shape_type& second) {
        if (first != second) {
            log_.tell(run_difference_kind::shape, 0,
                      "its shape is (" + shape_text(first) + ") in the first run, (" + shape_text(second) +
                          ") in the second");
        }
        return first == second;
    }

    // Whether the values can be compared.
    bool compare_forms(dtype first, const shape_type& first_shape, dtype second, const shape_type& second_shape) {
        if (first != second) {
            log_.tell(run_difference_kind::dtype, 0,
                      "it holds " + std::string{name_of(first)} + " in the first run, " + std::string{name_of(second)} +
                          " in the second");
        }
        return compare_shapes(first_shape, second_shape) && first == second;
    }

    // False where one cannot be read.
    bool compare_reductions(const layout& mine, name_id name, const layout& other, name_id there,
                            const std::string& text) {
        const reduction_set first = mine.saved_reductions(name);
        const reduction_set second = other.saved_reductions(there);
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
                log_.tell(run_difference_kind::tensor, run,
                          "only the " + std::string{name_of_run(run)} + " run has its " + names);
            }
        }
        const reduction_set both = first & second;
        for (std::size_t i = 0; !both.empty() && i < 2 * reduction_count; ++i) {
            const auto key = reduction_key::from_index(i);
            if (!both.contains(key)) {
                continue;
            }
            double number = 0;
            double other_number = 0;
            const auto failed = a_.puller->saved(*mine.reduction(name, key), text, key, number);
            const auto other_failed = b_.puller->saved(*other.reduction(there, key), text, key, other_number);
            if (!is_readable(failed, other_failed)) {
                readable = false;
                continue;
            }
            reduce::detail::element_comparison found{dtype::float64, log_.within()};
            found.add(std::as_bytes(std::span{&number, 1}), std::as_bytes(std::span{&other_number, 1}));
            log_.tell(run_difference_kind::reduction, found, "its saved " + key.name(), nullptr);
        }
        return readable;
    }

    bool is_readable(const std::optional<lookup_error>& first, const std::optional<lookup_error>& second) {
        if (first) {
            log_.unreadable(1, *first);
        }
        if (second) {
            log_.unreadable(2, *second);
        }
        return !first && !second;
    }

    // The bytes of the values; nothing where they cannot be read.
    std::optional<std::uint64_t> compare_values(const layout::entry& mine, const layout::entry& other,
                                                const std::string& text) {
        value_stream* const first = a_.puller->stream(mine, text);
        value_stream* const second = first != nullptr ? b_.puller->stream(other, text) : nullptr;
        if (second != nullptr) {
            return compare_streamed(mine, *first, other, *second);
        }
        auto failed = a_.puller->values(mine, text, a_.values);
        auto other_failed = b_.puller->values(other, text, b_.values);
        if (!is_readable(failed, other_failed)) {
            return std::nullopt;
        }
        const tensor_view values = a_.values.tensor.view();
        std::optional<reduce::detail::element_comparison> found;
        std::array<bool, 2> holds{};
        if (values.type == b_.values.tensor.type && a_.values.tensor.shape == b_.values.tensor.shape) {
            found.emplace(values.type, log_.within());
            holds = compare_pulled(a_.values, b_.values, *found);
        } else {
            holds = {a_.values.check.holds(), b_.values.check.holds()};
        }
        const auto damage = [&](bool is_whole, auto& side, const layout::entry& entry) {
            return is_whole ? std::nullopt : std::optional{side.puller->damaged(entry, status::bad_payload_checksum)};
        };
        if (!is_readable(damage(holds[0], a_, mine), damage(holds[1], b_, other))) {
            return std::nullopt;
        }
        if (!found) {
            static_cast<void>(
                compare_forms(values.type, a_.values.tensor.shape, b_.values.tensor.type, b_.values.tensor.shape));
            return 0;
        }
        log_.tell(run_difference_kind::values, *found, {}, &a_.values.tensor.shape);
        return values.bytes.size() + a_.values.repeats * size_of(values.type);
    }

    std::optional<std::uint64_t> compare_streamed(const layout::entry& mine, value_stream& first,
                                                  const layout::entry& other, value_stream& second) {
        reduce::detail::element_comparison found{first.type(), log_.within()};
        const bool comparable = first.type() == second.type() && first.shape() == second.shape();
        const auto attempt = [](auto& side, const layout::entry& entry, auto&& doing) {
            std::optional<lookup_error> failed;
            try {
                if (const status ended = doing(); ended != status::ok) {
                    failed = side.puller->damaged(entry, ended);
                }
            } catch (const std::exception&) {
                failed = side.puller->failed(entry);
            }
            return failed;
        };
        const auto started = attempt(a_, mine, [&] { return first.start(), status::ok; });
        const auto other_started = attempt(b_, other, [&] { return second.start(), status::ok; });
        if (!is_readable(started, other_started)) {
            return std::nullopt;
        }
        if (comparable) {
            compare_streams(first, second, found);
        }
        const auto failed = attempt(a_, mine, [&] { return first.finish(); });
        const auto other_failed = attempt(b_, other, [&] { return second.finish(); });
        if (!is_readable(failed, other_failed)) {
            return std::nullopt;
        }
        if (!comparable) {
            static_cast<void>(compare_forms(first.type(), first.shape(), second.type(), second.shape()));
            return 0;
        }
        log_.tell(run_difference_kind::values, found, {}, &first.shape());
        return first.size();
    }

    const diff_options& options_;
    diff_log& log_;
    diff_side a_;
    diff_side b_;
    std::vector<file_pair> pairs_;
    std::size_t read_ = 0;  // files of those that are read
    std::vector<name_id> translated_;
    std::vector<bool> seen_;  // by the first run's names
};

}  // namespace detail

SMDEBUG_INLINE diff_summary detail::diff_states(std::shared_ptr<const trial_state> first,
                                                std::shared_ptr<const trial_state> second, const diff_options& options,
                                                diff_log::diff_visit visit) {
    diff_log log{options, visit};
    diff_walk{std::move(first), std::move(second), options, log}.run();
    return log.summary;
}

}  // namespace v1
}  // namespace smdebug
