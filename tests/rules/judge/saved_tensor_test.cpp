#include <smdebug/rules/judge/saved_tensor.hpp>

#include "support/look_up.hpp"
#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::detail::saved_tensor;
using steps_list = std::vector<step_number>;
using texts = std::vector<std::string>;

namespace {

/// Steps 0, 2, 4 of two workers, 6 of worker_1 alone; "a" and "b" everywhere, "text" at step 0.
memory_trial sample() {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"}, {{"group", {"b"}}});
    for (step_number step = 0; step < 8; step += 2) {
        for (const std::string worker : {"worker_1", "worker_0"}) {
            if (step == 6 && worker == "worker_0") {
                continue;
            }
            const float value = static_cast<float>(step) + (worker == "worker_1" ? 100 : 0);
            written_step made{.step = step,
                              .tensors = {tensor_of<float>("a", {value, -1}, {1, 2}), tensor_of<float>("b", {value})},
                              .mode = step == 4 ? mode::eval : mode::train,
                              .mode_step = step == 4 ? 0 : step,
                              .worker = worker};
            if (step == 0) {
                made.tensors.push_back(
                    {.name = "text", .type = dtype::string, .shape = {1}, .content = {}, .strings = {"x"}});
            }
            build.step(made);
        }
    }
    build.end();
    return memory_trial{store};
}

const std::string name = "a";
const std::string worker_0 = "worker_0";
const std::string worker_1 = "worker_1";

}  // namespace

TEST_CASE("saved_tensor: asks for one worker's save, at its step or another") {
    const memory_trial run = sample();
    const auto handle = run.tensor("a");
    const saved_tensor at{handle, name, 2, worker_1};
    CHECK(*at.reduction_value(reduction::max) == 102);
    CHECK(*at.reduction_value(reduction::min, true) == 1);
    CHECK(value_of(at.counts()).count == 2);
    const auto values = at.values();
    CHECK(values->elements<float>()[0] == 102);
    CHECK(value_of(at.shape()) == shape_type{1, 2});
    const auto later = at.at(6);
    CHECK(later.worker() == "worker_1");
    CHECK(later.step() == 6);
    CHECK(*later.reduction_value(reduction::max) == 106);
    CHECK(failure_of(at.at(3).reduction_value(reduction::max)).why == lookup_failure_kind::step_not_saved);
    CHECK(&at.handle() == &handle);
}

TEST_CASE("saved_tensor: of reductions alone there are neither counts nor values nor a shape") {
    const memory_trial run = reduced_run({{"a", {{0, {1, 2}}}}});
    const auto handle = run.tensor("a");
    const saved_tensor at{handle, name, 0, worker_0};
    CHECK(*at.reduction_value(reduction::max) == 2);
    CHECK(failure_of(at.counts()).why == lookup_failure_kind::tensor_not_saved);
    CHECK(failure_of(at.values()).why == lookup_failure_kind::tensor_not_saved);
    CHECK(failure_of(at.shape()).why == lookup_failure_kind::shape_not_saved);
}

TEST_CASE("saved_tensor: findings and notes say which tensor, of which worker") {
    const memory_trial run = sample();
    const auto handle = run.tensor("a");
    const saved_tensor at{handle, name, 2, worker_1};
    const finding met = at.met(5, 4, "above");
    CHECK(met.met);
    CHECK(met.tensor == "a");
    CHECK(met.worker == "worker_1");
    CHECK(met.value == 5);
    CHECK(met.threshold == 4);
    CHECK(met.message == "above");
    CHECK_FALSE(at.note("why").met);
    CHECK(at.note("why").message == "why");
    CHECK_FALSE(at.note(smdebug::lookup_error{.why = lookup_failure_kind::tensor_not_saved}).message.empty());
    CHECK(at.note(smdebug::lookup_error{.why = lookup_failure_kind::wrong_dtype})
              .message.empty());  // strings: no finding
    CHECK(at.note(smdebug::lookup_error{.why = lookup_failure_kind::damaged, .where = "file"}).damaged);
}

