// A command that follows what a schedule writes, beside the same command afterwards: what differs, in words.
#pragma once

#include "program/captured.hpp"
#include "program/live_output.hpp"
#include "support/schedules.hpp"
#include "support/standard.hpp"
#include "support/temporary_folder.hpp"

#include <program/console.hpp>
#include <program/program.hpp>

#include <future>

namespace smdebug_test {

/// What a command printed, sorted by what it means.
struct answers {
    int status = -1;
    std::vector<std::string> rows = {};       ///< findings, or steps
    std::vector<std::string> summaries = {};  ///< a row a rule, of tables
    std::vector<std::string> messages = {};   ///< lines on the other stream, without the program's name

    /// `run`: the path of the data, which is replaced by RUN.
    static answers of(int status, std::string out, std::string err, const std::string& run) {
        for (std::string* const text : {&out, &err}) {
            for (std::size_t at = text->find(run); at != std::string::npos; at = text->find(run, at)) {
                text->replace(at, run.size(), "RUN");
            }
        }
        answers read{status};
        int part = 0;  // of a table's output: rows, the summary, and remarks
        for (const std::string& line : lines_of(squeezed(out))) {
            const bool is_rule = line.find_first_not_of("- ") == std::string::npos;
            const bool is_head = line.starts_with("run rule ") || line == "nothing found";
            if (line.empty()) {
                ++part;
            } else if (!is_rule && !is_head && part < 2) {
                (part == 0 ? read.rows : read.summaries).push_back(line);
            }
        }
        for (const std::string& line : lines_of(err)) {
            constexpr std::string_view program = "smdebug: ";
            read.messages.push_back(line.starts_with(program) ? line.substr(program.size()) : line);
        }
        std::sort(read.rows.begin(), read.rows.end());
        std::sort(read.messages.begin(), read.messages.end());
        return read;
    }
};

/// A row of the summary of a command that was interrupted, or of another one: the run, the rule and the numbers.
[[nodiscard]] inline std::string numbers_of(const std::string& summary) {
    std::istringstream words{summary};
    std::string text;
    std::string word;
    for (int i = 0; words >> word; ++i) {
        text += i < 2 || word.find_first_not_of("0123456789") == std::string::npos ? word + " " : "";
    }
    return text;
}

/// What only a command that follows has to say.
[[nodiscard]] inline bool is_about_following(const std::string& message) {
    return message.starts_with("note: waiting for a run") || message.starts_with("note: the job of ") ||
           contains(message, "was removed before it could be checked");
}

/// The place that a message names, up to what is wrong there.
[[nodiscard]] inline std::string place_in_message(const std::string& message) {
    const std::size_t kind = message.find(": ");
    return message.substr(0, kind == std::string::npos ? kind : message.find(": ", kind + 2));
}

[[nodiscard]] inline std::vector<std::string> without(const std::vector<std::string>& all,
                                                      const std::vector<std::string>& these) {
    std::vector<std::string> left;
    std::set_difference(all.begin(), all.end(), these.begin(), these.end(), std::back_inserter(left));
    return left;
}

/// How the answers of a command that followed differ from those of the same command afterwards; empty: as they should.
[[nodiscard]] inline std::string difference(const schedule& of, const answers& followed, const answers& afterwards) {
    std::string text;
    const auto list = [&](const std::string& what, const std::vector<std::string>& lines) {
        constexpr std::size_t most = 6;
        for (std::size_t i = 0; i < std::min(lines.size(), most); ++i) {
            text += "  " + what + ": " + lines[i] + "\n";
        }
        text += lines.size() > most ? "  ... and " + std::to_string(lines.size() - most) + " more\n" : "";
    };
    list("not found while followed", without(afterwards.rows, followed.rows));
    std::vector<std::string> vain = without(followed.rows, afterwards.rows);
    const std::size_t extra = vain.size();
    if (!of.is_plain) {
        vain.clear();
    }
    list("found only while followed", vain);
    for (const std::string& row : afterwards.summaries) {
        // A followed run's row has its state behind these.
        const bool is_there =
            std::any_of(followed.summaries.begin(), followed.summaries.end(), [&](const std::string& one) {
                return of.is_stopped ? numbers_of(one) == numbers_of(row) : one.starts_with(row + " ");
            });
        if (!is_there && of.removed.empty()) {
            list("not a row of the followed summary", {row});
            list("    which has", followed.summaries);
            break;
        }
    }
    const bool has_met =
        afterwards.status == smdebug::cli::exit_finding || afterwards.status == smdebug::cli::exit_finding_and_error;
    const int expected = of.is_stopped && !has_met ? smdebug::cli::exit_interrupted : afterwards.status;
    if (followed.status != expected && (of.removed.empty() || extra == 0)) {
        text += "  status: " + std::to_string(followed.status) + " while followed, " + std::to_string(expected) +
                " afterwards\n";
    }
    list("said afterwards only", without(afterwards.messages, followed.messages));
    std::vector<std::string> said = without(followed.messages, afterwards.messages);
    std::erase_if(said, [&](const std::string& message) {
        const bool is_earlier =
            std::any_of(afterwards.messages.begin(), afterwards.messages.end(),
                        [&](const std::string& later) { return place_in_message(later) == place_in_message(message); });
        return is_earlier || is_about_following(message) || (!of.is_plain && message.starts_with("note: "));
    });
    list("said while followed only", said);
    return text;
}

/// Whether a text, or a row of a "step N", is in the output.
[[nodiscard]] inline bool is_printed(const std::string& out, const std::string& awaited) {
    constexpr std::string_view step = "step ";
    if (!awaited.starts_with(step)) {
        return contains(out, awaited);
    }
    const std::string number = awaited.substr(step.size());
    return contains(out, "\"step\":" + number + ",") || contains(out, " " + number + "  TRAIN");
}

/// The command of a schedule, beside it and afterwards.
class followed_schedule {
public:
    /// `command`: "check", "ls", "report".
    followed_schedule(const schedule& of, const std::string& command, const std::string& format)
        : of_(of), arguments_{command, path()} {
        for (const std::string& rule : of.rules) {
            if (command != "ls") {
                arguments_.insert(arguments_.end(), {"--rule", rule});
            }
        }
        arguments_.insert(arguments_.end(), of.options.begin(), of.options.end());
        const bool is_report = command == "report";
        arguments_.insert(arguments_.end(), {is_report ? "--output" : "--format", is_report ? page() : format});
    }

