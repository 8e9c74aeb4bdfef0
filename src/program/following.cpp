#include <program/following.hpp>

#include <program/near_runs.hpp>
#include <program/text.hpp>
#include <smdebug/storage/uri.hpp>
#include <smdebug/trial/options.hpp>

#include <algorithm>
#include <chrono>
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
        find_files();
    }
}

bool run_watch::is_replaced() {
    if (!folder_) {
        return false;
    }
    if (identity() != folder_) {
        return true;
    }
    for (auto& [path, known] : files_) {
        const facts now = facts_of(path);
        if (!now.size || *now.size < known.size || (path == index_ && now.written != known.written)) {
            return true;
        }
        known = now;
    }
    if (files_.empty()) {
        find_files();
    }
    return false;
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

run_watch::facts run_watch::facts_of(const std::string& path) {
    std::error_code failed;
    facts now{.size = std::filesystem::file_size(path, failed)};
    now.written = std::filesystem::last_write_time(path, failed);
    return failed ? facts{} : now;
}

void run_watch::find_files() {
    constexpr std::size_t most_files = 16;
    std::error_code failed;
    const std::filesystem::path index = std::filesystem::path{root_} / "index";
    std::filesystem::recursive_directory_iterator entry{
        std::filesystem::is_directory(index, failed) ? index.string() : root_, failed};
    std::size_t left = most_looked_at;
    for (; !failed && entry != std::filesystem::recursive_directory_iterator{} && left > 0 && index_.empty() &&
           files_.size() < most_files;
         entry.increment(failed), --left) {
        const std::string path = entry->path().string();
        const bool is_index = path.ends_with(".json") && path.starts_with(index.string());
        if (is_index || path.find("tfevents") != std::string::npos) {
            files_.emplace(path, facts_of(path));
            index_ = is_index ? path : std::string{};
        }
    }
}

noting_feed::noting_feed(const followed_run& of, feed_options options)
    : of_(of), feed_(of.run, watched(std::move(options))), problems_(of.skip_damaged) {
    report();
}

std::vector<step_number> noting_feed::next() {
    auto steps = feed_.next();
    report();
    return steps;
}

feed_options noting_feed::watched(feed_options options) const {
    options.is_replaced = [&watch = of_.watch] { return watch.is_replaced(); };
    return options;
}

std::string stalled_text(const program_trial& run, const std::string& path) {
    const auto from = run.snapshot();  // what was read last
    const auto complete = from->steps_of(mode::global, false);
    return path + ": stalled: nothing new for " + duration_text(run.quiet_time()) + ", and no end-of-job mark; " +
           (complete.empty() ? "no step is complete"
                             : "the last complete step is " + std::to_string(from->shown_step_of(complete.back())));
}

program_trial open_to_follow(const std::string& path, const run_options& how, const follow_options& follow,
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
        } catch (const missing_collection_files&) {
            throw;  // the job has ended without them
        } catch (const not_found& missing) {
            if (names_archive(path)) {
                throw;  // no run starts in an archive
            }
            if (is_last) {
                throw described(missing, path, how);
            }
        } catch (const timed_out&) {
            if (is_last) {
                throw;
            }
        } catch (const collections_file_exception&) {  // it may be half written
            if (is_last) {
                throw;
            }
        }
        const auto now = clock::now();
        if (options.open_timeout == std::chrono::milliseconds{0}) {
            const std::string hint = run_hint(path, true);
            out.note("waiting for a run to start in " + path + (hint.empty() ? "" : ".") + hint);
            given_up = follow.give_up_after ? std::optional{now + *follow.give_up_after} : std::nullopt;
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
follow_end follow_one(std::size_t place, const std::string& path, const run_options& how, const follow_options& follow,
                      const std::stop_token& stop, shared_console& out,
                      function_ref<follow_end(const followed_run&)> command) {
    follow_end when_stopped = follow_end::not_started;
    try {
        while (true) {
            const program_trial run = open_to_follow(path, how, follow, stop, out);
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
    } catch (const stopped&) {
        return when_stopped;
    } catch (const usage_error&) {
        throw;
    } catch (const output_error&) {
        throw;
    } catch (const std::exception& failed) {
        out.error(error_text(failed, path));
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

}  // namespace

std::vector<follow_end> follow_runs(const std::vector<std::string>& paths, const run_options& how,
                                    const follow_options& follow, console& to, const std::stop_token& stop,
                                    function_ref<follow_end(const followed_run&)> command) {
    detail::follow_team team{to};
    const std::stop_callback forwarded{stop, [&] { team.ending->request_stop(); }};
    std::vector<follow_end> ends(paths.size(), follow_end::not_started);
    std::vector<std::jthread> threads;
    try {
        for (std::size_t i = 0; i < paths.size(); ++i) {
            threads.emplace_back([&, i] {
                try {
                    ends[i] = detail::follow_one(i, plain_path(paths[i]), how, follow, team.ending->get_token(),
                                                 team.out, command);
                } catch (...) {
                    team.fail();
                }
            });
        }
    } catch (...) {  // no more threads
        team.ending->request_stop();
        throw;
    }
    threads.clear();
    if (team.failure) {
        std::rethrow_exception(team.failure);
    }
    return ends;
}

int status_after(const std::vector<follow_end>& ends, const console& to) {
    const bool interrupted = std::any_of(ends.begin(), ends.end(), [](follow_end end) {
        return end == follow_end::interrupted || end == follow_end::not_started;
    });
    return interrupted ? exit_interrupted : to.status();
}

}  // namespace smdebug::inline v1::cli::detail
