#include <program/opened_archives.hpp>

#include <smdebug/storage/uri.hpp>

namespace smdebug::inline v1::cli::detail {

run_place opened_archives::place_of(const std::string& path, const storage_options& options) {
    const auto archived = smdebug::detail::archive_in(path);
    if (!archived || archived->inside.empty()) {
        return {path, std::nullopt};
    }
    std::string archive = path.substr(0, path.size() - archived->inside.size());
    while (archive.ends_with('/')) {
        archive.pop_back();  // "jobs.tar!"
    }
    const std::shared_ptr<opened> item = item_of(archive);
    const std::lock_guard lock{item->guard};
    if (!item->places) {
        item->places = places_of(archive, options);
    }
    for (const run_place& each : item->places->runs) {
        if (each.path == path) {
            return each;
        }
    }
    return {path, std::nullopt};  // opening it reports what is wrong
}

std::shared_ptr<opened_archives::opened> opened_archives::item_of(const std::string& path) {
    const std::lock_guard lock{guard_};
    if (const std::shared_ptr<opened>* const known = items_.find(path)) {
        return *known;
    }
    const auto fresh = std::make_shared<opened>();
    items_.put(path, fresh);
    return fresh;
}

}  // namespace smdebug::inline v1::cli::detail
