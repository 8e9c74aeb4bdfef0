// Interface of the per-run cache that rules share, and the log of what each rule read.  A trial without rules has
// neither.
#pragma once

#include <smdebug/core/abstract.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

/// A measure or a comparison of any type.
class any_measure : public smdebug::detail::abstract {
public:
    /// A result of any type: its bytes, or where it is larger or not trivial to copy.
    struct answer {
        std::array<std::byte, 64> bytes{};
        std::shared_ptr<const void> object = {};
    };

    /// Whether it compares two saves.
    [[nodiscard]] virtual bool compares() const noexcept = 0;
    [[nodiscard]] virtual bool equals(const any_measure& other) const = 0;
    [[nodiscard]] virtual std::unique_ptr<const any_measure> copy() const = 0;
    /// `earlier` is null unless it compares.  Errors: what the measure throws.
    [[nodiscard]] virtual answer operator()(const tensor_view* earlier, const tensor_view& now) const = 0;
};

template <measured_value Value>
inline constexpr bool is_packed_v =
    std::is_trivially_copyable_v<Value> && sizeof(Value) <= std::tuple_size_v<decltype(any_measure::answer::bytes)>;

template <measured_value Value>
[[nodiscard]] any_measure::answer packed(Value value) {
    any_measure::answer answer;
    if constexpr (is_packed_v<Value>) {
        std::memcpy(answer.bytes.data(), &value, sizeof value);
    } else {
        answer.object = std::make_shared<const Value>(std::move(value));
    }
    return answer;
}

template <measured_value Value>
[[nodiscard]] Value unpacked(const any_measure::answer& answer) {
    if constexpr (is_packed_v<Value>) {
        Value value{};
        std::memcpy(&value, answer.bytes.data(), sizeof value);
        return value;
    } else {
        return *static_cast<const Value*>(answer.object.get());
    }
}

template <measured_value Value>
[[nodiscard]] lookup<Value> unpacked(const lookup<any_measure::answer>& answer) {
    return answer ? lookup<Value>{unpacked<Value>(*answer)} : lookup<Value>{answer.error()};
}

template <class Measure, bool Compares>
class typed_measure final : public any_measure {
public:
    explicit typed_measure(const Measure& measure) : measure_(measure) {}

    [[nodiscard]] bool compares() const noexcept override { return Compares; }
    [[nodiscard]] bool equals(const any_measure& other) const override {
        const auto* const same = dynamic_cast<const typed_measure*>(&other);
        return same != nullptr && same->measure_ == measure_;
    }
    [[nodiscard]] std::unique_ptr<const any_measure> copy() const override {
        return std::make_unique<const typed_measure>(measure_);
    }
    [[nodiscard]] answer operator()([[maybe_unused]] const tensor_view* earlier,
                                    const tensor_view& now) const override {
        if constexpr (Compares) {
            return packed(measure_(*earlier, now));
        } else {
            return packed(measure_(now));
        }
    }

private:
    Measure measure_;
};

struct catalog;
class scan_onlooker;
class read_log;
class trial_state;

/// One tensor of a trial that rules share, in the view's own representation.
struct shared_tensor;

/// What rules see of a trial, and the log of their look-ups: see trial_access::share_with_rules().  Steps are global ones.
/// Threads: calls may run concurrently, except begin_step() and the log's begin() and end().
class rule_view : public std::enable_shared_from_this<rule_view> {
public:
    rule_view() = default;
    rule_view(const rule_view&) = delete;
    rule_view& operator=(const rule_view&) = delete;
    virtual ~rule_view() = default;

    /// The log of the rule that is being called.
    [[nodiscard]] virtual read_log& log() noexcept = 0;

    /// Whether this view prefetches the event files of the next steps.
    [[nodiscard]] virtual bool fetches_files() const noexcept = 0;

    /// Announces that rules are about to evaluate a step that is available, and will not evaluate `end` or later ones.
    virtual void begin_step(const catalog& from, step_number step, std::optional<step_number> end) = 0;

    /// Names of tensors, computed by ask(): those of the current step are cached while steps hold the same tensors.
    [[nodiscard]] virtual std::vector<std::string> tensor_names(const tensor_names_options& which,
                                                                function_ref<std::vector<std::string>()> ask) = 0;

    /// The result of make() for the tensors of some collections and regexes at the current step, cached like
    /// tensor_names(); null for other steps, and where nothing is shared.  Errors: those of make().
    [[nodiscard]] virtual std::shared_ptr<const void> cached_for_step(
        step_number step, std::type_index type, const text_list& collections, const text_list& regexes,
        function_ref<std::shared_ptr<const void>()> make) = 0;

    /// Drops the cache of cached_for_step(): called when no trial uses this any more.  Cached values may hold handles,
    /// which hold this view.
    virtual void forget() noexcept = 0;

    /// A tensor by its name.  Its address is valid as long as this view.  Null where nothing is shared.
    [[nodiscard]] virtual shared_tensor* share_of(const std::string& name) = 0;

    /// Notes that a tensor will be read, in any form.
    virtual void expect(shared_tensor& of) = 0;

    /// Calls use(reductions) with a tensor's, which are read now if they are not cached; false if it cannot be read.
    /// `use` must not call the view.
    [[nodiscard]] virtual bool reductions(shared_tensor& of, step_number step, const std::string& worker,
                                          function_ref<void(const reduction_values&)> use) = 0;

