#include <smdebug/report/write_report.hpp>

#include "support/counting_storage.hpp"
#include "support/odd_runs.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/index/locations.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/report/page_text.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace report::detail;
using texts = std::vector<std::string>;
using rule_list = std::vector<any_rule<trial>>;

namespace {

/// The rules that a report evaluates, and some that need a selection of tensors.
rule_list rules_for(const trial& run) {
    const auto known = rule_registry<trial>::built_in();
    rule_list rules;
    for (const smdebug::detail::planned_rule& each : smdebug::detail::plan_rules(known, run, {}, {})) {
        if (each.why_not.empty()) {
            rules.push_back(known.make(each.request.rule, each.request.parameters));
        }
    }
    rules.push_back(known.make("tensor_variance", {{"tensor_regex", ".*"}, {"max_threshold", "1e6"}}));
    rules.push_back(known.make("unchanged_tensor", {{"tensor_regex", ".*"}, {"all_workers", "true"}}));
    return rules;
}

/// Everything that a report shows: the page, and what could not be read.
texts shown(reported_run run, std::vector<rule_result> verdicts) {
    run.verdicts = std::move(verdicts);
    texts all = run.damage;
    all.push_back(std::to_string(run.damaged) + " damaged, " + std::to_string(run.values) + " values");
    for (const rule_result& each : run.verdicts) {
        const rule_outcome& outcome = each.outcome;
        all.push_back(each.name + " " + each.failure + " " + std::to_string(static_cast<int>(outcome.end)) + " " +
                      std::to_string(outcome.evaluated) + " " + std::to_string(outcome.skipped) + " " +
                      std::to_string(outcome.tensors) + " " + std::to_string(outcome.unread) + outcome.first_unread);
        for (const auto* some : {&outcome.findings, &outcome.notes}) {
            for (const finding& one : *some) {
                all.push_back(each.name + " " + one.tensor + " " + one.worker + " " + std::to_string(one.step) + " " +
                              std::to_string(std::bit_cast<std::uint64_t>(one.value)) + " " + one.message);
            }
        }
    }
    page whole;
    whole.runs.push_back(std::move(run));
    const texts page = page_text(whole);
    all.insert(all.end(), page.begin(), page.end());
    return all;
}

texts by_two_walks(const trial& run, const gather_options& options, const invoke_rules_options& how) {
    auto verdicts = invoke_rules(run, rules_for(run), how);
    return shown(gather_run(run, options), std::move(verdicts));
}

texts by_one_walk(const trial& run, const gather_options& options, const invoke_rules_options& how) {
    const no_refresh as_it_is{run};
    const auto gatherer = std::make_shared<run_gatherer>(run, options);
    auto verdicts = smdebug::detail::invoke_rules_beside<trial>(gatherer, run, rules_for(run), how);
    return shown(gatherer->finish(), std::move(verdicts));
}

/// A training: weights, gradients, outputs of a ReLU, a loss that rises; every fifth step is an evaluation, and the
/// second worker saves less.  Unless it is calm, rules fire later: weights stand still from step 20 on, and gradients
/// vanish from step 31 on; they look back further than the sixteen cached saves.
template <class Store>
void write_training(Store& store, int steps, std::size_t columns, bool is_calm = false) {
    run_builder build{store};
    build.collections({"worker_0", "worker_1"},
                      {{"losses", {"loss"}}, {"weights", {"a", "b"}}, {"gradients", {"gradient/a"}}});
    for (int i = 0; i < steps; ++i) {
        for (const char* const worker : {"worker_0", "worker_1"}) {
            const bool first = worker[7] == '0';
            const auto values = [&](double scale, double shift) {
                std::vector<float> all(4 * columns);
                for (std::size_t k = 0; k < all.size(); ++k) {
                    all[k] = static_cast<float>(scale * std::sin(static_cast<double>(k + 1) * 0.7 + shift));
                }
                return all;
            };
            written_step step{.step = i,
                              .tensors = {tensor_of<float>("loss", {first ? 1.0F + static_cast<float>(i) / 4 : 1.0F})},
                              .mode = i % 5 == 4 && !is_calm ? mode::eval : mode::train,
                              .worker = worker};
            const shape_type shape{4, columns};
            step.tensors.push_back(
                tensor_of<float>("a", values(1, is_calm ? 1e-3 * i : 1e-6 * std::min(i, 20)), shape));
            if (first) {
                step.tensors.push_back(tensor_of<float>("b", values(2, i == 9 && !is_calm ? 3 : 0), shape));
                step.tensors.push_back(
                    tensor_of<float>("gradient/a", values(i > 30 && !is_calm ? 1e-12 : 0.1, i), shape));
                std::vector<float> relu = values(1, 0.1 * i);
                std::replace_if(
                    relu.begin(), relu.end(), [](float value) { return value < 0.9F; }, 0.0F);
                step.tensors.push_back(tensor_of<float>("dense_relu_output", relu, shape));
            }
            build.step(step);
        }
    }
    build.end();
}

void damage(memory_storage& store, const std::string& key, std::size_t from_end, std::size_t cut) {
    const auto stored = store.read(key);
    std::vector<std::byte> bytes{stored.view().begin(), stored.view().end()};
    bytes[bytes.size() - from_end] ^= std::byte{0xFF};
    store.write(key, std::span{bytes}.first(bytes.size() - cut));
}

memory_storage training(int steps, bool damaged, bool is_calm = false) {
    memory_storage store{"training"};
    write_training(store, steps, 50, is_calm);
    if (damaged) {
        using smdebug::detail::locations::event_key;
        store.remove(event_key(3, "worker_1"));
        store.remove(event_key(17, "worker_0"));
        damage(store, event_key(0, "worker_0"), 30, 0);
        damage(store, event_key(12, "worker_0"), 900, 0);
        damage(store, event_key(25, "worker_0"), 700, 400);
    }
    return store;
}

}  // namespace

