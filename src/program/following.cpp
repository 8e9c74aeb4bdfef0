#include <program/following.hpp>

#include <program/near_runs.hpp>
#include <program/run_places.hpp>
#include <program/text.hpp>
#include <smdebug/core/system_time.hpp>
#include <smdebug/storage/uri.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace smdebug::inline v1::cli::detail {

void shared_console::use(function_ref<void(console&)> action) {
    const std::lock_guard lock{guard_};
    action(to_);
}

void shared_console::note(std::string_view text) {
    use([&](console& to) { to.note(text); });
}

void shared_console::damage(std::string_view text) {
    use([&](console& to) { to.damage(text); });
}

void shared_console::error(std::string_view text) {
    use([&](console& to) { to.error(text); });
}

void shared_console::progress(std::string_view what, std::size_t done, std::size_t all) {
    use([&](console& to) { to.progress(what, done, all); });
}

run_watch::run_watch(const std::string& path) {
    if (!smdebug::detail::is_in_s3(path) && !smdebug::detail::archive_in(path)) {
        root_ = smdebug::detail::local_path(path);
        folder_ = identity();
    }
}

run_watch::identity_type run_watch::identity() const {
    try {
        const auto reader =
            smdebug::detail::posix::folder_reader::open_if_there(smdebug::detail::posix::working_folder, root_, root_);
        return reader ? reader->identity() : std::nullopt;
    } catch (const error&) {
        return folder_;  // it exists, but cannot be read now
    }
}

noting_feed::noting_feed(const followed_run& of, feed_options options)
    : of_(of), feed_(of.run, watched(std::move(options))), to_(of.out), problems_(of.skip_damaged) {
    report();
}

noting_feed::~noting_feed() {
    try {
        if (of_.skip_damaged) {  // they are notes in any case
            problems_.report(of_.run, of_.path, of_.out);
            problems_.finish(of_.path, of_.out);
        } else {
            tell_problems(of_.run, of_.path, false, of_.out);
        }
    } catch (const std::exception& failed) {
        of_.out.error(error_text(failed, of_.path));
    }
}

void noting_feed::report() {
    if (!of_.run.loaded_all_steps()) {
        problems_.report(of_.run, of_.path, to_);
    }
}

std::vector<step_number> noting_feed::next(step_feed::clock::time_point until) {
    auto steps = feed_.next(until);
    report();
    return steps;
}

feed_options noting_feed::watched(feed_options options) const {
    options.is_replaced = [&watch = of_.watch] { return watch.is_replaced(); };
    return options;
}

void pause_for(std::chrono::milliseconds time, const std::stop_token& stop) {
    std::mutex guard;
    std::condition_variable_any woken;
    std::unique_lock lock{guard};
    woken.wait_for(lock, stop, std::min(time, smdebug::detail::longest_wait), [] { return false; });
}

std::string stalled_text(const trial& run, const std::string& path) {
    const auto from = smdebug::detail::catalog_of(run);  // what was read last
    const auto complete = from->steps_of(mode::global, false);
    return path + ": stalled: nothing new for " + duration_text(run.quiet_time()) + ", and no end-of-job mark; " +
           (complete.empty() ? "no step is complete"
                             : "the last complete step is " + std::to_string(from->shown_step_of(complete.back())));
}

bool may_start(const error& unready) noexcept {
    switch (unready.code()) {
        case error_code::timed_out:
        case error_code::stalled:
        case error_code::corrupt_collections_file:
            return true;
        case error_code::missing_collection_files:  // the job has ended without them
            return false;
        default:
            return dynamic_cast<const not_found*>(&unready) != nullptr;
    }
}

trial open_to_follow(const std::string& path, const run_options& how, const follow_options& follow,
                     const std::stop_token& stop, shared_console& out) {
    using clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds longest_wait{1000};
    // Event files of a running job may come late: they are waited for, unlike elsewhere in the program.
    trial_options options = options_for(how);
    options.stop = stop;
    storage_options storage = how.storage;
    storage.formats.followed_since = std::chrono::system_clock::now();
    std::optional<clock::time_point> given_up;
    while (true) {
        const bool is_last = given_up && clock::now() + options.open_timeout >= *given_up;
        try {
            return open_trial(path, storage, options);
        } catch (const not_found& missing) {
            if (!may_start(missing) || names_archive(path)) {
                throw;  // no run starts in an archive
            }
            if (is_last) {
                throw described(missing, path, how);
            }
        } catch (const error& unready) {
            if (!may_start(unready) || is_last) {
                throw;
            }
        }
        const auto now = clock::now();
        if (options.open_timeout == std::chrono::milliseconds{0}) {
            const std::string hint = run_hint(path, true);
            out.note("waiting for a run to start in " + path + (hint.empty() ? "" : ".") + hint);
            given_up = follow.give_up_after
                           ? std::optional{now + std::min(*follow.give_up_after, smdebug::detail::longest_wait)}
                           : std::nullopt;
        }
        options.open_timeout = longest_wait;
        if (given_up) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(*given_up - now);
            options.open_timeout = std::clamp(left, std::chrono::milliseconds{1}, longest_wait);
        }
    }
}

