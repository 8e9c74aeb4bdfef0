#include <smdebug/rules/built_in/replica_mismatch.hpp>

#include "rules/built_in/history_runs.hpp"
#include "support/given_text.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using rules::replica_mismatch;
using names = std::vector<std::string>;

namespace {

const groups_of_tensors weights{{"weights", {"w"}}};

std::string worker_of(std::size_t i) { return "worker_" + std::to_string(i); }

/// Steps 0, 1, ... with one tensor for each worker; no tensor: it saved nothing.
memory_storage saves(const std::vector<std::vector<written_tensor>>& steps, const groups_of_tensors& groups = weights) {
    std::vector<written_step> all;
    for (std::size_t step = 0; step < steps.size(); ++step) {
        for (std::size_t i = 0; i < steps[step].size(); ++i) {
            if (!steps[step][i].name.empty()) {
                all.push_back(
                    {.step = static_cast<step_number>(step), .tensors = {steps[step][i]}, .worker = worker_of(i)});
            }
        }
    }
    return run_of(all, groups);
}
memory_storage values(const std::vector<std::vector<double>>& steps) {
    std::vector<std::vector<written_tensor>> all;
    for (const auto& step : steps) {
        all.emplace_back();
        for (const double each : step) {
            all.back().push_back(each < 0 ? written_tensor{} : tensor_of<double>("w", {each}));
        }
    }
    return saves(all);
}
steps_list fires(const replica_mismatch& rule, const memory_storage& store) { return fires_at(rule, store, false); }
written_tensor digest(std::int64_t value) { return tensor_of<std::int64_t>("digest/w", {value}); }

}  // namespace

TEST_CASE("replica_mismatch: the example of the specification") {
    const auto store = values({{1, 1, 1}, {1, 1.5, 1}, {1, 1.5, 1}, {2, 2, 2}, {2, 2, 3}});
    CHECK(fires({}, store) == steps_list{1, 4});
    const auto found = findings_of(replica_mismatch{}, store);
    REQUIRE(found.size() == 2);
    CHECK(found[0].tensor == "w");
    CHECK(found[0].worker == "worker_1");
    CHECK(found[0].value == 1);
    CHECK(found[0].threshold == 0);
    CHECK(found[0].message ==
          "1 of 3 workers do not hold what worker_0 does: worker_1; in worker_1 element 0 is 1.5 instead of 1");
    CHECK(found[1].worker == "worker_2");
}

TEST_CASE("replica_mismatch: the reference, majorities, and state while nothing can be compared") {
    const auto first = [](const std::vector<double>& step, const replica_mismatch& rule = {}) {
        return findings_of(rule, values({step})).at(0);
    };
    CHECK(first({1, 2}).worker.empty());  // no majority
    CHECK(contains(first({1, 2}).message, "no majority"));
    CHECK(first({1, 2, 2}).worker == "worker_0");
    CHECK(first({3, 1, 2, 2, 2}).worker == "worker_0");
    CHECK(first({3, 1, 2, 2, 2}).value == 2);
    CHECK(first({1, 1, 2, 2}).worker.empty());
    CHECK(contains(first({1, 1, 2, 2}).message, "what worker_0 does: worker_2, worker_3"));
    CHECK(fires({}, values({{1, 2}, {1, -1}, {1, 2}, {1, 1}, {1, 2}})) == steps_list{0, 4});
    CHECK(fires({}, values({{1}, {2}})).empty());
}

TEST_CASE("replica_mismatch: bytes, dtypes and shapes; or a tolerance") {
    const auto differ = [](const written_tensor& a, const written_tensor& b, const replica_mismatch& rule = {}) {
        return !findings_of(rule, saves({{a, b}})).empty();
    };
    const auto one = [](double value) { return tensor_of<double>("w", {value}); };
    const replica_mismatch close{.rtol = 0.1, .atol = 0.5};
    CHECK(differ(one(0.0), one(-0.0)));
    CHECK_FALSE(differ(one(not_a_number), one(not_a_number)));
    CHECK(differ(one(1), tensor_of<float>("w", {1})));
    CHECK(differ(one(1), tensor_of<double>("w", {1}, {1, 1})));
    CHECK(differ(one(1), tensor_of<float>("w", {1}), close));
    CHECK(differ(one(1), tensor_of<double>("w", {1}, {1, 1}), close));
    CHECK_FALSE(differ(one(0.0), one(-0.0), close));
    CHECK_FALSE(differ(one(1), one(1.5), close));
    CHECK(differ(one(1), one(2), {.atol = 0.5}));
    CHECK_FALSE(differ(one(1), one(2), {.rtol = 0.5}));  // by worker_1's 2
    CHECK_FALSE(differ(tensor_of<double>("w", {}), tensor_of<double>("w", {})));
    CHECK_FALSE(differ(saved("max", "w", 1), saved("max", "w", 2)));
    CHECK(notes_of(replica_mismatch{}, saves({{saved("max", "w", 1), saved("max", "w", 2)}})).size() == 1);
    // 2 fits both 1.6 and 2.4 within 0.5; these do not fit each other.
    const auto found = findings_of(replica_mismatch{.atol = 0.5}, values({{1.6, 2, 2.4}}));
    CHECK(found.empty());
    CHECK(findings_of(replica_mismatch{.atol = 0.5}, values({{1, 2, 2.4}})).at(0).worker == "worker_0");
}

