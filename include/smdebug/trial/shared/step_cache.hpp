// A cache of the last steps of a run: what one rule has read or reduced is there for the others.
// Whoever drives the rules names the next step: all tensors that rules asked for at the steps before are then read,
// reduced and measured in one pass over its files, and those of the steps behind it ahead of time.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/guarded.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/thread_budget.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/read/any_measure.hpp>
#include <smdebug/trial/read/faster_way.hpp>
#include <smdebug/trial/read/step_prefetch.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/shared/read_log.hpp>
#include <smdebug/trial/shared/rule_view.hpp>
#include <smdebug/trial/sharing_options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
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

namespace smdebug {
inline namespace v1 {
namespace detail {

struct scanned_tensor;

/// What is known of a tensor that one worker saved at one step.
struct known_save {
    struct answer {
        const any_measure* measure = nullptr;
        step_number earlier = -1;  ///< the step of the save that it was compared with; -1: none
        any_measure::answer bytes{};
    };
    shared_tensor* of = nullptr;  ///< null: the worker's whole file of that step cannot be read
    step_number step = -1;
    std::string worker;
    /// Saved ones as they were saved, the others computed, counts where there are values.
    std::optional<reduction_values> reductions = {};
    std::vector<answer> answers = {};
    std::optional<tensor_value> value =
        {};  ///< kept here where it is small, else on its way to the values that are kept
};

/// A tensor's last saves, and what was asked about them.
/// Memory: 16 saves (400 bytes each) of each worker.
struct shared_tensor {
    static constexpr std::size_t kept_saves = 16;
    static constexpr std::size_t small_value = 64;  // bytes: of numbers like losses the values are kept with the saves
    struct asked_measure {
        const any_measure* measure = nullptr;
        std::uint64_t turn = 0;   // in which it was asked last
        std::uint64_t turns = 0;  // in how many it was asked
    };

    /// Null where nothing is (any more) known.  Borrowed until the next keep().
    [[nodiscard]] const known_save* find(step_number step, std::string_view worker) const noexcept;
    /// What is known of one save, to be filled; empty where nothing was known.  Borrowed until the next keep().
    [[nodiscard]] known_save& keep(step_number step, std::string_view worker);

    std::string name = {};
    std::vector<known_save> saves = {};   // a ring
    std::vector<step_number> steps = {};  // those of saves: a look-up walks over them
    std::size_t next = 0;
    std::vector<std::string> workers = {};  // that have saved it
    std::vector<asked_measure> asked = {};
    std::uint64_t reduced_turn = 0;  // in which reductions were asked for last; 0: never
    std::uint64_t read_turn = 0;     // or anything else
    std::uint64_t value_turn = 0;    // or values, which no measure answers
    bool is_joint = false;           // it is scanned anyway: see joint_scan
    // By mode, of a run that has ended: to find that there are none takes a walk over the run.
    std::array<std::optional<std::vector<step_number>>, 4> steps_by_mode = {};
};

/// Implements rule_view.
/// Memory: as sharing_options say; a few bytes for each tensor of which there was a handle.
class step_cache final : public rule_view {
public:
    /// `sharing`: null for one rule alone: nothing is shared then, but names are kept and look-ups are logged.
    step_cache(std::shared_ptr<const trial_state> state, const sharing_options* sharing);

    [[nodiscard]] SMDEBUG_INLINE read_log& log() noexcept override;
    [[nodiscard]] SMDEBUG_INLINE bool fetches_files() const noexcept override;
    SMDEBUG_INLINE void begin_step(const catalog& from, step_number step, std::optional<step_number> end) override;
    [[nodiscard]] SMDEBUG_INLINE std::vector<std::string> tensor_names(
        const tensor_names_options& which, function_ref<std::vector<std::string>()> ask) override;
    [[nodiscard]] SMDEBUG_INLINE std::shared_ptr<const void> kept_of_step(
        step_number step, std::type_index type, const text_list& collections, const text_list& regexes,
        function_ref<std::shared_ptr<const void>()> make) override;
    SMDEBUG_INLINE void forget() noexcept override;

    [[nodiscard]] SMDEBUG_INLINE shared_tensor* share_of(const std::string& name) override;
    SMDEBUG_INLINE void expect(shared_tensor& of) override;
    [[nodiscard]] SMDEBUG_INLINE std::optional<reduction_values> reductions(shared_tensor& of, step_number step,
                                                                            const std::string& worker) override;
    [[nodiscard]] SMDEBUG_INLINE lookup<any_measure::answer> answer(
        shared_tensor& of, step_number step, const std::string& worker, step_number earlier, const any_measure& measure,
        function_ref<lookup<any_measure::answer>()> compute) override;
    [[nodiscard]] SMDEBUG_INLINE lookup<tensor_value> value(shared_tensor& of, step_number step,
                                                            const std::string& worker,
                                                            function_ref<lookup<tensor_value>()> read) override;
    [[nodiscard]] SMDEBUG_INLINE std::vector<step_number> last_steps(
        shared_tensor& of, step_number step, std::size_t n, mode in, function_ref<std::vector<step_number>()> steps,
        function_ref<std::vector<step_number>()> slowly) override;

private:
    // What is to be found out about one tensor.
    struct questions {
        shared_tensor* of = nullptr;
        bool reductions = false;
        bool values = false;
        bool small_values = false;  // see shared_tensor::small_value
        std::vector<const any_measure*> measures = {};
    };
    using questions_by_tensor = std::unordered_map<std::string_view, questions>;

    // The values of a tensor's last save, for a comparison with the next one: of each worker, and mode by mode, as training
    // and evaluation alternate.
    struct last_save {
        step_number step = -1;  // -1: none
        dtype type = dtype::invalid;
        shape_type shape;
        std::vector<std::byte> bytes;
    };
    // Of up to so many bytes; what has no room is not kept.
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

    // What decides which tensors a step has, and in which collections.
    struct step_files {
        std::shared_ptr<const catalog::job_description> job;
        std::vector<std::shared_ptr<const layout>> layouts;
        std::vector<worker_id> workers;
        [[nodiscard]] friend bool operator==(const step_files&, const step_files&) = default;
    };
    using choice = std::tuple<std::type_index, bool, std::vector<std::string>, std::vector<std::string>>;

    void note_files(const catalog& from, step_number step);
    // What was made of a choice at this step, or is made now.
    [[nodiscard]] std::shared_ptr<const void> kept(std::type_index type, bool has_regexes,
                                                   const std::vector<std::string>& collections,
                                                   const std::vector<std::string>& regexes,
                                                   function_ref<std::shared_ptr<const void>()> make);

    // One pass over the files of some steps.  What cannot be read is left out, but for whole files.  `previous`: null where
    // nothing is to be compared; else the range is behind what it has.  `faster`: see scan_options.  `joint`: null where
    // rules scan for themselves.
    [[nodiscard]] std::vector<known_save> scan_steps(const step_range& range, const questions_by_tensor& asked,
                                                     last_saves* previous, faster_way* faster, joint_scan* joint) const;
    static void measure(const questions& asked, const scanned_tensor& tensor, last_saves* previous,
                        std::vector<known_save::answer>& answers);
    void keep(std::vector<known_save> found);
    void keep(const shared_tensor& of, step_number step, std::string worker, tensor_value value);

    // What was asked for lately.
    [[nodiscard]] questions_by_tensor asked_lately();
    // Begins to scan the steps of ahead_steps_.
    void begin_ahead(questions_by_tensor asked);
    void begin_part(thread_permit thread, const step_range& range, questions_by_tensor asked, last_saves* previous);

    [[nodiscard]] bool is_recent(std::uint64_t turn) const noexcept {
        return turn != 0 && turn + remembered_turns >= turn_;
    }
    // Notes that a tensor is asked for; `turn` is one of its turns.
    void note_asked(shared_tensor& of, std::uint64_t& turn);
    void note_asked(shared_tensor& of, const any_measure* measure) const;
    // The measure that is equal to this one, and lives as long as this; null where there are too many, as of a rule that
    // makes a new one at each step: those are not remembered.
    [[nodiscard]] const any_measure* remembered(const any_measure& measure);

    // A tensor that was not asked for during so many steps is not read ahead any more.  Of measures it may be fewer, as many
    // as they were asked at: rules that look at the first steps alone are to cost nothing afterwards.
    static constexpr std::uint64_t remembered_turns = 64;
    static constexpr std::uint64_t least_remembered_turns = 8;
    static constexpr std::size_t most_ahead = shared_tensor::kept_saves / 2;
    static constexpr std::size_t most_values = 256;         // a look-up walks over them
    static constexpr std::size_t most_first_values = 4096;  // the same of the first steps
    static constexpr std::uint64_t first_turns = 4;
    static constexpr std::size_t most_measures = 256;
    static constexpr std::size_t most_unreadable = 1024;
    static constexpr std::size_t most_kept_steps = std::size_t{1} << 22U;

    std::shared_ptr<const trial_state> state_;
    read_log log_;
    std::optional<step_number> step_;
    step_files files_;
    guarded<std::map<choice, std::shared_ptr<const void>, std::less<>>> kept_;  // of steps whose files are like files_

    sharing_options how_;
    std::optional<step_prefetch> prefetch_;  // nothing: nothing is shared
    std::mutex mutex_;                       // protects everything below
    std::unordered_map<std::string, shared_tensor> tensors_;
    std::vector<std::unique_ptr<const any_measure>> measures_;
    std::deque<kept_value> values_;
    std::size_t value_bytes_ = 0;  // of values_
    // Of a joint scan: whether it is not known yet what rules will ask, so that all values are kept.  It ends with the
    // first step, of those behind the first ones, at which they asked nothing that was not known.
    bool is_learning_ = false;
    std::uint64_t surprised_turn_ = 0;  // in which they did last
    step_number joint_end_ = 0;         // the steps before it were scanned
    // Files that a scan found unreadable.  Their tensors are read one by one, as the file may have come since.
    std::set<std::pair<step_number, std::string>> unreadable_;
    std::size_t kept_steps_ = 0;  // in steps_by_mode of all tensors
    std::uint64_t turn_ = 1;
    last_saves last_saves_;             // used by the scan that goes on: one of them at a time
    std::deque<faster_way> faster_;     // of each of the scans that go on at once
    std::vector<step_number> covered_;  // the steps that were scanned ahead last
    std::vector<step_number> ahead_steps_;
    std::vector<std::future<std::vector<known_save>>> ahead_;  // of those; their destructors wait
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/shared/impl/step_cache.ipp>
#endif
