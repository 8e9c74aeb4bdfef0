#include <program/scan_results.hpp>

#include <program/database/results_database.hpp>
#include <program/evaluate_run.hpp>
#include <program/runs.hpp>
#include <program/stats.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/batch/run_version.hpp>
#include <smdebug/batch/search/name_pattern.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/version.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

namespace {

// The version of a run that others are compared with; different each time if it is not known.
std::string version_of_other(const std::string& path, const run_options& how) {
    try {
        const auto files = smdebug::detail::archive_in(path) ? run_version_at(path, how.storage)
                                                             : run_version(storage_of({.path = path}, how));
        if (files) {
            return files->version;
        }
    } catch (const error&) {
        // the rule that opens it says so
    }
    return "not known at " + std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
}

}  // namespace

std::string question_of(const scan_arguments& args) {
    const auto versioned = [&](const std::string& other) {
        return smdebug::detail::run_key_of(other) + " at version " + version_of_other(other, args.check.how);
    };
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
        std::string rules = "those that apply, to all workers";
        for (const smdebug::detail::scanned_rule& each : smdebug::detail::scanned_rules) {
            rules.append("; ").append(each.name).append(",").append(each.parameters);
        }
        add("rules", rules);
        for (const rule_request& each : args.check.rules) {
            std::string settings = each.rule;
            for (const auto& [name, value] : each.parameters) {
                settings += "," + name + "=" + value.text;
                for (const std::string& item : value.items ? *value.items : std::vector<std::string>{}) {
                    settings += ";" + item;
                }
            }
            for (const std::string& other : each.other_trials) {
                settings += " against " + versioned(other);
            }
            if (each.start_step || each.end_step) {
                settings += " steps " + (each.start_step ? std::to_string(*each.start_step) : "") + ":" +
                            (each.end_step ? std::to_string(*each.end_step) : "");
            }
            add(each.label, settings);
        }
        for (const std::string& other : args.other_trials) {
            add("against", versioned(other));
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
    if (check.how.untrusted) {  // with wider limits more may be read
        add("untrusted", "yes");
    }
    return text;
}

scan_database::scan_database(const std::string& path, const scan_arguments& args, use how)
    : how_(how), base_(path, std::chrono::seconds{10}, how != use::shared), question_(question_of(args)) {}

known_results scan_database::known() {
    return {.version_of =
                [this](const std::string& path) {
                    const std::lock_guard lock{guard_};
                    return base_.done_version(path, question_);
                },
            .in_archive =
                [this](const std::string& archive) {
                    std::vector<std::pair<std::string, std::string>> all;
                    const std::lock_guard lock{guard_};
                    base_.for_each_done_in(archive, question_, [&](std::string_view path, std::string_view version) {
                        all.emplace_back(path, version);
                    });
                    return all;
                },
            .asked = &asked_};
}

void scan_database::take(run_result& result) {
    asked_.take(result);
    const std::lock_guard lock{guard_};
    if (result.state == run_state::unchanged) {
        pass_one(result.run.path);
    } else {
        store(result, question_);
    }
}

void scan_database::store_together(function_ref<void()> work) {
    {
        const std::lock_guard lock{guard_};
        base_.begin_group();
        grouped_ = 0;
    }
    work();
    const std::lock_guard lock{guard_};
    grouped_.reset();
    base_.end_group();
}

void scan_database::take_earlier(run_result& result, std::string_view question) {
    const std::lock_guard lock{guard_};
    store(result, question);
}

void scan_database::store(run_result& result, std::string_view question) {
    const std::string& path = result.run.path;
    if (result.state == run_state::undone) {
        return;
    }
    if (result.state == run_state::gone && how_ != use::of_rank) {
        const auto known = base_.find(path);
        if (known && known->state != run_state::failed) {
            base_.mark_gone(path, result.error, [](std::string_view behind) { return behind.empty(); });
            return;
        }
        result.state = run_state::failed;
    }
    base_.write(result, question);
    if (grouped_ && ++*grouped_ == 256) {
        grouped_ = 0;
        base_.end_group();
        base_.begin_group();
    }
}

void scan_database::pass(const std::string& path) {
    const std::lock_guard lock{guard_};
    pass_one(path);
}

passed_runs scan_database::passed() {
    const std::lock_guard lock{guard_};
    return passed_;
}

std::optional<run_result> scan_database::find(const std::string& path) {
    const std::lock_guard lock{guard_};
    return base_.find(path);
}

std::size_t scan_database::mark_gone() {
    const std::lock_guard lock{guard_};
    return asked_.mark_gone(base_, question_);
}

void scan_database::pass_one(const std::string& path) {
    const passed_run known = base_.passed(path);
    passed_.incomplete += known.is_incomplete ? 1U : 0U;
    passed_.with_findings += known.has_findings ? 1U : 0U;
}

namespace {

constexpr std::string_view rank_ending = ".rank-";

// Where a result lies; without a database the run has not changed.
struct stored_place {
    std::uint64_t place = 0;
    results_database* base = nullptr;
    std::string path = {};
    const std::string* question = nullptr;
};

run_result result_of(stored_place& from) {
    if (from.base == nullptr) {
        return {.run = {.place = from.place, .path = std::move(from.path)}, .state = run_state::unchanged};
    }
    run_result result = from.base->find(from.path).value_or(run_result{});
    auto reductions = std::make_shared<row_spool>();
    from.base->for_each_reduction(from.path, [&](const reduction_row& row) { reductions->add(row); });
    if (reductions->size() > 0) {
        result.reductions = std::move(reductions);
    }
    result.run.path = std::move(from.path);
    return result;
}

}  // namespace

std::string rank_file(const std::string& output, int rank) {
    return output + std::string{rank_ending} + std::to_string(rank);
}

std::vector<std::string> rank_files(const std::string& output) {
    const std::filesystem::path path{output};
    const std::string begin = path.filename().string() + std::string{rank_ending};
    std::vector<std::string> files;
    std::error_code unreadable;  // then writing there fails, and reports it
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path{"."};
    for (const auto& each : std::filesystem::directory_iterator{folder, unreadable}) {
        const std::string name = each.path().filename().string();
        if (name.size() > begin.size() && name.starts_with(begin) &&
            name.find_first_not_of("0123456789", begin.size()) == std::string::npos) {
            files.push_back(output + name.substr(begin.size() - rank_ending.size()));
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

void for_each_rank_result(const std::vector<std::string>& files, std::vector<batch_run> unchanged,
                          function_ref<void(run_result&&, std::string_view)> take) {
    std::vector<std::unique_ptr<results_database>> bases;
    std::set<std::string, std::less<>> questions;
    std::vector<stored_place> all;
    std::unordered_set<std::uint64_t> places;
    for (const std::string& each : files) {
        results_database& base =
            *bases.emplace_back(std::make_unique<results_database>(each, std::chrono::seconds{10}, true));
        base.for_each_run([&](std::uint64_t place, std::string_view path, std::string_view question) {
            all.push_back({place, &base, std::string{path}, &*questions.emplace(question).first});
            places.insert(place);
        });
    }
    for (batch_run& each : unchanged) {
        if (!places.contains(each.place)) {
            all.push_back({.place = each.place, .path = std::move(each.path)});
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.place < b.place; });
    for (auto first = all.begin(); first != all.end();) {
        const auto last = std::find_if(
            first, all.end(), [&](const auto& each) { return each.place != first->place || each.base != first->base; });
        // The first run of an archive was written last.
        run_result result = result_of(*(last - 1));
        std::transform(first, last - 1, std::back_inserter(result.others), result_of);
        take(std::move(result), first->question != nullptr ? std::string_view{*first->question} : std::string_view{});
        first = last;
    }
}

void remove_rank_files(const std::vector<std::string>& files) {
    for (const std::string& each : files) {
        std::error_code stays;  // it would be merged once more, which changes nothing
        std::filesystem::remove(each, stays);
    }
}

}  // namespace smdebug::inline v1::cli::detail
