#include <program/learn_ranks.hpp>

#include <program/numbers.hpp>
#include <program/rule_set.hpp>
#include <program/source_ahead.hpp>
#include <program/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/learn/facts/facts_json.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace smdebug::inline v1::cli::detail {

namespace {

namespace learned = smdebug::detail::learn;

constexpr std::string_view a_process_failed = "a process failed: nothing is written";

// "abs_max,l2,zeros", for the other ranks.
std::string kept_numbers(const learn_options& how) {
    const learned::number_set kept = how.add_to.runs().empty()
                                         ? learned::numbers_named(how.reductions)
                                         : smdebug::detail::learn::facts_access::data(how.add_to).reductions;
    std::string text;
    for (const std::string_view name : learned::number_names) {
        if (kept.contains(*learned::number_named(name))) {
            text.append(text.empty() ? "" : ",").append(name);
        }
    }
    return text;
}

// The facts of all runs that this rank gets.
learned::all_facts learn_own(const run_source& next, const learn_access& access, const learn_options& how,
                             learn_reports& says) {
    const auto found = [&](const auto&) -> std::optional<run_finder::found> {
        auto run = next();
        return run ? std::optional{run_finder::found{.run = *std::move(run)}} : std::nullopt;
    };
    return learned::learn_each(found, access.open, how, [&](const left_out_run& one) { says.leave_out(one); });
}

// Joins what another rank has learned.
void take_from(run_giver& giver, int rank, learned::all_facts& facts, learn_reports& says) {
    const std::optional<std::string> made = giver.fetch(rank);
    if (!made) {
        throw std::runtime_error{std::string{a_process_failed}};
    }
    std::string_view text = *made;
    says.take(take_part(text));
    if (!text.empty()) {
        facts.join(learned::facts_from_json(text, "what rank " + std::to_string(rank) + " has learned"));
    }
}

}  // namespace

void learn_reports::leave_out(const left_out_run& one) {
    const std::lock_guard lock{guard_};
    left_out_.push_back(one);
    if (to_ != nullptr) {
        to_->error(one.run + " is left out: " + one.why);
    }
}

void learn_reports::note(const std::string& run, const std::string& text) {
    const std::lock_guard lock{guard_};
    notes_.push_back({run, text});
    if (to_ != nullptr) {
        to_->note(run + ": " + text);
    }
}

void learn_reports::count(std::size_t runs) {
    const std::lock_guard lock{guard_};
    count_ += runs;
    if (to_ != nullptr) {
        to_->progress_line([&] { return counted(count_, "run") + " read"; });
    }
}

std::vector<left_out_run> learn_reports::left_out() const {
    const std::lock_guard lock{guard_};
    std::vector<left_out_run> all = left_out_;
    std::sort(all.begin(), all.end(),
              [](const left_out_run& one, const left_out_run& other) { return one.run < other.run; });
    return all;
}

std::string learn_reports::text() const {
    const std::lock_guard lock{guard_};
    std::string text;
    for (const auto* const list : {&left_out_, &notes_}) {
        append_part(text, std::to_string(list->size()));
        for (const left_out_run& each : *list) {
            append_part(text, each.run);
            append_part(text, each.why);
        }
    }
    return text;
}

void learn_reports::take(std::string_view text) {
    for (const bool is_note : {false, true}) {
        for (std::size_t left = number_in(take_part(text)); left > 0; --left) {
            const std::string run{take_part(text)};
            const std::string why{take_part(text)};
            is_note ? note(run, why) : leave_out({run, why});
        }
    }
}

learned_facts learn_as_rank_0(run_giver& giver, rank_channel& channel, run_finder& found, const learn_access& access,
                              const learn_options& how, learn_reports& says) {
    giver.tell(kept_numbers(how));
    learned::all_facts facts;
    {
        constexpr std::size_t most_found = 100'000;
        smdebug::detail::source_ahead runs{[&]() -> std::optional<batch_run> {
                                               auto next = learned::next_to_learn(
                                                   found, how, [&](const left_out_run& one) { says.leave_out(one); },
                                                   access.is_asked);
                                               return next ? std::optional{std::move(next->run)} : std::nullopt;
                                           },
                                           most_found};
        std::jthread giving{[&](const std::stop_token& end) {
            giver.give([&] { return runs.try_some(static_cast<std::size_t>(channel.size())); },
                       [&](std::size_t done) { says.count(done); }, end);
        }};
        const std::stop_callback by_user{how.stop, [&] { giving.request_stop(); }};
        facts = learn_own([&] { return giver.has_failed() ? std::optional<batch_run>{} : runs.next(how.stop); }, access,
                          how, says);
        giving.join();
    }
    if (giver.has_failed()) {
        throw std::runtime_error{std::string{a_process_failed}};
    }
    for (int rank = 1; rank < channel.size(); ++rank) {
        if (how.stop.stop_requested() || !giver.is_whole()) {
            throw stopped_error("learning was stopped");
        }
        take_from(giver, rank, facts, says);
    }
    facts.settle();
    return smdebug::detail::learn::facts_access::made_of(std::move(facts));
}

void learn_as_other_rank(rank_channel& channel, const learn_access& access, learn_options how, learn_reports& says) {
    run_taker taker{channel};
    learned::all_facts facts;
    rank_end ended = rank_end::whole;
    std::exception_ptr failure;
    try {
        if (const auto numbers = taker.told(how.stop)) {
            how.reductions = text_list{split(*numbers, ',')};
            facts = learn_own([&] { return taker.next(how.stop); }, access, how, says);
        }
    } catch (const stopped_error&) {
        ended = rank_end::stopped;
    } catch (...) {
        ended = rank_end::failed;
        failure = std::current_exception();
    }
    taker.end(how.stop.stop_requested() && !failure ? rank_end::stopped : ended, [&](const auto& write) {
        std::string reports;
        append_part(reports, says.text());
        write(reports);
        if (!facts.runs.empty()) {
            learned::write_json(facts, write);
        }
    });
    if (failure) {
        std::rethrow_exception(failure);
    }
}

}  // namespace smdebug::inline v1::cli::detail
