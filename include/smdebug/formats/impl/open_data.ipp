// The bodies of <smdebug/formats/open_data.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/formats/checkpoints/checkpoint_source.hpp>
#include <smdebug/formats/checkpoints/find_checkpoints.hpp>
#include <smdebug/formats/event_file_source.hpp>
#include <smdebug/formats/open_data.hpp>
#include <smdebug/formats/tensorboard/log_files.hpp>
#include <smdebug/formats/tensorboard/log_source.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/uri.hpp>
#include <smdebug/trial/run_contents.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

// Keys beside those of a run of the Python package.  In a folder of this machine the run's own folders are not walked,
// and in a remote storage they are skipped: each may have many thousands of files.
inline std::vector<std::string> keys_beside_run(const any_storage& store) {
    constexpr std::size_t most = 10'000;
    constexpr std::array own{locations::collections_folder, locations::events_folder, locations::index_folder};
    const auto folder_of = [&](std::string_view key) {
        return std::find_if(own.begin(), own.end(), [&](std::string_view folder) { return key.starts_with(folder); });
    };
    std::vector<std::string> keys;
    if (const local_storage* const here = store.target<local_storage>()) {
        std::error_code failed;  // an unlistable folder has no data that could be opened
        for (std::filesystem::directory_iterator at{here->name(), failed}, end;
             !failed && at != end && keys.size() < most; at.increment(failed)) {
            std::string key = at->path().filename().string();
            if (!at->is_directory(failed)) {
                keys.push_back(std::move(key));
            } else if (folder_of(key + '/') == own.end()) {
                try {
                    // Another storage: what this one passes over is not part of the run.
                    std::ranges::move(local_storage{here->name()}.list(key + '/', ""), std::back_inserter(keys));
                } catch (const error&) {  // the same
                }
            }
        }
        std::sort(keys.begin(), keys.end());
        return keys;
    }
    std::string after;
    while (keys.size() < most) {
        const auto some = store.entries("", after, 20);
        if (!some) {
            keys = store.list("", "");  // a storage without versions holds its names in memory
            std::erase_if(keys, [&](const std::string& key) { return folder_of(key) != own.end(); });
            return keys;
        }
        if (some->empty()) {
            return keys;
        }
        for (const object_entry& each : *some) {
            after = each.key;
            if (const auto folder = folder_of(each.key); folder != own.end()) {
                after = std::string{*folder} + '\xff';  // after all names in it, as UTF-8 has no such byte
                break;
            }
            keys.push_back(each.key);
        }
    }
    return keys;
}

/// Reports unread data among these keys, because the format was detected, and `chosen` is what is read.
inline std::vector<problem> left_out_beside(const std::vector<std::string>& keys, data_format chosen) {
    using kind = formats::detail::checkpoint_kind;
    struct group {
        std::string first = {};
        std::size_t more = 0;
        void add(const std::string& key) { first.empty() ? static_cast<void>(first = key) : static_cast<void>(++more); }
    };
    group checkpoints;
    group pickles;
    group logs;
    for (const std::string& key : keys) {
        const kind what = formats::detail::kind_of(key);
        if (what == kind::pickle) {
            pickles.add(key);
        } else if (what != kind::none && what != kind::index) {
            checkpoints.add(key);
        } else if (chosen == data_format::smdebug && is_tensorboard_log(key) && !key.starts_with("tensorboard/")) {
            logs.add(key);  // hooks write the run's own data below tensorboard/, too
        }
    }
    const bool is_run = chosen == data_format::smdebug;
    const std::string why = std::string{", as the folder has "} +
                            (is_run ? "a run with its index" : "TensorBoard logs") + ", too, and " +
                            (is_run ? "that is" : "those are") + " read: ";
    const std::string alone =
        is_run ? "--as smdebug, data_format::smdebug" : "--as tensorboard, data_format::tensorboard";
    std::vector<problem> all;
    const auto note = [&](const group& found, const std::string& one, const std::string& many,
                          const std::string& what_to_do) {
        if (found.first.empty()) {
            return;
        }
        const std::string files = found.more == 1 ? " more file" : " more files";
        all.push_back(
            {problem_kind::left_out, found.first,
             (found.more == 0 ? "this " + one + " is left out"
                              : "this and " + std::to_string(found.more) + files + " of " + many + " are left out") +
                 why + what_to_do});
    };
    note(checkpoints, "checkpoint", "checkpoints",
         "open it again as checkpoints (--as checkpoints, data_format::checkpoints)");
    note(pickles, "pickled checkpoint", "pickled checkpoints",
         "pickles are programs, which are not run; save them as safetensors, or say that nothing else is meant (" +
             alone + ")");
    note(logs, "log", "TensorBoard logs", "open it again as logs (--as tensorboard, data_format::tensorboard)");
    return all;
}

/// TensorBoard logs in a folder whose format was detected: checkpoints beside them are reported.
class logs_and_others {
public:
    static constexpr bool own_steps = tensorboard_source::own_steps;

    logs_and_others(any_storage store, tensorboard_source logs) : store_(std::move(store)), logs_(std::move(logs)) {}

