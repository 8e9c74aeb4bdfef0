// The bodies of <smdebug/trial/basic_trial.hpp>.
#pragma once

#include <smdebug/index/locations.hpp>
#include <smdebug/storage/uri.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

SMDEBUG_INLINE any_storage open_storage_of_run(std::string_view path, storage_options options) {
    if (!options.cacheable) {
        options.cacheable = is_written_once;
    }
    const format_openers* const formats = known_openers().formats;
    if (options.formats.as != data_format::smdebug && formats != nullptr) {
        return formats->open_run(path, options);
    }
    return open_storage(path, std::move(options));
}

SMDEBUG_INLINE void refuse_other_data(std::string_view path, const any_storage& store) {
    std::string found{is_data_file(path) && store.place() == place_kind::file ? path : std::string_view{}};
    if (found.empty()) {
        constexpr std::size_t most = 1000;  // enough to recognize a folder; a bucket may have millions
        const std::vector<std::string> keys = some_keys(store, "", most);
        const auto data = std::find_if(keys.begin(), keys.end(), is_data_file);
        found = data != keys.end() ? *data : found;
    }
    if (!found.empty()) {
        throw unsupported("this program was built without logs and checkpoints, so that it cannot open " +
                              std::string{path} + " (" + found + "): include <smdebug/formats.hpp> in one of its files",
                          {.where = std::string{path}});
    }
}

}  // namespace detail

SMDEBUG_INLINE trial create_trial(std::string_view path, trial_options options, storage_options storage) {
    const bool is_run = storage.formats.as == data_format::smdebug || detail::known_openers().formats != nullptr;
    const any_storage store = detail::open_storage_of_run(path, std::move(storage));
    try {
        return trial{store, std::move(options)};
    } catch (const not_found&) {
        if (!is_run) {
            detail::refuse_other_data(path, store);
        }
        throw;
    }
}

}  // namespace smdebug::inline v1
