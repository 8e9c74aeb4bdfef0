// The bodies of <smdebug/hook/earlier_run.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/hook/earlier_run.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/index/collections_file.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

// The step `by` steps after one named in a file.  Errors: value_error if there is no such number.
[[nodiscard]] inline step_number step_behind(step_number step, step_number by = 1) {
    if (step > std::numeric_limits<step_number>::max() - by) {
        throw value_error("the run cannot be resumed: no step can follow step " + std::to_string(step) +
                          ", which it holds; choose another place, or a step to resume from");
    }
    return step + by;
}

// The part of a temporary file's name before the temporary mark; nothing for other names.
[[nodiscard]] inline std::optional<std::string_view> stem_of_temporary(std::string_view name) noexcept {
    const std::size_t end = name.rfind(posix::temporary_mark);
    const bool is_one =
        end != std::string_view::npos &&
        name.find_first_not_of("0123456789.", end + posix::temporary_mark.size()) == std::string_view::npos;
    return is_one ? std::optional{name.substr(0, end)} : std::nullopt;
}

// Whether the whole index file is intact; if so, stores its meta part in `head`.
[[nodiscard]] inline bool is_whole_index(byte_view bytes, json::document& parser, index_file::meta& head) {
    const auto ignore = [](const auto& /*entry*/) {};
    return !index_file::parse(bytes, parser, head, ignore, ignore);
}

// The meta part of an index file; nothing if it is damaged.  The rest may be damaged.
[[nodiscard]] inline std::optional<index_file::meta> head_of_index(byte_view bytes, json::document& parser) {
    if (const auto parts = index_file::split_canonical(bytes)) {
        return parts->head;
    }
    index_file::meta head;
    return is_whole_index(bytes, parser, head) ? std::optional{head} : std::nullopt;
}

SMDEBUG_INLINE earlier_run::earlier_run(any_storage store, const std::string& worker, durability how)
    : store_(std::move(store)), worker_(worker), how_(how), part_(locations::file_part_from_worker(worker)) {
    for (std::string& key : store_.list(locations::index_folder, "")) {
        const auto step = own_step(key);
        if (step && locations::is_index_file(key)) {
            steps_.insert_or_assign(*step, std::move(key));
        } else if (step) {
            strays_.push_back(std::move(key));
        }
    }
}

SMDEBUG_INLINE void earlier_run::refuse() const {
    refuse_ended();
    if (!steps_.empty()) {
        throw run_exists(store_.name() + " holds a run that " + worker_ + " has written up to step " +
                             std::to_string(steps_.rbegin()->first) +
                             ": choose another place, or continue it with existing_run::resume",
                         {.where = store_.name(), .step = steps_.rbegin()->first, .worker = worker_});
    }
}

SMDEBUG_INLINE continuation earlier_run::resume(std::optional<step_number> first) {
    refuse_ended();
    if (!first) {
        remove_damaged_end();
    }
    continuation next;
    next.step = first ? *first : steps_.empty() ? 0 : step_behind(steps_.rbegin()->first);
    while (!steps_.empty() && steps_.rbegin()->first >= next.step) {
        remove_last_step();
    }
    sync_removals();
    remove_leftovers(next.step);
    find_mode_steps(next);
    return next;
}

SMDEBUG_INLINE std::vector<std::string> earlier_run::remove_unfinished() noexcept {
    try {
        return store_.remove_unfinished({}, [&](std::string_view key) {
            return own_step(key).has_value() || key == locations::collections_key(worker_);
        });
    } catch (const std::exception&) {
        return {};  // They only take up space.
    }
}

SMDEBUG_INLINE std::optional<collections_file> earlier_run::collections() const {
    const std::string key = locations::collections_key(worker_);
    json::document parser;
    collections_file file;
    bool is_good = false;
    read_or_throw_with_advice([&] {
        is_good = store_.size(key) && !parse_collections_file(store_.read(key).view(), parser, file).has_value();
    });
    return is_good ? std::optional{std::move(file)} : std::nullopt;
}

SMDEBUG_INLINE void earlier_run::refuse_ended() const {
    if (store_.size(locations::end_of_job)) {
        throw run_exists(store_.name() + " holds the run of a job that has ended: choose another place",
                         {.where = store_.name()});
    }
}

SMDEBUG_INLINE void earlier_run::remove(const std::string& key) {
    if (store_.abilities().removes) {
        store_.remove(key);
        return;
    }
    throw unsupported(store_.name() + " cannot remove " + key + ", which an earlier run left: choose another place",
                      {.where = key});
}

SMDEBUG_INLINE std::optional<step_number> earlier_run::own_step(std::string_view key) const {
    if (!stays_inside(key)) {
        return std::nullopt;
    }
    const std::string_view name = locations::base_name(key);
    const auto stem = stem_of_temporary(name);
    // Another worker's name may begin with this one's and a dot: so the whole name must be parsed.
    for (const std::string_view extension :
         {std::string_view{}, std::string_view{".json"}, std::string_view{".csv"}, locations::event_extension}) {
        const auto parsed = locations::parse_step_file(stem.value_or(name), extension);
        if (parsed && parsed->worker_part == part_ && (stem || !extension.empty())) {
            return parsed->step;
        }
    }
    return std::nullopt;
}

