// What a hook finds where it is to write: nothing, a run that has ended, or one that was interrupted.
// An interrupted one can be continued: a step is whole when its index file is there, so what lies beyond is taken away.
// Used by: hook (basic_hook).
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/relative_path.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/save_config.hpp>
#include <smdebug/hook/written_steps.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/index/collections_file.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix_output.hpp>
#include <smdebug/storage/read_each.hpp>
#include <smdebug/storage/removal.hpp>

#include <cstddef>
#include <exception>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Where an interrupted run is continued.
struct continuation {
    step_number step = 0;                    ///< the first step to be written
    std::map<mode, step_number> mode_steps;  ///< the next step of each mode; of one that is not named, 0
    written_steps written;                   ///< by this worker, and still there
};

/// The run of one worker that lies in a storage already.
/// Borrows: the storage.
template <writable_storage Storage>
class earlier_run {
public:
    /// Cost: a listing of index/.
    earlier_run(Storage& store, const std::string& worker)
        : store_(&store), worker_(worker), part_(locations::file_part_from_worker(worker)) {
        for (std::string& key : store.list(locations::index_folder, {})) {
            const auto step = own_step(key);
            if (step && locations::is_index_file(key)) {
                steps_.insert_or_assign(*step, std::move(key));
            } else if (step) {
                strays_.push_back(std::move(key));
            }
        }
    }

    /// Errors: run_exists where the job has ended, or this worker has written a step.
    void refuse() const {
        refuse_ended();
        if (!steps_.empty()) {
            throw run_exists(std::string{store_->name()} + " holds a run that " + worker_ + " has written up to step " +
                                 std::to_string(steps_.rbegin()->first) +
                                 ": choose another place, or continue it with existing_run::resume",
                             {.where = store_->name(), .step = steps_.rbegin()->first, .worker = worker_});
        }
    }

    /// Makes room for the steps from `first` on (none: behind the last one that is whole): removes what this worker has
    /// written of them, the newest first, so that what is left is a run at any moment.
    /// The steps between the last one that is there and `first`, which were not saved, are taken for steps of the mode
    /// that has come farthest: that of the training, as those of the others are few, and mostly saved.  Where nothing
    /// is there, each mode begins at `first`, as in the Python package. Errors: run_exists where the job has ended;
    /// unsupported where the storage cannot remove; what reading throws. Cost:   the index files are read, all of them:
    /// which modes there were, and how far each has come, is in no name.
    [[nodiscard]] continuation resume(std::optional<step_number> first) {
        refuse_ended();
        continuation next;
        next.step = first.value_or(steps_.empty() ? 0 : steps_.rbegin()->first + 1);
        while (!steps_.empty() && steps_.rbegin()->first >= next.step) {
            remove(steps_.rbegin()->second);
            steps_.erase(std::prev(steps_.end()));
        }
        remove_rests(next.step);
        find_mode_steps(next);
        return next;
    }

    /// Gives up files of this worker that a process which was killed had begun to write, where the storage keeps what
    /// has come of such.  Returns their keys.  Those of other workers, who may be at work, stay; so does what may not
    /// be listed or given up.
    std::vector<std::string> remove_unfinished() noexcept {
        if constexpr (unfinished_remover<Storage>) {
            try {
                return store_->remove_unfinished({}, [&](std::string_view key) {
                    return own_step(key).has_value() || key == locations::collections_key(worker_);
                });
            } catch (const std::exception&) {
                // It costs nothing but room.
            }
        }
        return {};
    }

    /// The collections file of this worker, where there is one that can be read.
    [[nodiscard]] std::optional<collections_file> collections() const {
        const std::string key = locations::collections_key(worker_);
        json::document parser;
        collections_file file;
        const bool is_good =
            store_->size(key) && !parse_collections_file(store_->read(key).view(), parser, file).has_value();
        return is_good ? std::optional{std::move(file)} : std::nullopt;
    }

private:
    // The name without what stands in the place of its extension, or behind it, until a file is whole; nothing where it
    // is no temporary one.
    [[nodiscard]] static std::optional<std::string_view> stem_of_temporary(std::string_view name) noexcept {
        const std::size_t end = name.rfind(posix::temporary_mark);
        const bool is_one =
            end != std::string_view::npos &&
            name.find_first_not_of("0123456789.", end + posix::temporary_mark.size()) == std::string_view::npos;
        return is_one ? std::optional{name.substr(0, end)} : std::nullopt;
    }

