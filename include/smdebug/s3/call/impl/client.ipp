// The bodies of <smdebug/s3/call/client.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/system_time.hpp>
#include <smdebug/s3/call/client.hpp>
#include <smdebug/s3/credentials/metadata_exchange.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace smdebug::inline v1::s3 {

SMDEBUG_INLINE location parse_location(std::string_view uri) {
    constexpr std::string_view scheme = "s3://";
    const auto refuse = [&](const char* why) {
        throw value_error("\"" + std::string{uri} + "\" names no place in S3: " + why +
                              "; it should be of the form s3://bucket/prefix",
                          {.where = std::string{uri}});
    };
    if (!uri.starts_with(scheme)) {
        refuse("it does not begin with s3://");
    }
    std::string_view rest = uri.substr(scheme.size());
    const std::size_t slash = rest.find('/');
    location found{.bucket = std::string{rest.substr(0, slash)}, .prefix = {}};
    rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
    // The name becomes a host name or a part of a path, so it must not contain anything else.
    const auto is_good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
               c == '_';
    };
    if (found.bucket.empty()) {
        refuse("there is no bucket in it");
    }
    if (!std::all_of(found.bucket.begin(), found.bucket.end(), is_good) || found.bucket == "." ||
        found.bucket == "..") {
        refuse("a bucket's name has letters, digits, '-', '.' and '_' only");
    }
    while (rest.ends_with('/')) {
        rest.remove_suffix(1);
    }
    if (!rest.empty()) {
        found.prefix.append(rest).append("/");
    }
    return found;
}

}  // namespace smdebug::inline v1::s3

namespace smdebug::inline v1::s3::detail {

SMDEBUG_INLINE std::optional<std::chrono::system_clock::time_point> parse_http_date(std::string_view text) {
    constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (text.size() != 29 || text.substr(3, 2) != ", " || text[7] != ' ' || text[11] != ' ' || text[16] != ' ' ||
        !text.ends_with(" GMT")) {
        return std::nullopt;
    }
    const auto month = std::find(months.begin(), months.end(), text.substr(8, 3)) - months.begin();
    std::string iso = std::string{text.substr(12, 4)} + "-" + std::to_string(month + 101).substr(1) + "-";
    return parse_iso_time(iso.append(text.substr(5, 2)).append("T").append(text.substr(17, 8)).append("Z"));
}

SMDEBUG_INLINE client::client(location where, s3_options options, std::shared_ptr<const http_transport> over,
                              std::shared_ptr<const credentials_provider> credentials)
    : where_(std::move(where)),
      options_(std::move(options)),
      transport_(std::move(over)),
      credentials_(std::move(credentials)) {
    known_.region = options_.region.value_or("us-east-1");
    if (!is_region(known_.region)) {
        throw value_error("\"" + known_.region +
                          "\" is not a region: one has small letters, digits and '-' only; see s3_options::region, "
                          "AWS_REGION, AWS_DEFAULT_REGION and the profile's region");
    }
    if (options_.endpoint) {
        known_.endpoint = checked_endpoint(*options_.endpoint);
    }
}

SMDEBUG_INLINE client::prepared client::prepare(const call& asked, std::string_view payload_hash,
                                                clock::time_point deadline) const {
    const knowledge now = look();
    prepared made{{}, now.number, {}, now.reached};
    http::request& ask = made.request;
    ask.method = asked.method;
    ask.url = base_url(now) + percent_encoded(asked.key, true);
    if (!asked.query.empty()) {
        ask.url.append("?").append(canonical_query(asked.query));
    }
    ask.headers = asked.headers;
    ask.body = asked.body;
    ask.most = asked.most;
    ask.connect_within = options_.connect_within;
    ask.stalled_after = options_.stalled_after;
    ask.deadline = deadline;
    ask.least_speed = asked.wanted.length != 0 ? options_.least_speed : 0;
    const auto time = std::chrono::system_clock::now() + now.clock_offset;
    made.keys = credentials_->keys(time);
    if (made.keys) {
        signer_.sign(ask, payload_hash, *made.keys, {.region = now.region}, time);
    }
    return made;
}

SMDEBUG_INLINE std::chrono::milliseconds client::time_for(const call& asked) const noexcept {
    using std::chrono::milliseconds;
    const milliseconds all = std::min(options_.retry.deadline, smdebug::detail::longest_wait);
    const bool is_short =
        asked.wanted.length != 0 && clock::now() < clock::time_point{impatient_until_.load(std::memory_order_relaxed)};
    return is_short ? std::min(all, std::max(all / 64, milliseconds{std::chrono::seconds{1}})) : all;
}

SMDEBUG_INLINE void client::note_read(bool in_vain) const noexcept {
    const auto now = clock::now();
    if (!in_vain) {
        impatient_until_.store({}, std::memory_order_relaxed);
    } else if (clock::time_point{impatient_until_.load(std::memory_order_relaxed)} <= now) {
        impatient_until_.store((now + time_for({})).time_since_epoch(), std::memory_order_relaxed);
    }
}

SMDEBUG_INLINE bool client::learn(const retry_decision& what, const http::response& answer,
                                  std::uint64_t prepared_in) const {
    const std::lock_guard lock{guard_};
    if (known_.number != prepared_in) {
        return true;
    }
    switch (what.move) {
        case next_move::to_region:
            if (what.place == known_.region || !may_go_to_region(what.place)) {
                return false;
            }
            known_.region = what.place;
            known_.reached = known_.reached && known_.endpoint;
            break;
        case next_move::to_endpoint: {
            const standing found = standing_of(what.place);
            if (what.place == known_.moved_to || found == standing::stranger) {
                return false;
            }
            known_.moved_to = what.place;
            known_.reached = false;
            known_.names_bucket = found == standing::server_of_bucket;
            break;
        }
        case next_move::renew_keys:
            credentials_->renew();
            break;
        case next_move::set_clock: {
            const auto date = parse_http_date(answer.find_header("date").value_or(""));
            const auto offset =
                date ? time_between(std::chrono::system_clock::now(), *date) : std::chrono::milliseconds::max();
            // A date a century away is no clock error, and times shifted that far cannot be formatted.
            if (std::chrono::abs(offset) > smdebug::detail::longest_wait ||
                std::chrono::abs(offset - known_.clock_offset) < std::chrono::minutes{1}) {
                return false;  // the clock is right
            }
            known_.clock_offset = offset;
            break;
        }
        case next_move::done:
        case next_move::again:
        case next_move::ask_why:
        case next_move::ask_size:
        case next_move::give_up:
            return false;
    }
    ++known_.number;
    return true;
}

}  // namespace smdebug::inline v1::s3::detail
