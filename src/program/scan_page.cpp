#include <program/scan_page.hpp>

#include <program/text.hpp>
#include <smdebug/report/step_axis.hpp>
#include <smdebug/trial/for_each_tensor.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

namespace {

// A loss as a picture has it: what is finite stays so, and a loss of minus infinity is not the smallest, but lost.
float point_of(double loss) noexcept {
    constexpr double most = std::numeric_limits<float>::max();
    if (!std::isfinite(loss)) {
        return loss > 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    }
    return static_cast<float>(std::clamp(loss, -most, most));
}

}  // namespace

loss_line loss_of(const program_trial& run, const std::stop_token& stop) {
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

std::string address_of(std::string_view name) {
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

void scan_page::add(const run_result& result) {
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

void scan_page::write() {
    page_.is_batch = true;
    page_.title = counted(all_, "run");
    if (all_ > page_.batch.size()) {
        page_.title += ", the first " + counted(page_.batch.size(), "run");
    }
    report::detail::write_page(page_, path_);
}

std::string scan_page::link_to(const std::string& run) const {
    const std::string name = run.substr(run.find_last_of("/!") + 1) + ".html";
    const std::filesystem::path page{path_};
    std::error_code none;
    const bool is_there = std::filesystem::is_regular_file(page.parent_path() / name, none);
    return is_there && name != page.filename() ? address_of(name) : std::string{};
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