TEST_CASE("run_gatherer: the page and the findings are those of two walks, whatever the run is like") {
    for (const odd_run& each : odd_runs()) {
        CAPTURE(each.name);
        CHECK(by_one_walk(each.trial, {}, {}) == by_two_walks(each.trial, {}, {}));
    }
}

TEST_CASE("run_gatherer: the same of whole and damaged runs, with any selection of steps and tensors") {
    for (const bool damaged : {false, true}) {
        const memory_trial run{training(45, damaged), {.missing_event_file_retry_limit = 0}};
        CAPTURE(damaged);
        const std::vector<gather_options> all{
            {},
            {.most_bytes = 9'000},
            {.which = {.regex = "a$"}},
            {.which = {.regex = "nothing"}},
            {.which = {.collection = "weights"}, .most_bytes = 9'000},
            {.which = {.range = {7, 31}}, .most_bytes = 9'000},
            {.which = {.mode = mode::eval}},
            {.which = {.worker = "worker_1"}},
            {.most_damage = 1},
        };
        for (std::size_t i = 0; i < all.size(); ++i) {
            CAPTURE(i);
            const step_range& range = all[i].which.range;
            const invoke_rules_options how{.common = {.start_step = range.begin.value_or(0), .end_step = range.end}};
            const texts both = by_two_walks(run, all[i], how);
            CHECK(both.size() > 10);
            CHECK(by_one_walk(run, all[i], how) == both);
            invoke_rules_options other = how;
            other.common.start_step += 11;  // rules skip steps of the page
            other.common.end_step = 35;
            CHECK(by_one_walk(run, all[i], other) == by_two_walks(run, all[i], other));
            other.common.stop_at_first = true;  // and end early
            other.sharing.look_ahead = false;
            CHECK(by_one_walk(run, all[i], other) == by_two_walks(run, all[i], other));
        }
    }
}

TEST_CASE("run_gatherer: the same of files that are looked at in place or in pieces, and large tensors in them") {
    const temporary_folder place;
    local_storage store{place.path()};
    write_training(store, 12, 60'000);
    const local_trial run{place.path()};
    for (const std::size_t most_bytes : {std::size_t{10'000}, std::size_t{10'000'000}}) {
        CHECK(by_one_walk(run, {.most_bytes = most_bytes}, {}) == by_two_walks(run, {.most_bytes = most_bytes}, {}));
    }
}

TEST_CASE("run_gatherer: each event file is read once, while rules have no other questions than at the first steps") {
    for (const int steps : {1, 2, 3, 7, 29}) {  // after that, a loss ten steps back may not be cached
        CAPTURE(steps);
        const counting_storage<> store{training(steps, false, true)};
        const basic_trial<counting_storage<>> run{store};
        static_cast<void>(store.calls());
        static_cast<void>(by_one_walk(run, {}, {}));
        std::map<std::string, int> reads;
        for (const std::string& call : store.calls()) {
            for (std::size_t at = 0; (at = call.find("events/", at)) != std::string::npos;) {
                const std::size_t end = call.find(' ', at);
                ++reads[call.substr(at, end - at)];
                at = std::min(end, call.size());
            }
        }
        CHECK(reads.size() == 2 * static_cast<std::size_t>(steps));
        for (const auto& [key, times] : reads) {
            CHECK_MESSAGE(times == 1, key);
        }
    }
}

TEST_CASE("run_gatherer: a run without rules, and one that is stopped") {
    const memory_trial opened{training(45, false)};
    const trial& run = opened;
    run_gatherer alone{run, {.how = {.threads = 3}}};
    CHECK(shown(alone.finish(), {}) == shown(gather_run(run, {}), {}));
    std::stop_source stop;
    stop.request_stop();
    const auto gatherer = std::make_shared<run_gatherer>(run, gather_options{.how = {.stop = stop.get_token()}});
    const auto verdicts = smdebug::detail::invoke_rules_beside<trial>(gatherer, run, rules_for(run),
                                                                      {.common = {.stop = stop.get_token()}});
    CHECK(verdicts.front().outcome.end == invoke_end::stopped);
    const reported_run some = gatherer->finish();
    CHECK(some.stopped);
    CHECK(some.values < 10);
}

TEST_CASE("run_gatherer: a selection that makes no sense") {
    const memory_trial run{training(2, false)};
    CHECK_THROWS_AS((run_gatherer{run, {.which = {.regex = "("}}}), value_error);
    CHECK(thrown_code([&] {
              static_cast<void>(run_gatherer{run, {.which = {.collection = "none"}}});
          }) == error_code::collection_unavailable);
}
