// The bodies of <smdebug/formats.hpp>, which is not included here: it would make the component known to programs of the compiled form.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/formats/open_data.hpp>
#include <smdebug/storage/open_storage.hpp>

namespace smdebug::inline v1::formats::detail {

SMDEBUG_INLINE any_storage open_run(std::string_view path, const storage_options& options) {
    if (const auto file = smdebug::detail::data_file_in(path)) {
        return open_data(
            any_storage{smdebug::detail::single_object{smdebug::detail::open_folder(file->folder, options), file->key}},
            options.formats);
    }
    return open_data(open_storage(path, options), options.formats);
}

}  // namespace smdebug::inline v1::formats::detail
