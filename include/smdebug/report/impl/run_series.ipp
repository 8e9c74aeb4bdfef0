// The bodies of <smdebug/report/run_series.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/histogram.hpp>
#include <smdebug/reduce/quantiles.hpp>
#include <smdebug/report/run_series.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::report::detail {

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
        !is_finite(bars->bucket_limits.back() - bars->bucket_limits.front())) {
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
        // Rounded up, so that a non-empty bin is visible.
        made.counts[i] = static_cast<std::uint8_t>((bars->buckets[i + 1] * 255 + most - 1) / most);
    }
    return made;
}

SMDEBUG_INLINE step_axes::step_axes(const std::vector<axis_step>& steps, std::size_t most_buckets) {
    places_.resize(steps.size());
    for (const mode each : {mode::train, mode::eval, mode::predict, mode::global}) {
        const auto count = static_cast<std::size_t>(
            std::count_if(steps.begin(), steps.end(), [&](const axis_step& one) { return one.mode == each; }));
        if (count == 0) {
            continue;
        }
        step_axis& axis = axes_.emplace_back(step_axis{.mode = each, .steps = count});
        const std::size_t buckets = std::min(count, std::max<std::size_t>(most_buckets, 1));
        std::size_t seen = 0;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (steps[i].mode != each) {
                continue;
            }
            const std::size_t bucket = seen++ * buckets / count;
            if (bucket == axis.buckets.size()) {
                axis.buckets.push_back(
                    {.first = steps[i].shown.value_or(steps[i].step), .mode_step = steps[i].mode_step});
            }
            axis.buckets.back().last = steps[i].shown.value_or(steps[i].step);
            axis.buckets.back().last_mode_step = steps[i].mode_step;
            ++axis.buckets.back().count;
            places_[i] = {steps[i].step,
                          {static_cast<std::uint32_t>(axes_.size() - 1), static_cast<std::uint32_t>(bucket)}};
        }
    }
}

SMDEBUG_INLINE std::optional<axis_place> step_axes::place_of(step_number step) {
    if (last_ >= places_.size() || places_[last_].step != step) {
        const auto found = std::lower_bound(places_.begin(), places_.end(), step,
                                            [](const place& each, step_number wanted) { return each.step < wanted; });
        if (found == places_.end() || found->step != step) {
            return std::nullopt;
        }
        last_ = static_cast<std::size_t>(found - places_.begin());
    }
    return places_[last_].where;
}

