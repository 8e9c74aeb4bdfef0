// Everything that the index files of a run say, as one immutable snapshot that answers without touching storage.
// Steps, workers and tensors are numbers inside and names outside; layouts are shared between the files that repeat
// them. Used by: trial (a refresh builds the next snapshot, readers keep theirs).
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/trial/layout.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A worker's name as a number: its place in the catalog's worker table.
using worker_id = std::uint32_t;

/// Names and their numbers.  Grows only; a number stays what it is.
class name_table {
public:
    [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const {
        const auto found = ids_.find(name);
        return found == ids_.end() ? std::nullopt : std::optional{found->second};
    }
    std::uint32_t add(std::string_view name) {
        if (const auto known = find(name)) {
            return *known;
        }
        const auto id = static_cast<std::uint32_t>(names_.size());
        names_.push_back(&ids_.emplace(name, id).first->first);
        return id;
    }
    [[nodiscard]] const std::string& operator[](std::uint32_t id) const noexcept { return *names_[id]; }
    [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }

    name_table() = default;
    name_table(const name_table& other) {
        for (const std::string* name : other.names_) {
            add(*name);
        }
    }
    name_table(name_table&&) noexcept = default;
    name_table& operator=(const name_table& other) { return *this = name_table(other); }
    name_table& operator=(name_table&&) noexcept = default;
    ~name_table() = default;

private:
    std::map<std::string, std::uint32_t, std::less<>> ids_;  // a node's key stays where it is
    std::vector<const std::string*> names_;
};

/// A snapshot.  Everything is const for its readers; trial/catalog_builder.hpp makes the next one from it.
struct catalog {
    /// One index file that names something.
    struct file {
        step_number step = 0;
        step_number mode_step = 0;
        std::uint32_t layout = 0;  ///< place in `layouts`
        worker_id worker = 0;
        std::uint32_t event_file = usual_event_file;  ///< place in `event_files`, or the usual name for step and worker
        smdebug::mode mode = smdebug::mode::global;
    };
    static constexpr std::uint32_t usual_event_file = std::numeric_limits<std::uint32_t>::max();

    /// One global step that somebody wrote.
    struct step_entry {
        step_number step = 0;
        step_number mode_step = 0;     ///< of its first index file
        std::uint32_t first_file = 0;  ///< place in `files`
        std::uint32_t file_count = 0;  ///< workers that wrote it
        smdebug::mode mode = smdebug::mode::global;
    };

    /// A mode step and the first global step that claimed it.
    struct claim {
        step_number mode_step = 0;
        step_number step = 0;
    };

    std::shared_ptr<const name_table> names = std::make_shared<const name_table>();  ///< tensors, original names
    std::vector<std::string> workers;      ///< that wrote index files, in the order in which they were first seen
    std::vector<std::string> event_files;  ///< names that are not the usual ones
    std::vector<std::shared_ptr<const layout>> layouts;
    std::vector<file> files;                   ///< by step, then by worker's name
    std::vector<step_entry> steps;             ///< by step
    std::array<std::vector<claim>, 4> claims;  ///< by mode (train, eval, predict; global stays empty), by mode step
    std::map<std::string, collection, std::less<>> collections;
    std::vector<std::string> collection_workers;  ///< that wrote collections files, by name
    std::size_t num_workers = 0;
    step_number last_complete_step = -1;
    bool loaded_all_steps = false;

    [[nodiscard]] static constexpr std::size_t place_of(mode which) noexcept {
        return static_cast<std::size_t>(which) - 1;
    }

    // Steps ------------------------------------------------------------------------------------------------------

    /// The step's entry, null when nobody wrote it.  Cost: a binary search.
    [[nodiscard]] const step_entry* find_step(step_number step) const noexcept {
        const auto found = std::lower_bound(steps.begin(), steps.end(), step,
                                            [](const step_entry& held, step_number s) { return held.step < s; });
        return found != steps.end() && found->step == step ? &*found : nullptr;
    }
    [[nodiscard]] std::span<const file> files_of(const step_entry& held) const noexcept {
        return std::span{files}.subspan(held.first_file, held.file_count);
    }
    [[nodiscard]] bool complete(const step_entry& held) const noexcept {
        return loaded_all_steps || held.step <= last_complete_step || held.file_count >= num_workers;
    }

    /// The global step that a mode step stands for; a global one stands for itself, seen or not.
    [[nodiscard]] std::optional<step_number> global_step(mode which, step_number mode_step) const noexcept {
        if (which == mode::global) {
            return mode_step;
        }
        const auto& held = claims[place_of(which)];
        const auto found = std::lower_bound(held.begin(), held.end(), mode_step,
                                            [](const claim& c, step_number s) { return c.mode_step < s; });
        return found != held.end() && found->mode_step == mode_step ? std::optional{found->step} : std::nullopt;
    }

    /// The steps of a mode, ascending.  Cost: one pass over the steps; allocates its result.
    [[nodiscard]] std::vector<step_number> steps_of(mode which, bool show_incomplete) const {
        std::vector<step_number> found;
        if (which == mode::global) {
            found.reserve(steps.size());
            for (const step_entry& held : steps) {
                if (show_incomplete || complete(held)) {
                    found.push_back(held.step);
                }
            }
            return found;
        }
        const auto& claimed = claims[place_of(which)];
        found.reserve(claimed.size());
        for (const claim& held : claimed) {
            if (show_incomplete || complete(*find_step(held.step))) {
                found.push_back(held.mode_step);
            }
        }
        return found;
    }

