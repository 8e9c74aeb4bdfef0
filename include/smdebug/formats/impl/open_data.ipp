// The bodies of <smdebug/formats/open_data.hpp>.
#pragma once

#include <smdebug/formats/checkpoints/checkpoint_source.hpp>
#include <smdebug/formats/checkpoints/find_checkpoints.hpp>
#include <smdebug/formats/event_file_source.hpp>
#include <smdebug/formats/open_data.hpp>
#include <smdebug/formats/presented_run.hpp>
#include <smdebug/formats/tensorboard/log_files.hpp>
#include <smdebug/formats/tensorboard/log_source.hpp>
#include <smdebug/index/locations.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// TensorBoard logs in a folder where nobody said what to read: checkpoints beside them are named.
class logs_and_others {
public:
    static constexpr bool own_steps = tensorboard_source::own_steps;

    logs_and_others(any_storage store, tensorboard_source logs) : store_(std::move(store)), logs_(std::move(logs)) {}

    [[nodiscard]] bool update(run_contents& contents) {
        const bool has_news = logs_.update(contents);
        if (std::exchange(is_open_, true) && !contents.ended()) {
            return has_news;  // looked for once, and again when no more come
        }
        std::vector<std::string> keys = store_.list("", "");
        std::erase_if(keys, [](const std::string& key) {
            using kind = formats::detail::checkpoint_kind;
            const kind what = formats::detail::kind_of(key);
            return what == kind::none || what == kind::safetensors_index || what == kind::pickle;
        });
        contents.withdraw_problem(noted_);
        if (!keys.empty()) {
            noted_ = keys.front();
            const std::size_t more = keys.size() - 1;
            contents.note_problem(
                noted_,
                (more == 0 ? std::string{"this checkpoint is left out"}
                           : "this and " + std::to_string(more) + (more == 1 ? " more file" : " more files") +
                                 " of checkpoints are left out") +
                    ", as the folder has TensorBoard logs, too, and those are read: open it again as checkpoints "
                    "(--as checkpoints, data_format::checkpoints)",
                problem_kind::left_out);
        }
        return has_news;
    }

private:
    any_storage store_;
    tensorboard_source logs_;
    std::string noted_;
    bool is_open_ = false;
};

}  // namespace detail

SMDEBUG_INLINE data_format format_of(const any_storage& store) {
    namespace locations = detail::locations;
    const auto has = [&](std::string_view folder) { return !detail::some_keys(store, folder, 1).empty(); };
    if (has(locations::index_folder)) {
        return data_format::smdebug;
    }
    const bool has_collections = has(locations::collections_folder);
    std::set<step_number> steps;
    bool has_events = false;
    for (const std::string& key : detail::some_keys(store, locations::events_folder, 1000)) {
        has_events = has_events || (key.ends_with(locations::event_extension) && !is_resource_fork(key));
        if (const auto file = locations::parse_step_file(key, locations::event_extension)) {
            steps.insert(file->step);
        }
    }
    // While a job runs the event files of its first step are there before the index is.
    if (has_events && (!has_collections || steps.size() > 1 || store.size(locations::end_of_job))) {
        return data_format::event_files;
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
        return formats::detail::kind_of(key) != formats::detail::checkpoint_kind::none;
    });
    return is_checkpoint ? data_format::checkpoints : data_format::smdebug;
}

SMDEBUG_INLINE any_storage open_data(any_storage store, const format_options& options) {
    switch (options.as == data_format::detect ? format_of(store) : options.as) {
        case data_format::event_files:
            return any_storage{
                presented_run{store, event_file_source{store, {.most_record_bytes = options.most_record_bytes}}}};
        case data_format::tensorboard: {
            tensorboard_source logs{
                store,
                {.folders_are_workers = options.folders_are_workers, .most_record_bytes = options.most_record_bytes}};
            return options.as == data_format::detect
                       ? any_storage{presented_run{store, detail::logs_and_others{store, std::move(logs)}}}
                       : any_storage{presented_run{store, std::move(logs)}};
        }
        case data_format::checkpoints:
            return any_storage{
                presented_run{store, checkpoint_source{store,
                                                       {.step_regex = options.step_regex,
                                                        .archive = options.npz,
                                                        .most_record_bytes = options.most_record_bytes}}}};
        case data_format::detect:
        case data_format::smdebug:
            break;
    }
    return store;
}

}  // namespace v1
}  // namespace smdebug
