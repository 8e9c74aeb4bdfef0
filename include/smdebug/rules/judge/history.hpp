// What the rules about training runs share: their choice of tensors, reductions of a save with saved ones first, and
// the earlier saves of a series, each of which a walk reads once.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Descriptions of settings that these rules have.
inline constexpr std::string_view every_worker_meaning =
    "judge each worker by its own saves; else, together, the first by name that saved a tensor";
inline constexpr std::string_view window_meaning = "how many earlier saves to compare with";
inline constexpr std::string_view min_history_meaning =
    "fires only after so many earlier saves; unset: 10, or window if that is less";

namespace detail {

/// The selected tensors; if nothing is selected, those of a collection.
[[nodiscard]] tensor_choice choice_or(const text_list& collection_names, const text_list& tensor_regex,
                                      std::string_view collection);

// Numbers ---------------------------------------------------------------------------------------------------------

/// The median of some numbers, and 1.4826 times the median of their distances from it: their standard deviation, if
/// they were normally distributed, but insensitive to outliers.
struct robust_statistics {
    double median = std::numeric_limits<double>::quiet_NaN();
    double deviation = std::numeric_limits<double>::quiet_NaN();
    double largest = std::numeric_limits<double>::quiet_NaN();
};

/// Cost: linear.  NaN of no numbers.
[[nodiscard]] robust_statistics robust_statistics_of(std::vector<double> numbers);

// One save --------------------------------------------------------------------------------------------------------

/// What one worker saved of a tensor at one step, and what can be computed of it.
struct save_facts {
    enum class kind : std::uint8_t {
        values,
        no_values,   ///< reductions, or a shape
        not_a_save,  ///< text, complex numbers, or no elements: as if it was not saved
        unreadable,
    };
    kind what = kind::no_values;
    reduction_values computed = {};  ///< of the values: counts, and the wanted reductions that were not saved
    reduction_set saved = {};
    lookup_error failure = {};  ///< of an unreadable one

    /// Elements; nothing if neither values nor a shape say it.
    std::optional<std::uint64_t> size = {};
};

/// Reads a save, if it has values: once, for everything that is wanted.
[[nodiscard]] save_facts facts_of(const saved_tensor& tensor, reduction_set wanted = {});

/// The reductions that l2_of() and abs_max_of() need of values.
inline constexpr reduction_set l2_reductions{reduction::l2};
inline constexpr reduction_set abs_max_reductions{reduction::max, true};

[[nodiscard]] lookup<double> reduction_of(const saved_tensor& tensor, const save_facts& facts, reduction_key key);

/// The saved l2, else the saved abs_l2, else that of the values, flattened.
[[nodiscard]] lookup<double> l2_of(const saved_tensor& tensor, const save_facts& facts);

/// The saved abs_max, else the larger of the saved |min| and |max|, else that of the values.
[[nodiscard]] lookup<double> abs_max_of(const saved_tensor& tensor, const save_facts& facts);

/// A save as a rule sees it.
template <class Value>
struct judged_save {
    bool is_save = true;             ///< false if it counts as not saved, see save_facts
    std::optional<Value> what = {};  ///< nothing if it cannot be judged, ...
    finding note = {};               ///< ... and why; without a message if users need not know

