// Archives with runs of a batch: each is opened once for its consecutive runs.
#pragma once

#include <program/run_places.hpp>
#include <smdebug/core/lru.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug::inline v1::cli::detail {

/// Keeps the most recently used archives open.  Threads: place_of() may be called at once.
class opened_archives {
public:
    /// `most`: how many are kept; one that is in use stays open beside them.
    explicit opened_archives(std::size_t most) : items_(std::max<std::size_t>(most, 1)) {}

    /// The run at a path; already opened if it lies in an archive, "jobs.tar!/job-17".
    /// Errors: those of open_storage(); not_found: the archive has no such run.
    [[nodiscard]] run_place place_of(const std::string& path, const storage_options& options);

private:
    struct opened {
        std::mutex guard;
        std::optional<run_places> places;
    };

    [[nodiscard]] std::shared_ptr<opened> item_of(const std::string& path);

    std::mutex guard_;
    smdebug::detail::lru<std::string, std::shared_ptr<opened>, std::string_view> items_;  // by path
};

}  // namespace smdebug::inline v1::cli::detail
