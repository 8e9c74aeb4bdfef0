// The bodies of <smdebug/formats/checkpoints/checkpoint_source.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/formats/checkpoints/checkpoint_source.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

/// The other byte order of each number; a complex one is two.
inline void swap_bytes(std::vector<std::byte>& elements, dtype type) {
    const std::size_t size = is_complex(type) ? size_of(type) / 2 : size_of(type);
    for (std::size_t begin = 0; size > 1 && begin + size <= elements.size(); begin += size) {
        std::reverse(elements.begin() + static_cast<std::ptrdiff_t>(begin),
                     elements.begin() + static_cast<std::ptrdiff_t>(begin + size));
    }
}

/// Elements in Fortran's order, in C order.
[[nodiscard]] inline std::vector<std::byte> in_c_order(const std::vector<std::byte>& elements, dtype type,
                                                       const shape_type& shape) {
    const std::size_t size = size_of(type);
    std::vector<std::byte> turned(elements.size());
    std::vector<std::size_t> place(shape.size());
    std::vector<std::size_t> strides(shape.size());
    std::size_t stride = size;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        strides[i] = stride;
        stride *= shape[i];
    }
    std::size_t from = 0;
    for (std::size_t to = 0; to + size <= turned.size(); to += size) {
        std::memcpy(turned.data() + to, elements.data() + from, size);
        for (std::size_t axis = shape.size(); axis-- > 0;) {  // the last extent is the fastest of where it goes
            from += strides[axis];
            if (++place[axis] < shape[axis]) {
                break;
            }
            from -= strides[axis] * shape[axis];
            place[axis] = 0;
        }
    }
    return turned;
}

/// A tensor's elements, as they are in memory.
[[nodiscard]] inline std::vector<std::byte> elements_of(const checkpoint_file& file, const stored_tensor& tensor) {
    const byte_buffer bytes = file.read(tensor.where);
    if (bytes.size() != tensor.where.length) {
        throw corrupt_data(file.key + " has become shorter than it was: tensor " + tensor.name + " is cut",
                           {.where = file.key, .tensor = tensor.name});
    }
    std::vector<std::byte> elements(bytes.view().begin(), bytes.view().end());
    if (tensor.big_endian) {
        swap_bytes(elements, tensor.type);
    }
    return tensor.columns_first ? in_c_order(elements, tensor.type, tensor.shape) : elements;
}

[[nodiscard]] inline bool is_floating(dtype type) noexcept {
    constexpr dtype kinds[] = {dtype::float16,       dtype::bfloat16,    dtype::float32,   dtype::float64,
                               dtype::float8_e4m3fn, dtype::float8_e5m2, dtype::complex64, dtype::complex128};
    return std::find(std::begin(kinds), std::end(kinds), type) != std::end(kinds);
}

/// The collection of a tensor; empty: none.
[[nodiscard]] inline std::string_view collection_of(std::string_view file, std::string_view tensor,
                                                    dtype type) noexcept {
    if (!is_floating(type)) {
        return {};
    }
    const std::string_view name = file.substr(file.rfind('/') + 1);  // npos + 1 is 0
    if (name.find("optim") != std::string_view::npos) {
        return "optimizer";
    }
    return tensor.find("bias") != std::string_view::npos ? "biases" : "weights";
}

}  // namespace detail
}  // namespace formats

SMDEBUG_INLINE std::chrono::system_clock::duration checkpoint_source::age_of(
    const formats::detail::checkpoint_step& step) const {
    auto age = std::chrono::system_clock::duration::max();
    for (const std::string& key : step.files) {
        if (const auto written = store_.modified(key)) {
            age = std::min(age, how_.now() - *written);
        }
    }
    return age;
}

SMDEBUG_INLINE bool checkpoint_source::update(run_contents& contents) {
    namespace detail = formats::detail;
    const detail::found_checkpoints found = detail::find_checkpoints(store_, {.step_regex = how_.step_regex});
    for (const detail::left_out& one : found.not_read) {
        contents.note_problem(one.name, one.why);
    }
    bool has_news = false;
    bool is_quiet = true;
    for (const detail::checkpoint_step& step : found.steps) {
        const auto age = age_of(step);
        is_quiet = is_quiet && age >= how_.quiet_after;
        if (done_.contains(step.step)) {
            continue;
        }
        std::optional<detail::step_contents> read;
        std::optional<std::string> wrong;
        try {
            read = detail::read_checkpoint(store_, step, how_.archive);
        } catch (const corrupt_data& damaged) {
            wrong = damaged.message();
        }
        if (age < how_.whole_after && (!read || !read->not_read.empty())) {
            continue;  // it is being written
        }
        done_.insert(step.step);
        if (read) {
            add(step, *read, contents);
            has_news = true;
        } else {
            contents.note_problem(step.folder.empty() && !step.files.empty() ? step.files.front() : step.folder,
                                  *wrong);
        }
    }
    contents.set_ended(is_quiet);
    return has_news;
}

SMDEBUG_INLINE void checkpoint_source::add(const formats::detail::checkpoint_step& step,
                                           const formats::detail::step_contents& read, run_contents& contents) const {
    const run_contents::place where{.step = step.step, .mode = mode::train, .mode_step = step.step};
    for (const formats::detail::left_out& one : read.not_read) {
        contents.note_problem("step " + std::to_string(step.step) + ", " + one.name, one.why);
    }
    // In the order in which they lie in their files, so that a scan reads those from front to back.
    std::vector<const formats::detail::checkpoint_tensor*> tensors;
    tensors.reserve(read.tensors.size());
    for (const formats::detail::checkpoint_tensor& tensor : read.tensors) {
        tensors.push_back(&tensor);
    }
    std::stable_sort(tensors.begin(), tensors.end(), [](const auto* a, const auto* b) {
        return std::pair{a->file, a->is.where.offset} < std::pair{b->file, b->is.where.offset};
    });
    for (const formats::detail::checkpoint_tensor* const tensor : tensors) {
        const formats::detail::checkpoint_file& file = read.files[tensor->file];
        add(where, file, tensor->is, contents);
        const std::string_view group = formats::detail::collection_of(file.key, tensor->is.name, tensor->is.type);
        if (!group.empty()) {
            contents.add_to_collection(group, tensor->is.name);
        }
    }
}

SMDEBUG_INLINE void checkpoint_source::add(const run_contents::place& where,
                                           const formats::detail::checkpoint_file& file,
                                           const formats::detail::stored_tensor& tensor, run_contents& contents) const {
    const run_contents::tensor_form form{.type = tensor.type, .shape = tensor.shape};
    if (tensor.big_endian || tensor.columns_first) {
        contents.add_made(where, tensor.name, form,
                          [file, tensor] { return formats::detail::elements_of(file, tensor); });
        return;
    }
    const std::uint32_t object = contents.object(file.store.name() + "/" + file.key, file.store, file.key);
    contents.add_elements(where, tensor.name, form, object, tensor.where);
}

}  // namespace v1
}  // namespace smdebug