    [[nodiscard]] static judged_save none() { return {.is_save = false}; }
    [[nodiscard]] static judged_save of(Value value) { return {.what = std::move(value)}; }
    [[nodiscard]] static judged_save unknown(finding why) { return {.note = std::move(why)}; }
    /// Without a reason, makes a save that counts as not saved.
    [[nodiscard]] static judged_save unknown_or_none(std::optional<finding> why) {
        return why ? unknown(*std::move(why)) : none();
    }
};

/// For a rule that needs values, where there are none: a note, of `text` unless they cannot be read; nothing for an
/// empty tensor, which is as if it was not saved.
[[nodiscard]] std::optional<finding> note_without_values(const saved_tensor& tensor, const lookup_error& why,
                                                         const char* text);

/// The save of a number that is looked up in the facts of a save; infinite and NaN are numbers, too.
template <class Look>
[[nodiscard]] judged_save<double> number_in_save(const saved_tensor& tensor, reduction_set wanted, Look&& look) {
    const save_facts facts = detail::facts_of(tensor, wanted);
    if (facts.what == save_facts::kind::not_a_save) {
        return judged_save<double>::none();
    }
    if (facts.what == save_facts::kind::unreadable) {
        return judged_save<double>::unknown(tensor.note(facts.failure));
    }
    const lookup<double> number = look(tensor, facts);
    return number ? judged_save<double>::of(*number) : judged_save<double>::unknown(tensor.note(number.error()));
}

[[nodiscard]] judged_save<double> l2_in_save(const saved_tensor& tensor);

// Earlier saves ---------------------------------------------------------------------------------------------------

struct nothing_more {};

/// The newest saves of one series before a step, as far as they count; a cache: what it lacks is looked up in the run.
/// More: what else a rule keeps about the series; it is reset when a walk goes back.
/// Memory: as many saves as are wanted.
template <class Value, class More = nothing_more>
class save_history {
public:
    struct entry {
        step_number step = -1;
        Value what = {};
    };
    More more = {};

    /// Ascending by step.
    [[nodiscard]] const std::deque<entry>& entries() const noexcept { return entries_; }

    /// Makes the entries the newest `most` saves before `step` that count, or all of them if there are fewer.
    /// back(from, visit) calls visit(step) for the steps with a save from `from` down, until visit returns false;
    /// look(step) returns what is kept of a save, or nothing if it does not count.
    /// Cost: in a walk over all steps nothing is looked up twice.
    template <class Back, class Look>
    void reach(step_number step, std::size_t most, Back&& back, Look&& look) {
        if (!known_ || step < end_) {
            *this = save_history{};
            known_ = true;
            begin_ = end_ = step;
        }
        if (end_ < step) {
            look_between(step, most, back, look);
        }
        trim(most);
        if (entries_.size() < most && !is_whole_) {
            is_whole_ = true;
            back(begin_ - 1, [&](step_number earlier) {
                begin_ = earlier;
                if (auto what = look(earlier)) {
                    entries_.push_front({earlier, *std::move(what)});
                }
                is_whole_ = entries_.size() < most;
                return is_whole_;
            });
        }
    }

    /// Adds the save at the step that was reached, if it counts.
    void put(step_number step, std::optional<Value> what) {
        end_ = step + 1;
        if (what) {
            entries_.push_back({step, *std::move(what)});
        }
    }

private:
    // The saves after those that are known.
    template <class Back, class Look>
    void look_between(step_number step, std::size_t most, Back& back, Look& look) {
        std::vector<entry> newer;
        if (most > 0) {
            back(step - 1, [&](step_number earlier) {
                if (earlier < end_) {
                    return false;
                }
                if (auto what = look(earlier)) {
                    newer.push_back({earlier, *std::move(what)});
                }
                return newer.size() < most;
            });
        }
        std::move(newer.rbegin(), newer.rend(), std::back_inserter(entries_));
        end_ = step;
    }
    void trim(std::size_t most) {
        while (entries_.size() > most) {
            begin_ = entries_.front().step + 1;
            entries_.pop_front();
            is_whole_ = false;
        }
    }

