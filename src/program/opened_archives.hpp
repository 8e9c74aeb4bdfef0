// Archives that runs of a batch lie in: each is opened once for the runs of it that come one after another.
#pragma once

#include <program/run_places.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

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
    [[nodiscard]] run_place place_of(const std::string& path, const storage_options& options);

private:
    struct opened {
        std::string path;
        std::mutex guard;
        std::optional<run_places> places;
    };

    [[nodiscard]] std::shared_ptr<opened> item_of(const std::string& path);

    std::size_t most_;
    std::mutex guard_;
    std::list<std::shared_ptr<opened>> items_;  // the one that was asked for last first
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
