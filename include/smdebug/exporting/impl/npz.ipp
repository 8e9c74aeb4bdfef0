// The bodies of <smdebug/exporting/npz.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/exporting/npz.hpp>
#include <smdebug/exporting/write/member_name.hpp>
#include <smdebug/exporting/write/npy_head.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/float8.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::string numpy_array::hold(const tensor_view& tensor) {
    if (tensor.shape.size() > most_numpy_dimensions) {
        return "has " + std::to_string(tensor.shape.size()) + " dimensions, and numpy at most " +
               std::to_string(most_numpy_dimensions);
    }
    if (tensor.type == dtype::string) {
        constexpr std::size_t most_bytes = std::size_t{1} << 30U;
        std::size_t longest = 1;  // as numpy has it for empty ones
        for (const std::string_view text : tensor.strings) {
            if (text.ends_with('\0')) {
                return "has a string that ends in a zero byte, which numpy drops";
            }
            longest = std::max(longest, text.size());
        }
        if (longest > most_bytes / std::max<std::size_t>(tensor.strings.size(), 1)) {
            return "has strings that would take more than 1 GiB, each as long as the longest";
        }
        made.assign(longest * tensor.strings.size(), std::byte{0});
        for (std::size_t i = 0; i < tensor.strings.size(); ++i) {
            const byte_view text = as_bytes(tensor.strings[i]);
            std::copy(text.begin(), text.end(), made.begin() + static_cast<std::ptrdiff_t>(i * longest));
        }
        type = "|S" + std::to_string(longest);
        bytes = made;
        return {};
    }
    if (numpy_type(tensor.type).empty() && is_numeric(tensor.type)) {
        const std::size_t count = tensor.count();
        made.resize(count * sizeof(float));
        visit_dtype(tensor.type, [&]<class T>() {
            if constexpr (narrow_float<T>) {
                for (std::size_t i = 0; i < count; ++i) {
                    const T number = load_le<T>(tensor.bytes.data() + i * sizeof(T));
                    store_le(made.data() + i * sizeof(float), static_cast<float>(number));
                }
            }
        });
        type = numpy_type(dtype::float32);
        bytes = made;
        return {};
    }
    type = numpy_type(tensor.type);
    bytes = tensor.bytes;
    return type.empty() ? "has a dtype that numpy has no word for" : "";
}

// The name of a tensor's member, as far as a zip can have one.
[[nodiscard]] inline std::string npz_member(std::string_view tensor) {
    std::string name = member_name(tensor) + ".npy";
    return name.size() > zip_writer::longest_name ? std::string{} : name;
}

SMDEBUG_INLINE std::string npz_steps::add(const scanned_tensor& tensor) {
    const std::string name = npz_member(tensor.name);
    if (name.empty()) {
        return "has a name that is too long for a zip";
    }
    const tensor_view values = tensor.values()->view();
    if (std::string why_not = array_.hold(values); !why_not.empty()) {
        return why_not;
    }
    if (!zip_) {
        zip_.emplace(files_.open(tensor));
    }
    const std::string head = npy_head(array_.type, values.shape);
    const std::array pieces{as_bytes(std::string_view{head}), array_.bytes};
    zip_->add(name, pieces);
    return {};
}

SMDEBUG_INLINE void npz_steps::end_file() {
    if (zip_) {
        zip_->finish();
        zip_.reset();
        files_.close();
    }
}

SMDEBUG_INLINE bool is_stack(const std::string& output, const export_extent& what) {
    return output.ends_with(".npz") && what.tensors.size() == 1 && what.files.size() > 1;
}

inline constexpr std::string_view steps_member = "steps";
inline constexpr std::string_view modes_member = "modes";
inline constexpr std::size_t longest_mode = 7;  // PREDICT

SMDEBUG_INLINE npz_stack::npz_stack(const std::string& output, const export_extent& what, const export_options& options)
    : file_((check_output_file(output, options.replace), output)),
      zip_(file_),
      member_(npz_member(what.tensors.front())) {
    const auto refuse = [&](const std::string& why) {
        throw value_error(output + " cannot be written: " + why, {.where = output});
    };
    if (what.workers.size() > 1) {
        refuse(std::to_string(what.workers.size()) + " workers have saved " + what.tensors.front() +
               ", and the steps of one are stacked: choose one, or name a folder");
    }
    if (what.repeats_steps) {
        modes_.emplace();
    }
    if (member_.empty() || what.tensors.front() == steps_member || (modes_ && what.tensors.front() == modes_member)) {
        refuse("the tensor has a name that is " +
               std::string{member_.empty() ? "too long" : "also that of the steps or their modes"} + ": name a folder");
    }
}

SMDEBUG_INLINE std::string npz_stack::head() const { return npy_head(type_, shape_); }

SMDEBUG_INLINE void npz_stack::begin(const scanned_tensor& tensor) {
    const tensor_view values = tensor.values()->view();
    first_type_ = values.type;
    type_ = array_.type;
    shape_.assign(1, 0);
    shape_.insert(shape_.end(), values.shape.begin(), values.shape.end());
    zip_.begin(member_, head().size());
}

SMDEBUG_INLINE std::string npz_stack::add(const scanned_tensor& tensor) {
    const tensor_view values = tensor.values()->view();
    if (values.shape.size() + 1 > most_numpy_dimensions) {
        return "has too many dimensions to be stacked";
    }
    if (values.type == dtype::string) {
        return "holds strings, which are of other lengths at other steps: name a folder";
    }
    if (std::string why_not = array_.hold(values); !why_not.empty()) {
        return why_not;
    }
    if (steps_.empty()) {
        begin(tensor);
    } else if (values.type != first_type_ ||
               !std::equal(values.shape.begin(), values.shape.end(), shape_.begin() + 1, shape_.end())) {
        const auto described = [](dtype type, std::span<const std::size_t> shape) {
            return std::string{name_of(type)} + " of shape (" + shape_text(shape) + ")";
        };
        throw value_error("the steps of " + std::string{tensor.name} + " do not stack: at step " +
                              std::to_string(tensor.shown_step) + " it is " + described(values.type, values.shape) +
                              ", at step " + std::to_string(steps_.front()) + " " +
                              described(first_type_, std::span{shape_}.subspan(1)) + ": name a folder",
                          {.tensor = std::string{tensor.name}, .step = tensor.shown_step});
    }
    ++shape_.front();
    steps_.push_back(tensor.shown_step);
    if (modes_) {
        modes_->append(name_of(tensor.mode)).resize(longest_mode * steps_.size(), '\0');
    }
    zip_.append(array_.bytes);
    return {};
}

SMDEBUG_INLINE void npz_stack::finish(export_result& result) {
    const std::string made = head();
    zip_.end(as_bytes(std::string_view{made}));
    const std::array count{steps_.size()};
    const std::string head_of_steps = npy_head(numpy_type(dtype::int64), count);
    const std::array pieces{as_bytes(std::string_view{head_of_steps}), byte_view{std::as_bytes(std::span{steps_})}};
    zip_.add(std::string{steps_member} + ".npy", pieces);
    if (modes_) {
        const std::string head_of_modes = npy_head("|S" + std::to_string(longest_mode), count);
        const std::array texts{as_bytes(std::string_view{head_of_modes}), as_bytes(std::string_view{*modes_})};
        zip_.add(std::string{modes_member} + ".npy", texts);
    }
    zip_.finish();
    result.bytes += file_.size();
    ++result.files;
    file_.finish(durability::on_disk);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
