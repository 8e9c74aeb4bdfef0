// The collections of a hook: to which of them a tensor belongs, which are due at a step, and what is written of it.
// A tensor's name is matched once; from then on it is a hash look-up, and being due a few bits.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/known_collections.hpp>
#include <smdebug/hook/reduction_plan.hpp>
#include <smdebug/hook/saved_collection.hpp>
#include <smdebug/index/collection.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The collections of a hook.  Those that are included are saved: a tensor belongs to them by its name or by their
/// regexes.  The others are known, exported, and saved only for the tensors that are put into them by name.
/// Threads: one object, one thread at a time, const calls, too.
class collection_set {
public:
    /// The collections of one tensor.  Its address is stable while the set lives.
    class membership {
    public:
        /// The numbers of the collections that it is saved for, ascending.  save_everything(true) does not put `all`
        /// among them: for_each_due adds it.
        std::vector<std::uint32_t> collections = {};

    private:
        friend class collection_set;
        // Whether no saved collection holds it, and no observer took it.
        [[nodiscard]] bool unsaved() const noexcept { return collections.empty() && !in_all_ && !watched_; }
        bool in_all_ = false;                   // its name has been noted in `all`
        bool watched_ = false;                  // an observer took it
        mutable reduction_plan plan_ = {};      // of what is due
        mutable std::uint64_t plan_is_of_ = 0;  // the due_state_ that plan_ was made for
    };

    /// Errors: value_error, as check(options).
    explicit collection_set(const hook_options& options);

    /// The saved collections that a tensor of that name belongs to.  The first time its name is matched with the
    /// regexes and noted in the collections that it belongs to.
    /// Cost:   one hash look-up, and no allocation, once the name is known.
    /// Errors: value_error where a regex takes too many steps on this name.
    [[nodiscard]] const membership& of(std::string_view name) { return find_or_add(name); }

    /// Puts a tensor into these collections by name, besides those that it belongs to by regex.  An unknown collection
    /// is made.  Without any, a tensor that belongs to no saved collection is put into `default`.
    /// For a tensor that is put into it by name a collection is saved, included or not.
    const membership& add(std::string_view name, std::span<const std::string_view> collections);

    /// Begins a step, `mode_step` of that mode: finds out which collections are due.  Returns whether any is.
    bool begin_step(mode which, step_number mode_step);
    /// Whether any collection is due in the step that was begun last.
    [[nodiscard]] bool any_due() const noexcept { return everything_ || any_due_; }
    /// Whether a tensor is: any of its collections.
    [[nodiscard]] bool due(const membership& tensor) const noexcept;
    /// Whether a collection is; never one that is neither included nor was anything put into it.
    [[nodiscard]] bool due(std::uint32_t number) const noexcept { return everything_ || due_[number] != 0; }
    /// Calls visit(number) for each due collection of a tensor.
    template <class Visit>
    void for_each_due(const membership& tensor, Visit&& visit) const {
        if (everything_ && !std::binary_search(tensor.collections.begin(), tensor.collections.end(), all_number)) {
            visit(all_number);
        }
        for (const std::uint32_t number : tensor.collections) {
            if (due(number)) {
                visit(number);
            }
        }
    }

    /// What of a due tensor is written: the reductions of its due collections, each once; values and shape, if any of
    /// them says so.  Borrowed: until the next call for the same tensor.  Cost: next to nothing while the same
    /// collections are due; no allocation once warm.
    [[nodiscard]] const reduction_plan& due_plan(const membership& tensor) const;

    /// How many collections there are: numbers are below.
    [[nodiscard]] std::size_t size() const noexcept { return groups_.size(); }
    /// A collection with all its settings filled in; its tensor_names as they were configured: file() has those seen.
    [[nodiscard]] const collection& operator[](std::uint32_t number) const { return groups_[number].configured; }
    /// What it writes of a tensor.
    [[nodiscard]] const reduction_plan& plan(std::uint32_t number) const { return groups_[number].plan; }
    /// Whether it is saved for whatever matches its names and regexes, not only for tensors that were put into it.
    [[nodiscard]] bool included(std::uint32_t number) const { return groups_[number].included; }
    /// The number of the collection of that name.
    [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;

    /// The names of those that the options name, in collections or include_collections, and that none of the tensors
    /// seen so far belongs to; `all`, which stands for the others, is never among them.
    [[nodiscard]] std::vector<std::string> unmatched() const;

    /// The names of the tensors that were seen and that no saved collection holds, in the order in which they came, but
    /// those that observers took.  Cost: as many as are.
    [[nodiscard]] std::vector<std::string> unsaved() const;
    /// How many these are.
    [[nodiscard]] std::size_t unsaved_count() const noexcept { return unsaved_count_; }
    /// Notes that an observer took a tensor, if it was seen.
    void note_watched(std::string_view name);

    /// All collections as they are exported, with the names seen so far.
    [[nodiscard]] collections_file file(std::int64_t num_workers) const;
    /// Keeps what an earlier collections file of the same run says: names that were seen, and collections that are not
    /// known.
    void adopt(const collections_file& earlier);
    /// Whether file() has changed since it was called last.
    [[nodiscard]] bool changed() const noexcept { return changed_; }

    /// While it is on, every collection is due and every tensor belongs to `all`.
    void save_everything(bool on) noexcept;

private:
    static constexpr std::uint32_t all_number = 0;
    static constexpr std::uint32_t default_number = 1;
    static_assert(known_collections::list[all_number].name == "all" &&
                  known_collections::list[default_number].name == "default");

    std::uint32_t make(collection configured);
    void include(std::uint32_t number);
    std::uint32_t number_of(std::string_view name);  // makes it if need be
    membership& find_or_add(std::string_view name);
    [[nodiscard]] membership matched(std::string_view name);
    void put(membership& tensor, std::string_view name, std::uint32_t number);
    void note(std::uint32_t number, std::string_view name) { changed_ = groups_[number].note(name) || changed_; }
    void find_due(std::uint32_t number);
    template <class Change>
    void change(membership& tensor, Change&& how) {
        const bool before = tensor.unsaved();
        how(tensor);
        unsaved_count_ -= before && !tensor.unsaved() ? 1U : 0U;
    }

    std::map<mode, save_config_mode> default_when_;
    reduction_config default_what_;
    std::deque<saved_collection> groups_;  // addresses are stable
    std::unordered_map<std::string, membership, text_hash, std::equal_to<>> tensors_;
    std::vector<decltype(tensors_)::const_pointer> unmatched_;  // those that no regex matched, as they came
    std::size_t unsaved_count_ = 0;
    std::vector<std::uint8_t> due_;  // by collection's number
    std::uint64_t due_state_ = 1;    // counts up whenever anything in due_ changes
    smdebug::mode mode_ = smdebug::mode::global;
    step_number mode_step_ = 0;
    bool any_due_ = false;
    bool everything_ = false;
    bool includes_all_ = false;
    mutable bool changed_ = true;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/collection_set.ipp>
#endif
