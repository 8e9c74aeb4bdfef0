#include <program/loss_line.hpp>

#include <smdebug/reduce/name.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace smdebug::inline v1::cli::detail {

namespace {

// A point at whose steps nothing could be read.
constexpr float nothing_read = -std::numeric_limits<float>::infinity();

// A loss as a picture has it: what is finite stays so, and a loss of minus infinity is not the smallest, but lost.
float point_of(double loss) noexcept {
    constexpr double most = std::numeric_limits<float>::max();
    if (!std::isfinite(loss)) {
        return loss > 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    }
    return static_cast<float>(std::clamp(loss, -most, most));
}

}  // namespace

loss_recorder::loss_recorder(const program_trial& run) {
    const auto losses =
        run.collections().contains("losses") ? run.tensor_names({.collection = "losses"}) : std::vector<std::string>{};
    const auto workers = run.workers();
    if (losses.empty() || workers.empty()) {
        return;
    }
    name_ = losses.front();
    worker_ = workers.front();
    const auto modes = run.modes();
    mode_ = std::find(modes.begin(), modes.end(), mode::train) != modes.end() ? mode::train : mode::global;
    std::vector<report::detail::axis_step> steps;
    for (const step_number step : run.tensor(name_).steps({.show_incomplete_steps = true})) {
        if (mode_ == mode::global || run.mode(step) == mode_) {
            steps.push_back({.step = step});
        }
    }
    line_.points.assign(std::min(steps.size(), loss_points), nothing_read);
    axes_.emplace(steps, loss_points);
}

std::vector<finding> loss_recorder::operator()(const program_trial& run, step_number step) {
    const auto where = axes_ ? axes_->place_of(step) : std::nullopt;
    if (!where) {
        return {};
    }
    const auto mean = run.tensor(name_).find_reduction(step, reduction::mean, {.worker = worker_});
    if (mean) {
        if (!std::isfinite(*mean) && !line_.lost) {
            line_.lost = run.shown_step(step);
        }
        const float value = point_of(*mean);
        float& most = line_.points[where->bucket];
        most = std::isnan(value) || value > most ? value : most;
    }
    return {};
}

loss_line loss_recorder::line() const {
    loss_line line = line_;
    std::erase(line.points, nothing_read);
    return line;
}

}  // namespace smdebug::inline v1::cli::detail
