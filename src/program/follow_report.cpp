#include <program/follow_report.hpp>

#include <program/folder_runs.hpp>
#include <program/following.hpp>
#include <program/message_sink.hpp>
#include <program/program_trial.hpp>
#include <program/run_problems.hpp>
#include <program/runs.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/report/page_text.hpp>
#include <smdebug/report/write_report.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

namespace {

// Prints repeated messages about a run only once: as notes, until the last page is made.
class quiet_notes final : public message_sink {
public:
    explicit quiet_notes(console& to) : to_(to) {}

    void note(std::string_view) override {}
    void damage(std::string_view) override {}
    void error(std::string_view text) override {
        if (is_last_) {
            to_.error(text);
        } else if (std::find(told_.begin(), told_.end(), text) == told_.end() && told_.size() < most) {
            told_.emplace_back(text);
            to_.note(text);
        }
    }
    void begin_last() noexcept { is_last_ = true; }
    void progress(std::string_view, std::size_t, std::size_t) override {}

private:
    static constexpr std::size_t most = 1000;

    console& to_;
    std::vector<std::string> told_;
    bool is_last_ = false;
};

// Waits so long, or until `stop`.
void pause_for(std::chrono::milliseconds time, const std::stop_token& stop) {
    std::mutex guard;
    std::condition_variable_any woken;
    std::unique_lock lock{guard};
    woken.wait_for(lock, stop, time, [] { return false; });
}

// The runs of a report that grow.
class followed_report {
public:
    /// Borrows all.
    followed_report(const report_arguments& args, const program_rules& registry, console& to, std::stop_token stop)
        : args_(args),
          registry_(registry),
          to_(to),
          stop_(std::move(stop)),
          shared_(to),
          maker_(registry, args.check.how),
          quiet_(to) {}

    /// Until every job has ended, was given up, or `stop`; the exit status.
    [[nodiscard]] int follow() {
        if (args_.check.how.folders.empty()) {
            std::for_each(args_.check.runs.begin(), args_.check.runs.end(), [&](const auto& path) { open(path); });
        } else {
            wait_for_folders();
        }
        using clock = std::chrono::steady_clock;
        while (true) {
            const bool has_new = open_new_folders();
            const bool over = look() && (!has_new || stop_.stop_requested());
            if (!over && !changed_ && !has_new && written_) {
                pause_for(args_.interval, stop_);
                continue;
            }
            const auto began = clock::now();
            if (over) {
                quiet_.begin_last();
            }
            gather();
            page_.look_again = over ? 0 : seconds();
            report::detail::write_page(page_, args_.output);
            written_ = true;
            if (over) {
                break;
            }
            // Each time the run is walked from its beginning: this takes at most a tenth of the time.
            pause_for(std::max(args_.interval,
                               std::chrono::duration_cast<std::chrono::milliseconds>(9 * (clock::now() - began))),
                      stop_);
        }
        tell_report(args_, page_, to_);
        for (const one& each : opened_) {
            tell_problems(each.run, each.path, args_.check.how.skip_damaged, to_);
            if (each.stalled) {
                to_.error(stalled_text(each.run, each.path));
            }
        }
        const bool met = has_findings(page_);
        return stop_.stop_requested() && !met ? exit_interrupted : to_.status(met);
    }

private:
    struct one {
        std::string path;
        program_trial run;
        run_watch watch;
        run_problems problems;
        std::optional<std::chrono::steady_clock::time_point> lost = {};  ///< since when it is no longer there
        std::uint32_t load = 0;                                          ///< the catalog that the page shows
        bool ended = false;
        bool stalled = false;
    };

    [[nodiscard]] std::uint32_t seconds() const {
        return static_cast<std::uint32_t>(std::max<std::int64_t>(args_.interval.count() / 1000, 2));
    }

    void open(const std::string& path) {
        const std::string plain = plain_path(path);
        opened_.push_back({plain, open_to_follow(plain, args_.check.how, args_.check.follow, stop_, shared_),
                           run_watch{plain}, run_problems{args_.check.how.skip_damaged}});
    }

