// What became of tensors over the steps of a run, as much of it as pictures show: of each tensor and worker, for each
// bucket of steps, the smallest and the largest of some numbers.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/report/distribution.hpp>
#include <smdebug/report/step_axis.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace report {
namespace detail {

/// The columns of a series, in their order in a page's data.  Of `smallest` the smallest of a bucket's steps is kept, of
/// the others the largest; what has both has two columns, one behind the other.
enum class series_column : std::uint8_t {
    least_min,
    most_max,
    least_mean,
    most_mean,
    least_std,
    most_std,
    least_abs_mean,
    most_abs_mean,
    least_l2,
    most_l2,
    most_nan,
    most_inf,
    most_zeros,  ///< as a share of the elements
};
inline constexpr std::size_t series_columns = 13;

[[nodiscard]] constexpr bool keeps_smallest(std::size_t column) noexcept { return column < 10 && column % 2 == 0; }

/// What a report asks of each tensor.
[[nodiscard]] reduction_set numbers_of_reports();

/// A row of numbers; absent_number() where there is none, which is a NaN of its own.
using series_row = std::array<double, series_columns>;
[[nodiscard]] double absent_number() noexcept;
[[nodiscard]] bool is_absent(double number) noexcept;
[[nodiscard]] series_row row_of(const reduction_values& values);

/// One tensor of one worker in one mode.
struct tensor_series {
    std::uint32_t tensor = 0;
    std::uint32_t worker = 0;
    std::uint32_t axis = 0;
    bool scalar = true;                                                      ///< never more than one element
    std::vector<series_row> rows = {};                                       ///< by bucket; all absent: none
    std::vector<bool> there = {};                                            ///< by bucket
    std::vector<std::pair<std::uint32_t, distribution>> distributions = {};  ///< by bucket: of some steps
    std::uint32_t next = 0;                                                  ///< the series that came behind it last
};

/// All series of a run.
class series_book {
public:
    series_book() = default;
    /// `merge_workers`: they share a series.
    series_book(bool merge_workers, std::size_t most_tensors)
        : merge_workers_(merge_workers), most_tensors_(most_tensors) {}

    /// Takes the numbers of a tensor at a step; null where there is no room for further tensors.
    tensor_series* add(std::string_view tensor, std::string_view worker, const axis_place& where,
                       const series_row& numbers, std::uint64_t elements);

    [[nodiscard]] const std::vector<tensor_series>& all() const noexcept { return all_; }
    [[nodiscard]] const std::vector<std::string>& tensors() const noexcept { return tensors_; }
    [[nodiscard]] const std::vector<std::string>& workers() const noexcept { return workers_; }
    [[nodiscard]] bool merges_workers() const noexcept { return merge_workers_; }
    /// Names that had no room.
    [[nodiscard]] std::size_t left_out() const noexcept { return left_out_.size(); }
    /// The place of a name; none: the number of names.
    [[nodiscard]] std::size_t tensor_place(const std::string& name) const;
    [[nodiscard]] std::size_t worker_place(const std::string& name) const;

private:
    [[nodiscard]] std::uint32_t find(std::string_view tensor, std::string_view worker, std::uint32_t axis);

    static constexpr std::uint32_t none = ~std::uint32_t{0};

    bool merge_workers_ = false;
    std::size_t most_tensors_ = std::size_t{1} << 32U;
    std::vector<tensor_series> all_;
    std::vector<std::string> tensors_;
    std::vector<std::string> workers_;
    std::unordered_map<std::string, std::uint32_t> places_;
    std::unordered_map<std::string, std::uint32_t> worker_places_;
    std::unordered_map<std::string, bool> left_out_;
    std::unordered_map<std::uint64_t, std::uint32_t> series_;  // of tensor, worker, axis
    std::uint32_t last_ = none;
};

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/report/impl/run_series.ipp>
#endif
