#include <smdebug/trial/read/tensor_reader.hpp>

#include "support/look_up.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

memory_storage sample() {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    for (const char* worker : {"worker_0", "worker_1"}) {
        build.step({.step = 4,
                    .tensors = {tensor_of<float>("w", {1, 2}), tensor_of<float>("smdebug/reductions/min/odd", {7}),
                                tensor_of<float>("smdebug/reductions/max/pair", {1, 2})},
                    .mode_step = 2,
                    .worker = worker});
    }
    build.end();
    return store;
}

}  // namespace

TEST_CASE("tensor_reader: finds the files of a step by global and by mode step, and one worker's") {
    const memory_trial run{sample()};
    const tensor_reader w{state_of(run), "w"};
    CHECK(w.find_files(4, mode::global).files.size() == 2);
    CHECK(w.find_files(2, mode::train).files.size() == 2);
    CHECK(w.find_files(2, mode::eval).files.empty());
    const auto second = w.locate(4, mode::global, "worker_1");
    REQUIRE(second.has_value());
    CHECK(second->from->workers[second->file->worker] == "worker_1");
    const auto values = w.read_values(*second);
    CHECK(values->elements<float>()[1] == 2);
    CHECK(failure_of(w.locate(4, mode::global, "absent")).where == "absent");
    CHECK(w.compute(*second, {reduction::sum, false}).has_value());
}

TEST_CASE("tensor_reader: a saved reduction is read; one that is not a single number is reported") {
    const memory_trial run{sample()};
    CHECK(run.tensor("odd").reduction_value(4, reduction::min) == 7);
    const auto pair = run.tensor("pair").find_reduction(4, reduction::max);
    REQUIRE_FALSE(pair.has_value());
    CHECK(pair.error().why == lookup_failure_kind::wrong_dtype);
    CHECK(pair.error().note.find("max") != std::string::npos);
}

namespace {

/// A user's kernel that computes everything but one reduction, and nothing for integers.
struct lacking_kernel {
    reduction lacks = reduction::mean;

    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted) const {
        if (tensor.type == dtype::int32) {
            return status::unsupported;
        }
        auto values = scalar_kernel{}.reduce(tensor, wanted);
        if (values.ok()) {
            values->computed = values->computed - reduction_key{lacks, false};
        }
        return values;
    }
    [[nodiscard]] std::string name() const { return "lacking"; }
};

}  // namespace

TEST_CASE("tensor_reader: a reduction that a kernel does not compute is reported as the kernel's, not the tensor's") {
    memory_storage store;
    run_builder{store}
        .collections({"worker_0"})
        .step({.step = 0,
               .tensors = {tensor_of<float>("w", {1, 2}), tensor_of<std::complex<float>>("c", {{1, 2}}),
                           tensor_of<std::int32_t>("i", {1})}})
        .end();
    const basic_trial<memory_storage, event_decoder<>, lacking_kernel> run{store};
    const auto why = [&](const std::string& tensor, reduction what) {
        const auto found = run.tensor(tensor).find_reduction(0, what);
        return found ? std::string{"found"} : found.error().note;
    };
    CHECK(why("w", reduction::max) == "found");
    CHECK(why("w", reduction::mean) == "the kernel lacking did not compute the mean of tensor w, which holds float32");
    CHECK_THROWS_AS(static_cast<void>(run.tensor("w").reduction_value(0, reduction::mean)), unsupported);
    CHECK(why("i", reduction::max) ==
          "the kernel lacking did not compute the reductions of tensor i, which holds int32");
    CHECK(why("c", reduction::mean) == "tensor c is complex, which has no mean: only the abs forms, l1 and l2");
    CHECK(thrown_code([&] { static_cast<void>(run.tensor("c").reduction_value(0, reduction::mean)); }) ==
          error_code::wrong_dtype);
    const basic_trial<memory_storage, event_decoder<>, lacking_kernel> recorded{sample(), {}, {}, {reduction::sum}};
    CHECK(failure_of(recorded.tensor("odd").find_reduction(4, reduction::min)).why ==
          lookup_failure_kind::not_computed);
}
