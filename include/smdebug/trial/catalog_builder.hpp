// Makes a catalog's next snapshot: the last one and the index files that have come since.
// Layouts are shared by comparing payload bytes: a file whose payload was seen before is not parsed again.
// Used by: trial/loader.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/index/json_document.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/trial/catalog.hpp>
#include <smdebug/trial/layout.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// What one load leaves behind for the next: payloads to compare with, and the parser's buffers.
struct load_memory {
    struct payload {
        std::vector<std::byte> bytes;
        std::uint32_t layout = 0;  ///< place in the catalog's layouts
    };
    std::vector<payload> recent;  ///< the most recently seen first
    json::document parser;
};

/// Collects index files and then makes a catalog of them and the one before.
/// Borrows: the memory, whose places are those of the catalog that finish() makes: clear it when that one is dropped.
class catalog_builder {
public:
    catalog_builder(const catalog& last, load_memory& memory) : next_(last), names_(last.names), memory_(memory) {}

    /// Takes in one index file.  Returns what is wrong with it, if anything: it then counts as not there.
    /// The files of one load come in ascending order of step and worker, which decides who claims a mode step.
    [[nodiscard]] std::optional<index_file::damage> add(step_number step, std::string_view worker_part,
                                                        byte_view bytes) {
        const worker_id worker = worker_of(worker_part);
        if (is_repeated(step, worker)) {
            return std::nullopt;
        }
        index_file::meta head;
        std::optional<std::uint32_t> shared;
        if (const auto parts = index_file::split_canonical(bytes)) {
            head = parts->head;
            shared = recent_layout(parts->payload);
        }
        if (!shared) {
            if (auto wrong = parse(bytes, head, shared)) {
                return wrong;
            }
        }
        if (!shared) {
            return std::nullopt;  // a file that names nothing makes no step (decisions.md N4)
        }
        added_.push_back({.step = step,
                          .mode_step = head.mode_step,
                          .layout = *shared,
                          .worker = worker,
                          .event_file = event_file(step, worker_part, head.event_file_name),
                          .mode = head.mode});
        return std::nullopt;
    }

    /// Whether add has taken anything that makes a step.
    [[nodiscard]] bool changed() const noexcept { return !added_.empty(); }

    /// The new snapshot.  `window` is the incomplete-step window; `ended` whether the end-of-job mark was there before
    /// the files were listed, so that nothing more will come.
    [[nodiscard]] catalog finish(int window, bool ended) && {
        for (const catalog::file& held : added_) {
            claim(held);
        }
        merge();
        next_.names = std::move(names_);
        complete_steps(static_cast<std::size_t>(window));
        if (ended) {
            next_.loaded_all_steps = true;
            next_.last_complete_step = next_.steps.empty() ? next_.last_complete_step : next_.steps.back().step;
        }
        return std::move(next_);
    }

private:
    // How many different payloads are kept to compare with: some for the modes, some for workers that differ.
    static constexpr std::size_t recent_payloads = 8;

    [[nodiscard]] std::optional<std::uint32_t> recent_layout(byte_view payload) {
        for (std::size_t i = 0; i < memory_.recent.size(); ++i) {
            if (memory_.recent[i].bytes.size() == payload.size() &&
                std::memcmp(memory_.recent[i].bytes.data(), payload.data(), payload.size()) == 0) {
                std::rotate(memory_.recent.begin(), memory_.recent.begin() + static_cast<std::ptrdiff_t>(i),
                            memory_.recent.begin() + static_cast<std::ptrdiff_t>(i) + 1);
                return memory_.recent.front().layout;
            }
        }
        return std::nullopt;
    }

    // Two names can stand for one worker (.json and .csv): the first counts, or the step would look complete.
    [[nodiscard]] bool is_repeated(step_number step, worker_id worker) const {
        for (auto held = added_.rbegin(); held != added_.rend() && held->step == step; ++held) {
            if (held->worker == worker) {
                return true;
            }
        }
        return false;
    }

    // `made` stays empty for a file that names nothing.
    [[nodiscard]] std::optional<index_file::damage> parse(byte_view bytes, index_file::meta& head,
                                                          std::optional<std::uint32_t>& made) {
        std::vector<layout::entry> entries;
        std::vector<layout::shape_entry> shapes;
        auto wrong = index_file::parse(
            bytes, memory_.parser, head,
            [&](const index_file::location& place) {
                const recorded_name parsed = parse_recorded_name(place.tensor_name);
                entries.push_back(
                    {.offset = place.record.offset,
                     .length = place.record.length,
                     .name = id_of(parsed.tensor),
                     .kind = static_cast<std::uint8_t>(parsed.reduction ? 1 + parsed.reduction->index() : 0),
                     .unusual_name = parsed.reduction && !place.tensor_name.starts_with(reductions_prefix)});
            },
            [&](const index_file::saved_shape& shape) {
                shapes.push_back({id_of(shape.tensor_name), id_of(shape.original_name), shape.extents});
            });
        if (wrong) {
            return wrong;
        }
        if (entries.empty() && shapes.empty()) {
            return std::nullopt;
        }
        auto fresh = std::make_shared<const layout>(std::move(entries), std::move(shapes));
        // A file that does not stand as usual may still say what the last one said.
        if (!next_.layouts.empty() && next_.layouts.back()->equals(*fresh)) {
            made = static_cast<std::uint32_t>(next_.layouts.size() - 1);
        } else {
            made = static_cast<std::uint32_t>(next_.layouts.size());
            next_.layouts.push_back(std::move(fresh));
        }
        if (const auto parts = index_file::split_canonical(bytes)) {
            if (memory_.recent.size() == recent_payloads) {
                memory_.recent.pop_back();
            }
            memory_.recent.insert(memory_.recent.begin(), {{parts->payload.begin(), parts->payload.end()}, *made});
        }
        return std::nullopt;
    }

