// The bodies of <smdebug/report/run_series.hpp>.
#pragma once

#include <smdebug/report/run_series.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace smdebug {
inline namespace v1 {
namespace report {
namespace detail {

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
    const auto put = [&](std::size_t column, reduction what, bool abs, bool both) {
        if (values.computed.contains(reduction_key{what, abs})) {
            const double value = values(what, abs);
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
        row[12] = values.count > 0 ? static_cast<double>(values.zeros) / static_cast<double>(values.count) : 0.0;
    }
    return row;
}

SMDEBUG_INLINE std::uint32_t series_book::find(std::string_view tensor, std::string_view worker, std::uint32_t axis) {
    const auto fits = [&](std::uint32_t place) {
        const tensor_series& one = all_[place];
        return one.axis == axis && tensors_[one.tensor] == tensor && (merge_workers_ || workers_[one.worker] == worker);
    };
    // Steps hold the same tensors in the same order, mostly.
    if (last_ != none && all_[last_].next != none && fits(all_[last_].next)) {
        return last_ = all_[last_].next;
    }
    std::string name{tensor};
    if (left_out_.contains(name)) {
        return none;
    }
    auto place = places_.find(name);
    if (place == places_.end()) {
        if (tensors_.size() >= most_tensors_) {
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
                                               std::uint64_t elements) {
    const std::uint32_t place = find(tensor, worker, where.axis);
    if (place == none) {
        return nullptr;
    }
    tensor_series& one = all_[place];
    one.scalar = one.scalar && elements <= 1;
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
        // NaN is not to be lost: it is the largest; the smallest is that of the others.
        if (is_absent(row[i])) {
            row[i] = value;
        } else if (keeps_smallest(i)) {
            row[i] = std::isnan(row[i]) || value < row[i] ? value : row[i];
        } else {
            row[i] = std::isnan(value) || value > row[i] ? value : row[i];
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

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug
