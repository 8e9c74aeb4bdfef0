#include <smdebug/trial/read/entry_decoder.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/step_stream.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

const std::string event_file = smdebug::detail::locations::event_key(0, "worker_0");

/// Saved reductions of every kind; the record of one is damaged.
memory_storage saved_reductions() {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.tensors = {tensor_of<float>("w", {1, 2}), tensor_of<float>("smdebug/reductions/min/w", {-0.5F}, {}),
                           tensor_of<double>("smdebug/reductions/max/w", {1e300}, {}),
                           tensor_of<float>("smdebug/reductions/mean/w", {std::numeric_limits<float>::infinity()}, {}),
                           tensor_of<std::int64_t>("smdebug/reductions/sum/w", {7}, {1}),
                           tensor_of<float>("smdebug/reductions/std/w", {1, 2}),
                           tensor_of<float>("smdebug/reductions/variance/w", {}),
                           tensor_of<std::complex<float>>("smdebug/reductions/prod/w", {{1, 2}}),
                           tensor_of<std::int32_t>("smdebug/reductions/l1/w", {3}, {}),
                           tensor_of<float>("smdebug/reductions/l2/w", {4}, {})}})
        .end();
    std::string bytes{as_text(store.read(event_file).view())};
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    bytes[bytes.size() - 10] = static_cast<char>(bytes[bytes.size() - 10] ^ 1);
    store.write(event_file, as_bytes(bytes));
    return store;
}

/// A user's kernel without a sum, and without support for int32.
struct lacking_kernel {
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted) const {
        auto values = tensor.type == dtype::int32 ? status::unsupported : scalar_kernel{}.reduce(tensor, wanted);
        if (values.ok()) {
            values->computed = values->computed - reduction_key{reduction::sum, false};
        }
        return values;
    }
    [[nodiscard]] std::string name() const { return "lacking"; }
};

std::string failure_text(const smdebug::lookup_error& why) {
    return std::to_string(static_cast<int>(why.why)) + " " + std::to_string(static_cast<int>(why.damage)) + " " +
           std::to_string(why.offset) + " " + why.where + " " + why.note;
}

/// Each saved reduction, as a scan and as a handle return it.
template <class Trial>
std::map<std::string, std::pair<std::string, std::string>> said_of(const Trial& run) {
    std::map<std::string, std::pair<std::string, std::string>> said;
    smdebug::detail::scan(smdebug::detail::state_of(run), {}, [&](const smdebug::detail::scanned_tensor& tensor) {
        for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
            if (const reduction_key key = reduction_key::from_index(i); tensor.saved.contains(key)) {
                said[key.name()].first = std::to_string(tensor.saved_value[i]);
            }
        }
        for (const unread_reduction& failed : tensor.saved_failures) {
            said[failed.key.name()].first = failure_text(failed.why);
        }
    });
    for (std::size_t i = 0; i < reduction_count; ++i) {
        const reduction what = reduction_key::from_index(i).what;
        const auto found = run.tensor("w").find_reduction(0, what);
        said[std::string{name_of(what)}].second = found ? std::to_string(*found) : failure_text(found.error());
    }
    return said;
}

}  // namespace

TEST_CASE("entry_decoder: a scan and a handle agree on every saved reduction, and on why it cannot be read") {
    const auto said = said_of(memory_trial{saved_reductions()});
    REQUIRE(said.size() == reduction_count);
    for (const auto& [key, both] : said) {
        CAPTURE(key);
        CHECK(both.first == both.second);
    }
    CHECK(said.at("min").first == "-0.500000");
    CHECK(said.at("sum").first == "7.000000");
    CHECK(said.at("std").first.ends_with("the saved std of tensor w is no single number"));
    CHECK(said.at("variance").first.ends_with("the saved variance of tensor w is no single number"));
    CHECK(said.at("prod").first.ends_with("the saved prod of tensor w is no single number"));
    CHECK(said.at("l2").first.ends_with(event_file + " "));
}

TEST_CASE("entry_decoder: a missing reduction of a user's kernel is reported as the kernel's, in a scan, too") {
    const auto said = said_of(basic_trial<memory_storage, event_decoder<>, lacking_kernel>{saved_reductions()});
    for (const auto& [key, both] : said) {
        CAPTURE(key);
        CHECK(both.first == both.second);
    }
    CHECK(said.at("min").first.ends_with(
        "the kernel lacking did not compute the sum, by which the saved min is read, of tensor w, which holds "
        "float32"));
    CHECK(said.at("l1").first.ends_with("the saved l1 of tensor w is no single number"));
}
