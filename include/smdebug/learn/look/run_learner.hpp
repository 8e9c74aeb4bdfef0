// Learns the facts of one run from its saves, step by step.  It knows nothing of trials: its caller reads the saves.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/learn/facts/all_facts.hpp>
#include <smdebug/learn/facts/packed_list.hpp>
#include <smdebug/learn/look/save_look.hpp>
#include <smdebug/reduce/element_walks.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail::learn {

/// The newest content of each worker's saves of an entry, and whether the next is the same.
class newest_contents {
public:
    enum class pair : std::uint8_t { none, same, differs };

    /// Compares a save with the one before it by the same worker, and keeps it instead.
    pair next(std::string_view worker, const save_content& content);

private:
    std::vector<std::pair<std::string, save_content>> by_worker_;
};

/// The steps of a mode, counted in a walk.
struct mode_count {
    std::vector<step_number> steps = {};  ///< mode steps, in the order of the global steps

    /// How long a tensor was not saved: from its newest save, at step number `before` of the mode, counted from 1 (0: it
    /// has none, and the gap begins with the mode), to step number `now`.
    [[nodiscard]] save_gap gap(std::size_t before, std::size_t now) const noexcept;
};

/// A place in arrays by mode.
[[nodiscard]] constexpr std::size_t index_of(mode which) noexcept { return static_cast<std::size_t>(which) - 1; }

/// Learns one run: begin_step() for each complete step in order, then take() for each of its saves, those of a tensor in
/// the order of their workers.
class run_learner {
public:
    explicit run_learner(const number_set& kept) : kept_(kept) {}

    void begin_step(step_number global, mode in, step_number mode_step);
    /// `shape`: of the values, else the saved one; null: neither.
    void take(std::string_view tensor, std::string_view worker, const save_look& save, const shape_type* shape);

    /// The facts, with the run's name; leaves this empty.
    [[nodiscard]] all_facts finish(std::string run);
    /// Joins them into those of other runs, tensor by tensor: all at once they would need half as much again as this.
    /// Errors: those of all_facts::join().
    void finish_into(all_facts& facts, std::string run);

private:
    struct windowed_numbers {
        std::vector<std::uint8_t> windows = {};  // ascending
        packed_numbers ranges = {};              // of each window the least, and the greatest
        void take(step_number mode_step, double one);
        [[nodiscard]] number_series series() const;
    };
    struct entry_state {
        entry_facts facts = {};
        std::size_t last_save = 0;  // counted in steps of the mode
        bool knows_least = false;
        bool knows_greatest = false;
        newest_contents newest = {};
        // The newest step: how many workers saved values there, and whether these are alike.
        step_number replica_step = -1;
        std::size_t replica_count = 0;
        bool are_alike = true;
        save_content first_replica = {};
        std::array<std::unique_ptr<windowed_numbers>, number_count> numbers = {};
    };
    struct tensor_state {
        std::string name = {};
        std::array<std::unique_ptr<entry_state>, 4> by_mode = {};
        // What `tied` compares: a hash over all saves with values.
        reduce::detail::tensor_hash all_saves = {};
        std::uint64_t saves = 0;
        bool is_void = false;
        bool is_small = false;  // a save has fewer than two elements
        bool changes = false;   // a pair differs
    };

    void end_replicas(entry_state& entry) const;
    void take_pair(tensor_state& tensor, entry_state& entry, std::string_view worker, const save_look& save) const;
    [[nodiscard]] std::vector<tied_class> tied() const;
    // The facts without those of tensors.
    [[nodiscard]] all_facts common(std::string run) const;
    [[nodiscard]] tensor_facts end_tensor(tensor_state& tensor) const;

    number_set kept_;
    step_number global_ = -1;
    mode mode_ = mode::global;
    step_number mode_step_ = 0;
    std::array<mode_count, 4> modes_ = {};
    std::vector<std::unique_ptr<tensor_state>> tensors_ = {};
    std::unordered_map<std::string, tensor_state*, text_hash, std::equal_to<>> by_name_ = {};
};

}  // namespace smdebug::inline v1::detail::learn

#ifndef SMDEBUG_COMPILED
#include <smdebug/learn/look/impl/run_learner.ipp>
#endif
