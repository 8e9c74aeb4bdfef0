// The bodies of <smdebug/hook/tensorboard_writer.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/tensorboard_writer.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/bins.hpp>
#include <smdebug/reduce/lanes.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/half.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1 {
namespace detail {

// A sum of finite numbers that overflowed: infinite, or NaN if it overflowed in both directions.
[[nodiscard]] constexpr double nearest_finite(double sum) noexcept {
    constexpr double largest = std::numeric_limits<double>::max();
    return sum == sum ? std::clamp(sum, -largest, largest) : 0;
}

// The finite elements of a tensor as doubles; nothing if its type has only finite values.
[[nodiscard]] inline std::vector<double> finite_elements(const tensor_view& tensor) {
    return visit_dtype(tensor.type, [&]<class Element>() {
        using number_type = std::conditional_t<std::floating_point<Element>, Element, float>;
        std::vector<double> finite;
        if constexpr (std::floating_point<Element> || narrow_float<Element>) {
            for (std::size_t i = 0; i < tensor.count(); ++i) {
                const auto number =
                    static_cast<number_type>(load_le<Element>(tensor.bytes.data() + i * sizeof(Element)));
                if (is_finite(static_cast<double>(number))) {
                    finite.push_back(static_cast<double>(number));
                }
            }
        }
        return finite;
    });
}

// Merges buckets whose drawing stays the same.  The default bins are 1549, of which a tensor fills few, with many empty
// ones around zero: a run of empty buckets becomes one.  If more remain than are drawn, neighbours that together hold
// at most a 32nd of the numbers are merged, so that no quantile moves by more than that.
inline void join_buckets(histogram& all) {
    constexpr std::size_t enough = 40;
    constexpr std::uint64_t parts = 32;
    std::vector<std::uint64_t>& counts = all.buckets;
    std::vector<double>& limits = all.bucket_limits;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] != 0 || i + 1 == counts.size() || counts[i + 1] != 0) {
            counts[kept] = counts[i];
            limits[kept++] = limits[i];
        }
    }
    const std::size_t left = kept;
    if (left > enough) {
        kept = 1;  // the first one is empty: it marks where the next begins
        for (std::size_t i = 1; i < left; ++i) {
            const std::uint64_t more = counts[i] != 0 || i + 1 == left ? counts[i] : counts[i + 1];  // over a gap
            const bool joins = counts[kept - 1] != 0 && counts[kept - 1] + more <= all.num / parts;
            kept += joins ? 0U : 1U;
            counts[kept - 1] = counts[i] + (joins ? counts[kept - 1] : 0U);
            limits[kept - 1] = limits[i];
        }
    }
    counts.resize(kept);
    limits.resize(kept);
}

SMDEBUG_INLINE std::optional<histogram> drawn_histogram(const tensor_view& tensor, const any_kernel& kernel) {
    if (tensor.count() == 0 || tensor.type == dtype::boolean || is_complex(tensor.type)) {
        return std::nullopt;
    }
    result<histogram> found = histogram_of(tensor, default_bins{.open_ends = true}, {}, kernel);
    if (!found) {
        return std::nullopt;  // strings
    }
    if (found->nan + found->below + found->above != 0) {
        const std::vector<double> finite = finite_elements(tensor);
        const std::array shape{finite.size()};
        return drawn_histogram(tensor_view{dtype::float64, shape, std::as_bytes(std::span{finite}), {}}, kernel);
    }
    constexpr double largest = std::numeric_limits<double>::max();
    // TensorBoard computes with floats, in which the largest double is infinite.
    constexpr double outermost = reduce::detail::default_edges.back() * 1.1;
    if (found->bucket_limits.front() == -largest) {
        found->bucket_limits.front() = std::min(found->min, -outermost);
    }
    if (found->bucket_limits.back() == largest) {
        found->bucket_limits.back() = std::max(found->max, outermost);
    }
    found->sum = nearest_finite(found->sum);
    found->sum_squares = nearest_finite(found->sum_squares);
    join_buckets(*found);
    return *std::move(found);
}

}  // namespace detail

SMDEBUG_INLINE void tensorboard_writer::end_step(double wall_time) {
    const std::size_t buffered = held_bytes();
    if (buffered == 0) {
        return;
    }
    const double passed = wall_time - last_written_.value_or(wall_time);
    const bool early = last_written_ && passed >= 0 && passed < options_.interval.count();  // a clock may be set back
    if (!early || buffered >= options_.max_bytes) {
        write_all();
        last_written_ = wall_time;
    }
}

SMDEBUG_INLINE std::size_t tensorboard_writer::held_bytes() const noexcept {
    std::size_t bytes = 0;
    for (const stream& file : streams_) {
        bytes += file.records.size();
    }
    return bytes;
}

SMDEBUG_INLINE bool tensorboard_writer::add_drawn(const detail::record_stamp& stamp, std::string_view tag,
                                                  const tensor_view& tensor, const detail::any_kernel& kernel) {
    const std::optional<histogram> found = detail::drawn_histogram(tensor, kernel);
    if (found) {
        const std::vector<double> buckets{found->buckets.begin(), found->buckets.end()};
        add(stamp, tag,
            detail::wire::histogram_fields{.min = found->min,
                                           .max = found->max,
                                           .num = static_cast<double>(found->num),
                                           .sum = found->sum,
                                           .sum_squares = found->sum_squares,
                                           .bucket_limits = found->bucket_limits,
                                           .buckets = buckets});
    }
    return found.has_value();
}

SMDEBUG_INLINE void tensorboard_writer::add(const detail::record_stamp& stamp, std::string_view tag,
                                            std::variant<float, detail::wire::histogram_fields> value) {
    stream& file = streams_[place_of(stamp.mode)];
    if (file.records.empty()) {
        file.key = std::string{name_of(stamp.mode)} + "/" +
                   detail::locations::step_file_name(stamp.step, worker_, detail::locations::event_extension);
        append(file, detail::wire::event_fields{.wall_time = stamp.wall_time,
                                                .step = 0,
                                                .file_version = detail::wire::tensorboard_file_version,
                                                .values = {}});
    }
    const std::string cleaned = detail::wire::tensorboard_tag(tag);
    const std::array values{detail::wire::tensorboard_value{cleaned, value}};
    append(file, detail::wire::tensorboard_event{stamp.wall_time, stamp.step, values});
}

SMDEBUG_INLINE void tensorboard_writer::write_all() {
    try {
        for (stream& file : streams_) {
            write(file);
        }
    } catch (...) {
        if (held_bytes() >= options_.max_bytes) {
            for (stream& file : streams_) {
                file.records.clear();
            }
        }
        throw;
    }
}

SMDEBUG_INLINE void tensorboard_writer::write(stream& file) {
    if (file.records.empty()) {
        return;
    }
    place_(file.key, file.records);
    file.records.clear();
}

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