SMDEBUG_INLINE void earlier_run::remove_leftovers(step_number first) {
    for (const std::string& key : strays_) {
        remove(key);
    }
    for (const std::string& key : store_.list(locations::events_folder, "")) {
        const auto step = own_step(key);
        if (step && (*step >= first || !key.ends_with(locations::event_extension))) {
            remove(key);
        }
    }
    for (const std::string& key : store_.list(locations::collections_folder, "")) {
        const auto stem = stem_of_temporary(key);
        const std::string own = locations::collections_key(worker_);
        if (stem && (own == *stem || own == std::string{*stem} + ".json")) {
            remove(key);
        }
    }
}

SMDEBUG_INLINE void earlier_run::find_mode_steps(continuation& next) {
    std::vector<std::string> keys;
    std::vector<step_number> numbers;
    for (const auto& [step, key] : steps_) {
        numbers.push_back(step);
        keys.push_back(key);
    }
    json::document parser;
    read_or_throw_with_advice([&] {
        store_.read_each(keys, [&](std::size_t place, std::optional<byte_view> bytes, const object_version&) {
            if (const auto head = bytes ? head_of_index(*bytes, parser) : std::nullopt) {
                next.written.add(head->mode, head->mode_step, numbers[place]);
            }
        });
    });
    std::optional<mode> farthest;
    for (const mode which : all_modes) {
        const auto last = next.written.last(which);
        if (last) {
            next.mode_steps[which] = step_behind(*last);
            farthest = farthest && *next.written.last(*farthest) >= *last ? farthest : which;
        } else if (steps_.empty() && which != mode::global && next.step != 0) {
            next.mode_steps[which] = next.step;
        }
    }
    if (farthest) {
        step_number& farthest_step = next.mode_steps[*farthest];
        farthest_step = step_behind(farthest_step, next.step - 1 - steps_.rbegin()->first);
    }
}

SMDEBUG_INLINE void earlier_run::read_or_throw_with_advice(function_ref<void()> reading) const {
    try {
        reading();
    } catch (const error& why) {
        throw unavailable(store_.name() + ": the run cannot be continued, as " + worker_ +
                              " cannot read what it has written: " + std::string{why.message()} +
                              "; make it readable, remove it, or choose another place",
                          {.where = why.where(), .worker = worker_});
    }
}

SMDEBUG_INLINE void earlier_run::remove_damaged_end() {
    if (!store_.abilities().removes) {
        return;
    }
    json::document parser;
    index_file::meta head;
    while (!steps_.empty()) {
        const std::string& key = steps_.rbegin()->second;
        bool is_good = false;
        read_or_throw_with_advice([&] { is_good = is_whole_index(store_.read(key).view(), parser, head); });
        if (is_good) {
            return;
        }
        remove_last_step();
    }
}

SMDEBUG_INLINE void earlier_run::remove_last_step() {
    const std::string key = steps_.rbegin()->second;
    remove(key);
    steps_.erase(std::prev(steps_.end()));
    removed_.insert_or_assign(key.substr(0, key.rfind('/') + 1), key);
}

SMDEBUG_INLINE void earlier_run::sync_removals() {
    if (how_ == durability::on_disk) {
        for (const auto& [folder, key] : removed_) {
            store_.remove(key, how_);  // again: syncs its folder
        }
    }
    removed_.clear();
}

SMDEBUG_INLINE run_claim::run_claim(any_storage store, std::string worker, std::int64_t writers, durability how)
    : store_(std::move(store)),
      worker_(std::move(worker)),
      writers_(writers),
      how_(how),
      by_markers_(writers > 1 && !store_.abilities().claims && store_.abilities().removes) {
    renew();
}

SMDEBUG_INLINE void run_claim::begin() {
    if (by_markers_) {
        store_.write(claim_key(worker_, writers_), as_bytes("smdebug, at work\n"));
    }
}

SMDEBUG_INLINE bool run_claim::holds() const { return !claim_ || claim_->holds(); }

SMDEBUG_INLINE void run_claim::renew() {
    claim_.reset();
    if (store_.abilities().claims) {
        claim();
    }
}

SMDEBUG_INLINE bool run_claim::release() {
    if (claim_) {
        claim_->release();
        claim_.reset();
        return writers_ <= 1 ||
               is_last([&](const std::string& worker) { return store_.claimed(claim_key(worker, writers_)); });
    }
    if (by_markers_) {
        store_.remove(claim_key(worker_, writers_));
        std::optional<std::vector<std::string>> markers;  // one listing for all workers
        return is_last([&](const std::string& worker) {
            if (!markers) {
                markers = store_.list("claim_", "");
            }
            // A listing may be out of date.
            const std::string key = claim_key(worker, writers_);
            return std::binary_search(markers->begin(), markers->end(), key) && store_.size(key).has_value();
        });
    }
    return true;
}

SMDEBUG_INLINE void run_claim::claim() {
    claim_ = store_.claim(claim_key(worker_, writers_), how_);
    // A process with another number of writers claims another key: each checks the other's after writing its own.
    const std::string other = claim_key(worker_, writers_ <= 1 ? 2 : 1);
    if (store_.claimed(other)) {
        throw unavailable(error_code::in_use,
                          store_.name() + ": a living process that counts the workers of the job otherwise holds " +
                              other + ", and may write as " + worker_ + ", too",
                          {.where = other, .worker = worker_});
    }
}

SMDEBUG_INLINE bool run_claim::is_last(function_ref<bool(const std::string& worker)> at_work) const {
    std::int64_t begun = 0;
    for (const std::string& key : store_.list(locations::collections_folder, "")) {
        const auto worker = locations::worker_of_collections_file(key);
        if (worker) {
            ++begun;
            if (*worker != worker_ && at_work(*worker)) {
                return false;
            }
        }
    }
    return begun >= writers_;
}

}  // namespace smdebug::inline v1::detail