    // Opens the runs that have appeared below the folders; whether there were any.
    bool open_new_folders() {
        const std::size_t before = opened_.size();
        const run_options& how = args_.check.how;
        for (const std::string& path : runs_from_folders(how.folders, how.storage, folders_without_runs::left_out)) {
            const std::string plain = plain_path(path);
            const auto is_open = [&](const one& each) { return each.path == plain; };
            if (opened_.size() < most_followed_runs && std::none_of(opened_.begin(), opened_.end(), is_open)) {
                open(path);
            }
        }
        return opened_.size() > before;
    }

    void wait_for_folders() {
        const auto began = std::chrono::steady_clock::now();
        for (bool first = true; !open_new_folders() && !stop_.stop_requested(); first = false) {
            const auto limit = args_.check.follow.give_up_after;
            if (limit && std::chrono::steady_clock::now() - began >= *limit) {
                throw not_found("there is no training run in " + args_.check.how.folders.front());
            }
            if (first) {
                to_.note("waiting for a run to start in " + args_.check.how.folders.front());
            }
            pause_for(std::chrono::milliseconds{500}, stop_);
        }
    }

    // Whether all runs have ended; new data sets changed_.
    [[nodiscard]] bool look() {
        changed_ = false;
        bool all = true;
        const auto limit = args_.check.follow.give_up_after;
        for (one& each : opened_) {
            if (!each.ended && !is_there(each)) {
                each.stalled = limit && std::chrono::steady_clock::now() - *each.lost > *limit;
                all = all && each.stalled;
                continue;
            }
            if (!each.ended) {
                each.run.refresh();
                const std::uint32_t load = smdebug::detail::catalog_of(each.run)->load;
                each.ended = each.run.loaded_all_steps();
                changed_ = changed_ || load != each.load || each.ended;
                each.load = load;
            }
            each.stalled = !each.ended && limit && smdebug::detail::state_of(each.run)->watched_quiet_time() > *limit;
            all = all && (each.ended || each.stalled);
        }
        return all || stop_.stop_requested();
    }

    // Opens what took the place of a run, if it was removed.
    [[nodiscard]] bool is_there(one& each) {
        if (!each.lost && !each.watch.is_replaced()) {
            return true;
        }
        if (!each.lost) {
            each.lost = std::chrono::steady_clock::now();
            to_.note(replaced_text(each.path));
        }
        try {
            trial_options options = options_for(args_.check.how);
            options.stop = stop_;
            each.run = open_trial(each.path, args_.check.how.storage, options);
        } catch (const error& unready) {
            if (!may_start(unready)) {
                throw;
            }
            return false;
        }
        each.watch = run_watch{each.path};
        each.problems = run_problems{args_.check.how.skip_damaged};
        each.lost.reset();
        each.load = 0;
        changed_ = true;
        return true;
    }

    void gather() {
        page_.runs.clear();
        for (one& each : opened_) {
            // If interrupted, it still shows what exists.
            page_.runs.push_back(report_run(maker_, registry_, each.run, each.path, args_, {}, quiet_));
            if (!each.ended) {
                each.problems.report(each.run, each.path, provisional_);
            }
        }
        page_.title = title_of(args_, page_);
    }

    const report_arguments& args_;
    const program_rules& registry_;
    console& to_;
    std::stop_token stop_;
    shared_console shared_;
    provisional_sink provisional_{shared_};
    rule_maker maker_;
    quiet_notes quiet_;
    std::vector<one> opened_;
    report::detail::page page_;
    bool changed_ = false;
    bool written_ = false;
};

}  // namespace

int follow_report(const report_arguments& args, const program_rules& registry, console& to,
                  const std::stop_token& stop) {
    try {
        return followed_report{args, registry, to, stop}.follow();
    } catch (const stopped_error&) {  // before there was a run
        return exit_interrupted;
    }
}

}  // namespace smdebug::inline v1::cli::detail
