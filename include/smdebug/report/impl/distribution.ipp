// The bodies of <smdebug/report/distribution.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/reduce/histogram.hpp>
#include <smdebug/reduce/quantiles.hpp>
#include <smdebug/report/distribution.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace smdebug {
inline namespace v1 {
namespace report {
namespace detail {

SMDEBUG_INLINE std::optional<distribution> distribution_of(const tensor_view& values, std::vector<std::byte>& buffer) {
    const std::size_t count = values.count();
    const std::size_t size = size_of(values.type);
    if (count < 2 || size == 0 || is_complex(values.type) || !is_numeric(values.type)) {
        return std::nullopt;
    }
    tensor_view sample = values;
    if (count > elements_looked_at) {
        buffer.resize(elements_looked_at * size);
        for (std::size_t i = 0; i < elements_looked_at; ++i) {
            const std::size_t from = i * (count - 1) / (elements_looked_at - 1);
            std::memcpy(buffer.data() + i * size, values.bytes.data() + from * size, size);
        }
        sample = {.type = values.type, .shape = {}, .bytes = buffer, .strings = {}};
    }
    constexpr std::array<double, 3> wanted{0.25, 0.5, 0.75};
    const auto quartiles = quantiles(sample, wanted);
    const auto bars = histogram_of(sample, equal_bins{distribution::bins}, {.trim = false});
    if (!quartiles || !bars || bars->buckets.size() != distribution::bins + 1 ||
        !std::isfinite(bars->bucket_limits.back() - bars->bucket_limits.front())) {
        return std::nullopt;
    }
    distribution made;
    for (std::size_t i = 0; i < made.quartiles.size(); ++i) {
        made.quartiles[i] = (*quartiles)[i];
    }
    made.low = bars->bucket_limits.front();
    made.high = bars->bucket_limits.back();
    const auto most = *std::max_element(bars->buckets.begin(), bars->buckets.end());
    for (std::size_t i = 0; i < made.counts.size(); ++i) {
        // Rounded up: what is there is to be seen.
        made.counts[i] = static_cast<std::uint8_t>((bars->buckets[i + 1] * 255 + most - 1) / most);
    }
    return made;
}

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug
