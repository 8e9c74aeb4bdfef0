// Where the results of a scan go besides standard output: a database, in which a run is there whole or not at all.
#pragma once

#include <smdebug/batch/results_database.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/cli/scan_arguments.hpp>
#include <smdebug/cli/scan_source.hpp>
#include <smdebug/core/version.hpp>
#include <smdebug/registry/rule_request.hpp>

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// What a scan asks of each run, as a text: results are those of the same question, and of the same version of the rules.
[[nodiscard]] inline std::string question_of(const scan_arguments& args) {
    std::string text = "smdebug " + std::to_string(SMDEBUG_VERSION_MAJOR) + "." + std::to_string(SMDEBUG_VERSION_MINOR);
    const auto add = [&](std::string_view name, std::string_view value) {
        text.append("\n").append(name).append(": ").append(value);
    };
    if (args.statistics) {
        std::string names;
        for (const statistic& each : *args.statistics) {
            names += (names.empty() ? "" : ",") + each.name;
        }
        add("reductions", names);
        add("tensors", args.tensors.value_or(""));
        add("collection", args.collection.value_or(""));
    } else {
        add("rules", "those that apply");
        for (const rule_request& each : args.check.rules) {
            std::string settings = each.rule;
            for (const auto& [name, value] : each.parameters) {
                settings += "," + name + "=" + value.text;
                for (const std::string& item : value.items ? *value.items : std::vector<std::string>{}) {
                    settings += ";" + item;
                }
            }
            for (const std::string& other : each.other_trials) {
                settings += " against " + other;
            }
            if (each.start_step || each.end_step) {
                settings += " steps " + (each.start_step ? std::to_string(*each.start_step) : "") + ":" +
                            (each.end_step ? std::to_string(*each.end_step) : "");
            }
            add(each.label, settings);
        }
        for (const std::string& other : args.other_trials) {
            add("against", other);
        }
    }
    const check_arguments& check = args.check;
    if (check.start != 0 || check.end) {
        add("steps", std::to_string(check.start) + ":" + (check.end ? std::to_string(*check.end) : ""));
    }
    if (check.stop_at_first) {
        add("stop at first", "yes");
    }
    if (check.first_offender) {
        add("first offender", "yes");
    }
    const format_options& formats = check.how.storage.formats;
    if (formats.as != data_format::detect || !formats.step_regex.empty() || !formats.folders_are_workers) {
        add("read as", std::to_string(static_cast<int>(formats.as)) + " " + formats.step_regex +
                           (formats.folders_are_workers ? "" : ", folders are runs"));
    }
    if (check.how.skip_damaged) {
        add("skip damaged", "yes");
    }
    return text;
}

/// The database of a scan.  Threads: calls may run at once.
class scan_database {
public:
    /// Errors: those of results_database.
    scan_database(const std::string& path, const scan_arguments& args) : base_(path), question_(question_of(args)) {}

    [[nodiscard]] known_results known() {
        return {.version_of =
                    [this](const std::string& path) {
                        const std::lock_guard lock{guard_};
                        return base_.done_version(path, question_);
                    },
                .in_archive =
                    [this](const std::string& archive) {
                        std::vector<std::pair<std::string, std::string>> all;
                        const std::lock_guard lock{guard_};
                        base_.for_each_done_in(
                            archive, question_,
                            [&](std::string_view path, std::string_view version) { all.emplace_back(path, version); });
                        return all;
                    }};
    }

    /// Errors: those of results_database.
    void write(const run_result& result) {
        const std::lock_guard lock{guard_};
        base_.write(result, question_);
    }

    [[nodiscard]] const std::string& path() const noexcept { return base_.path(); }

private:
    std::mutex guard_;
    results_database base_;
    std::string question_;
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