    // All saves from begin_ up to end_ that count are entries; is_whole_: there are none before begin_.
    std::deque<entry> entries_;
    step_number begin_ = 0;
    step_number end_ = 0;
    bool known_ = false;
    bool is_whole_ = false;
};

/// The newest number of a series, finite or not.
struct newest_number {
    step_number step = -1;
    double number = std::numeric_limits<double>::quiet_NaN();
};
/// Finite numbers of earlier saves.
using number_history = save_history<double, newest_number>;

/// The number, if it is finite, for a number_history to keep.  In any case it becomes `newest`, unless that is of the
/// same step or of a later one.
[[nodiscard]] inline std::optional<double> kept_number(step_number step, double number, newest_number& newest) {
    if (step > newest.step) {
        newest = {step, number};
    }
    return is_finite(number) ? std::optional{number} : std::nullopt;
}

/// The statistics of earlier numbers; nothing of fewer than min_history, which is 10 if unset, or `window` if that is
/// less.
[[nodiscard]] std::optional<robust_statistics> usual_numbers(const std::deque<number_history::entry>& earlier,
                                                             const std::optional<std::int64_t>& min_history,
                                                             std::int64_t window);

/// The histories of a rule, by series, of one run.
template <class History>
class history_table {
public:
    /// Forgets the histories of another run, and returns whether it is another one.
    bool begin(const trial& run) {
        const std::weak_ptr<const void> now = smdebug::detail::state_of(run);
        if (!now.owner_before(run_) && !run_.owner_before(now)) {
            return false;
        }
        run_ = now;
        series_.clear();
        return true;
    }
    /// `worker`: empty for the first worker at each step.
    [[nodiscard]] History& of(const std::string& tensor, const std::string& worker, mode in) {
        return series_[std::tuple{tensor, worker, in}];
    }

private:
    std::weak_ptr<const void> run_;
    std::map<std::tuple<std::string, std::string, mode>, History> series_;
};

/// What read() makes of the same tensor at an earlier step: with all_workers of the same worker, else of the first by
/// name whose save counts.
template <class Read>
[[nodiscard]] auto read_earlier(const saved_tensor& now, step_number earlier, bool all_workers, Read&& read) {
    decltype(read(now)) found{.is_save = false};
    for (const std::string& worker : now.handle().workers(earlier, read_options{})) {
        if (!all_workers || worker == now.worker()) {
            found = read(saved_tensor{now.handle(), now.name(), earlier, worker});
            if (found.is_save) {
                break;
            }
        }
    }
    return found;
}

/// As judge_each(), with each tensor's earlier saves in the mode of the step: up to `most` that count.
///     read(saved_tensor) -> judged_save<Value>
///     keep(saved_tensor, const judged_save<Value>&, More&) -> std::optional<Kept>: what history keeps of a save;
///                                                         nothing: it does not count
///     judge(saved_tensor, const judged_save<Value>&, save_history<Kept, More>&) -> finding
/// A save is kept after it was judged; earlier ones that the history lacks are kept first, the newest of them first.
template <class Kept, class More, class Read, class Keep, class Judge>
[[nodiscard]] std::vector<finding> judge_series(const trial& run, step_number step, const tensor_choice& which,
                                                bool all_workers, history_table<save_history<Kept, More>>& histories,
                                                std::size_t most, Read&& read, Keep&& keep, Judge&& judge) {
    histories.begin(run);
    const mode in = run.mode(step).value_or(mode::global);
    return judge_each(run, step, which, all_workers, [&](const saved_tensor& now) -> std::optional<finding> {
        const auto save = read(now);
        if (!save.is_save) {
            return std::nullopt;
        }
        save_history<Kept, More>& history = histories.of(now.name(), all_workers ? now.worker() : std::string{}, in);
        history.reach(
            step, most,
            [&](step_number from, const auto& visit) { visit_steps_back(now.handle(), from, mode::global, visit); },
            [&](step_number earlier) -> std::optional<Kept> {
                if (run.mode(earlier) != in) {
                    return std::nullopt;
                }
                const auto found = read_earlier(now, earlier, all_workers, read);
                return found.is_save ? keep(now.at(earlier), found, history.more) : std::nullopt;
            });
        finding one = judge(now, save, history);
        history.put(step, keep(now, save, history.more));
        return one;
    });
}

}  // namespace detail

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/judge/impl/history.ipp>
#endif
