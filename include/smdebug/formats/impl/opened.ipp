// What <smdebug/formats.hpp> brings into a program: the function that <smdebug/storage/open_storage.hpp> declares.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/formats/data_file.hpp>
#include <smdebug/formats/open_data.hpp>
#include <smdebug/storage/open_storage.hpp>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

#ifdef SMDEBUG_COMPILED
extern const int opened_by_path;  // <smdebug/formats.hpp> refers to it
const int opened_by_path = 1;
#endif

// Not inline, though every file that includes the header has it: it is weak, of which the linker keeps one.
any_storage open_run(std::string_view path, const storage_options& options) {
    if (const auto file = smdebug::detail::data_file_in(path)) {
        return open_data(
            any_storage{smdebug::detail::single_object{smdebug::detail::open_folder(file->folder, options), file->key}},
            options.formats);
    }
    return open_data(open_storage(path, options), options.formats);
}

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug
