// Scalars and histograms of a training run, in files that TensorBoard draws.
// Beside the run and not in it: TensorBoard wants true checksums, its own messages, and a folder for each curve.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/hook/save_config.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/record/writer.hpp>
#include <smdebug/reduce/bins.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/histogram.hpp>
#include <smdebug/reduce/rounded.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/wire/event.hpp>
#include <smdebug/wire/field_writer.hpp>
#include <smdebug/wire/tensorboard_summary.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {

struct tensorboard_writer_options {
    std::chrono::duration<double> interval{0};      ///< between two files of a mode; 0: a file each step
    std::size_t max_bytes = std::size_t{8} << 20U;  ///< held in memory at the end of a step, of all modes together
};

namespace detail {

/// The finite elements of a tensor, as doubles; none where its type has no others.
[[nodiscard]] std::vector<double> finite_elements(const tensor_view& tensor);

/// A sum of finite numbers that overflowed is infinite, or where it did so both ways, NaN.
[[nodiscard]] constexpr double nearest_finite(double sum) noexcept {
    constexpr double largest = std::numeric_limits<double>::max();
    return sum == sum ? std::clamp(sum, -largest, largest) : 0;
}

// Fewer buckets that are drawn alike.  The default bins are 1549, of which a tensor fills few, with many empty ones
// around zero: of these in a row one is enough.  Where more are left than are drawn, neighbours that hold at most a
// 32nd of the numbers together become one, so that no quantile moves by more than that.
void join_buckets(histogram& all);

}  // namespace detail

/// The histogram of a tensor's finite elements as TensorBoard draws it: every field finite, limits that rise, and
/// num = the sum of the buckets.  Nothing for an empty tensor, one without finite elements, and booleans, complex
/// numbers and strings.
/// Differs from the Python package: NaN and infinities are left out (there they make min, max and sum NaN, and
/// TensorBoard draws nothing sensible at any step), and numbers beyond 1e20 have a bucket (there they have none).
/// Buckets are joined where that is not seen (TensorBoard draws 30): at most 130 are left, of up to 1550 there.
/// Cost: one pass, see histogram_of; two and a copy where elements are not finite.
template <reduction_kernel Kernel = scalar_kernel>
[[nodiscard]] std::optional<histogram> tensorboard_histogram(const tensor_view& tensor,
                                                             const Kernel& kernel = Kernel{}) {
    if (tensor.count() == 0 || tensor.type == dtype::boolean || is_complex(tensor.type)) {
        return std::nullopt;
    }
    result<histogram> found = histogram_of(tensor, default_bins{.open_ends = true}, {}, kernel);
    if (!found) {
        return std::nullopt;  // strings
    }
    if (found->nan + found->below + found->above != 0) {
        const std::vector<double> finite = detail::finite_elements(tensor);
        const std::array shape{finite.size()};
        return tensorboard_histogram(tensor_view{dtype::float64, shape, std::as_bytes(std::span{finite}), {}}, kernel);
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
    found->sum = detail::nearest_finite(found->sum);
    found->sum_squares = detail::nearest_finite(found->sum_squares);
    detail::join_buckets(*found);
    return *std::move(found);
}

/// Puts a whole file into the folder for TensorBoard: its key there, and its bytes, borrowed for the call.
using tensorboard_place = std::function<void(const std::string&, byte_view)>;

/// Writes event files "<MODE>/<first step>_<worker>.tfevents" into a place that is the folder for TensorBoard.
/// Records gather in memory, and a file appears whole, with names that sort by their steps: TensorBoard follows the
/// files of a folder in the order of their names, and does not look back at one that it has left.  A file whose first
/// step is that of an older one replaces it.
/// Errors: what the place throws; what was not written then is kept, and the next call tries again.  Where that
/// is max_bytes or more, it is lost.
/// Threads: one at a time.      Destruction writes nothing: close() does.
class tensorboard_writer {
public:
    tensorboard_writer(tensorboard_place place, std::string worker, tensorboard_writer_options options = {})
        : place_(std::move(place)), worker_(std::move(worker)), options_(options) {}

    /// Adds a point to the curve of that tag (see detail::wire::tensorboard_tag) in the stamp's mode.
    void add_scalar(const detail::record_stamp& stamp, std::string_view tag, float value) { add(stamp, tag, value); }

    /// Adds a histogram; returns whether the tensor has one, see tensorboard_histogram.
    template <reduction_kernel Kernel = scalar_kernel>
    bool add_histogram(const detail::record_stamp& stamp, std::string_view tag, const tensor_view& tensor,
                       const Kernel& kernel = Kernel{}) {
        const std::optional<histogram> found = tensorboard_histogram(tensor, kernel);
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

    /// Ends a step at that time (seconds since 1970, as in the stamps): writes where the interval has passed since the
    /// last files, where there are none yet, or where enough is held.
    void end_step(double wall_time);

    /// Writes everything that is held.  May be called again, and more may be added after it.
    void close() { write_all(); }

    /// Bytes that are held in memory.
    [[nodiscard]] std::size_t held_bytes() const noexcept;

private:
    struct stream {
        std::string key;  // of the file that the records will be
        std::vector<std::byte> records;
    };

    void add(const detail::record_stamp& stamp, std::string_view tag,
             std::variant<float, detail::wire::histogram_fields> value);

    template <class Event>
    void append(stream& file, const Event& event) {
        payload_.clear();
        detail::wire::field_writer writer{payload_};
        detail::wire::encode(writer, event);
        record::append_record(file.records, payload_, record::footer_kind::checksum);
    }

    void write_all();

    void write(stream& file);

    tensorboard_place place_;
    std::string worker_;
    tensorboard_writer_options options_;
    std::array<stream, all_modes.size()> streams_;
    std::optional<double> last_written_;
    std::vector<std::byte> payload_;  // of the record at hand; kept for its capacity
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/tensorboard_writer.ipp>
#endif
