#include <program/scan.hpp>

#include <program/batch_progress.hpp>
#include <program/run_scanner.hpp>
#include <program/scan_results.hpp>
#include <program/scan_sink.hpp>
#include <program/scan_source.hpp>
#include <smdebug/batch/ordered_results.hpp>
#include <smdebug/batch/ranks/rank_work.hpp>
#include <smdebug/batch/ranks/run_on_ranks.hpp>
#include <smdebug/batch/run_batch.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/batch/source_ahead.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

namespace {

// How many runs are looked for ahead: more are looked for when these are begun.
constexpr std::size_t most_listed = 100'000;

unsigned threads_of(const scan_arguments& args) {
    return args.threads > 0 ? args.threads : std::max(1U, std::thread::hardware_concurrency());
}

// How a batch is worked on.
batch_options batch_options_of(const scan_arguments& args, unsigned threads, const std::stop_token& stop) {
    return {.threads = threads, .run_timeout = args.run_timeout, .memory = args.memory, .stop = stop};
}

// The lines of --list; null where there is none.  Errors: usage_error: it cannot be read.
std::istream* opened_list(const scan_arguments& args, std::ifstream& file) {
    if (!args.list) {
        return nullptr;
    }
    if (*args.list == "-") {
        return &std::cin;
    }
    file.open(*args.list);
    if (file.is_open()) {
        file.peek();  // a folder, for one, opens but does not read
    }
    if (!file.is_open() || file.bad()) {
        throw usage_error("--list: the file " + *args.list + " cannot be read");
    }
    file.clear();  // of the end, where the list is empty
    return &file;
}

// What a scan asks for, and where results go: of rank 0 alone where there are many ranks.
class scan_ends {
public:
    /// Borrows all.  Errors: usage_error; those of scan_database.
    scan_ends(const scan_arguments& args, console& to)
        : args_(args),
          list_(opened_list(args, file_)),
          base_(args.output ? std::make_unique<scan_database>(*args.output, args) : nullptr),
          progress_(args.progress, to),
          sink_(args, base_.get(), progress_, to),
          source_(args, list_, known()),
          runs_([this] { return source_.next(); }, most_listed,
                [this](std::size_t count) { progress_.listed(count); }) {}

    [[nodiscard]] std::optional<batch_run> next(const std::stop_token& stop) { return runs_.next(stop); }
    void take(run_result&& result) {
        const auto locked = progress_.lock();
        sink_.take(std::move(result));
    }
    /// The exit status.
    [[nodiscard]] int finish(bool complete, console& to) {
        progress_.finish();
        if (const std::string files = complete ? source_.left_out() : std::string{}; !files.empty()) {
            to.note("files beside the runs are not looked at: " + files);
        }
        if (complete && source_.list_is_empty()) {
            to.error("--list " + args_.list.value_or("") + ": there is no path in it; nothing was looked at for it");
        }
        sink_.finish(complete);
        to.flush();
        base_.reset();  // what lies in its WAL is brought in
        return complete ? sink_.status() : exit_interrupted;
    }
    [[nodiscard]] batch_progress& progress() noexcept { return progress_; }

private:
    [[nodiscard]] known_results known() {
        if (!base_) {
            return {};
        }
        known_results known = base_->known();
        known.unchanged = [this](const std::vector<std::string>& runs) {
            progress_.unchanged(runs.size());
            const auto locked = progress_.lock();
            for (const std::string& each : runs) {
                sink_.pass(each);
            }
        };
        return known;
    }

    const scan_arguments& args_;
    std::ifstream file_;
    std::istream* list_;
    std::unique_ptr<scan_database> base_;
    batch_progress progress_;
    scan_sink sink_;
    scan_source source_;
    smdebug::detail::source_ahead runs_;  // last: its thread uses the others
};

}  // namespace

int scan_on_ranks(const scan_arguments& args, const program_rules& registry, console& to, const std::stop_token& stop,
                  rank_channel& channel, rank_options options) {
    const unsigned threads = threads_of(args);
    options.threads = threads;
    options.on_note = [&](const std::string& text) { to.note(text); };
    run_scanner scanner{args, registry, threads};
    if (args.output) {
        scanner.tell_versions();
    }
    if (channel.size() > 1 && args.split_above > 0) {
        // Some more than threads: who is done with its own earlier does others'.
        scanner.split({.above = args.split_above, .most = 4 * threads * static_cast<std::size_t>(channel.size())});
    }
    const auto engine = [&](rank_work& work, const std::stop_token& ending) {
        batch_options how = batch_options_of(args, threads, ending);
        how.in_order = false;
        static_cast<void>(smdebug::run_batch(
            how, [&] { return work.next(); },
            [&](const batch_run& run, const run_scope& scope) { return scanner(run, scope); },
            [&](run_result&& result) { work.emit(std::move(result)); }));
    };
    if (channel.rank() > 0) {
        static_cast<void>(run_on_ranks(
            channel, options, []() -> std::optional<batch_run> { return std::nullopt; }, [](run_result&&) {}, engine,
            stop));
        return to.status();
    }
    scan_ends ends{args, to};
    // One note at a time, as results are told by another thread.
    options.on_note = [&](const std::string& text) {
        const auto locked = ends.progress().lock();
        to.note(text);
    };
    const std::function<void(run_result&&)> take = [&](run_result&& result) { ends.take(std::move(result)); };
    smdebug::detail::ordered_results ordered{take, args.rows, 0};
    std::mutex guard;
    std::map<std::uint64_t, std::uint64_t>
        numbers;  // of the runs under way, by their places, some of which are left out
    std::uint64_t next_number = 0;
    const ranks_outcome outcome = run_on_ranks(
        channel, options,
        [&] {
            auto run = ends.next(stop);
            if (run) {
                const std::lock_guard lock{guard};
                numbers.emplace(run->place, next_number++);
            }
            return run;
        },
        [&](run_result&& result) {
            std::unique_lock lock{guard};
            const std::uint64_t number = numbers.extract(result.run.place).mapped();
            lock.unlock();
            ordered.take(number, std::move(result));
        },
        engine, stop);
    return ends.finish(!outcome.stopped, to);
}

int scan_runs(const scan_arguments& args, const program_rules& registry, console& to, const std::stop_token& stop) {
    if (const std::size_t processes = launched_processes(); processes > 1) {
        if (!has_launched_channel()) {
            throw usage_error("this is one of " + std::to_string(processes) +
                              " processes, each of which would scan all runs, as this program was built without MPI; "
                              "build it where CMake finds MPI, or give each process a --shard");
        }
        const auto channel = launched_channel();
        const int status = status_of(to, [&] { return scan_on_ranks(args, registry, to, stop, *channel); });
        channel->end(status);
        return status;
    }
    const unsigned threads = threads_of(args);
    batch_options how = batch_options_of(args, threads, stop);
    how.in_order = args.rows;
    scan_ends ends{args, to};
    run_scanner scanner{args, registry, threads, [&](const std::string& what, std::size_t done, std::size_t all) {
                            ends.progress().steps(what, done, all);
                        }};
    if (args.output) {
        scanner.tell_versions();
    }
    const bool complete = smdebug::run_batch(
        how, [&] { return ends.next(stop); },
        [&](const batch_run& run, const run_scope& scope) { return scanner(run, scope); },
        [&](run_result&& result) { ends.take(std::move(result)); });
    return ends.finish(complete, to);
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
