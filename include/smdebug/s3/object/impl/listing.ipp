// The bodies of <smdebug/s3/object/listing.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/s3/object/listing.hpp>
#include <smdebug/s3/options.hpp>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE listing_progress::listing_progress(const location& where, std::string server,
                                                  std::chrono::milliseconds within)
    : where_(where.text()), server_(std::move(server)), within_(within) {
    constexpr std::chrono::milliseconds longest{std::chrono::years{100}};
    latest_ = clock::now() + std::min(within, longest);
}

SMDEBUG_INLINE void listing_progress::check_time() const {
    if (clock::now() >= latest_) {
        throw timed_out("listing " + where_ + " did not end within " + std::to_string(within_.count()) +
                            " ms, in which the server " + server_ + " has given " + std::to_string(pages_) +
                            " pages; see s3_options::list_deadline, or list a longer prefix",
                        {.where = where_});
    }
}

SMDEBUG_INLINE void listing_progress::take(std::string_view greatest, std::vector<object_entry>& entries) {
    ++pages_;
    if (greatest > greatest_) {
        greatest_ = greatest;
        idle_pages_ = 0;
        return;
    }
    if (++idle_pages_ % most_idle_pages != 0) {
        return;
    }
    tidy(entries);
    if (std::exchange(last_count_, entries.size()) >= entries.size()) {
        fail("has given " + std::to_string(most_idle_pages) + " pages without a new key");
    }
}

SMDEBUG_INLINE void listing_progress::fail(const std::string& why) const {
    throw unavailable("listing " + where_ + " failed: the server " + server_ + " " + why + ". Try again later",
                      {.where = where_});
}

SMDEBUG_INLINE void listing_progress::tidy(std::vector<object_entry>& entries) {
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    entries.erase(
        std::unique(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key == b.key; }),
        entries.end());
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