TEST_CASE("replica_mismatch: digests stand for a tensor where more workers saved one") {
    CHECK(fires({}, saves({{digest(1), digest(1), digest(2)}})) == steps_list{0});
    CHECK(fires({.atol = 9}, saves({{digest(1), digest(2)}})) == steps_list{0});  // never close
    CHECK(fires({}, saves({{digest(7), tensor_of<std::uint64_t>("digest/w", {7})}})).empty());
    const auto found = findings_of(replica_mismatch{}, saves({{digest(1), digest(1), digest(2)}}));
    CHECK(found[0].tensor == "w");
    CHECK(found[0].worker == "worker_2");
    CHECK(contains(found[0].message, "its digest is 2, that of worker_0 1"));
    // Selected by the tensor's name, saved or not, by its own, or not at all.
    const auto digests = saves({{digest(1), digest(2)}}, {});
    CHECK(fires({}, digests) == steps_list{0});  // whatever its tensor belongs to
    CHECK(fires({.collection_names = "weights"}, digests).empty());
    CHECK(fires({.tensor_regex = "^w$"}, digests) == steps_list{0});
    CHECK(fires({.tensor_regex = "^digest/w"}, digests) == steps_list{0});
    CHECK(fires({.tensor_regex = "^v"}, digests).empty());
    // Other saves under digest/ are left out.
    CHECK(fires({.tensor_regex = "."}, saves({{tensor_of<float>("digest/w", {1}), tensor_of<float>("digest/w", {2})}}))
              .empty());
    const auto two = [](std::int64_t last) { return tensor_of<std::int64_t>("digest/w", {1, last}); };
    CHECK(fires({.tensor_regex = "."}, saves({{two(1), two(2)}})).empty());
    // As many digests as values: the values count.
    std::vector<written_step> steps;
    for (std::size_t i = 0; i < 3; ++i) {
        steps.push_back({.tensors = {digest(static_cast<std::int64_t>(i))}, .worker = worker_of(i)});
        if (i < 2) {
            steps.back().tensors.push_back(tensor_of<float>("w", {1}));
        }
    }
    CHECK(findings_of(replica_mismatch{}, run_of(steps, weights)).size() == 1);
    steps.back().tensors.push_back(tensor_of<float>("w", {1}));
    CHECK(findings_of(replica_mismatch{}, run_of(steps, weights)).empty());
}

TEST_CASE("replica_mismatch: any dtype of reals; text, complex numbers and empty tensors are as if not saved") {
    struct row {
        written_tensor one;
        written_tensor other;
        bool fires;
    };
    const auto boolean = [](bool value) {
        return written_tensor{.name = "w", .type = dtype::boolean, .shape = {1}, .content = {std::byte{value}}};
    };
    const auto text = [](const char* value) {
        return written_tensor{.name = "w", .type = dtype::string, .shape = {1}, .strings = {value}};
    };
    const auto half = [](float value) { return tensor_of<float16>("w", {float16{value}}); };
    using complex = std::complex<float>;
    const std::vector<row> rows{
        {tensor_of<std::int64_t>("w", {1}), tensor_of<std::int64_t>("w", {2}), true},
        {tensor_of<std::int64_t>("w", {1}), tensor_of<std::uint64_t>("w", {1}), true},  // no digests: the dtype counts
        {boolean(true), boolean(false), true},
        {boolean(true), boolean(true), false},
        {half(1), half(1.001F), true},
        {half(1), half(1), false},
        {text("a"), text("b"), false},
        {tensor_of<complex>("w", {{1, 0}}), tensor_of<complex>("w", {{2, 0}}), false},
        {tensor_of<float>("w", {}), tensor_of<float>("w", {1}), false},  // one worker is left
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(i);
        const auto store = saves({{rows[i].one, rows[i].other}});
        CHECK(findings_of(replica_mismatch{}, store).size() == (rows[i].fires ? 1 : 0));
        CHECK(notes_of(replica_mismatch{}, store).empty());
    }
}

