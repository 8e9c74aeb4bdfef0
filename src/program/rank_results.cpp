#include <program/rank_results.hpp>

#include <program/database/results_database.hpp>
#include <smdebug/batch/row_spool.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <system_error>
#include <unordered_set>
#include <utility>

namespace smdebug::inline v1::cli::detail {

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