TEST_CASE("judge_each: the selected tensors by name, then worker; empty answers are left out") {
    const memory_trial run = sample();
    const auto judged = [&](step_number step, const rules::detail::tensor_choice& which, bool all_workers) {
        texts seen;
        const auto found = rules::detail::judge_each(run, step, which, all_workers, [&](const auto& tensor) {
            seen.push_back(tensor.name() + " " + tensor.worker());
            return tensor.name() == "b" ? tensor.met(0, 0, "b") : finding{};
        });
        for (const finding& one : found) {
            CHECK(one.tensor == "b");
        }
        return std::pair{seen, found.size()};
    };
    CHECK(judged(2, {}, false) == std::pair{texts{"a worker_0", "b worker_0"}, std::size_t{1}});
    CHECK(judged(2, {}, true).first == texts{"a worker_0", "a worker_1", "b worker_0", "b worker_1"});
    CHECK(judged(2, {.collection_names = "group"}, true) ==
          std::pair{texts{"b worker_0", "b worker_1"}, std::size_t{2}});
    CHECK(judged(6, {.tensor_regex = "^a"}, false).first == texts{"a worker_1"});
    CHECK(judged(2, {.collection_names = "nothing"}, true).first.empty());
    CHECK(judged(3, {}, true).first.empty());
}

TEST_CASE("last_steps: as many as there are, up to and including a step, of a mode") {
    const memory_trial run = sample();
    const auto handle = run.tensor("a");
    CHECK(rules::detail::last_steps(handle, 5, 2) == steps_list{2, 4});
    CHECK(rules::detail::last_steps(handle, 4, 9) == steps_list{0, 2, 4});
    CHECK(rules::detail::last_steps(handle, 99, 1) == steps_list{6});
    CHECK(rules::detail::last_steps(handle, 99, 0).empty());
    CHECK(rules::detail::last_steps(handle, 99, 2, mode::train) == steps_list{2, 6});
    CHECK(rules::detail::last_steps(handle, 99, 2, mode::eval) == steps_list{0});
}

TEST_CASE("has_steps_of: by the modes that a trial reports") {
    const memory_trial run = sample();
    CHECK(rules::detail::has_steps_of(run, mode::train));
    CHECK(rules::detail::has_steps_of(run, mode::eval));
    CHECK_FALSE(rules::detail::has_steps_of(run, mode::predict));
}

TEST_CASE("visit_earlier_saves: the newest first, the same worker's or each step's first, until it is enough") {
    const memory_trial run = sample();
    const auto handle = run.tensor("a");
    const auto visited = [&](step_number step, const std::string& worker, bool all_workers, std::size_t enough) {
        texts seen;
        rules::detail::visit_earlier_saves(saved_tensor{handle, name, step, worker}, all_workers,
                                           [&](const auto& earlier) {
                                               seen.push_back(std::to_string(earlier.step()) + " " + earlier.worker());
                                               return seen.size() < enough;
                                           });
        return seen;
    };
    CHECK(visited(6, "worker_1", true, 9) == texts{"4 worker_1", "2 worker_1", "0 worker_1"});
    CHECK(visited(6, "worker_1", false, 9) == texts{"4 worker_0", "2 worker_0", "0 worker_0"});
    CHECK(visited(6, "worker_1", true, 2) == texts{"4 worker_1", "2 worker_1"});
    CHECK(visited(0, "worker_0", true, 9).empty());
}

TEST_CASE("require_whole_numbers: fractions are refused by name, what is not finite is left to the rule") {
    constexpr double inf = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const std::vector<double>& fine : std::vector<std::vector<double>>{{}, {0, 1, -3, 1e300}, {nan, inf, -inf}}) {
        CHECK_NOTHROW(rules::detail::require_whole_numbers(fine, "labels", 7));
    }
    CHECK_THROWS_WITH_AS(
        rules::detail::require_whole_numbers({1, 0.9}, "labels", 7, " Set it."),
        "TensorUnavailableForStep: Value for tensor labels is not available for step 7 with mode GLOBAL "
        "as the number of a category, as 0.9 is not whole. Set it.",
        tensor_unavailable_for_step);
}
