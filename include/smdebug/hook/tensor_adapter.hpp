// Tensors of other libraries: how a hook takes them.  Elements at any strides, and with them mdspans, are taken here;
// DLPack's tensors by <smdebug/dlpack.hpp>, libtorch's by <smdebug/torch.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/strided_tensor.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace smdebug::inline v1 {

/// What is due of a tensor, besides its shape, at a step at which its elements are not.
struct due_numbers {
    reduction_set reductions = {};
    bool digest = false;
};

/// What was computed of a tensor where it lies.
struct tensor_numbers {
    reduction_values reductions = {};
    std::optional<std::int64_t> digest = {};  ///< as digest_of() has it
    /// What computed the reductions, at most 32 bytes: their records are marked with it, see docs/guarantees.md.
    /// Empty if they are a kernel's of this library, to the bit.
    std::string_view computed_by = {};
};

/// How tensors of type Tensor are saved.  Once it is specialised, every hook takes a Tensor:
/// ```
/// template <>
/// struct smdebug::tensor_adapter<their::tensor> {
///     tensor_adapter(const their::tensor& tensor, std::string_view name);   // throws an smd::error, which names `name`
///     smd::tensor_view view() const;                                        // borrows the adapter and the tensor
/// };
/// ```
/// A hook makes an adapter only for a tensor that is due, and destroys it when the tensor is saved.  For elements that
/// do not lie in memory, view() may fetch them; to save reductions and digests without that, add:
/// ```
///     std::optional<smd::tensor_numbers> compute(const smd::due_numbers& due) const;  // unset, or no digest where one is due: take view()
///     std::span<const std::size_t> shape() const;
/// ```
template <class Tensor>
struct tensor_adapter;

/// A type that has an adapter.
template <class Tensor>
concept adapted_tensor = requires(const Tensor& tensor, std::string_view name) {
    { tensor_adapter<Tensor>{tensor, name}.view() } -> std::same_as<tensor_view>;
};

namespace detail {

/// An adapter that computes numbers where the tensor lies.
template <class Adapter>
concept computing_adapter = requires(const Adapter& adapter, const due_numbers& due) {
    { adapter.compute(due) } -> std::same_as<std::optional<tensor_numbers>>;
    { adapter.shape() } -> std::convertible_to<std::span<const std::size_t>>;
};

}  // namespace detail

template <>
struct tensor_adapter<strided_tensor> {
    tensor_adapter(const strided_tensor& tensor, std::string_view /*name*/) noexcept : tensor_(&tensor) {}
    [[nodiscard]] tensor_view view() const noexcept { return tensor_->view(); }

private:
    const strided_tensor* tensor_;
};

/// A std::mdspan, or Kokkos's, whose elements lie in memory as they are.
template <class Mdspan>
concept element_mdspan = requires(const Mdspan& values, std::size_t dimension) {
    requires saved_element<typename Mdspan::value_type>;
    { Mdspan::rank() } -> std::convertible_to<std::size_t>;
    { values.extent(dimension) } -> std::integral;
    { values.mapping().stride(dimension) } -> std::integral;
    { values.accessor().access(values.data_handle(), 0) } -> std::same_as<typename Mdspan::element_type&>;
    requires std::same_as<std::remove_cvref_t<decltype(values.data_handle())>, typename Mdspan::element_type*>;
    requires Mdspan::mapping_type::is_always_strided();
};

template <element_mdspan Mdspan>
struct tensor_adapter<Mdspan> {
    tensor_adapter(const Mdspan& values, std::string_view /*name*/) : elements_(of(values)) {}
    [[nodiscard]] tensor_view view() const noexcept { return elements_.view(); }

private:
    [[nodiscard]] static strided_tensor of(const Mdspan& values) {
        shape_type extents;
        std::vector<std::int64_t> strides;
        for (std::size_t i = 0; i < Mdspan::rank(); ++i) {
            extents.push_back(static_cast<std::size_t>(values.extent(i)));
            strides.push_back(static_cast<std::int64_t>(values.mapping().stride(i)));
        }
        return {saved_dtype_v<typename Mdspan::value_type>, std::move(extents), strides,
                reinterpret_cast<const std::byte*>(values.data_handle())};
    }

    strided_tensor elements_;
};

}  // namespace smdebug::inline v1