    [[nodiscard]] bool update(run_contents& contents) {
        const bool has_news = logs_.update(contents);
        if (std::exchange(is_open_, true) && !contents.ended()) {
            return has_news;  // looked for once, and again after the last one
        }
        for (const problem& each :
             std::exchange(noted_, left_out_beside(store_.list("", ""), data_format::tensorboard))) {
            contents.withdraw_problem(each.where);
        }
        for (const problem& each : noted_) {
            contents.note_problem(each.where, each.what, each.kind);
        }
        return has_news;
    }

private:
    any_storage store_;
    tensorboard_source logs_;
    std::vector<problem> noted_;
    bool is_open_ = false;
};

}  // namespace detail

SMDEBUG_INLINE data_format format_of(const any_storage& store) {
    namespace locations = detail::locations;
    const auto has = [&](std::string_view folder) { return !detail::some_keys(store, folder, 1).empty(); };
    if (has(locations::index_folder)) {
        return data_format::smdebug;
    }
    std::set<step_number> steps;
    bool has_events = false;
    for (const std::string& key : detail::some_keys(store, locations::events_folder, 1000)) {
        has_events = has_events || (key.ends_with(locations::event_extension) && !is_resource_fork(key));
        if (const auto file = locations::parse_step_file(key, locations::event_extension)) {
            steps.insert(file->step);
        }
    }
    const bool has_collections = has(locations::collections_folder);
    // While a job runs, the event files of its first step exist before the index does.
    if (has_events && (!has_collections || steps.size() > 1 || store.size(locations::end_of_job))) {
        // All of it may have been written since the first look: collections come before event files, and an index file
        // before the event files of its worker's next step.
        return has(locations::index_folder) ? data_format::smdebug : data_format::event_files;
    }
    if (has_events || has_collections) {
        return data_format::smdebug;
    }
    const std::vector<std::string> all = detail::some_keys(store, "", 10'000);
    const bool is_log =
        std::any_of(all.begin(), all.end(), [](const std::string& key) { return is_tensorboard_log(key); });
    if (is_log) {
        return data_format::tensorboard;
    }
    const bool is_checkpoint = std::any_of(all.begin(), all.end(), [](const std::string& key) {
        const auto form = detail::other_form_of(key);
        return formats::detail::kind_of(key) != formats::detail::checkpoint_kind::none ||
               (form && form->is != detail::other_form::kind::unfinished);
    });
    if (!is_checkpoint) {
        for (const problem& one : store.problems()) {
            if (one.kind == problem_kind::damaged) {  // a folder that may not be listed: a run may lie there
                throw access_denied(one.what.substr(one.what.find(' ') + 1), {.where = one.where});
            }
        }
    }
    return is_checkpoint ? data_format::checkpoints : data_format::smdebug;
}

SMDEBUG_INLINE any_storage open_data(any_storage store, const format_options& options) {
    switch (options.as == data_format::detect ? format_of(store) : options.as) {
        case data_format::event_files:
            return as_run(store, event_file_source{store, {.most_record_bytes = options.most_record_bytes}});
        case data_format::tensorboard: {
            tensorboard_source logs{
                store,
                {.folders_are_workers = options.folders_are_workers, .most_record_bytes = options.most_record_bytes}};
            return options.as == data_format::detect ? as_run(store, detail::logs_and_others{store, std::move(logs)})
                                                     : as_run(store, std::move(logs));
        }
        case data_format::checkpoints:
            return checkpoint_source{store,
                                     {.step_regex = options.step_regex,
                                      .unpacking = options.unpacking,
                                      .followed_since = options.followed_since}}
                .run();
        case data_format::detect:
        case data_format::smdebug:
            break;
    }
    if (options.as == data_format::detect) {
        std::vector<problem> others = detail::left_out_beside(detail::keys_beside_run(store), data_format::smdebug);
        if (!others.empty()) {
            return store.with_problems(std::move(others));
        }
    }
    return store;
}

namespace detail {

SMDEBUG_INLINE std::optional<data_file> data_file_in(std::string_view path) {
    if (!is_data_file(path) || path.find("!/") != std::string_view::npos) {
        return std::nullopt;
    }
    const bool far = is_in_s3(path);
    const std::string whole = far ? std::string{path} : local_path(path);
    const std::size_t slash = whole.rfind('/');
    data_file file{.folder = slash == std::string::npos ? "." : whole.substr(0, slash), .key = whole.substr(slash + 1)};
    file.folder = file.folder.empty() ? "/" : file.folder;
    if (!far && !local_storage{file.folder}.size(file.key)) {
        return std::nullopt;  // a folder of that name, or nothing
    }
    return file;
}

SMDEBUG_INLINE byte_buffer single_object::read(std::string_view key, byte_range where) const {
    if (key != key_) {
        throw not_found("there is no " + std::string{key} + " in " + name(), {.where = std::string{key}});
    }
    return where.length == UINT64_MAX && where.offset == 0 ? store_.read(key) : store_.read(key, where);
}

SMDEBUG_INLINE std::vector<std::string> single_object::list(std::string_view prefix, std::string_view after) const {
    if (!key_.starts_with(prefix) || key_ <= after || !store_.size(key_)) {
        return {};
    }
    return {key_};
}

}  // namespace detail
}  // namespace smdebug::inline v1
