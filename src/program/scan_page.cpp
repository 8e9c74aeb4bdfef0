#include <program/scan_page.hpp>

#include <program/text.hpp>
#include <smdebug/reduce/name.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>

namespace smdebug::inline v1::cli::detail {

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
    for (const rule_result& each : result.verdicts) {
        row.verdicts.push_back(
            {.rule = each.name,
             .status = each.status != rule_status::not_applicable ? std::string{name_of(each.status)} : std::string{},
             .findings = each.outcome.findings.size(),
             .first = each.outcome.findings.empty() ? std::nullopt : std::optional{each.outcome.findings.front().step},
             .details = each.summary});
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

loss_recorder::loss_recorder(const trial& run) {
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

std::vector<finding> loss_recorder::operator()(const trial& run, step_number step) {
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
