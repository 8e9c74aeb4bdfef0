// The cache that rules share: the last steps of a run, with their reads, reductions and measures.
// The caller that drives the rules announces the next step: all tensors that rules used at earlier steps are then read,
// reduced and measured in one pass over its files; later steps are prefetched.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/shared/rule_view.hpp>
#include <smdebug/trial/shared/steps_ahead.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

struct scanned_tensor;

/// A tensor's last saves, and their reductions, measures and values.
/// A turn is one begin_step(); numbers of turns show how long ago something was used.
/// Memory: 16 saves (400 bytes each) of each worker.
struct shared_tensor {
    static constexpr std::size_t kept_saves = 16;
    static constexpr std::size_t small_value = 64;  // bytes: values of scalars such as losses are stored with the saves
    struct asked_measure {
        const any_measure* measure = nullptr;
        std::uint64_t turn = 0;   // in which it was last used
        std::uint64_t turns = 0;  // in how many it was used
    };

    /// Null if nothing is (or is no longer) known.  Borrowed until the next keep().
    [[nodiscard]] const known_save* find(step_number step, std::string_view worker) const noexcept;
    /// The entry for one save, to be filled; empty if nothing was known.  Borrowed until the next keep().
    [[nodiscard]] known_save& keep(step_number step, std::string_view worker);

    std::string name = {};
    std::vector<known_save> saves = {};   // a ring
    std::vector<step_number> steps = {};  // those of `saves`: a look-up searches them linearly
    std::size_t next = 0;
    std::vector<std::string> workers = {};  // that have saved it
    std::vector<asked_measure> asked = {};
    std::uint64_t reduced_turn = 0;  // in which reductions were last used; 0 if never
    std::uint64_t read_turn = 0;     // in which anything else was
    std::uint64_t value_turn = 0;    // in which values were, other than by a measure
    bool is_looked_at = false;       // scanned in any case: see scan_onlooker::names()
    // Its steps, by mode, once the run has ended: without this list, finding that there are no earlier ones takes a
    // walk over the run.
    std::array<std::optional<std::vector<step_number>>, 4> steps_by_mode = {};
};

/// Implements rule_view.
/// Memory: as sharing_options say; a few bytes for each tensor whose handle was taken.
class step_cache final : public rule_view {
public:
    /// `sharing`, `onlooker`: see view_for_rules(); where nothing is shared names are cached and look-ups are logged.
    step_cache(std::shared_ptr<const trial_state> state, const sharing_options* sharing,
               std::shared_ptr<scan_onlooker> onlooker);

    [[nodiscard]] SMDEBUG_INLINE read_log& log() noexcept override;
    [[nodiscard]] SMDEBUG_INLINE bool fetches_files() const noexcept override;
    SMDEBUG_INLINE void begin_step(const catalog& from, step_number step, std::optional<step_number> end) override;
    [[nodiscard]] SMDEBUG_INLINE std::vector<std::string> tensor_names(
        const tensor_names_options& which, function_ref<std::vector<std::string>()> ask) override;
    [[nodiscard]] SMDEBUG_INLINE std::shared_ptr<const void> cached_for_step(
        step_number step, std::type_index type, const text_list& collections, const text_list& regexes,
        function_ref<std::shared_ptr<const void>()> make) override;
    SMDEBUG_INLINE void forget() noexcept override;

    [[nodiscard]] SMDEBUG_INLINE shared_tensor* share_of(const std::string& name) override;
    SMDEBUG_INLINE void expect(shared_tensor& of) override;
    [[nodiscard]] SMDEBUG_INLINE bool reductions(shared_tensor& of, step_number step, const std::string& worker,
                                                 function_ref<void(const reduction_values&)> use) override;
    [[nodiscard]] SMDEBUG_INLINE lookup<any_measure::answer> answer(
        shared_tensor& of, step_number step, const std::string& worker, step_number earlier, const any_measure& measure,
        function_ref<lookup<any_measure::answer>()> compute) override;
    [[nodiscard]] SMDEBUG_INLINE lookup<tensor_value> value(shared_tensor& of, step_number step,
                                                            const std::string& worker,
                                                            function_ref<lookup<tensor_value>()> read) override;
    [[nodiscard]] SMDEBUG_INLINE std::vector<step_number> last_steps(
        shared_tensor& of, step_number step, std::size_t n, mode in, function_ref<std::vector<step_number>()> steps,
        function_ref<std::vector<step_number>()> fallback) override;

private:
    // The values of a tensor's last save, for a comparison with the next one: for each worker, and for each mode, as
    // training and evaluation alternate.
    struct last_save {
        step_number step = -1;  // -1: none
        dtype type = dtype::invalid;
        shape_type shape;
        std::vector<std::byte> bytes;
    };
    // Up to so many bytes; values that do not fit are not kept.
    struct last_saves {
        std::size_t most_bytes = 0;
        std::size_t bytes = 0;
        std::map<std::tuple<const shared_tensor*, std::string, mode>, last_save> by_tensor = {};

        void replace(last_save& kept, step_number step, const tensor_view& values);
    };

