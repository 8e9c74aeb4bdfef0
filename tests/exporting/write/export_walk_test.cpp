#include <smdebug/exporting/write/export_walk.hpp>

#include "exporting/odd_run.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/trial_access.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using detail::export_extent;

namespace {

// Notes what it is passed; refuses the tensor "z".
class noting_target final : public detail::export_target {
public:
    explicit noting_target(bool takes_reductions) : takes_reductions_(takes_reductions) {}
    [[nodiscard]] bool takes_reductions() const noexcept override { return takes_reductions_; }
    [[nodiscard]] std::string add(const detail::scanned_tensor& tensor) override {
        if (tensor.name == "z") {
            return "is last of all";
        }
        seen += std::string{tensor.name} + " ";
        return {};
    }
    void end_file() override { seen += "| "; }
    void finish(export_result& result) override { result.files = 1; }

    std::string seen;

private:
    bool takes_reductions_;
};

memory_storage small_run() {
    memory_storage store;
    const std::string mean = reduction_tensor_name("r", reduction_key{reduction::mean});
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("a", {1}), tensor_of<float>("z", {1}), tensor_of<double>(mean, {1}, {})}})
        .step({.step = 4, .tensors = {tensor_of<float>("b", {1})}})
        .end();
    return store;
}

}  // namespace

TEST_CASE("walk_export: each tensor with values, files apart; tensors without a place are reported") {
    const memory_trial run{small_run()};
    noted_export noted;
    noting_target target{false};
    const export_result result = walk_export(run, noted.options, target);
    CHECK(target.seen == "a | b | ");
    CHECK(result.tensors == 2);
    CHECK(result.refused == 1);
    CHECK(result.without_values == 1);
    CHECK(result.files == 1);
    CHECK(noted.told == std::vector<std::string>{"z@0: the tensor \"z\" is last of all: left out at step 0"});
    noting_target all{true};
    CHECK(walk_export(run, {}, all).tensors == 3);
    CHECK(all.seen == "a r | b | ");
}

TEST_CASE("walk_export: nothing is an error that says why, and so is being stopped") {
    const memory_trial run{small_run()};
    noting_target target{false};
    const auto said = [&](const tensor_selection& which) {
        return message_of<value_error>(
            [&] { return walk_export(run, {.which = which, .run_name = "my run"}, target); });
    };
    CHECK(contains_text(said({.names = {{"none"}}}), "nothing of my run was exported: no tensor is selected"));
    CHECK(contains_text(said({.names = {{"r"}}}), "only reductions or shapes of the selected tensors were saved"));
    CHECK(contains_text(said({.names = {{"z"}}}), "no tensor that is selected could be exported"));
    std::stop_source stop;
    stop.request_stop();
    CHECK_THROWS_AS(static_cast<void>(walk_export(run, {.how = {.stop = stop.get_token()}}, target)), stopped_error);
    std::vector<std::size_t> done;
    static_cast<void>(walk_export(
        run, {.how = {.threads = 4, .progress = [&](std::size_t files, std::size_t) { done.push_back(files); }}},
        target));
    CHECK(done == std::vector<std::size_t>{1, 2});
}

TEST_CASE("export_extent: the files, tensors and workers of a selection") {
    memory_storage store = small_run();
    run_builder{store}.step({.step = 4, .tensors = {tensor_of<float>("a", {1})}, .worker = "worker_1"});
    const memory_trial run{store};
    const auto from = smdebug::detail::catalog_of(run);
    const export_extent all = export_extent::of(*from, {});
    CHECK(all.files.size() == 3);
    CHECK(all.tensors == std::vector<std::string>{"a", "b", "r", "z"});
    CHECK(all.workers == std::vector<std::string>{"worker_0", "worker_1"});
    const export_extent some = export_extent::of(*from, {.names = {{"a"}}, .worker = "worker_0"});
    REQUIRE(some.files.size() == 1);
    CHECK(some.files.front()->step == 0);
    CHECK(some.tensors == std::vector<std::string>{"a"});
    CHECK(export_extent::of(*from, {.range = {10, 20}}).files.empty());
    CHECK(detail::layout_at(*from, 4, "worker_1") != nullptr);
    CHECK(detail::layout_at(*from, 0, "worker_1") == nullptr);
    CHECK(detail::layout_at(*from, 9, "worker_0") == nullptr);
}
