// Listing a bucket, page by page.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/request_pipeline.hpp>
#include <smdebug/s3/location.hpp>
#include <smdebug/s3/object/failure.hpp>
#include <smdebug/s3/object/list_page.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/storage/concepts.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::s3::detail {

/// Ensures that a listing makes progress: a faulty or hostile server could send pages for ever.
class listing_progress {
public:
    using clock = http::request::clock;
    /// Limit of consecutive pages without a new key: some servers send empty ones where objects were removed.
    static constexpr unsigned most_idle_pages = 100;

    /// Errors thrown later name the place and the server.
    listing_progress(const location& where, std::string server, std::chrono::milliseconds within);

    [[nodiscard]] clock::time_point latest() const noexcept { return latest_; }

    /// To call before each request.  Errors: timed_out.
    void check_time() const;

    /// Takes a page with that greatest key, if any.  When keys have not ascended for long, sorts `found` and removes
    /// duplicates.  Errors: unavailable if that left no new keys either.
    void take(std::string_view greatest, std::vector<object_entry>& entries);

    [[noreturn]] void fail(const std::string& why) const;

    /// In byte order, each key once.
    static void tidy(std::vector<object_entry>& entries);

private:
    std::string where_;
    std::string server_;
    std::chrono::milliseconds within_;
    clock::time_point latest_;
    std::string greatest_;
    std::size_t pages_ = 0;
    std::size_t idle_pages_ = 0;
    std::size_t last_count_ = 0;
};

/// The objects whose keys start with `prefix`, in byte order, strictly after `after` (empty: from the start); at most
/// `most`.  `prefix`, `after` and the keys are relative to the client's location.
/// Servers list in byte order; one that does not is listed as well, as long as its pages bring new keys.
/// Cost:   one request for 1,000 keys.
/// Errors: those of fail(); unavailable for a server whose pages do not advance; timed_out, see
///         s3_options::list_deadline.
template <class Client>
[[nodiscard]] std::vector<object_entry> list_objects(const Client& asked, std::string_view prefix,
                                                     std::string_view after, std::size_t most) {
    constexpr std::size_t most_on_page = 1000;
    const std::string& root = asked.where().prefix;
    const std::string begin = after.empty() ? std::string{} : std::string{root}.append(after);
    std::vector<object_entry> entries;
    std::string continuation;
    std::string last = begin;  // start of the next page for servers without continuation tokens
    detail::listing_progress progress{asked.where(), asked.server(), asked.options().list_deadline};
    for (bool goes_on = most != 0; goes_on;) {
        progress.check_time();
        call page_call{.query = {{"list-type", "2"},
                                 {"encoding-type", "url"},
                                 {"prefix", std::string{root}.append(prefix)},
                                 {"max-keys", std::to_string(std::min(most_on_page, most - entries.size()))}},
                       .check = [](const http::response& answer,
                                   byte_range) { return parse_list_page(answer.body.view()).has_value(); },
                       .latest = progress.latest(),
                       .doing = "listing"};
        if (!continuation.empty()) {
            page_call.query.emplace_back("continuation-token", continuation);
        } else if (!last.empty()) {
            page_call.query.emplace_back("start-after", last);
        }
        const call_result ended = perform_call(asked, std::move(page_call));
        if (!ended.good) {
            progress.check_time();
            fail(asked.where(), asked.server(), ended);
        }
        list_page page = *parse_list_page(ended.answer.body.view());
        const std::string before = continuation.empty() ? last : begin;
        bool goes_ahead = false;
        std::string greatest;
        for (object_entry& entry : page.entries) {
            greatest = std::max(greatest, entry.key);
            if (entry.key <= before) {
                continue;  // the server started at the wrong key
            }
            goes_ahead = goes_ahead || entry.key > last;
            last = std::max(last, entry.key);
            // An object may represent the folder itself.
            if (!entry.key.starts_with(root) || entry.key.size() == root.size() ||
                !std::string_view{entry.key}.substr(root.size()).starts_with(prefix)) {
                continue;
            }
            entry.key.erase(0, root.size());
            entries.push_back(std::move(entry));
        }
        goes_on = page.truncated && entries.size() < most;
        if (goes_on && (page.continuation.empty() ? !goes_ahead : page.continuation == continuation)) {
            progress.fail("gives the same page again and again");
        }
        if (goes_on) {
            progress.take(greatest, entries);
        }
        continuation = std::move(page.continuation);
    }
    // Amazon's directory buckets list in another order.
    detail::listing_progress::tidy(entries);
    entries.resize(std::min(entries.size(), most));
    return entries;
}

inline listing_progress::listing_progress(const location& where, std::string server, std::chrono::milliseconds within)
    : where_(where.text()), server_(std::move(server)), within_(within) {
    constexpr std::chrono::milliseconds longest{std::chrono::years{100}};
    latest_ = clock::now() + std::min(within, longest);
}

inline void listing_progress::check_time() const {
    if (clock::now() >= latest_) {
        throw timed_out("listing " + where_ + " did not end within " + std::to_string(within_.count()) +
                            " ms, in which the server " + server_ + " has given " + std::to_string(pages_) +
                            " pages; see s3_options::list_deadline, or list a longer prefix",
                        {.where = where_});
    }
}

inline void listing_progress::take(std::string_view greatest, std::vector<object_entry>& entries) {
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

inline void listing_progress::fail(const std::string& why) const {
    throw unavailable("listing " + where_ + " failed: the server " + server_ + " " + why + ". Try again later",
                      {.where = where_});
}

inline void listing_progress::tidy(std::vector<object_entry>& entries) {
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    entries.erase(
        std::unique(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key == b.key; }),
        entries.end());
}

}  // namespace smdebug::inline v1::s3::detail
