#include <smdebug/reduce/accumulate.hpp>

#include <smdebug/reduce/scalar_kernel.hpp>
#include "support/test.hpp"

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;

namespace {

/// Scalar sweeps that count how often they are called, and with what.
struct counting_sweeps {
    static inline int with_product = 0;
    static inline int without_product = 0;
    static inline int looks = 0;
    static inline std::vector<std::size_t> counts{};
    static inline parts swept{};

    template <class Lane, parts Parts>
    static block_result sweep(const std::byte* at, std::size_t count, const std::byte* soon) noexcept {
        (Parts.product ? with_product : without_product) += 1;
        counts.push_back(count);
        swept = Parts;
        return scalar_sweeps::sweep<Lane, Parts>(at, count, soon);
    }
    template <class Lane>
    static centred_result centre(const std::byte* at, std::size_t count, double about, bool magnitudes) noexcept {
        ++looks;
        return scalar_sweeps::centre<Lane>(at, count, about, magnitudes);
    }
    template <class Lane>
    static std::uint64_t count_zeros(const std::byte* at, std::size_t count) noexcept {
        return scalar_sweeps::count_zeros<Lane>(at, count);
    }
    static void forget() {
        with_product = without_product = looks = 0;
        counts.clear();
    }
};

constexpr required_statistics everything{.sweep = {.extrema = true, .smallest = true, .norms = true, .product = true},
                                         .spread = true};

template <class Demand = required_statistics>
totals walked(const std::vector<float>& values, Demand wanted = everything) {
    element_source<float> source;
    source.bytes = std::as_bytes(std::span{values}).data();
    source.count = values.size();
    return block_walk<counting_sweeps, float, Demand>(source, wanted).run(nullptr);
}

}  // namespace

TEST_CASE("block_walk: blocks of 2048, the last one shorter, each swept once") {
    counting_sweeps::forget();
    const totals all = walked(std::vector<float>(5000, 1.0F), required_statistics{});
    CHECK(counting_sweeps::counts == std::vector<std::size_t>{2048, 2048, 904});
    CHECK(counting_sweeps::with_product == 0);
    CHECK(all.sum.high == 5000);
    counting_sweeps::forget();
    CHECK(walked({}).count == 0);
    CHECK(counting_sweeps::counts.empty());
}

TEST_CASE("block_walk: sweeps are the narrowest that have what is wanted, known when compiled or not") {
    const std::vector<float> values(100, 1.0F);
    const auto swept = [&](auto wanted) {
        static_cast<void>(walked(values, wanted));
        return counting_sweeps::swept;
    };
    CHECK(swept(required_statistics{}) == parts{});
    CHECK(swept(required_statistics{.sweep = {.norms = true}}) == parts{.norms = true});
    CHECK(swept(required_statistics{.sweep = {.norms = true}, .spread = true}) == parts{.norms = true});
    CHECK(swept(required_statistics{.sweep = {.extrema = true}}) == parts{.extrema = true});
    CHECK(swept(required_statistics{.sweep = {.extrema = true, .smallest = true}}) ==
          parts{.extrema = true, .smallest = true});
    CHECK(swept(required_statistics{.sweep = {.extrema = true, .norms = true}}) ==
          parts{.extrema = true, .norms = true});
    CHECK(swept(everything) == everything.sweep);
    CHECK(swept(fixed_demand<required_statistics{}>{}) == parts{});
    CHECK(swept(fixed_demand<required_statistics{.sweep = {.norms = true}}>{}) == parts{.norms = true});
    CHECK(swept(fixed_demand<everything>{}) == everything.sweep);
}

TEST_CASE("block_walk: a product that has become 0 costs nothing more") {
    counting_sweeps::forget();
    const totals all = walked(std::vector<float>(10 * block_size, 1e-3F));
    CHECK(all.product.mantissa == 0);
    CHECK(counting_sweeps::with_product == 1);
    CHECK(counting_sweeps::without_product == 9);
}

TEST_CASE("block_walk: blocks with a mean near 0 are seen once, those far from 0 twice") {
    std::vector<float> values(2 * block_size);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i % 7) - 3.0F;
    }
    counting_sweeps::forget();
    static_cast<void>(walked(values));
    CHECK(counting_sweeps::looks == 0);
    for (float& value : values) {
        value += 100;
    }
    counting_sweeps::forget();
    static_cast<void>(walked(values));
    CHECK(counting_sweeps::looks == 2);  // for x; |x| is the same, so it is not looked at
    for (std::size_t i = 0; i < values.size(); i += 2) {
        values[i] = -values[i];
    }
    counting_sweeps::forget();
    static_cast<void>(walked(values));
    CHECK(counting_sweeps::looks == 2);  // for |x| only
}

TEST_CASE("block_walk: kinds of elements add up over blocks, a zero beside a NaN too") {
    constexpr float inf = std::numeric_limits<float>::infinity();
    std::vector<float> values(3 * block_size, 1.0F);
    values[0] = 0;
    values[5] = std::numeric_limits<float>::quiet_NaN();
    values[6] = -0.0F;
    values[block_size] = inf;
    values[2 * block_size + 1] = 0;
    values[3 * block_size - 1] = -inf;
    const totals all = walked(values);
    CHECK(all.kinds.zeros == 3);
    CHECK(all.kinds.nan == 1);
    CHECK(all.kinds.pos_inf == 1);
    CHECK(all.kinds.neg_inf == 1);
    CHECK_FALSE(all.all_finite());
}
