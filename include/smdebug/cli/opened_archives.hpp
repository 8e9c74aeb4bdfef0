// Archives that runs of a batch lie in: each is opened once for the runs of it that come one after another.
#pragma once

#include <smdebug/cli/run_places.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// Keeps the archives that were asked for last open.  Threads: place_of() may be called at once.
class opened_archives {
public:
    /// `most`: how many are kept; one that is in use stays open beside them.
    explicit opened_archives(std::size_t most) : most_(std::max<std::size_t>(most, 1)) {}

    /// The run at a path: opened already where it lies in an archive, "jobs.tar!/job-17".
    /// Errors: those of open_storage(); not_found: the archive has no such run.
    [[nodiscard]] run_place place_of(const std::string& path, const storage_options& options) {
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
        return {path, std::nullopt};  // what opens it says what is wrong
    }

private:
    struct opened {
        std::string path;
        std::mutex guard;
        std::optional<run_places> places;
    };

    [[nodiscard]] std::shared_ptr<opened> item_of(const std::string& path) {
        const std::lock_guard lock{guard_};
        const auto known =
            std::find_if(items_.begin(), items_.end(), [&](const auto& each) { return each->path == path; });
        if (known != items_.end()) {
            items_.splice(items_.begin(), items_, known);
            return items_.front();
        }
        items_.push_front(std::make_shared<opened>());
        items_.front()->path = path;
        if (items_.size() > most_) {
            items_.pop_back();
        }
        return items_.front();
    }

    std::size_t most_;
    std::mutex guard_;
    std::list<std::shared_ptr<opened>> items_;  // the one that was asked for last first
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
