// The collections of a hook: which ones a tensor belongs to, which are due at a step, and what is written of the
// tensor.
// A tensor's name is matched with the regexes once; from then on its collections are found by one hash look-up, and
// each collection has a flag that says whether it is due.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/index/regex.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace smdebug::inline v1::detail {

/// A collection in use.
struct saved_collection {
    collection configured;                                ///< with everything filled in
    std::array<save_config_mode, all_modes.size()> when;  ///< configured.save_config, by place_of(mode)
    reduction_plan plan;                                  ///< configured.reduction_config
    std::vector<regex> patterns;                          ///< configured.include_regex
    std::set<std::string, std::less<>> names;             ///< configured.tensor_names, and names noted later
    bool included = false;                                ///< saved for every tensor that belongs to it
    bool used = false;                                    ///< a tensor was put into it by name
    bool configured_by_user = false;                      ///< named in the options
    bool has_tensors = false;                             ///< a tensor that belongs to it was seen

    /// Fills in the settings that `from` leaves open: the regexes of its name, if it has neither regexes nor names; the
    /// modes missing from save_config; reduction_config.  Collections of single numbers have no reductions and no
    /// histogram, whatever they say.
    /// Errors: value_error for bad regexes and reductions.
    saved_collection(collection from, const std::map<mode, save_config_mode>& default_when,
                     const reduction_config& default_what);

    /// Whether a tensor belongs to it, by its names or regexes.
    /// Errors: value_error if a regex takes too many steps on this name.
    [[nodiscard]] bool takes(std::string_view name) const;

    /// Keeps a name; returns whether it is new.
    bool note(std::string_view name) { return names.emplace(name).second; }

    /// Whether its tensors are saved at a step of a mode.
    [[nodiscard]] bool is_due(mode which, step_number mode_step) const;

    /// The collection as it is written to a collections file.
    [[nodiscard]] collection exported() const;

private:
    bool of_training_ = false;
};

/// The collections of a hook.  Included collections are saved: tensors belong to them by name or by regex.  The others
/// are known and exported, but saved only for tensors that are put into them by name.
/// Threads: one object, one thread at a time, const calls, too.
class collection_set {
public:
    /// The collections of one tensor.  Its address is stable as long as the set exists.
    class membership {
    public:
        /// The numbers of the collections in which the tensor is saved, ascending.  save_everything(true) does not add
        /// `all` to them: for_each_due does.
        std::vector<std::uint32_t> collections = {};

    private:
        friend class collection_set;
        // Whether no saved collection holds it, and no observer took it.
        [[nodiscard]] bool unsaved() const noexcept { return collections.empty() && !in_all_ && !watched_; }
        bool in_all_ = false;                   // its name has been noted in `all`
        bool watched_ = false;                  // an observer took it
        mutable reduction_plan plan_ = {};      // for the due collections
        mutable std::uint64_t plan_is_of_ = 0;  // the due_state_ that plan_ was made for
    };

    /// Errors: value_error, as check(options).
    explicit collection_set(const hook_options& options);

    /// The saved collections that the tensor `name` belongs to.  The first call for a name matches it with the regexes
    /// and records it in its collections.
    /// Cost:   one hash look-up, and no allocation, once the name is known.
    /// Errors: value_error where a regex takes too many steps on this name.
    [[nodiscard]] const membership& of(std::string_view name) { return find_or_add(name); }

    /// Puts a tensor into these collections by name, in addition to those it matches by regex.  Unknown collections are
    /// created.  With an empty list, a tensor that belongs to no saved collection is put into `default`.
    /// A collection is saved for tensors that are put into it by name, included or not.
    const membership& add(std::string_view name, std::span<const std::string_view> collections);

    /// Begins step `mode_step` of a mode: determines which collections are due.  Returns whether any is.
    bool begin_step(mode which, step_number mode_step);
    /// Whether any collection is due in the current step.
    [[nodiscard]] bool any_due() const noexcept { return everything_ || any_due_; }
    /// Whether any of the tensor's collections is due.
    [[nodiscard]] bool due(const membership& tensor) const noexcept;
    /// Whether a collection is due; never if it is neither included nor used by name.
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

    /// What to write of a due tensor: the reductions of its due collections, each once; values and shape if any of them
    /// wants these.  Borrowed until the next call for the same tensor.  Cost: almost none while the same collections
    /// are due; no allocation once warm.
    [[nodiscard]] const reduction_plan& due_plan(const membership& tensor) const;

    /// The number of collections; collection numbers are below it.
    [[nodiscard]] std::size_t size() const noexcept { return groups_.size(); }
    /// A collection with all its settings filled in; its tensor_names are the configured ones: file() adds those seen.
    [[nodiscard]] const collection& operator[](std::uint32_t number) const { return groups_[number].configured; }
    /// What the collection writes of a tensor.
    [[nodiscard]] const reduction_plan& plan(std::uint32_t number) const { return groups_[number].plan; }
    /// Whether every matching tensor is saved in the collection, not only those put into it by name.
    [[nodiscard]] bool included(std::uint32_t number) const { return groups_[number].included; }
    /// The number of the collection of that name.
    [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;

    /// The collections named in the options (collections or include_collections) to which no tensor seen so far
    /// belongs.  Never contains `all`, which stands for the other collections.
    [[nodiscard]] std::vector<std::string> unmatched() const;

    /// The names of the tensors seen that no saved collection holds, in order of appearance, without those that
    /// observers took.  Cost: linear in their number.
    [[nodiscard]] std::vector<std::string> unsaved() const;
    /// The number of these names.
    [[nodiscard]] std::size_t unsaved_count() const noexcept { return unsaved_count_; }
    /// Records that a digest was saved, by its name.
    void note_digest(std::string_view digest) { note(digests_number_, digest); }
    /// Records that an observer took a tensor, if the tensor is known.
    void note_watched(std::string_view name);

    /// All collections as exported, with the names seen so far.
    [[nodiscard]] collections_file file(std::int64_t num_workers) const;
    /// Merges an earlier collections file of the same run: names that were seen, and unknown collections.
    void adopt(const collections_file& earlier);
    /// Whether file() has changed since its last call.
    [[nodiscard]] bool changed() const noexcept { return changed_; }

    /// While set, every collection is due and every tensor belongs to `all`.
    void save_everything(bool on) noexcept;

private:
    static constexpr std::uint32_t all_number = 0;
    static constexpr std::uint32_t default_number = 1;
    static_assert(known_collections::list[all_number].name == "all" &&
                  known_collections::list[default_number].name == "default");

    std::uint32_t make(collection configured);
    void include(std::uint32_t number);
    void save_digests(const std::vector<std::string>& collections);
    std::uint32_t number_of(std::string_view name);  // created if missing
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
    // In no saved collection when first seen, in order of appearance.
    std::vector<decltype(tensors_)::const_pointer> unsaved_tensors_;
    std::size_t unsaved_count_ = 0;
    std::vector<std::uint8_t> due_;  // by collection number
    std::uint64_t due_state_ = 1;    // incremented whenever due_ changes
    smdebug::mode mode_ = smdebug::mode::global;
    step_number mode_step_ = 0;
    std::uint32_t digests_number_ = 0;  // of the collection of digests, if any are saved
    bool digests_all_ = false;
    bool any_due_ = false;
    bool everything_ = false;
    bool includes_all_ = false;
    mutable bool changed_ = true;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/collection_set.ipp>
#endif
