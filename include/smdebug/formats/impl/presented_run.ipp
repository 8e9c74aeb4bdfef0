// The bodies of <smdebug/formats/presented_run.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/formats/composed_file.hpp>
#include <smdebug/formats/presented_index.hpp>
#include <smdebug/formats/presented_run.hpp>
#include <smdebug/index/collections_writer.hpp>
#include <smdebug/index/locations.hpp>

#include <algorithm>
#include <mutex>
#include <set>

namespace smdebug {
inline namespace v1 {
namespace detail {

struct presented_state {
    using file_pointer = std::shared_ptr<const presented_file>;

    presented_state(any_storage store, any_catalog_source from)
        : objects(std::make_shared<part_objects>(std::move(store))), source(std::move(from)) {}

    // What a key stands for.
    enum class kind : std::uint8_t { of_data, index, events, collections, end_mark };
    struct meaning {
        kind what = kind::of_data;
        file_pointer file = {};
    };

    // With the lock.
    void update();
    // Whether there is a run: the source has come upon a file, if only one that it cannot read.
    [[nodiscard]] bool has_found() const {
        return !contents.empty() || contents.objects().size() > 0 || !contents.problems().empty();
    }
    [[nodiscard]] bool has_ended() const { return contents.ended() && has_found(); }
    [[nodiscard]] meaning meaning_of(std::string_view key) const;
    [[nodiscard]] file_pointer file_of(std::string_view key, std::string_view extension) const;
    // A file for each worker that there is, and for as many more as each step waits for.
    void name_collections();
    [[nodiscard]] std::string collections() const;
    [[nodiscard]] std::unique_ptr<composed_file> compose(const file_pointer& file) const;
    // Of index, collections and the mark; nothing for others.
    [[nodiscard]] std::optional<std::string> text_of(const meaning& what) const;

    std::shared_ptr<const part_objects> objects;
    std::mutex mutex;
    any_catalog_source source;
    run_contents contents;
    std::vector<file_pointer> listed;  // in the order in which they came
    bool is_updated = false;           // once at least
    std::vector<std::string> collections_keys;
};

SMDEBUG_INLINE void presented_state::name_collections() {
    std::set<std::string> workers;
    const std::size_t wanted = static_cast<std::size_t>(std::max<std::int64_t>(contents.job().num_workers, 1));
    for (const file_pointer& file : listed) {
        workers.insert(contents.workers()[file->worker]);
    }
    for (std::size_t i = 0; workers.size() < wanted; ++i) {
        workers.insert("worker_" + std::to_string(i));
    }
    for (const std::string& worker : workers) {
        collections_keys.push_back(locations::collections_key(worker));
    }
}

SMDEBUG_INLINE void presented_state::update() {
    if (is_updated && has_ended()) {
        return;
    }
    static_cast<void>(source.update(contents));
    const auto added = contents.take_new();
    listed.insert(listed.end(), added.begin(), added.end());
    is_updated = true;
    if (collections_keys.empty() && has_found()) {
        name_collections();
    }
}

SMDEBUG_INLINE presented_state::file_pointer presented_state::file_of(std::string_view key,
                                                                      std::string_view extension) const {
    const auto parsed = locations::parse_step_file(key, extension);
    if (!parsed) {
        return nullptr;
    }
    const auto worker = contents.workers().find(locations::worker_from_file_part(parsed->worker_part));
    if (!worker) {
        return nullptr;
    }
    const auto file = contents.files().find({parsed->step, *worker});
    return file != contents.files().end() && file->second->is_listed ? file->second : nullptr;
}

SMDEBUG_INLINE presented_state::meaning presented_state::meaning_of(std::string_view key) const {
    if (key == locations::end_of_job) {
        return {.what = kind::end_mark};
    }
    if (std::find(collections_keys.begin(), collections_keys.end(), key) != collections_keys.end()) {
        return {.what = kind::collections};
    }
    if (key.starts_with(locations::index_folder)) {
        return {.what = kind::index, .file = file_of(key, ".json")};
    }
    if (key.starts_with(locations::events_folder)) {
        file_pointer file = file_of(key, locations::event_extension);
        if (file && file->whole_object == event_piece::written) {
            return {.what = kind::events, .file = std::move(file)};
        }
    }
    return {};
}

SMDEBUG_INLINE std::string presented_state::collections() const { return collections_text(contents.job()); }

SMDEBUG_INLINE std::optional<std::string> presented_state::text_of(const meaning& what) const {
    if (what.what == kind::collections) {
        return collections();
    }
    if (what.what == kind::end_mark && has_ended()) {
        return std::string{};
    }
    if (what.what == kind::index && what.file) {
        return index_text_of(contents, *what.file);
    }
    return std::nullopt;
}

SMDEBUG_INLINE std::unique_ptr<composed_file> presented_state::compose(const file_pointer& file) const {
    std::map<std::uint32_t, part_objects::place> places;
    for (const event_piece& piece : file->pieces) {
        if (piece.object != event_piece::written && piece.object != event_piece::made) {
            const object_elsewhere* const elsewhere = contents.elsewhere(piece.object);
            places.try_emplace(piece.object,
                               part_objects::place{contents.objects()[piece.object],
                                                   elsewhere != nullptr ? std::optional{*elsewhere} : std::nullopt});
        }
    }
    return std::make_unique<composed_file>(objects, file, std::move(places));
}

}  // namespace detail

SMDEBUG_INLINE presented_run::presented_run(any_storage store, detail::any_catalog_source source)
    : state_(std::make_shared<detail::presented_state>(std::move(store), std::move(source))) {}

SMDEBUG_INLINE byte_buffer presented_run::read(std::string_view key) const {
    return read(key, {.offset = 0, .length = UINT64_MAX});
}

SMDEBUG_INLINE byte_buffer presented_run::read(std::string_view key, byte_range where) const {
    using kind = detail::presented_state::kind;
    std::unique_ptr<detail::composed_file> file;
    {
        const std::lock_guard lock{state_->mutex};
        if (!state_->is_updated) {
            state_->update();
        }
        const auto what = state_->meaning_of(key);
        if (what.what == kind::events) {
            file = state_->compose(what.file);
        } else if (what.what != kind::of_data) {
            auto text = state_->text_of(what);
            if (!text) {
                throw not_found("there is no " + std::string{key} + " in " + name(), {.where = std::string{key}});
            }
            return byte_buffer::take(*std::move(text)).slice(where);
        }
    }
    return file ? file->read(where) : state_->objects->store().read(key, where);
}

SMDEBUG_INLINE std::vector<std::string> presented_run::list(std::string_view prefix, std::string_view after) const {
    std::vector<std::string> keys;
    {
        const std::lock_guard lock{state_->mutex};
        state_->update();
        const auto may_begin = [&](std::string_view folder) {
            return folder.starts_with(prefix) || prefix.starts_with(folder);
        };
        const bool wants_index = may_begin(detail::locations::index_folder);
        const bool wants_events = may_begin(detail::locations::events_folder);
        const auto add = [&](std::string key) {
            if (key.starts_with(prefix) && key > after) {
                keys.push_back(std::move(key));
            }
        };
        for (const auto& file : wants_index || wants_events ? state_->listed : decltype(state_->listed){}) {
            if (wants_index) {
                add(detail::index_key_of(state_->contents, *file));
            }
            if (wants_events) {
                add(detail::event_key_of(state_->contents, *file));
            }
        }
        for (const std::string& key : state_->collections_keys) {
            add(key);
        }
        if (state_->has_ended()) {
            add(std::string{detail::locations::end_of_job});
        }
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
}

SMDEBUG_INLINE std::optional<std::uint64_t> presented_run::size(std::string_view key) const {
    using kind = detail::presented_state::kind;
    {
        const std::lock_guard lock{state_->mutex};
        const bool is_mark = key == detail::locations::end_of_job;
        if (!state_->is_updated || is_mark) {
            state_->update();
        }
        const auto what = state_->meaning_of(key);
        if (what.what == kind::events) {
            return what.file->size;
        }
        if (what.what != kind::of_data) {
            const auto text = state_->text_of(what);
            return text ? std::optional<std::uint64_t>{text->size()} : std::nullopt;
        }
    }
    return state_->objects->store().size(key);
}

SMDEBUG_INLINE std::string presented_run::name() const { return state_->objects->store().name(); }
SMDEBUG_INLINE bool presented_run::exists() const { return state_->objects->store().exists(); }
SMDEBUG_INLINE bool presented_run::is_file() const { return state_->objects->store().is_file(); }
SMDEBUG_INLINE std::chrono::milliseconds presented_run::look_interval() const {
    return state_->objects->store().look_interval();
}
SMDEBUG_INLINE storage_abilities presented_run::abilities() const {
    return {.own_index = false, .own_steps = state_->source.own_steps()};
}

SMDEBUG_INLINE std::vector<problem> presented_run::problems() const {
    std::vector<problem> all = state_->objects->store().problems();
    const std::lock_guard lock{state_->mutex};
    if (!state_->is_updated) {
        state_->update();
    }
    const std::vector<problem> own = state_->contents.problems();
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

SMDEBUG_INLINE std::unique_ptr<detail::opened_object> presented_run::open(std::string_view key) const {
    {
        const std::lock_guard lock{state_->mutex};
        const auto what = state_->meaning_of(key);
        if (what.what == detail::presented_state::kind::events) {
            return state_->compose(what.file);
        }
        if (what.what != detail::presented_state::kind::of_data) {
            return nullptr;
        }
    }
    return state_->objects->store().open(key);
}

SMDEBUG_INLINE std::optional<std::chrono::system_clock::time_point> presented_run::modified(
    std::string_view key) const {
    std::vector<detail::object_elsewhere> objects;
    {
        const any_storage& store = state_->objects->store();
        const std::lock_guard lock{state_->mutex};
        const auto what = state_->meaning_of(key);
        const auto add = [&](std::uint32_t object) {
            const detail::object_elsewhere* const elsewhere = state_->contents.elsewhere(object);
            objects.push_back(elsewhere != nullptr
                                  ? *elsewhere
                                  : detail::object_elsewhere{store, state_->contents.objects()[object]});
        };
        if (what.what == detail::presented_state::kind::of_data) {
            objects.push_back({store, std::string{key}});
        }
        if (what.file && what.file->whole_object != detail::event_piece::written) {
            add(what.file->whole_object);
        }
        std::uint32_t last = detail::event_piece::written;
        for (const detail::event_piece& piece : what.file ? what.file->pieces : decltype(what.file->pieces){}) {
            if (piece.object < detail::event_piece::made && piece.object != last) {
                last = piece.object;
                add(last);
            }
        }
    }
    std::optional<std::chrono::system_clock::time_point> newest;
    for (const detail::object_elsewhere& one : objects) {
        const auto time = one.store.modified(one.key);
        newest = time && (!newest || *time > *newest) ? time : newest;
    }
    return newest;
}

SMDEBUG_INLINE presented_run::follower presented_run::follow(std::string_view prefix) const {
    return follower{state_, std::string{prefix}};
}

SMDEBUG_INLINE std::vector<std::string> presented_run::follower::next() {
    std::vector<std::string> keys;
    const std::lock_guard lock{state_->mutex};
    state_->update();
    for (std::size_t i = next_; i < state_->listed.size(); ++i) {
        const detail::presented_file& file = *state_->listed[i];
        for (std::string key :
             {detail::index_key_of(state_->contents, file), detail::event_key_of(state_->contents, file)}) {
            if (key.starts_with(prefix_)) {
                keys.push_back(std::move(key));
            }
        }
    }
    next_ = state_->listed.size();
    for (const std::string& key : state_->collections_keys) {
        if (key.starts_with(prefix_)) {
            keys.push_back(key);
        }
    }
    if (state_->has_ended() && detail::locations::end_of_job.starts_with(prefix_)) {
        keys.emplace_back(detail::locations::end_of_job);
    }
    std::sort(keys.begin(), keys.end());
    return keys;
}

}  // namespace v1
}  // namespace smdebug
