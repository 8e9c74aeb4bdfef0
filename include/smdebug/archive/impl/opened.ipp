// What <smdebug/archive.hpp> brings into a program: the function that <smdebug/storage/open_storage.hpp> declares.
#pragma once

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/archive/opened_runs.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

#ifdef SMDEBUG_COMPILED
extern const int opened_by_path;  // <smdebug/archive.hpp> refers to it
const int opened_by_path = 1;
#endif

// Not inline, though every file that includes the header has it: it is weak, of which the linker keeps one.
std::optional<any_storage> open_run(const any_storage& folder, const std::string& key, std::string_view inside,
                                    const archive_options& options) {
    std::optional<opened_runs> all = open_runs(folder, key, inside, options);
    return all ? std::optional{only_run(std::move(*all), options)} : std::nullopt;
}

any_storage open_files(const any_storage& folder, const std::string& key, const archive_options& options) {
    const archive_storage<any_storage> whole{folder, key, {}, options};
    const opened_runs all{.name = whole.name(), .runs = {}, .damage = whole.damage()};
    if (!all.damage.empty() && !options.skip_damaged) {
        throw corrupt_data(damage_text(all), {.where = all.name});
    }
    return any_storage{whole};
}

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
