// The course of tensors over the steps of a run, at the resolution of pictures: for each tensor, worker and bucket of
// steps, the smallest and the largest of some numbers.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug::inline v1::report::detail {

/// How values are distributed: quartiles, and bins of equal width from the smallest to the largest.
struct distribution {
    static constexpr std::size_t bins = 32;

    std::array<double, 3> quartiles{};
    double low = 0;
    double high = 0;
    std::array<std::uint8_t, bins> counts{};  ///< scaled: 255 for the fullest bin; 0: an empty one
};

/// A larger tensor is sampled at so many elements, evenly spaced.
inline constexpr std::size_t elements_looked_at = 4096;

/// The distribution of a tensor; nothing for strings, complex numbers, an empty tensor, or one with NaN or infinity (or
/// with a range beyond double).
/// `buffer` is reused between calls.       Cost: about 30 us for 4096 elements.
[[nodiscard]] std::optional<distribution> distribution_of(const tensor_view& values, std::vector<std::byte>& buffer);

// The steps of a run on the axes of pictures: by mode, and many steps grouped into buckets.
// A picture shows the smallest and the largest value of a bucket, so that no extreme is lost.

/// A step, and its number in its mode.
struct axis_step {
    step_number step = 0;
    step_number mode_step = 0;
    smdebug::mode mode = smdebug::mode::global;
    std::optional<step_number> shown = {};  ///< its number in pictures; unset: the global one
};

/// Steps of one mode that share a bucket.
struct step_bucket {
    step_number first = 0;  ///< as displayed
    step_number last = 0;
    step_number mode_step = 0;       ///< of the first step
    step_number last_mode_step = 0;  ///< of the last one
    std::uint32_t count = 0;         ///< number of steps
};

/// The steps of one mode, ascending.
struct step_axis {
    smdebug::mode mode = smdebug::mode::global;
    std::size_t steps = 0;
    std::vector<step_bucket> buckets = {};
};

/// Where a step is shown.
struct axis_place {
    std::uint32_t axis = 0;
    std::uint32_t bucket = 0;
};

/// The axes of one run, one for each mode that has steps.
class step_axes {
public:
    step_axes() = default;
    /// `steps` ascend; at most `most_buckets` (at least 1) for each mode, with steps spread as evenly as possible.
    step_axes(const std::vector<axis_step>& steps, std::size_t most_buckets);

    [[nodiscard]] const std::vector<step_axis>& all() const noexcept { return axes_; }
    [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }

    /// Nothing for an unknown step.  Cost: a binary search; none for the same step as in the last call.
    [[nodiscard]] std::optional<axis_place> place_of(step_number step);

    /// About so many steps, evenly over each axis, first and last among them; ascending.
    [[nodiscard]] std::vector<step_number> some(std::size_t count) const;

private:
    struct place {
        step_number step = 0;
        axis_place where;
    };

    std::vector<step_axis> axes_;
    std::vector<place> places_;  // by step
    std::size_t last_ = 0;       // the last result
};

/// The columns of a series, in their order in a page's data.  For `smallest` the minimum over a bucket's steps is kept,
/// for the others the maximum; a number with both has two adjacent columns.
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

/// The reductions that a report needs of each tensor.
[[nodiscard]] reduction_set numbers_of_reports();

/// A row of numbers; a missing one is absent_number(), a special NaN.
using series_row = std::array<double, series_columns>;
[[nodiscard]] double absent_number() noexcept;
[[nodiscard]] bool is_absent(double number) noexcept;
[[nodiscard]] series_row row_of(const reduction_values& values);

/// One tensor of one worker in one mode.
struct tensor_series {
    std::uint32_t tensor = 0;
    std::uint32_t worker = 0;
    std::uint32_t axis = 0;
    bool scalar = true;                                                      ///< always one element, and its mean known
    std::vector<series_row> rows = {};                                       ///< by bucket; all absent: none
    std::vector<bool> there = {};                                            ///< by bucket
    std::vector<std::pair<std::uint32_t, distribution>> distributions = {};  ///< by bucket: of some steps
    std::uint32_t next = 0;                                                  ///< the series that followed it last
};

/// All series of a run.
class series_book {
public:
    series_book() = default;
    /// `merge_workers`: they share a series.  `first`: tensors for which there is space, whatever comes before them.
    series_book(bool merge_workers, std::size_t most_tensors, std::set<std::string> first = {})
        : merge_workers_(merge_workers), most_tensors_(most_tensors), first_(std::move(first)) {}

    /// Adds the numbers of a tensor at a step; null if there is no space for further tensors.
    /// `elements`: nothing: it is not known how many it has.
    tensor_series* add(std::string_view tensor, std::string_view worker, const axis_place& where,
                       const series_row& numbers, std::optional<std::uint64_t> elements);

    [[nodiscard]] const std::vector<tensor_series>& all() const noexcept { return all_; }
    [[nodiscard]] const std::vector<std::string>& tensors() const noexcept { return tensors_; }
    [[nodiscard]] const std::vector<std::string>& workers() const noexcept { return workers_; }
    [[nodiscard]] bool merges_workers() const noexcept { return merge_workers_; }
    /// Names for which there was no space.
    [[nodiscard]] std::size_t left_out() const noexcept { return left_out_.size(); }
    [[nodiscard]] bool is_left_out(const std::string& name) const { return left_out_.contains(name); }
    /// The place of a name; the number of names if it is unknown.
    [[nodiscard]] std::size_t tensor_place(const std::string& name) const;
    [[nodiscard]] std::size_t worker_place(const std::string& name) const;

private:
    [[nodiscard]] std::uint32_t find(std::string_view tensor, std::string_view worker, std::uint32_t axis);

    static constexpr std::uint32_t none = ~std::uint32_t{0};

    bool merge_workers_ = false;
    std::size_t most_tensors_ = std::size_t{1} << 32U;
    std::set<std::string> first_;  // those that have not come yet
    std::vector<tensor_series> all_;
    std::vector<std::string> tensors_;
    std::vector<std::string> workers_;
    std::unordered_map<std::string, std::uint32_t> places_;
    std::unordered_map<std::string, std::uint32_t> worker_places_;
    std::unordered_map<std::string, bool> left_out_;
    std::unordered_map<std::uint64_t, std::uint32_t> series_;  // of tensor, worker, axis
    std::uint32_t last_ = none;
};

}  // namespace smdebug::inline v1::report::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/report/impl/run_series.ipp>
#endif