TEST_CASE("replica_mismatch: a digest of more than 63 bits, and one of several that is selected by a collection") {
    constexpr std::uint64_t high = 0xFFFFFFFFFFFFFFFF;
    const auto unsigned_digest = tensor_of<std::uint64_t>("digest/w", {high});
    CHECK(fires({}, saves({{digest(-1), unsigned_digest}})).empty());  // the same 64 bits
    CHECK(fires({}, saves({{digest(1), unsigned_digest}})) == steps_list{0});
    CHECK(fires({}, saves({{digest(1), digest(2)}}, {{"weights", {"digest/w"}}})) == steps_list{0});
    CHECK(fires({.collection_names = "weights"}, saves({{digest(1), digest(2)}}, {{"weights", {"digest/v"}}})).empty());
    // Selected by its own name alone: the values are not looked at, though more workers saved them.
    std::vector<written_step> steps;
    for (std::size_t i = 0; i < 3; ++i) {
        steps.push_back({.tensors = {tensor_of<double>("w", {static_cast<double>(i)})}, .worker = worker_of(i)});
        if (i < 2) {
            steps.back().tensors.push_back(digest(7));
        }
    }
    CHECK(fires({.tensor_regex = "^digest/w$"}, run_of(steps, weights)).empty());
    CHECK(fires({}, run_of(steps, weights)) == steps_list{0});
}

TEST_CASE("replica_mismatch: shards that differ from the start are left out on request, and counted") {
    const replica_mismatch rule{.only_alike_at_first = true};
    const auto shards = values({{1, 2}, {1, 1}, {1, 2}});
    CHECK(fires(rule, shards).empty());
    const auto notes = notes_of(rule, shards);
    REQUIRE(notes.size() == 1);
    CHECK(contains(notes[0].message, "1 tensor differs"));
    CHECK(fires(rule, values({{1, 1}, {1, 2}})) == steps_list{1});
}

TEST_CASE("replica_mismatch: many workers, unreadable ones, and bad settings") {
    std::vector<double> many(300, 1);
    many[299] = 2;
    CHECK(findings_of(replica_mismatch{}, values({many})).at(0).worker == "worker_299");
    CHECK(findings_of(replica_mismatch{.atol = 0.5}, values({many})).at(0).value == 1);
    memory_storage store = values({{1, 2, 1}});
    damage(store, 0, "worker_1");
    CHECK(fires({}, store).empty());
    CHECK(notes_of(replica_mismatch{}, store).at(0).damaged);
    for (const double bad : {-1.0, not_a_number, infinite}) {
        CHECK_THROWS_AS(replica_mismatch{.rtol = bad}.check(), value_error);
        CHECK_THROWS_AS(replica_mismatch{.atol = bad}.check(), value_error);
    }
}

TEST_CASE("replica_mismatch: a digest is selected by its own name, in the hook's collection of digests, too") {
    const groups_of_tensors of_hook{{"weights", {"w"}}, {"digests", {"digest/w"}}};
    const groups_of_tensors listed{{"weights", {"digest/w"}}, {"digests", {"digest/w"}}};
    const std::vector<std::vector<written_tensor>> steps{{digest(1), digest(2)}};
    struct row {
        replica_mismatch rule;
        groups_of_tensors groups;
        bool fires;
    };
    const row rows[] = {
        {{}, of_hook, true},
        {{.tensor_regex = "^w$"}, of_hook, true},
        {{.tensor_regex = "^digest/w$"}, of_hook, true},
        {{.collection_names = "digests"}, of_hook, true},
        {{}, listed, true},
        {{.tensor_regex = "^digest/v$"}, of_hook, false},
        {{}, {{"weights", {"v"}}, {"digests", {"digest/w"}}}, true},
        {{.collection_names = "weights"}, {{"weights", {"v"}}, {"digests", {"digest/w"}}}, false},
    };
    for (const row& each : rows) {
        CAPTURE(&each - rows);
        CHECK(fires(each.rule, saves(steps, each.groups)) == (each.fires ? steps_list{0} : steps_list{}));
    }
}
