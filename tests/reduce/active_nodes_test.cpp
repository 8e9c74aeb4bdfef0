#include <smdebug/reduce/element_walks.hpp>

#include <smdebug/tensor/half.hpp>
#include <smdebug/tensor/tensor_value.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::reduce::detail;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("active_nodes: counts nodes with too few active samples, rows short and long, more than a band of columns") {
    std::mt19937 random{5};
    for (const layer_size layer : {layer_size{1, 1}, {7, 3}, {300, 2}, {9, 1500}, {40, 600}}) {
        std::vector<float> values(layer.samples * layer.nodes);
        for (float& each : values) {
            each = static_cast<float>(random() % 5) - 2;
        }
        const auto tensor = tensor_value::copy_of<float>({layer.samples, layer.nodes}, std::span<const float>{values});
        for (const active_range& range : {active_range{0, std::nullopt}, active_range{-1.5, 1.5}}) {
            for (const std::size_t needed : {std::size_t{0}, std::size_t{1}, layer.samples / 2, layer.samples + 1}) {
                std::size_t expected = 0;
                for (std::size_t node = 0; node < layer.nodes; ++node) {
                    std::size_t active = 0;
                    for (std::size_t sample = 0; sample < layer.samples; ++sample) {
                        const double value = static_cast<double>(values[sample * layer.nodes + node]);
                        active += value > range.above && (!range.below || value < *range.below) ? 1U : 0U;
                    }
                    expected += active < needed ? 1U : 0U;
                }
                CHECK(inactive_nodes(tensor, layer, range, needed, 0) == expected);
                CHECK(inactive_nodes(tensor, layer, range, needed, expected) == expected);
                CHECK(inactive_nodes(tensor, layer, range, needed, expected + 1) <= expected);
            }
        }
    }
}

TEST_CASE("active_nodes: every 16-bit float is on the side of a limit where its value is") {
    const double limits[] = {0.0, -0.0, 1.0, -9.4999, 9.4999, 1e-9, -1e-9, 6e-8, 65504, 65505, -65505, 1e39, inf, -inf};
    const auto check_all = [&]<class T>(T /*tag*/) {
        std::size_t wrong = 0;
        for (std::uint32_t bits = 0; bits < 1U << (8 * sizeof(T)); ++bits) {
            const std::vector<T> values{T::from_bits(static_cast<decltype(T::bits)>(bits))};
            const auto tensor = tensor_value::copy_of<T>({1, 1}, std::span<const T>{values});
            const double value = to_double(values[0]);
            const auto inactive = [&](const active_range& range) {
                return inactive_nodes(tensor, {1, 1}, range, 1, 1) == 1;
            };
            for (const double limit : limits) {
                wrong += inactive({.above = limit}) == (value > limit) ? 1U : 0U;
                wrong += limit > -inf && inactive({-inf, limit}) == (value > -inf && value < limit) ? 1U : 0U;
            }
        }
        CHECK(wrong == 0);
    };
    check_all(float16{0.0F});
    check_all(bfloat16{0.0F});
    check_all(float8_e4m3fn{0.0F});
    check_all(float8_e5m2{0.0F});
}
