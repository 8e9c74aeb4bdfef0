#include <program/scan_sink.hpp>

#include <program/check.hpp>
#include <program/run_problems.hpp>
#include <program/text.hpp>
#include <smdebug/rules/finding.hpp>

#include <cstddef>

namespace smdebug::inline v1::cli::detail {

scan_sink::scan_sink(const scan_arguments& args, scan_database* base, batch_progress& progress, console& to,
                     messages how)
    : base_(base), progress_(progress), to_(to), how_(how), actions_(actions_of(args.check)), named_(args.check.rules) {
    const std::size_t runs = args.list ? 2 : args.check.runs.size();
    if (args.rows && args.statistics) {
        numbers_.emplace(args, runs, to);
    } else if (args.rows) {
        rows_.emplace(args, runs, to);
    }
    if (args.report) {
        page_.emplace(*args.report);
    }
}

void scan_sink::take(run_result&& result) {
    // The first run of an archive is written last: then all of them are there.
    for (run_result& each : result.others) {
        write(each);
    }
    write(result);
    report(result);
    for (const run_result& each : result.others) {
        report(each);
    }
    progress_.done(result);
}

void scan_sink::pass(const std::string& path) {
    base_->pass(path);
    show_stored(path);
}

void scan_sink::finish(bool complete) {
    if (base_ != nullptr) {
        tell_stored(complete);
    }
    const std::string where = base_ != nullptr ? base_->path() : std::string{};
    const std::string sum = tally_.text();
    if (numbers_) {
        numbers_->finish();
    } else if (rows_) {
        rows_->finish(sum);
    }
    actions_.flush([&](const std::string& text) { to_.note(text); });
    if (page_) {
        page_->write();
        to_.note("wrote " + page_->path() + "; open it in a browser");
    }
    const batch_counts counts = progress_.so_far();
    if (complete && without_run_ > 0 && !any_run_ && counts.unchanged == 0) {
        to_.error("there is no run: " + counted(without_run_, "archive") + " hold" + (without_run_ == 1 ? "s" : "") +
                  " none");
    }
    if (base_ != nullptr && !numbers_ && !rows_) {
        to_.print((sum.empty() ? counted(counts.done - counts.unchanged, "run") + " looked at" : sum) +
                  (counts.unchanged > 0 ? "; " + counted(counts.unchanged, "run") + " had been looked at before" : "") +
                  "; results are in " + printable(where) + "\n");
    }
    if (!complete) {
        to_.error("interrupted: " + std::to_string(counts.done) +
                  (counts.all ? " of " + std::to_string(*counts.all) : std::string{}) + " runs are done" +
                  (base_ != nullptr ? "; the same command goes on with the others" : ""));
    }
}

bool scan_sink::says_nothing(const run_result& result) {
    return result.state == run_state::unchanged || result.state == run_state::undone;
}

void scan_sink::write(run_result& result) {
    if (base_ != nullptr) {
        base_->take(result);
    } else if (result.state == run_state::gone) {
        result.state = run_state::failed;
    }
}

void scan_sink::show_stored(const std::string& path) {
    if (!page_ || base_ == nullptr) {
        return;
    }
    if (std::optional<run_result> known = base_->find(path)) {
        known->run.path = path;
        page_->add(*known);
    }
}

void scan_sink::tell_stored(bool complete) {
    const auto some = [](std::size_t runs) {
        return counted(runs, "run") + (runs == 1 ? " that has not changed has " : " that have not changed have ");
    };
    const passed_runs passed = base_->passed();
    if (passed.incomplete > 0) {
        to_.error(some(passed.incomplete) + "parts that could not be read; the view troubles of " +
                  printable(base_->path()) + " says which");
    }
    if (passed.with_findings > 0) {
        to_.note(some(passed.with_findings) + "findings; the view first_findings of " + printable(base_->path()) +
                 " says which");
    }
    if (const std::size_t gone = complete ? base_->mark_gone() : 0; gone > 0) {
        to_.note(counted(gone, "run") + (gone == 1 ? " is" : " are") + " no longer there; the database has " +
                 (gone == 1 ? "it" : "them") + " as gone");
    }
}

void scan_sink::tell_messages(const run_result& result) {
    const auto note = [&](const std::string& text) { to_.note(text); };
    const std::string& path = result.run.path;
    for (const run_message& each : result.messages) {
        if (how_ == messages::by_ranks) {
            each.what == run_message::kind::note ? void() : to_.mark_trouble();
            continue;
        }
        switch (each.what) {
            case run_message::kind::note:
                to_.note(each.text);
                break;
            case run_message::kind::damage:
                to_.damage(each.text);
                break;
            case run_message::kind::error:
                to_.error(each.text);
                break;
        }
    }
    std::vector<std::string> names;
    for (const rule_result& each : result.verdicts) {
        if (each.status != rule_status::not_applicable) {
            names.push_back(each.name);
        }
    }
    actions_.begin(path, names, note);
    for (const rule_result& each : result.verdicts) {
        if (each.status != rule_status::not_applicable) {
            if (how_ == messages::told) {
                for (const finding& found : each.outcome.findings) {
                    actions_.act(path, each.name, found, note);
                }
            }
            actions_.finish(path, each.name, each.status, each.summary, note);
        }
    }
    if (!result.error.empty()) {
        how_ == messages::told ? to_.error(with_run(result.error, path)) : to_.mark_trouble();
        actions_.fail(path, {}, result.error, note);
    }
}

void scan_sink::report(const run_result& result) {
    if (result.state == run_state::unchanged) {
        show_stored(result.run.path);
    }
    if (says_nothing(result)) {
        return;
    }
    tell_messages(result);
    if (is_no_run(result)) {
        ++without_run_;
        return;
    }
    any_run_ = true;
    tally_.add(result);
    idle_.add(result, named_);
    met_ = met_ || has_findings(result);
    if (numbers_) {
        numbers_->add(result);
    } else if (rows_) {
        rows_->add(result);
    }
    if (page_) {
        page_->add(result);
    }
}

}  // namespace smdebug::inline v1::cli::detail
