#include <program/batch_progress.hpp>

#include <program/rule_notes.hpp>
#include <program/text.hpp>

#include <array>
#include <cstdio>
#include <utility>

namespace smdebug::inline v1::cli::detail {

std::optional<double> batch_counts::seconds_left() const {
    const std::size_t worked = done - unchanged;
    if (!all || worked == 0 || *all < done) {
        return std::nullopt;
    }
    return seconds / static_cast<double>(worked) * static_cast<double>(*all - done);
}

std::string progress_text(const batch_counts& now, bool bar) {
    std::string text;
    if (now.all && bar) {
        text = console::progress_bar(now.done, *now.all) + "runs";
    } else {
        text = std::to_string(now.done) + (now.all ? " of " + std::to_string(*now.all) : std::string{}) + " runs";
    }
    if (now.bytes > 0) {
        text += ", " + size_text(static_cast<std::uint64_t>(now.bytes_per_second())) + "/s";
    }
    text += now.with_findings > 0 ? ", " + std::to_string(now.with_findings) + " with findings" : "";
    text += now.failed > 0 ? ", " + std::to_string(now.failed) + " failed" : "";
    if (const auto left = now.seconds_left()) {
        const std::chrono::milliseconds time{static_cast<std::int64_t>(*left * 1000)};
        text += *now.all > now.done ? ", " + duration_text(time) + " left" : "";
    }
    return text;
}

std::string progress_json(const batch_counts& now) {
    const auto real = [](double number) {
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), "%.3f", number);
        return std::string{text.data()};
    };
    const auto left = now.seconds_left();
    return "{\"runs_done\":" + std::to_string(now.done) +
           ",\"runs\":" + (now.all ? std::to_string(*now.all) : std::string{"null"}) +
           ",\"unchanged\":" + std::to_string(now.unchanged) +
           ",\"with_findings\":" + std::to_string(now.with_findings) + ",\"failed\":" + std::to_string(now.failed) +
           ",\"bytes\":" + std::to_string(now.bytes) + ",\"bytes_per_second\":" + real(now.bytes_per_second()) +
           ",\"seconds\":" + real(now.seconds) + ",\"seconds_left\":" + (left ? real(*left) : std::string{"null"}) +
           "}";
}

batch_progress::batch_progress(progress_format how, console& to) : how_(how), to_(to) {
    if (how_ == progress_format::none) {
        return;
    }
    pace_ = how_ == progress_format::json ? std::chrono::milliseconds{1000}
            : to_.messages_on_terminal()  ? std::chrono::milliseconds{200}
                                          : std::chrono::milliseconds{60'000};
    ticker_ = std::jthread{[this](const std::stop_token& end) { tick(end); }};
}

void batch_progress::listed(std::size_t all) {
    const auto locked = lock();
    now_.all = all + now_.apart;
}

void batch_progress::unchanged(std::size_t runs) {
    const auto locked = lock();
    now_.done += runs;
    now_.unchanged += runs;
    now_.apart += runs;
}

void batch_progress::done(const run_result& result) {
    if (result.state != run_state::undone) {
        ++now_.done;
        now_.unchanged += result.state == run_state::unchanged;
        now_.with_findings += has_findings(result);
        now_.failed += !result.error.empty();
        now_.bytes += result.state == run_state::unchanged ? 0 : result.run.bytes;
    }
    // The runs of an archive that was listed as one.
    for (const run_result& other : result.others) {
        ++now_.apart;
        now_.all = now_.all ? std::optional{*now_.all + 1} : std::nullopt;
        done(other);
    }
}

void batch_progress::done_elsewhere(std::size_t runs) {
    const auto locked = lock();
    now_.done += runs;
    elsewhere_ += runs;
}

void batch_progress::begin_results() {
    const auto locked = lock();
    now_.done -= std::exchange(elsewhere_, 0);
}

void batch_progress::steps(const std::string& what, std::size_t done, std::size_t all) {
    const auto locked = lock();
    if (how_ == progress_format::people && now_.all == 1) {
        to_.progress(what, done, all);
        shows_steps_ = true;
    }
}

void batch_progress::finish() {
    ticker_ = {};
    const auto locked = lock();
    if (how_ == progress_format::json) {
        to_.report(progress_json(so_far()));
    }
}

batch_counts batch_progress::so_far() const {
    batch_counts counts = now_;
    counts.seconds = std::chrono::duration<double>(clock::now() - begin_).count();
    return counts;
}

void batch_progress::tick(const std::stop_token& end) {
    auto locked = lock();
    while (!end.stop_requested()) {
        if (wake_.wait_for(locked, end, pace_, [] { return false; }); end.stop_requested()) {
            return;
        }
        if (how_ == progress_format::json) {
            to_.report(progress_json(so_far()));
        } else if (!to_.messages_on_terminal()) {
            to_.note(progress_text(so_far(), false));
        } else if (!shows_steps_) {
            to_.progress_line([&] { return progress_text(so_far(), true); });
        }
    }
}

}  // namespace smdebug::inline v1::cli::detail