    struct kept_value {
        const shared_tensor* of = nullptr;
        step_number step = 0;
        std::string worker;
        tensor_value value;
    };

    // What determines which tensors a step has, and in which collections.
    struct step_files {
        std::shared_ptr<const catalog::job_description> job;
        std::vector<std::shared_ptr<const layout>> layouts;
        std::vector<worker_id> workers;
        [[nodiscard]] friend bool operator==(const step_files&, const step_files&) = default;
    };
    using choice = std::tuple<std::type_index, bool, std::vector<std::string>, std::vector<std::string>>;

    void note_files(const catalog& from, step_number step);
    // The cached result for a choice at this step; computed if missing.
    [[nodiscard]] std::shared_ptr<const void> kept(std::type_index type, bool has_regexes,
                                                   const std::vector<std::string>& collections,
                                                   const std::vector<std::string>& regexes,
                                                   function_ref<std::shared_ptr<const void>()> make);

    // One pass over the files of some steps.  Unreadable tensors are left out, except for whole files.  `previous`:
    // null if nothing is to be compared; else the range comes after what it holds.  `onlooker`: null
    // if there is none.
    void scan_steps(const step_range& range, const questions_by_tensor& asked, last_saves* previous,
                    scan_onlooker* onlooker, std::vector<known_save>& found) const;
    static void measure(const tensor_questions& asked, const scanned_tensor& tensor, last_saves* previous,
                        std::vector<known_save::answer>& answers);
    void keep(std::vector<known_save>& found);
    void keep(const shared_tensor& of, step_number step, std::string worker, tensor_value value);

    // What rules used recently.
    [[nodiscard]] questions_by_tensor asked_lately();
    // Begins to scan steps after this one.
    void begin_ahead(std::vector<step_number> steps, questions_by_tensor asked);
    void end_ahead();
    // Whether some steps have only a few numbers, which the catalog holds.
    [[nodiscard]] bool is_in_memory(const step_range& steps) const;

    [[nodiscard]] bool is_recent(std::uint64_t turn) const noexcept {
        return turn != 0 && turn + remembered_turns >= turn_;
    }
    // Notes that a tensor is used; `turn` is one of its turns.
    void note_asked(shared_tensor& of, std::uint64_t& turn);
    void note_asked(shared_tensor& of, const any_measure* measure) const;
    // The cached measure that is equal to this one, valid as long as this cache; null if there are too many, as with a
    // rule that makes a new one at each step: those are not cached.
    [[nodiscard]] const any_measure* remembered(const any_measure& measure);

    // A tensor that was not used for so many steps is no longer prefetched.  For a measure fewer steps suffice, as many
    // as it was used at: rules that look at the first steps only must cost nothing afterwards.
    static constexpr std::uint64_t remembered_turns = 64;
    static constexpr std::uint64_t least_remembered_turns = 8;
    static constexpr std::size_t scanned_at_once = shared_tensor::kept_saves / 4;
    static constexpr std::size_t most_steps_ahead = 4096;   // until threads begin anew
    static constexpr std::size_t most_steps_lent = 64;      // those of a budget, for which other runs may wait
    static constexpr std::size_t most_values = 256;         // a look-up searches them linearly
    static constexpr std::size_t most_first_values = 4096;  // the limit during the first steps
    static constexpr std::uint64_t first_turns = 4;
    static constexpr std::size_t most_measures = 256;
    static constexpr std::size_t most_unreadable = 1024;
    static constexpr std::size_t most_kept_steps = std::size_t{1} << 22U;

    std::shared_ptr<const trial_state> state_;
    read_log log_;
    std::optional<step_number> step_;
    step_files files_;
    synchronized<std::map<choice, std::shared_ptr<const void>, std::less<>>> kept_;  // for steps with files like files_

    sharing_options how_;
    std::shared_ptr<scan_onlooker> onlooker_;
    std::optional<step_prefetch> prefetch_;  // unset if nothing is shared
    std::mutex mutex_;                       // protects everything below
    std::unordered_map<std::string, shared_tensor> tensors_;
    std::vector<std::unique_ptr<const any_measure>> measures_;
    std::deque<kept_value> values_;
    std::size_t value_bytes_ = 0;  // the size of values_
    // With an onlooker: whether it is still unknown what rules will use, so that all values are kept.  This ends at the
    // first step after the initial ones at which rules used nothing unexpected.
    bool is_learning_ = false;
    std::uint64_t surprised_turn_ = 0;  // in which they last did
    step_number looked_at_end_ = 0;     // the steps before it were scanned
    // Files that a scan found unreadable.  Their tensors are read one by one, as the file may have appeared since.
    std::set<std::pair<step_number, std::string>> unreadable_;
    std::size_t kept_steps_ = 0;  // in steps_by_mode of all tensors
    std::uint64_t turn_ = 1;
    last_saves last_saves_;               // used by one of the running scans at a time
    std::vector<step_number> covered_;    // the steps of the last scan ahead
    std::unique_ptr<steps_ahead> ahead_;  // last: its threads use what is above
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/shared/impl/step_cache.ipp>
#endif