std::string replaced_text(const std::string& path) {
    return "the run in " + path +
           " was removed, or replaced by another one; what is there next is looked at from its beginning";
}

namespace {

// Opens and follows one run, and its replacements.  Its errors are printed; the other runs go on.
follow_end follow_one(std::size_t place, followed_end& of, const run_options& how, const follow_options& follow,
                      const std::stop_token& stop, shared_console& out,
                      function_ref<follow_end(const followed_run&)> command) {
    const std::string& path = of.path;
    follow_end when_stopped = follow_end::not_started;
    try {
        while (true) {
            const trial run = open_to_follow(path, how, follow, stop, out);
            run_watch watch{path};
            when_stopped = follow_end::interrupted;
            follow_end end = follow_end::replaced;
            try {
                end = command(followed_run{place, path, run, out, stop, watch, how.skip_damaged});
            } catch (const not_found&) {
                if (!watch.is_replaced()) {
                    throw;
                }
            }
            if (end == follow_end::stalled) {
                out.error(stalled_text(run, path));
            }
            if (end != follow_end::replaced) {
                return end;
            }
            out.note(replaced_text(path));
        }
    } catch (const stopped_error&) {
        return when_stopped;
    } catch (const usage_error&) {
        throw;
    } catch (const output_error&) {
        throw;
    } catch (const std::exception& failed) {
        const std::string text = error_text(failed, path);
        of.saved_nothing = text.find(nothing_saved) != std::string::npos;
        out.error(text);
        return follow_end::failed;
    }
}

// What the threads share: the console, and the stop source that ends them.
struct follow_team {
    explicit follow_team(console& to) : out(to) {}

    void fail() {
        out.use([&](console&) { failure = std::current_exception(); });
        ending->request_stop();
    }

    shared_console out;
    // Not on the stack: g++ 12 would warn, with sanitizers, that its constructor reads it.
    std::unique_ptr<std::stop_source> ending = std::make_unique<std::stop_source>();
    std::exception_ptr failure;  // the last one
};

// Starts to follow each run below the folders as it appears, until all have ended and no more has come.
void follow_folders(const run_options& how, const follow_options& follow, follow_team& team,
                    const std::deque<followed_end>& ends, const std::atomic<std::size_t>& running,
                    function_ref<void(const std::string&)> start) {
    constexpr std::chrono::milliseconds interval{500};
    const auto began = std::chrono::steady_clock::now();
    bool is_noted = false;
    while (!team.ending->stop_requested()) {
        const bool all_ended = !ends.empty() && running == 0;
        std::size_t added = 0;
        for (const std::string& path : runs_from_folders(how.folders, how.storage, folders_without_runs::left_out)) {
            const std::string plain = plain_path(path);
            if (std::any_of(ends.begin(), ends.end(), [&](const followed_end& one) { return one.path == plain; })) {
                continue;
            }
            if (ends.size() == most_followed_runs) {
                team.out.error(plain + ": not followed, as " + std::to_string(most_followed_runs) +
                               " runs are followed at once at most");
                return;
            }
            start(path);
            ++added;
        }
        if (all_ended && added == 0) {
            return;
        }
        if (ends.empty() && !std::exchange(is_noted, true)) {
            team.out.note("waiting for a run to start in " + how.folders.front());
        }
        if (ends.empty() && follow.give_up_after &&
            std::chrono::steady_clock::now() - began >=
                std::min(*follow.give_up_after, smdebug::detail::longest_wait)) {
            team.out.error("there is no training run in " + how.folders.front());
            return;
        }
        pause_for(interval, team.ending->get_token());
    }
}

}  // namespace

std::vector<followed_end> follow_runs(const std::vector<std::string>& paths, const run_options& how,
                                      const follow_options& follow, console& to, const std::stop_token& stop,
                                      function_ref<follow_end(const followed_run&)> command) {
    detail::follow_team team{to};
    const std::stop_callback forwarded{stop, [&] { team.ending->request_stop(); }};
    std::deque<followed_end> ends;  // does not move them
    std::atomic<std::size_t> running{0};
    std::vector<std::jthread> threads;
    const auto start = [&](const std::string& path) {
        followed_end& of = ends.emplace_back(followed_end{plain_path(path)});
        ++running;
        threads.emplace_back([&, place = ends.size() - 1] {
            try {
                of.end = detail::follow_one(place, of, how, follow, team.ending->get_token(), team.out, command);
            } catch (...) {
                team.fail();
            }
            --running;
        });
    };
    try {
        if (how.folders.empty()) {
            std::for_each(paths.begin(), paths.end(), start);
        } else {
            detail::follow_folders(how, follow, team, ends, running, start);
        }
    } catch (...) {  // no more threads
        team.ending->request_stop();
        throw;
    }
    threads.clear();
    if (team.failure) {
        std::rethrow_exception(team.failure);
    }
    return {ends.begin(), ends.end()};
}

int status_after(const std::vector<followed_end>& ends, const console& to) {
    const bool interrupted = std::any_of(ends.begin(), ends.end(), [](const followed_end& one) {
        const follow_end end = one.end;
        return end == follow_end::interrupted || end == follow_end::not_started;
    });
    return interrupted ? exit_interrupted : to.status();
}

}  // namespace smdebug::inline v1::cli::detail