    /// Plays it; what differs in the end, or empty.
    [[nodiscard]] std::string difference() {
        std::vector<std::string> following = arguments_;
        following.emplace_back("--follow");
        if (is("report")) {
            following.insert(following.end(), {"--interval", "50ms"});
        }
        following.insert(following.end(), of_.options_to_follow.begin(), of_.options_to_follow.end());
        live_output out;
        live_output err;
        std::stop_source stop;
        std::future<int> ended;
        schedule_player player{path()};
        player.on_await = [&](const action& one) {
            const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{one.number};
            const bool is_needed = one.number > 1000;
            if (!is_needed && !is("check")) {  // the others print no values
                std::this_thread::sleep_for(std::chrono::milliseconds{50});
                return;
            }
            while (ended.valid() && !is_printed(out.text(), one.bytes)) {
                if (std::chrono::steady_clock::now() > end) {
                    if (is_needed) {
                        throw std::runtime_error("the followed command did not print " + one.bytes +
                                                 "; what it did print:\n" + out.text() + err.text());
                    }
                    return;
                }
                std::this_thread::sleep_for(std::chrono::milliseconds{2});
            }
        };
        const stopping end{stop, ended};  // whatever happens
        for (std::size_t i = 0; i <= of_.actions.size(); ++i) {
            if (i == of_.starts_at) {
                ended = std::async(std::launch::async, [&] {
                    return smdebug::cli::run_program(following, out.stream(), err.stream(), {},
                                                     [&] { return stop.get_token(); });
                });
            }
            if (i < of_.actions.size()) {
                player.play(of_.actions[i]);
            }
        }
        if (of_.is_stopped) {
            stop.request_stop();
        }
        if (ended.wait_for(patience) != std::future_status::ready) {
            return "  it did not end, though all is written; so far it printed:\n" + out.text() + err.text();
        }
        const int status = ended.get();
        if (of_.is_stopped) {
            player.play({.does = action::kind::age});  // now it has ended
        }
        answers followed = answers::of(status, out.text(), err.text(), path());
        const std::string page_before = is("report") ? file_content(page()) : std::string{};
        const auto again = run_to_end(is("ls") ? following : arguments_);
        answers afterwards = answers::of(again.status, again.out, again.err, path());
        if (!is("report")) {
            return smdebug_test::difference(of_, followed, afterwards);
        }
        for (answers* const one : {&followed, &afterwards}) {  // what is noted changes while it is followed
            std::erase_if(one->messages, [](const std::string& message) { return message.starts_with("note: "); });
        }
        const std::string page_after = file_content(page());
        const std::string text = smdebug_test::difference(of_, followed, afterwards);
        const auto place = std::mismatch(page_before.begin(), page_before.end(), page_after.begin(), page_after.end());
        if (place.first == page_before.end() && place.second == page_after.end()) {
            return text;
        }
        const auto at = static_cast<std::size_t>(place.first - page_before.begin());
        const auto around = [&](const std::string& whole) { return whole.substr(at < 60 ? 0 : at - 60, 120); };
        return text + "  the page differs: " + around(page_before) + "\n    it should say: " + around(page_after) +
               "\n";
    }

