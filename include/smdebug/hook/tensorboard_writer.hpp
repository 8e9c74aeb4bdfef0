// Scalars and histograms of a training run, in files that TensorBoard draws.
// Beside the run, not in it: TensorBoard needs true checksums, its own messages, and a folder for each curve.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/histogram.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/wire/event.hpp>
#include <smdebug/wire/field.hpp>
#include <smdebug/wire/tensorboard_summary.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug::inline v1 {

struct tensorboard_writer_options {
    std::chrono::duration<double> interval{0};      ///< between two files of a mode; 0 makes a file each step
    std::size_t max_bytes = std::size_t{8} << 20U;  ///< held in memory at the end of a step, of all modes together
};

namespace detail {

/// See tensorboard_histogram.
[[nodiscard]] std::optional<histogram> drawn_histogram(const tensor_view& tensor, const any_kernel& kernel);

}  // namespace detail

/// The histogram of a tensor's finite elements as TensorBoard draws it: every field is finite, limits rise, and num =
/// the sum of the buckets.  Nothing for a tensor without finite elements, and for booleans, complex numbers and
/// strings.
/// Differs from the Python package: NaN and infinities are left out (there they make min, max and sum NaN, and
/// TensorBoard draws nothing sensible at any step), and numbers beyond 1e20 have a bucket (there they have none).
/// Neighbouring buckets are merged where the drawing does not change (TensorBoard draws 30): at most 130 remain, of up
/// to 1550 there.
/// Cost: one pass, see histogram_of; two and a copy if some elements are not finite.
template <reduction_kernel Kernel = scalar_kernel>
[[nodiscard]] std::optional<histogram> tensorboard_histogram(const tensor_view& tensor,
                                                             const Kernel& kernel = Kernel{}) {
    return detail::drawn_histogram(tensor, detail::any_kernel{kernel});
}

/// Writes a whole file into TensorBoard's folder: its key there, and its bytes, borrowed for the call.
using tensorboard_place = std::function<void(const std::string&, byte_view)>;

/// Writes event files "<MODE>/<first step>_<worker>.tfevents" into TensorBoard's folder.  Records gather in memory, and
/// files appear whole, with names that sort by step: TensorBoard reads the files of a folder in the order of their
/// names and does not return to an earlier one.  A file replaces an older one with the same first step.
/// Errors: what the place throws; unwritten records are kept, and the next call tries again.  If they are max_bytes or
/// more, they are lost.
/// Threads: one at a time.      Destruction writes nothing: close() does.
class tensorboard_writer {
public:
    tensorboard_writer(tensorboard_place place, std::string worker, tensorboard_writer_options options = {})
        : place_(std::move(place)), worker_(std::move(worker)), options_(options) {}

    /// Adds a point to the curve `tag` (see detail::wire::tensorboard_tag) in the stamp's mode.
    void add_scalar(const detail::record_stamp& stamp, std::string_view tag, float value) { add(stamp, tag, value); }

    /// Adds a histogram; returns whether the tensor has one, see tensorboard_histogram.
    template <reduction_kernel Kernel = scalar_kernel>
    bool add_histogram(const detail::record_stamp& stamp, std::string_view tag, const tensor_view& tensor,
                       const Kernel& kernel = Kernel{}) {
        return add_drawn(stamp, tag, tensor, detail::any_kernel{kernel});
    }

    /// Ends a step at that time (seconds since 1970, as in the stamps): writes if the interval has passed since the
    /// last files, if there are none yet, or if enough is held.
    void end_step(double wall_time);

    /// Writes everything held.  May be called again, and more may be added afterwards.
    void close() { write_all(); }

    /// Bytes held in memory.
    [[nodiscard]] std::size_t held_bytes() const noexcept;

private:
    struct stream {
        std::string key;  // the key of the file to write
        std::vector<std::byte> records;
    };

    bool add_drawn(const detail::record_stamp& stamp, std::string_view tag, const tensor_view& tensor,
                   const detail::any_kernel& kernel);

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
    std::vector<std::byte> payload_;  // of the current record; kept for its capacity
};

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/tensorboard_writer.ipp>
#endif
