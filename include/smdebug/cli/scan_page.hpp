// `smdebug scan --report`: the results of a batch as a page: a table of runs and rules, with a line of each run's loss.
#pragma once

#include <smdebug/batch/run_result.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/cli/text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/report/page_text.hpp>
#include <smdebug/report/reported_run.hpp>
#include <smdebug/report/step_axis.hpp>
#include <smdebug/report/write_report.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/rule_status.hpp>
#include <smdebug/trial/for_each_tensor.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// How many numbers a line of a loss has, at most.
inline constexpr std::size_t loss_points = 48;

/// A loss as a picture has it: what is finite stays so, and a loss of minus infinity is not the smallest, but lost.
[[nodiscard]] inline float point_of(double loss) noexcept {
    constexpr double most = std::numeric_limits<float>::max();
    if (!std::isfinite(loss)) {
        return loss > 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    }
    return static_cast<float>(std::clamp(loss, -most, most));
}

/// A loss, in some points.
struct loss_line {
    std::vector<float> points = {};
    step_number lost = -1;  ///< the first step at which it is NaN or infinite; -1: none
};

/// The first loss by name over the steps of its first worker, of the training where there are several modes; of steps
/// that share a point the largest, or NaN.  Empty: there is none.  Errors: those of scan().
[[nodiscard]] inline loss_line loss_of(const program_trial& run, const std::stop_token& stop) {
    const auto losses =
        run.collections().contains("losses") ? run.tensor_names({.collection = "losses"}) : std::vector<std::string>{};
    const auto workers = run.workers();
    if (losses.empty() || workers.empty()) {
        return {};
    }
    tensor_selection which{.names = std::vector<std::string>{losses.front()}, .worker = workers.front()};
    const auto modes = run.modes();
    which.mode = std::find(modes.begin(), modes.end(), mode::train) != modes.end() ? mode::train : mode::global;
    std::vector<report::detail::axis_step> steps;
    for (const step_number step : run.tensor(losses.front()).steps({.show_incomplete_steps = true})) {
        if (which.mode == mode::global || run.mode(step) == which.mode) {
            steps.push_back({.step = step});
        }
    }
    report::detail::step_axes axes{steps, loss_points};
    constexpr float unread = -std::numeric_limits<float>::infinity();
    loss_line line{.points = std::vector<float>(std::min(steps.size(), loss_points), unread)};
    static_cast<void>(
        for_each_tensor(run, which, reduction_set{reduction::mean},
                        [&](const reduced_tensor& tensor) {
                            const auto where = axes.place_of(tensor.step);
                            if (where && tensor.reductions.computed.contains(reduction_key{reduction::mean, false})) {
                                const double mean = tensor.reductions(reduction::mean);
                                if (!std::isfinite(mean) && (line.lost < 0 || tensor.shown_step < line.lost)) {
                                    line.lost = tensor.shown_step;
                                }
                                const float value = point_of(mean);
                                float& most = line.points[where->bucket];
                                most = std::isnan(value) || value > most ? value : most;
                            }
                        },
                        {.stop = stop}));
    std::erase(line.points, unread);  // of steps that cannot be read
    return line;
}

/// A file's name as an address of HTML has it.
[[nodiscard]] inline std::string address_of(std::string_view name) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string text;
    for (const char each : name) {
        const auto byte = static_cast<unsigned char>(each);
        const bool plain = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                           (each >= '0' && each <= '9') || each == '-' || each == '_' || (each == '.' && !text.empty());
        if (plain) {
            text += each;
        } else {
            text += '%';
            text += digits[byte >> 4U];
            text += digits[byte & 15U];
        }
    }
    return text;
}

/// Gathers the results of a batch.  One thread at a time.
class scan_page {
public:
    /// `path`: of the page.
    explicit scan_page(std::string path) : path_(std::move(path)) {}

    void add(const run_result& result) {
        ++all_;
        if (page_.batch.size() >= most) {
            return;
        }
        report::detail::reported_row& row = page_.batch.emplace_back();
        row.path = result.run.path;
        row.state = name_of(result.state);
        row.error = result.error;
        row.steps = result.steps;
        row.loss = result.loss;
        row.loss_lost = result.loss_lost;
        row.link = link_to(result.run.path);
        for (const rule_verdict& each : result.verdicts) {
            row.verdicts.push_back({.rule = each.rule,
                                    .status = each.status ? std::string{name_of(*each.status)} : std::string{},
                                    .findings = each.found.size(),
                                    .first = each.found.empty() ? -1 : each.found.front().step,
                                    .details = each.details});
        }
    }

    /// Errors: as write_report().
    void write() {
        page_.is_batch = true;
        page_.title = counted(all_, "run");
        if (all_ > page_.batch.size()) {
            page_.title += ", the first " + counted(page_.batch.size(), "run");
        }
        report::detail::write_page(page_, path_);
    }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    static constexpr std::size_t most = 20'000;

    // The report of the run, where it lies beside this page: NAME.html.
    [[nodiscard]] std::string link_to(const std::string& run) const {
        const std::string name = run.substr(run.find_last_of("/!") + 1) + ".html";
        const std::filesystem::path page{path_};
        std::error_code none;
        const bool is_there = std::filesystem::is_regular_file(page.parent_path() / name, none);
        return is_there && name != page.filename() ? address_of(name) : std::string{};
    }

    std::string path_;
    report::detail::page page_;
    std::size_t all_ = 0;
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