    /// The command, as it would be typed.
    [[nodiscard]] std::string command() const {
        std::string text = "smdebug";
        for (const std::string& each : arguments_) {
            text += " " + (each == path() ? std::string{"RUN"} : each);
        }
        return text + " --follow";
    }

private:
    static constexpr std::chrono::seconds patience{20};

    // Ends a command that still runs.
    class stopping {
    public:
        stopping(std::stop_source& stop, std::future<int>& ended) : stop_(stop), ended_(ended) {}
        stopping(const stopping&) = delete;
        stopping& operator=(const stopping&) = delete;
        ~stopping() {
            stop_.request_stop();
            if (ended_.valid()) {
                ended_.wait();
            }
        }

    private:
        std::stop_source& stop_;
        std::future<int>& ended_;
    };

    [[nodiscard]] std::string path() const { return folder_.path() + "/run"; }
    [[nodiscard]] std::string page() const { return folder_.path() + "/page.html"; }
    [[nodiscard]] bool is(std::string_view command) const { return arguments_.front() == command; }

    temporary_folder folder_;
    const schedule& of_;
    std::vector<std::string> arguments_;
};

/// Follows a schedule; what differs, with the schedule in words, or empty.
[[nodiscard]] inline std::string trouble_with(const schedule& of, const std::string& command = "check",
                                              const std::string& format = "table") {
    followed_schedule one{of, command, format};
    std::string text;
    try {
        text = one.difference();
    } catch (const std::exception& failed) {
        text = std::string{"  "} + failed.what() + "\n";
    }
    return text.empty() ? text : of.name + ": " + one.command() + "\n" + text + text_of(of);
}

/// The same for many seeds, several at once.  What differs; each begins with the name of its schedule.
[[nodiscard]] inline std::vector<std::string> troubles_with(const std::vector<std::uint64_t>& seeds,
                                                            const std::function<std::string(std::uint64_t)>& trouble) {
    constexpr std::size_t at_once = 12;  // mostly they wait
    std::vector<std::string> found(seeds.size());
    std::atomic<std::size_t> next{0};
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < std::min(at_once, seeds.size()); ++i) {
            threads.emplace_back([&] {
                for (std::size_t place = next++; place < seeds.size(); place = next++) {
                    found[place] = trouble(seeds[place]);
                }
            });
        }
    }
    std::erase(found, std::string{});
    return found;
}

}  // namespace smdebug_test
