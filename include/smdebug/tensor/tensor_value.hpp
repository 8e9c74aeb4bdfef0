// A tensor that owns what it shows: it shares the file's bytes where they are aligned, and copies them where not.
// What a decoder leaves borrows from its input; this is what users may keep.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/other_dtype.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cassert>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// The alignment of memory that a tensor_value allocates: a cache line, and the widest vector register.
inline constexpr std::size_t element_alignment = 64;

/// `size` bytes aligned to element_alignment and not filled; null for 0.
[[nodiscard]] std::shared_ptr<std::byte> allocate_elements(std::size_t size);

/// A tensor of any dtype, read-only, together with what keeps its elements alive.
/// Copying shares everything and costs one reference count; const calls may run at once on many threads.
/// A default-constructed value has dtype `invalid` and no elements.
class tensor_value {
public:
    tensor_value() = default;

    /// What a decoder left in `decoded`, of which only the shape and the owner are moved from.  `record` holds the bytes that were
    /// decoded; its owner, if any, keeps them alive.
    /// Shares them where the elements lie in them, aligned for their type, and so what decoded.owner keeps alive;
    /// otherwise, and where `record` has no owner, the elements are copied once, to aligned memory.  Strings are always
    /// copied.
    tensor_value(decoded_tensor&& decoded, const byte_buffer& record);

    /// Elements in memory that `owner` keeps alive, aligned for `type`, which is numeric; `bytes` is exactly as long as
    /// `shape` and `type` say.
    tensor_value(dtype type, shape_type shape, std::shared_ptr<const void> owner, byte_view bytes);

    /// A copy of `elements`, which are as many as `shape` says.
    template <element T>
    [[nodiscard]] static tensor_value copy_of(shape_type shape, std::span<const T> elements) {
        assert(element_count(shape) == elements.size());
        return copy_of_bytes(dtype_of_v<T>, std::move(shape), std::as_bytes(elements));
    }

    /// A tensor of strings, as many as `shape` says.
    [[nodiscard]] static tensor_value of_strings(shape_type shape, std::span<const std::string_view> strings);

    [[nodiscard]] dtype type() const noexcept { return state_ ? state_->type : dtype::invalid; }
    /// The number of elements.
    [[nodiscard]] std::size_t size() const noexcept { return view().count(); }

    // Views: they live as long as this value or a copy of it, so that a temporary gives none.  Keep it in a variable:
    //     const auto weights = run.tensor("w").value(0);
    //     for (const float x : weights.elements<float>()) ...

    /// Extents, outermost first.
    [[nodiscard]] const shape_type& shape() const& noexcept;
    const shape_type& shape() const&& = delete;  // keep the value in a variable first

    /// The elements as bytes, aligned for their type; empty for strings.
    [[nodiscard]] byte_view bytes() const& noexcept { return state_ ? state_->bytes : byte_view{}; }
    byte_view bytes() const&& = delete;  // keep the value in a variable first

    /// The strings of a string tensor; empty for any other.
    [[nodiscard]] std::span<const std::string> strings() const& noexcept {
        return state_ ? std::span<const std::string>{state_->strings} : std::span<const std::string>{};
    }
    std::span<const std::string> strings() const&& = delete;  // keep the value in a variable first

    /// The elements in C order.  Errors: type_error where T is not exactly the type of the dtype: for another one, see
    /// converted().
    template <element T>
    [[nodiscard]] std::span<const T> elements() const& {
        if (dtype_of_v<T> != type()) {
            detail::throw_other_dtype(type(), dtype_of_v<T>);
        }
        return {reinterpret_cast<const T*>(bytes().data()), bytes().size() / sizeof(T)};
    }
    template <element T>
    std::span<const T> elements() const&& = delete;  // keep the value in a variable first

    /// The same tensor in the words of reduction kernels.
    [[nodiscard]] tensor_view view() const& noexcept {
        return state_ ? tensor_view{state_->type, state_->shape, state_->bytes, state_->string_views} : tensor_view{};
    }
    tensor_view view() const&& = delete;  // keep the value in a variable first

    /// The same for the argument of a call, which a temporary outlives.
    operator tensor_view() const noexcept { return view(); }  // NOLINT: implicit, as of a string to its view

    /// What keeps bytes() alive: the file's bytes where they are shared; null where there are no bytes.
    [[nodiscard]] std::shared_ptr<const void> owner() const noexcept { return state_ ? state_->owner : nullptr; }

    /// Whether elements had to be copied when this value was made.
    [[nodiscard]] bool copied() const noexcept { return state_ && state_->copied; }

private:
    struct state {
        dtype type = dtype::invalid;
        shape_type shape;
        std::shared_ptr<const void> owner;
        byte_view bytes;
        std::vector<std::string> strings;
        std::vector<std::string_view> string_views;  ///< into `strings`: a tensor_view speaks of views
        bool copied = false;

        void copy(byte_view source);

        void take_strings(std::span<const std::string_view> views);
    };

    explicit tensor_value(std::shared_ptr<const state> made) noexcept : state_(std::move(made)) {}

    [[nodiscard]] static tensor_value copy_of_bytes(dtype type, shape_type shape, byte_view elements);

    [[nodiscard]] static bool is_aligned(byte_view bytes, dtype type) noexcept;

    [[nodiscard]] static bool lies_in(byte_view whole, byte_view bytes) noexcept;

    std::shared_ptr<const state> state_;
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/tensor/impl/tensor_value.ipp>
#endif