    /// The result of a measure, or of a comparison with the save at `earlier`; computed by compute() if it is not
    /// cached.
    [[nodiscard]] virtual lookup<any_measure::answer> answer(shared_tensor& of, step_number step,
                                                             const std::string& worker, step_number earlier,
                                                             const any_measure& measure,
                                                             function_ref<lookup<any_measure::answer>()> compute) = 0;

    /// Cached values, else the result of read().
    [[nodiscard]] virtual lookup<tensor_value> value(shared_tensor& of, step_number step, const std::string& worker,
                                                     function_ref<lookup<tensor_value>()> read) = 0;

    /// The last `n` steps of a mode up to `step` that have a tensor.  For a run that has ended they come from the list
    /// of all steps, for which steps() is called once; else fallback() computes them.
    [[nodiscard]] virtual std::vector<step_number> last_steps(shared_tensor& of, step_number step, std::size_t n,
                                                              mode in, function_ref<std::vector<step_number>()> steps,
                                                              function_ref<std::vector<step_number>()> fallback) = 0;
};

/// Makes a view of a trial.  `sharing`: null for one rule alone, which shares with no other.
/// `onlooker`: looks on while rules scan, in order of the steps, on one thread beside the walking one.  Values of the
/// first steps, and of tensors whose values rules read, are then kept, so that each event file is read once.  May be
/// null.
/// Defined in <smdebug/trial/shared/step_cache.hpp>.
[[nodiscard]] std::shared_ptr<rule_view> view_for_rules(const std::shared_ptr<const trial_state>& state,
                                                        const sharing_options* sharing,
                                                        std::shared_ptr<scan_onlooker> onlooker = {});

/// A step by its global number and by its number in its mode.
struct named_step {
    step_number step = -1;
    smdebug::mode mode = mode::global;
    step_number mode_step = -1;
};

/// A tensor of a step and worker, as hashes; different ones differ (except one in 2^64).
/// At the current step `key` is of the global step and `other` of the step in its mode: if step 500 is TRAIN step 10, a
/// rule that reads the tensor by either number has read one tensor.  At other steps both are of the number given.
struct record_key {
    std::uint64_t key = 0;
    std::uint64_t other = 0;
    [[nodiscard]] friend bool operator==(const record_key&, const record_key&) = default;
    [[nodiscard]] friend auto operator<=>(const record_key&, const record_key&) = default;
};

[[nodiscard]] std::uint64_t mixed(std::uint64_t seed, std::uint64_t with) noexcept;
[[nodiscard]] inline std::uint64_t hash_of(std::string_view text) noexcept { return text_hash{}(text); }

/// The reads during one call of a rule, and those that failed: a rule without data is not the same as one without
/// findings.  A tensor counts once, however often it is read, and not at all if it was not
/// saved.  At other steps than the current one only failed reads count: the rest counts at its own step.
/// Threads: a rule's call may read on several; begin() and end() must not run concurrently with reads.
class read_log {
public:
    struct entries {
        std::size_t read = 0;  ///< how many tensors, at the current step
        std::vector<record_key> lost = {};
        std::string first_lost = {};  ///< the message for the first failure
        bool has_selected = false;    ///< a tensor's handle was taken, whether it was read or not
    };

    void begin(const named_step& step);

    /// Logs that a tensor's handle was taken.
    void was_selected() noexcept {
        if (!has_selected_.load(std::memory_order_relaxed)) {  // rules take very many
            has_selected_.store(true, std::memory_order_relaxed);
        }
    }
    /// Logs a tensor that was read, or whose dtype does not have what was requested.
    void was_read(std::string_view tensor, step_number step, mode in, const std::optional<std::string>& worker) {
        was_read(hash_of(tensor), step, in, worker);
    }
    /// Logs a tensor that was read, by hash_of(tensor).
    void was_read(std::uint64_t tensor, step_number step, mode in, const std::optional<std::string>& worker);
    /// Logs a failed read; describe() returns the reason.
    template <class Describe>
    void was_lost(std::string_view tensor, step_number step, mode in, const std::optional<std::string>& worker,
                  Describe&& describe) {
        const std::uint64_t of_worker = named(hash_of(tensor), worker);
        const std::lock_guard lock{guard_};
        if (now_.lost.empty()) {
            now_.first_lost = describe();
        }
        now_.lost.push_back(key_of(of_worker, step, in));
        if (is_current_step(step, in)) {
            lost_here_.push_back(of_worker);
        }
    }
    /// Logs a failed look-up: as a read where only the dtype was another one, as lost where is_lost() says so.
    void was_looked_up(const lookup_error& failure, const std::string& tensor, step_number step, mode in,
                       const std::optional<std::string>& worker);

    /// Each tensor once; failed reads do not count as read.
    [[nodiscard]] entries end();

private:
    [[nodiscard]] bool is_current_step(step_number step, mode in) const noexcept {
        return in == mode::global ? step == current_.step : in == current_.mode && step == current_.mode_step;
    }
    [[nodiscard]] static std::uint64_t named(std::uint64_t tensor, const std::optional<std::string>& worker) noexcept {
        return mixed(tensor, worker ? hash_of(*worker) : 0U);
    }
    [[nodiscard]] record_key key_of(std::uint64_t of_worker, step_number step, mode in) const noexcept;

    named_step current_;
    std::atomic<bool> has_selected_ = false;
    std::mutex guard_;
    entries now_;
    std::vector<std::uint64_t> read_here_;  // tensors and workers at the current step, by named()
    std::vector<std::uint64_t> lost_here_;
};

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/shared/impl/rule_view.ipp>
#endif
