// The bodies of <smdebug/actions/status_file.hpp>.
#pragma once

#include <smdebug/actions/status_file.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <array>
#include <cstdio>
#include <exception>

namespace smdebug {
inline namespace v1 {
namespace actions {

SMDEBUG_INLINE std::string iso_time_text(detail::evaluation_status::clock::time_point time) {
    const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(time);
    const auto day = std::chrono::floor<std::chrono::days>(milliseconds);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss clock{milliseconds - day};
    std::array<char, 64> text = {};
    const int length =
        std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                      static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
    return {text.data(), static_cast<std::size_t>(length)};
}

SMDEBUG_INLINE void append_status_json(std::string& out, const detail::evaluation_status& one) {
    out += "{\"RuleConfigurationName\":";
    append_json_ascii(out, one.rule_configuration_name);
    out += ",\"RuleEvaluationStatus\":";
    append_json_ascii(out, service_name_of(one.status));
    out += ",\"StatusDetails\":";
    append_json_ascii(out, cut_text(one.details, most_status_details));
    out += ",\"LastModifiedTime\":";
    append_json_ascii(out, iso_time_text(one.last_modified));
    out += '}';
}

SMDEBUG_INLINE std::string status_json(std::span<const detail::evaluation_status> all) {
    std::string out = "[";
    for (const detail::evaluation_status& one : all) {
        out += out.size() == 1 ? "" : ",";
        append_status_json(out, one);
    }
    return out + "]\n";
}

SMDEBUG_INLINE std::string status_json(const detail::evaluation_status& one) {
    std::string out;
    append_status_json(out, one);
    return out + '\n';
}

namespace detail {

SMDEBUG_INLINE status_written write_status_text(const std::string& path, const std::string& text) {
    try {
        smdebug::detail::posix::write_whole(path, as_bytes(text));
    } catch (const std::exception& failed) {
        return {failed.what()};
    }
    return {};
}

}  // namespace detail

SMDEBUG_INLINE status_file::~status_file() {
    if (writer_.joinable()) {
        writer_.request_stop();
        writer_.join();
    }
    static_cast<void>(flush());
}

SMDEBUG_INLINE detail::status_written status_file::set(std::string_view rule, rule_status status,
                                                       std::string_view details,
                                                       detail::evaluation_status::clock::time_point now) {
    {
        const std::lock_guard lock{guard_};
        const auto [place, is_new] = places_.try_emplace(std::string{rule}, all_.size());
        detail::evaluation_status& entry = is_new ? all_.emplace_back() : all_[place->second];
        const bool same = !is_new && entry.status == status && entry.details == details;
        if (same && !changed_) {
            return {};
        }
        if (!same) {
            entry = {std::string{rule}, status, std::string{details}, now};
        }
        changed_ = true;
        if (when_ == detail::status_writes::in_background && tried_) {
            if (!writer_.joinable()) {
                writer_ = std::jthread{[this](const std::stop_token& stop) { write_behind(stop); }};
            }
            due_ = true;
            wake_.notify_one();
            return std::exchange(failure_, {});
        }
        tried_ = true;
    }
    return flush();
}

SMDEBUG_INLINE detail::status_written status_file::flush() {
    const std::lock_guard one_writes{writing_};
    std::string text;
    {
        const std::lock_guard lock{guard_};
        if (!changed_) {
            return std::exchange(failure_, {});
        }
        text = status_json(all_);
        changed_ = false;
    }
    detail::status_written result = detail::write_status_text(path_, text);
    const std::lock_guard lock{guard_};
    changed_ = changed_ || !result;
    failure_ = {};
    return result;
}

SMDEBUG_INLINE void status_file::write_behind(const std::stop_token& stop) {
    std::unique_lock lock{guard_};
    while (wake_.wait(lock, stop, [&] { return due_; })) {
        due_ = false;
        lock.unlock();
        const auto began = clock::now();
        detail::status_written result = flush();
        const auto rest = 9 * (clock::now() - began);
        lock.lock();
        failure_ = std::move(result);
        wake_.wait_for(lock, stop, rest, [] { return false; });
    }
}

}  // namespace actions
}  // namespace v1
}  // namespace smdebug