    /// The last step of a mode, -1 when there is none.
    [[nodiscard]] step_number last_step_of(mode which) const noexcept {
        if (which == mode::global) {
            return steps.empty() ? -1 : steps.back().step;
        }
        const auto& claimed = claims[place_of(which)];
        return claimed.empty() ? -1 : claimed.back().mode_step;
    }

    /// Whether a step can be read now, may still come, or never will.
    [[nodiscard]] step_state state_of(mode which, step_number step) const noexcept {
        const auto next = first_from(which, step);
        if (!next) {
            return loaded_all_steps ? step_state::unavailable : step_state::not_yet_available;
        }
        if (next->mode_step == step) {
            return complete(*find_step(next->step)) ? step_state::available : step_state::not_yet_available;
        }
        // A later one of the mode is there.  Until everybody has got that far, this one may still come.
        return loaded_all_steps || last_complete_step >= next->step ? step_state::unavailable
                                                                    : step_state::not_yet_available;
    }

    // Tensors ----------------------------------------------------------------------------------------------------

    [[nodiscard]] const layout& layout_of(const file& held) const noexcept { return *layouts[held.layout]; }

    /// Whether any file has this tensor.  Names that are only original names of others have none.
    [[nodiscard]] std::optional<name_id> find_tensor(std::string_view name) const {
        const auto id = names->find(name);
        return id && std::any_of(layouts.begin(), layouts.end(), [&](const auto& l) { return l->contains(*id); })
                   ? id
                   : std::nullopt;
    }

    /// The tensors in the files that `wanted(file)` picks, by name.  Each layout is looked at once.
    template <class Wanted>
    [[nodiscard]] std::vector<std::string> tensor_names(Wanted&& wanted) const {
        std::vector<bool> seen_layout(layouts.size(), false);
        std::vector<bool> seen_name(names->size(), false);
        for (const file& held : files) {
            if (!seen_layout[held.layout] && wanted(held)) {
                seen_layout[held.layout] = true;
                layout_of(held).for_each_name([&](name_id name) { seen_name[name] = true; });
            }
        }
        return names_in(seen_name);
    }

    /// The same for one step.
    [[nodiscard]] std::vector<std::string> tensor_names_at(const step_entry& held) const {
        std::vector<bool> seen_name(names->size(), false);
        for (const file& written : files_of(held)) {
            layout_of(written).for_each_name([&](name_id name) { seen_name[name] = true; });
        }
        return names_in(seen_name);
    }

    /// A tensor's steps in a mode, ascending, each once.  Cost: a look at each layout and one pass over the files.
    [[nodiscard]] std::vector<step_number> tensor_steps(name_id name, mode which, bool show_incomplete) const {
        std::vector<bool> holds(layouts.size());
        for (std::size_t i = 0; i < layouts.size(); ++i) {
            holds[i] = layouts[i]->contains(name);
        }
        std::vector<step_number> found;
        for (const step_entry& held : steps) {
            if (!show_incomplete && !complete(held)) {
                continue;
            }
            for (const file& written : files_of(held)) {
                if (!holds[written.layout] || (which != mode::global && written.mode != which)) {
                    continue;
                }
                const step_number step = which == mode::global ? written.step : written.mode_step;
                if (found.empty() || found.back() != step) {
                    found.push_back(step);
                }
            }
        }
        if (which != mode::global) {  // mode steps need not rise with global ones
            std::sort(found.begin(), found.end());
            found.erase(std::unique(found.begin(), found.end()), found.end());
        }
        return found;
    }

    /// The files of a step that hold the tensor, by worker's name.
    [[nodiscard]] std::vector<const file*> files_with(name_id name, step_number step) const {
        std::vector<const file*> found;
        if (const step_entry* held = find_step(step)) {
            for (const file& written : files_of(*held)) {
                if (layout_of(written).contains(name)) {
                    found.push_back(&written);
                }
            }
        }
        return found;
    }

    /// Heap bytes held, about, for reports on memory.
    [[nodiscard]] std::size_t memory() const noexcept {
        std::size_t bytes = files.capacity() * sizeof(file) + steps.capacity() * sizeof(step_entry) +
                            layouts.capacity() * sizeof(layouts[0]);
        for (const auto& held : layouts) {
            bytes += held->memory() + sizeof(layout);
        }
        for (const auto& held : claims) {
            bytes += held.capacity() * sizeof(claim);
        }
        return bytes;
    }

private:
    /// The first step of a mode that is not before `step`, and the global step that it stands for.
    [[nodiscard]] std::optional<claim> first_from(mode which, step_number step) const noexcept {
        if (which == mode::global) {
            const auto found = std::lower_bound(steps.begin(), steps.end(), step,
                                                [](const step_entry& held, step_number s) { return held.step < s; });
            return found != steps.end() ? std::optional{claim{found->step, found->step}} : std::nullopt;
        }
        const auto& held = claims[place_of(which)];
        const auto found = std::lower_bound(held.begin(), held.end(), step,
                                            [](const claim& c, step_number s) { return c.mode_step < s; });
        return found != held.end() ? std::optional{*found} : std::nullopt;
    }

    [[nodiscard]] std::vector<std::string> names_in(const std::vector<bool>& chosen) const {
        std::vector<std::string> found;
        for (name_id id = 0; id < chosen.size(); ++id) {
            if (chosen[id]) {
                found.push_back((*names)[id]);
            }
        }
        std::sort(found.begin(), found.end());
        return found;
    }
};

}  // namespace v1
}  // namespace smdebug