SMDEBUG_INLINE std::vector<step_number> step_axes::some(std::size_t count) const {
    std::vector<step_number> chosen;
    for (std::uint32_t axis = 0; axis < axes_.size(); ++axis) {
        const std::size_t steps = axes_[axis].steps;
        // A mode with few steps gets some buckets, too.
        const std::size_t wanted = std::min(steps, std::max<std::size_t>(count * steps / places_.size(), 8));
        std::size_t seen = 0;
        std::size_t taken = 0;
        for (const place& each : places_) {
            if (each.where.axis != axis) {
                continue;
            }
            const std::size_t next = wanted > 1 ? taken * (steps - 1) / (wanted - 1) : steps - 1;
            if (taken < wanted && seen++ == next) {
                chosen.push_back(each.step);
                ++taken;
            }
        }
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

SMDEBUG_INLINE reduction_set numbers_of_reports() {
    return reduction_set{reduction::min} | reduction_set{reduction::max} | reduction_set{reduction::mean} |
           reduction_set{reduction::std} | reduction_set{reduction::mean, true} | reduction_set{reduction::l2} |
           reduction_set::counts();
}

inline constexpr std::uint64_t absent_bits = 0x7FF8'0000'0000'0001;

SMDEBUG_INLINE double absent_number() noexcept { return std::bit_cast<double>(absent_bits); }

SMDEBUG_INLINE bool is_absent(double number) noexcept { return std::bit_cast<std::uint64_t>(number) == absent_bits; }

SMDEBUG_INLINE series_row row_of(const reduction_values& values) {
    series_row row;
    row.fill(absent_number());
    const bool is_empty = values.computed.has_counts() && values.count == 0;
    const auto put = [&](std::size_t column, reduction what, bool abs, bool both) {
        const double value = values(what, abs);
        if (values.computed.contains(reduction_key{what, abs}) && !(is_empty && is_nan(value))) {
            row[column] = value;
            row[column + (both ? 1 : 0)] = value;
        }
    };
    put(0, reduction::min, false, false);
    put(1, reduction::max, false, false);
    put(2, reduction::mean, false, true);
    put(4, reduction::std, false, true);
    put(6, reduction::mean, true, true);
    put(8, reduction::l2, false, true);
    if (values.computed.has_counts()) {
        row[10] = static_cast<double>(values.nan);
        row[11] = static_cast<double>(values.pos_inf + values.neg_inf);
        if (values.count > 0) {
            row[12] = static_cast<double>(values.zeros) / static_cast<double>(values.count);
        }
    }
    return row;
}

SMDEBUG_INLINE std::uint32_t series_book::find(std::string_view tensor, std::string_view worker, std::uint32_t axis) {
    const auto fits = [&](std::uint32_t place) {
        const tensor_series& one = all_[place];
        return one.axis == axis && tensors_[one.tensor] == tensor && (merge_workers_ || workers_[one.worker] == worker);
    };
    // Steps mostly hold the same tensors in the same order.
    if (last_ != none && all_[last_].next != none && fits(all_[last_].next)) {
        return last_ = all_[last_].next;
    }
    std::string name{tensor};
    if (left_out_.contains(name)) {
        return none;
    }
    auto place = places_.find(name);
    if (place == places_.end()) {
        if (first_.erase(name) == 0 && tensors_.size() + first_.size() >= most_tensors_) {
            left_out_.emplace(std::move(name), true);
            return none;
        }
        place = places_.emplace(name, static_cast<std::uint32_t>(tensors_.size())).first;
        tensors_.push_back(std::move(name));
    }
    std::uint32_t by = 0;
    if (merge_workers_) {
        workers_.resize(1, "all workers");
    } else {
        const auto [found, is_new] = worker_places_.try_emplace(std::string{worker}, workers_.size());
        by = found->second;
        if (is_new) {
            workers_.emplace_back(worker);
        }
    }
    const std::uint64_t key = (std::uint64_t{place->second} << 32U) | (std::uint64_t{by} << 2U) | axis;
    const auto [found, is_new] = series_.try_emplace(key, static_cast<std::uint32_t>(all_.size()));
    if (is_new) {
        all_.push_back({.tensor = place->second, .worker = by, .axis = axis, .next = none});
    }
    if (last_ != none) {
        all_[last_].next = found->second;
    }
    return last_ = found->second;
}

SMDEBUG_INLINE tensor_series* series_book::add(std::string_view tensor, std::string_view worker,
                                               const axis_place& where, const series_row& numbers,
                                               std::optional<std::uint64_t> elements) {
    const std::uint32_t place = find(tensor, worker, where.axis);
    if (place == none) {
        return nullptr;
    }
    tensor_series& one = all_[place];
    one.scalar =
        one.scalar && elements == 1 && !is_absent(numbers[static_cast<std::size_t>(series_column::least_mean)]);
    if (one.rows.size() <= where.bucket) {
        series_row empty;
        empty.fill(absent_number());
        one.rows.resize(where.bucket + 1, empty);
        one.there.resize(where.bucket + 1, false);
    }
    series_row& row = one.rows[where.bucket];
    if (!one.there[where.bucket]) {
        one.there[where.bucket] = true;
        row = numbers;
        return &one;
    }
    for (std::size_t i = 0; i < series_columns; ++i) {
        const double value = numbers[i];
        if (is_absent(value)) {
            continue;
        }
        // A NaN must stay visible: it becomes the largest; the smallest is that of the other numbers.
        if (is_absent(row[i])) {
            row[i] = value;
        } else if (keeps_smallest(i)) {
            row[i] = is_nan(row[i]) || value < row[i] ? value : row[i];
        } else {
            row[i] = is_nan(value) || value > row[i] ? value : row[i];
        }
    }
    return &one;
}

SMDEBUG_INLINE std::size_t series_book::tensor_place(const std::string& name) const {
    const auto found = places_.find(name);
    return found != places_.end() ? found->second : tensors_.size();
}

SMDEBUG_INLINE std::size_t series_book::worker_place(const std::string& name) const {
    if (merge_workers_) {
        return 0;
    }
    const auto found = worker_places_.find(name);
    return found != worker_places_.end() ? found->second : workers_.size();
}

}  // namespace smdebug::inline v1::report::detail
#include <smdebug/core/strict_math/end.ipp>