    void refuse_ended() const {
        if (store_->size(locations::end_of_job)) {
            throw run_exists(
                std::string{store_->name()} + " holds the run of a job that has ended: choose another place",
                {.where = store_->name()});
        }
    }

    void remove(const std::string& key) {
        if constexpr (removing_storage<Storage>) {
            if (can_remove(*store_)) {
                static_cast<void>(store_->remove(key));
                return;
            }
        }
        throw unsupported(
            std::string{store_->name()} + " cannot remove " + key + ", which an earlier run left: choose another place",
            {.where = key});
    }

    // The step in the name of a file of this worker, or of a temporary one on its way to such a name.
    [[nodiscard]] std::optional<step_number> own_step(std::string_view key) const {
        if (!stays_inside(key)) {
            return std::nullopt;
        }
        const std::string_view name = locations::base_name(key);
        const auto stem = stem_of_temporary(name);
        // Another worker's name may begin with this one's and a dot: so all of the name has to be understood.
        for (const std::string_view extension :
             {std::string_view{}, std::string_view{".json"}, std::string_view{".csv"}, locations::event_extension}) {
            const auto parsed = locations::parse_step_file(stem.value_or(name), extension);
            if (parsed && parsed->worker_part == part_ && (stem || !extension.empty())) {
                return parsed->step;
            }
        }
        return std::nullopt;
    }

    // Events without an index, and what a writer that was killed had not renamed yet.
    void remove_rests(step_number first) {
        for (const std::string& key : strays_) {
            remove(key);
        }
        for (const std::string& key : store_->list(locations::events_folder, {})) {
            const auto step = own_step(key);
            if (step && (*step >= first || !key.ends_with(locations::event_extension))) {
                remove(key);
            }
        }
        for (const std::string& key : store_->list(locations::collections_folder, {})) {
            const auto stem = stem_of_temporary(key);
            const std::string own = locations::collections_key(worker_);
            if (stem && (own == *stem || own == std::string{*stem} + ".json")) {
                remove(key);
            }
        }
    }

    void find_mode_steps(continuation& next) {
        std::vector<std::string> keys;
        std::vector<step_number> numbers;
        for (const auto& [step, key] : steps_) {
            numbers.push_back(step);
            keys.push_back(key);
        }
        json::document parser;
        read_each(*store_, keys, [&](std::size_t place, std::optional<byte_view> bytes) {
            if (const auto head = bytes ? head_of(*bytes, parser) : std::nullopt) {
                next.written.add(head->mode, head->mode_step, numbers[place]);
            }
        });
        std::optional<mode> farthest;
        for (const mode which : all_modes) {
            const auto last = next.written.last(which);
            if (last) {
                next.mode_steps[which] = *last + 1;
                farthest = farthest && *next.written.last(*farthest) >= *last ? farthest : which;
            } else if (steps_.empty() && which != mode::global && next.step != 0) {
                next.mode_steps[which] = next.step;
            }
        }
        if (farthest) {
            next.mode_steps[*farthest] += next.step - 1 - steps_.rbegin()->first;
        }
    }

    // What an index file says of its step; nothing where it is damaged.
    [[nodiscard]] static std::optional<index_file::meta> head_of(byte_view bytes, json::document& parser) {
        if (const auto parts = index_file::split_canonical(bytes)) {
            return parts->head;
        }
        index_file::meta head;
        const auto ignore = [](const auto& /*entry*/) {};
        return index_file::parse(bytes, parser, head, ignore, ignore) ? std::nullopt : std::optional{head};
    }

    Storage* store_;
    std::string worker_;
    std::string part_;                          // the worker in file names
    std::map<step_number, std::string> steps_;  // index files by step
    std::vector<std::string> strays_;           // what else of this worker lies in index/
};

}  // namespace v1
}  // namespace smdebug