    // The table is copied once, when the first new name comes: snapshots that are out keep theirs.
    [[nodiscard]] name_id id_of(std::string_view name) {
        if (const auto known = names_->find(name)) {
            return *known;
        }
        if (!own_names_) {
            own_names_ = std::make_shared<name_table>(*names_);
            names_ = own_names_;
        }
        return own_names_->add(name);
    }

    [[nodiscard]] worker_id worker_of(std::string_view part) {
        if (last_worker_part_ != part || next_.workers.empty()) {
            const std::string name = locations::worker_from_file_part(part);
            const auto found = std::find(next_.workers.begin(), next_.workers.end(), name);
            last_worker_ = static_cast<worker_id>(found - next_.workers.begin());
            if (found == next_.workers.end()) {
                next_.workers.push_back(name);
            }
            last_worker_part_ = part;
        }
        return last_worker_;
    }

    // The usual name is "events/<step>/<step>_<worker part>.tfevents" and need not be kept.
    [[nodiscard]] std::uint32_t event_file(step_number step, std::string_view worker_part, std::string_view name) {
        constexpr std::string_view suffix = ".tfevents";
        const std::string padded = locations::zero_padded(step, 12);
        std::string_view rest = name;
        const auto skip = [&](std::string_view piece) {
            const bool there = rest.starts_with(piece);
            rest.remove_prefix(there ? piece.size() : 0);
            return there;
        };
        if (skip(locations::events_folder) && skip(padded) && skip("/") && skip(padded) && skip("_") &&
            skip(worker_part) && rest == suffix) {
            // The usual name is rebuilt from the worker's name, which not every worker part can be got back from.
            if (locations::file_part_from_worker(locations::worker_from_file_part(worker_part)) == worker_part) {
                return catalog::usual_event_file;
            }
        }
        next_.event_files.emplace_back(name);
        return static_cast<std::uint32_t>(next_.event_files.size() - 1);
    }

    void claim(const catalog::file& held) {
        if (held.mode == mode::global) {
            return;
        }
        auto& claims = next_.claims[catalog::place_of(held.mode)];
        const auto at = std::lower_bound(claims.begin(), claims.end(), held.mode_step,
                                         [](const catalog::claim& c, step_number s) { return c.mode_step < s; });
        if (at == claims.end() || at->mode_step != held.mode_step) {
            claims.insert(at, {held.mode_step, held.step});
        }
    }

    void merge() {
        const auto before = [this](const catalog::file& a, const catalog::file& b) {
            return a.step != b.step ? a.step < b.step : next_.workers[a.worker] < next_.workers[b.worker];
        };
        // Who wrote first decides a step's mode; a later load adds workers to it, and steps.
        std::vector<catalog::step_entry> known = std::move(next_.steps);
        std::stable_sort(added_.begin(), added_.end(), before);
        const auto middle = static_cast<std::ptrdiff_t>(next_.files.size());
        next_.files.insert(next_.files.end(), added_.begin(), added_.end());
        std::inplace_merge(next_.files.begin(), next_.files.begin() + middle, next_.files.end(), before);

        next_.steps.clear();
        auto old = known.begin();
        for (std::size_t begin = 0; begin < next_.files.size();) {
            std::size_t end = begin;
            while (end < next_.files.size() && next_.files[end].step == next_.files[begin].step) {
                ++end;
            }
            const catalog::file& first = next_.files[begin];
            catalog::step_entry made{.step = first.step,
                                     .mode_step = first.mode_step,
                                     .first_file = static_cast<std::uint32_t>(begin),
                                     .file_count = static_cast<std::uint32_t>(end - begin),
                                     .mode = first.mode};
            for (; old != known.end() && old->step < first.step; ++old) {
            }
            if (old != known.end() && old->step == first.step) {
                made.mode = old->mode;
                made.mode_step = old->mode_step;
            }
            next_.steps.push_back(made);
            begin = end;
        }
    }

    void complete_steps(std::size_t window) {
        for (auto at = next_.steps.rbegin(); at != next_.steps.rend() && at->step > next_.last_complete_step; ++at) {
            if (at->file_count >= next_.num_workers) {
                next_.last_complete_step = at->step;
                break;
            }
        }
        // Nobody waits for ever for a worker that has died: see decisions.md D7.
        while (true) {
            const auto beyond =
                std::upper_bound(next_.steps.begin(), next_.steps.end(), next_.last_complete_step,
                                 [](step_number s, const catalog::step_entry& held) { return s < held.step; });
            if (static_cast<std::size_t>(next_.steps.end() - beyond) <= window) {
                break;
            }
            next_.last_complete_step = (beyond + static_cast<std::ptrdiff_t>(window / 2) - 1)->step;
        }
    }

    catalog next_;
    std::shared_ptr<const name_table> names_;
    std::shared_ptr<name_table> own_names_;
    std::vector<catalog::file> added_;
    load_memory& memory_;
    std::string last_worker_part_;
    worker_id last_worker_ = 0;
};

}  // namespace v1
}  // namespace smdebug
