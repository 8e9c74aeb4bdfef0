// The bodies of <smdebug/actions/status_file.hpp>.
#pragma once

#include <smdebug/actions/status_file.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <optional>
#include <utility>

namespace smdebug::inline v1::actions {

SMDEBUG_INLINE std::string iso_time_text(evaluation_status::clock::time_point time) {
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

SMDEBUG_INLINE void append_status_json(std::string& out, const evaluation_status& one) {
    out += "{\"RuleConfigurationName\":";
    append_json_ascii(out, one.rule_configuration_name);
    out += ",\"RuleEvaluationStatus\":";
    append_json_ascii(out, service_name_of(one.status));
    out += ",\"StatusDetails\":";
    append_json_ascii(out, smdebug::detail::cut_text(one.details, most_status_details));
    out += ",\"LastModifiedTime\":";
    append_json_ascii(out, iso_time_text(one.last_modified));
    out += '}';
}

SMDEBUG_INLINE std::string status_json(std::span<const evaluation_status> all) {
    std::string out = "[";
    for (const evaluation_status& one : all) {
        out += out.size() == 1 ? "" : ",";
        append_status_json(out, one);
    }
    return out + "]\n";
}

SMDEBUG_INLINE std::string status_json(const evaluation_status& one) {
    std::string out;
    append_status_json(out, one);
    return out + '\n';
}

namespace detail {

[[nodiscard]] inline status_written write_status_text(const std::string& path, const std::string& text) {
    try {
        smdebug::detail::posix::write_whole(path, as_bytes(text));
    } catch (const std::exception& failed) {
        return {failed.what()};
    }
    return {};
}

}  // namespace detail

SMDEBUG_INLINE status_written write_status_file(const std::string& path, const evaluation_status& one) {
    return detail::write_status_text(path, status_json(one));
}

SMDEBUG_INLINE status_written write_status_file(const std::string& path, std::span<const evaluation_status> all) {
    return detail::write_status_text(path, status_json(all));
}

SMDEBUG_INLINE status_file::~status_file() {
    if (writer_.joinable()) {
        writer_.request_stop();
        writer_.join();
    }
    static_cast<void>(flush());
}

SMDEBUG_INLINE status_written status_file::set(std::string_view rule, rule_status status, std::string_view details,
                                               evaluation_status::clock::time_point now) {
    {
        const std::lock_guard lock{guard_};
        const auto [place, is_new] = places_.try_emplace(std::string{rule}, all_.size());
        evaluation_status& entry = is_new ? all_.emplace_back() : all_[place->second];
        const bool same = !is_new && entry.status == status && entry.details == details;
        if (same && !changed_) {
            return {};
        }
        if (!same) {
            entry = {std::string{rule}, status, std::string{details}, now};
        }
        changed_ = true;
        if (when_ == status_writes::in_background && tried_) {
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

SMDEBUG_INLINE status_written status_file::flush() {
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
    status_written result = detail::write_status_text(path_, text);
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
        status_written result = flush();
        const auto rest = 9 * (clock::now() - began);
        lock.lock();
        failure_ = std::move(result);
        wake_.wait_for(lock, stop, rest, [] { return false; });
    }
}

SMDEBUG_INLINE std::string_view name_of(const action_record& action) noexcept {
    constexpr std::string_view names[] = {"stoptraining", "email", "sms"};
    return names[action.index()];
}

namespace detail {

namespace json = smdebug::detail::json;
using smdebug::detail::in_small_letters;

/// The text of the field of that name, ignoring case; empty if there is none.
[[nodiscard]] inline std::string text_in(json::value entry, std::string_view name) {
    std::optional<std::string_view> text;
    entry.for_each_field([&](std::string_view field, json::value value) {
        text = in_small_letters(field) == name ? value.string() : text;
        return true;
    });
    return std::string{text.value_or("")};
}

/// The text of a required field; if it is missing, `problem` says so.
[[nodiscard]] inline std::string needed_field(json::value entry, std::string_view name, std::string_view action,
                                              std::string& problem) {
    std::string text = text_in(entry, name);
    if (text.empty()) {
        problem = std::string{action}.append(" needs a text as its \"").append(name).append("\"");
    }
    return text;
}

/// Adds the action of an entry, or the reason why it is not valid.
inline void add_action(parsed_actions& parsed, json::value entry, std::size_t number) {
    const std::string name = text_in(entry, "name");
    const std::string kind = in_small_letters(name);
    std::string problem;
    std::optional<action_record> made;
    if (!entry.is_object()) {
        problem = "it is not an object";
    } else if (name.empty()) {
        problem = "it has no \"name\"";
    } else if (kind == "stoptraining") {
        made = stop_training{needed_field(entry, "training_job_prefix", name, problem)};
    } else if (kind == "email") {
        made = email{needed_field(entry, "endpoint", name, problem)};
    } else if (kind == "sms") {
        made = sms{needed_field(entry, "endpoint", name, problem)};
    } else {
        problem = "there is no action \"" + name + "\"; there are: stoptraining, email, sms";
    }
    if (problem.empty()) {
        parsed.actions.push_back(*std::move(made));
    } else {
        parsed.problems.push_back("Action " + std::to_string(number) + " is left out: " + problem + ".");
    }
}

/// Removes one level of backslashes: \" becomes a quote, \\ a backslash.
[[nodiscard]] inline std::string without_escapes(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) {
            ++i;
        }
        plain += text[i];
    }
    return plain;
}

}  // namespace detail

SMDEBUG_INLINE detail::parsed_actions parse_actions(std::string_view text) {
    detail::parsed_actions parsed;
    text = smdebug::detail::trimmed(text, " \t\r\n");
    if (text.empty() || text == "None") {
        return parsed;
    }
    detail::json::document parser;
    detail::json::document inner;
    std::string plain;
    auto root = parser.parse(as_bytes(text));
    if (!root) {
        plain = detail::without_escapes(text);
        root = parser.parse(as_bytes(plain));
    }
    if (!root) {
        constexpr std::size_t most_shown = 200;
        throw value_error(
            "The actions are not valid JSON: " + std::string{smdebug::detail::cut_text(text, most_shown)} +
            (text.size() > most_shown ? "..." : ""));
    }
    if (const auto quoted = root->string()) {
        const std::string embedded{*quoted};
        auto unescaped = inner.parse(as_bytes(embedded));
        root = unescaped ? unescaped : inner.parse(as_bytes(detail::without_escapes(embedded)));
    }
    std::size_t number = 0;
    const bool is_list = root && root->for_each_element([&](detail::json::value entry) {
        detail::add_action(parsed, entry, ++number);
        return true;
    });
    if (root && root->is_object()) {
        detail::add_action(parsed, *root, 1);
    } else if (!is_list) {
        parsed.problems.emplace_back("The actions are neither an object nor a list: there are none.");
    }
    return parsed;
}

}  // namespace smdebug::inline v1::actions
