// Tensors of libtorch as a hook takes them, and their reductions and digests computed on the device where they lie.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/hook/tensor_adapter.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/digest.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1 {
namespace detail {

/// The dtype of libtorch's; `invalid` for those that the format does not have.  By their names: a libtorch may have
/// more of them than the one that this was compiled with.
[[nodiscard]] inline dtype dtype_of_torch(at::ScalarType type) noexcept {
    using row = std::pair<std::string_view, dtype>;
    for (const auto& [name, is] :
         {row{"Float", dtype::float32}, row{"Half", dtype::float16}, row{"BFloat16", dtype::bfloat16},
          row{"Double", dtype::float64}, row{"Long", dtype::int64}, row{"Int", dtype::int32},
          row{"Bool", dtype::boolean}, row{"Byte", dtype::uint8}, row{"Char", dtype::int8}, row{"Short", dtype::int16},
          row{"ComplexFloat", dtype::complex64}, row{"ComplexDouble", dtype::complex128},
          row{"Float8_e4m3fn", dtype::float8_e4m3fn}, row{"Float8_e5m2", dtype::float8_e5m2},
          row{"UInt16", dtype::uint16}, row{"UInt32", dtype::uint32}, row{"UInt64", dtype::uint64}}) {
        if (name == c10::toString(type)) {
            return is;
        }
    }
    return dtype::invalid;
}

/// Why a tensor cannot be saved, as the end of a sentence; empty if it can.
[[nodiscard]] inline std::string torch_refusal(const at::Tensor& tensor) {
    if (!tensor.defined()) {
        return "is undefined: it has not been computed yet";
    }
    if (tensor.is_quantized()) {
        return std::string{"is quantised ("} + c10::toString(tensor.scalar_type()) +
               "), which the format does not have: save tensor.dequantize(), or tensor.int_repr()";
    }
    if (tensor.layout() == at::kSparse) {
        return "is sparse (layout Sparse): save tensor.to_dense(), or the values and indices of tensor.coalesce()";
    }
    if (tensor.layout() != at::kStrided && !tensor.is_mkldnn()) {
        return "is sparse (layout " + c10::str(tensor.layout()) + "): save tensor.to_dense(), or tensor.values()";
    }
    if (tensor.is_nested()) {
        return "is nested: save the tensors of tensor.unbind() each";
    }
    if (tensor.is_meta()) {
        return "lies on the device meta, which has no elements: there is nothing to save";
    }
    if (dtype_of_torch(tensor.scalar_type()) == dtype::invalid) {
        return std::string{"has the dtype "} + c10::toString(tensor.scalar_type()) +
               ", which the format does not have: save tensor.to(torch::kFloat32)";
    }
    return {};
}

/// Whether numbers of a tensor are to be computed where it lies.  Not where doubles are missing.
[[nodiscard]] inline bool lies_far(const at::Tensor& tensor) {
    return !tensor.is_cpu() && !tensor.is_mps() && !tensor.is_mkldnn();
}

[[nodiscard]] inline shape_type shape_of_torch(const at::Tensor& tensor) {
    shape_type extents;
    for (const std::int64_t extent : tensor.sizes()) {
        extents.push_back(static_cast<std::size_t>(extent));
    }
    return extents;
}

/// Reductions and digests of many tensors, computed by torch on their devices, and fetched by one transfer a device.
/// Accuracy: of reductions, in doubles, see docs/guarantees.md; digests are the hook's own.
/// Memory:   on the device at most three times `block` doubles, while a tensor is reduced, and for a digest a copy of a
///           tensor that does not lie in C order; then some numbers.
class device_numbers {
public:
    static constexpr std::int64_t block = std::int64_t{1} << 22;

    /// Computes numbers of a tensor that has no torch_refusal(): the calls are queued on its device, and nothing is
    /// waited for.  Returns its place among the results.
    std::size_t add(const at::Tensor& tensor, const due_numbers& due) {
        const at::NoGradGuard no_gradients;
        const at::Tensor plain = tensor.detach().resolve_conj().resolve_neg();
        const dtype type = dtype_of_torch(tensor.scalar_type());
        const bool is_complex_type = is_complex(type);
        const reduction_set wanted = due.reductions & possible(is_complex_type);
        asked one{.wanted = wanted,
                  .count = static_cast<std::uint64_t>(tensor.numel()),
                  .device = device_of(tensor),
                  .parts = parts_of(wanted),
                  .type = type,
                  .shape = shape_of_torch(tensor)};
        computed_numbers& on = devices_[one.device];
        one.first = on.numbers.size();
        if (due.digest) {
            one.digest = on.sums.size();
            on.sums.push_back(sum_of_mixed_words(plain));
        }
        if (one.count != 0 && !one.parts.empty()) {
            const at::Tensor elements = in_any_order(plain);
            const bool may_overflow = type == dtype::float64 || type == dtype::complex128;
            for (std::int64_t begin = 0; begin < tensor.numel(); begin += block, ++one.blocks) {
                const at::Tensor some = elements.slice(0, begin, std::min(begin + block, tensor.numel()));
                const at::Tensor reals = is_complex_type ? some.to(at::kComplexDouble).abs() : some.to(at::kDouble);
                add_block(on.numbers, one.parts, reals, may_overflow);
            }
        }
        asked_.push_back(std::move(one));
        return asked_.size() - 1;
    }

    [[nodiscard]] bool empty() const noexcept { return asked_.empty(); }

    /// The results, in the order of add(); forgets them.  Waits for the devices.
    [[nodiscard]] std::vector<tensor_numbers> fetch() {
        std::vector<fetched_numbers> here;
        for (const computed_numbers& on : devices_) {
            here.emplace_back(on);
        }
        std::vector<tensor_numbers> results;
        for (const asked& one : asked_) {
            const fetched_numbers& on = here[one.device];
            tensor_numbers& result = results.emplace_back();
            result.reductions = combined(one, on.numbers(one.first));
            result.computed_by = "torch";
            if (one.digest) {
                result.digest = reduce::detail::digest_of_sum(static_cast<std::uint64_t>(on.sum(*one.digest)),
                                                              one.count * size_of(one.type), one.type, one.shape);
            }
        }
        clear();
        return results;
    }

    void clear() noexcept {
        asked_.clear();
        devices_.clear();
    }

private:
    // What is computed of each block of a tensor.
    enum class part : std::uint8_t {
        min,
        max,
        sum,
        variance,
        prod,
        abs_min,
        abs_max,
        l1,
        abs_variance,
        l2,
        nan,
        pos_inf,
        neg_inf,
        zeros
    };

    struct asked {
        reduction_set wanted;
        std::uint64_t count = 0;
        std::size_t device = 0;  // a place in devices_
        std::vector<part> parts = {};
        dtype type = dtype::invalid;
        shape_type shape = {};
        std::size_t first = 0;  // a place among the device's numbers
        std::size_t blocks = 0;
        std::optional<std::size_t> digest = {};  // a place among its sums
    };
    struct computed_numbers {
        at::Device device;
        std::vector<at::Tensor> numbers = {};  // doubles
        std::vector<at::Tensor> sums = {};     // 64-bit integers
    };
    // Those of a device, in this process's memory.
    class fetched_numbers {
    public:
        explicit fetched_numbers(const computed_numbers& on) : doubles_(on.numbers.size()) {
            std::vector<at::Tensor> parts;
            if (!on.numbers.empty()) {
                parts.push_back(at::stack(on.numbers).view(at::kLong));
            }
            if (!on.sums.empty()) {
                parts.push_back(at::stack(on.sums));
            }
            if (!parts.empty()) {
                words_ = at::cat(parts).to(at::kCPU);
            }
        }
        [[nodiscard]] const double* numbers(std::size_t at) const {
            return at < doubles_ ? words_.view(at::kDouble).data_ptr<double>() + at : nullptr;
        }
        [[nodiscard]] std::int64_t sum(std::size_t at) const { return words_.data_ptr<std::int64_t>()[doubles_ + at]; }

    private:
        at::Tensor words_;
        std::size_t doubles_;
    };

    // Complex numbers have the reductions of magnitudes alone.
    [[nodiscard]] static reduction_set possible(bool is_complex_type) noexcept {
        return is_complex_type ? reduction_set::absolute() | reduction_set::counts() | reduction_set{reduction::l1} |
                                     reduction_set{reduction::l2}
                               : reduction_set::all();
    }

    [[nodiscard]] static std::vector<part> parts_of(reduction_set wanted) {
        using enum reduction;
        std::vector<part> parts;
        const auto add = [&](part which, std::initializer_list<reduction_key> for_these) {
            if (std::any_of(for_these.begin(), for_these.end(),
                            [&](reduction_key key) { return wanted.contains(key); })) {
                parts.push_back(which);
            }
        };
        add(part::min, {{min, false}});
        add(part::max, {{max, false}});
        add(part::sum, {{sum, false}, {mean, false}, {variance, false}, {std, false}});
        add(part::variance, {{variance, false}, {std, false}});
        add(part::prod, {{prod, false}, {prod, true}});
        add(part::abs_min, {{min, true}});
        add(part::abs_max, {{max, true}});
        add(part::l1, {{l1, false}, {l1, true}, {sum, true}, {mean, true}, {variance, true}, {std, true}});
        add(part::abs_variance, {{variance, true}, {std, true}});
        add(part::l2, {{l2, false}, {l2, true}});
        if (wanted.has_counts()) {
            parts.insert(parts.end(), {part::nan, part::pos_inf, part::neg_inf, part::zeros});
        }
        return parts;
    }

    // A tensor's elements as one dimension; the order is that of memory where they are dense.
    [[nodiscard]] static at::Tensor in_any_order(const at::Tensor& tensor) {
        return tensor.is_non_overlapping_and_dense() ? tensor.as_strided({tensor.numel()}, {1}) : tensor.reshape(-1);
    }

    // The sum in the definition of a digest, in the wrapping arithmetic of torch's 64-bit integers.
    [[nodiscard]] static at::Tensor sum_of_mixed_words(const at::Tensor& tensor) {
        const at::Tensor reals = tensor.is_complex() ? at::view_as_real(tensor) : tensor;
        const at::Tensor elements = reals.contiguous().view(-1);
        const std::int64_t a_word =
            static_cast<std::int64_t>(sizeof(std::int64_t)) / static_cast<std::int64_t>(elements.element_size());
        const std::int64_t whole = elements.numel() / a_word * a_word;
        at::Tensor sum = at::zeros({}, elements.options().dtype(at::kLong));
        for (std::int64_t begin = 0; begin < whole; begin += block * a_word) {
            const at::Tensor some = elements.slice(0, begin, std::min(begin + block * a_word, whole));
            const bool may_be_viewed = some.storage_offset() % a_word == 0;
            sum += sum_of_mixed((may_be_viewed ? some : some.clone()).view(at::kLong), begin / a_word);
        }
        if (whole != elements.numel()) {
            at::Tensor last = at::zeros({a_word}, elements.options());
            last.slice(0, 0, elements.numel() - whole).copy_(elements.slice(0, whole));
            sum += sum_of_mixed(last.view(at::kLong), whole / a_word);
        }
        return sum;
    }

    // `words` follow each other; the first is word `first` of its tensor.
    [[nodiscard]] static at::Tensor sum_of_mixed(const at::Tensor& words, std::int64_t first) {
        const auto number = [](std::uint64_t bits) { return static_cast<std::int64_t>(bits); };
        const auto shift = [](at::Tensor& x, std::int64_t by) {  // torch shifts copies of the sign in
            x.bitwise_xor_(at::bitwise_right_shift(x, by).bitwise_and_((std::int64_t{1} << (64 - by)) - 1));
        };
        at::Tensor x = at::arange(first + 1, first + 1 + words.numel(), words.options());
        x.mul_(number(reduce::detail::digest_stride)).add_(words);
        shift(x, 30);
        x.mul_(number(reduce::detail::first_factor));
        shift(x, 27);
        x.mul_(number(reduce::detail::second_factor));
        shift(x, 31);
        return x.sum();
    }

    static void add_block(std::vector<at::Tensor>& numbers, const std::vector<part>& parts, const at::Tensor& reals,
                          bool may_overflow) {
        const bool needs_magnitudes = std::any_of(
            parts.begin(), parts.end(), [](part which) { return which >= part::abs_min && which <= part::l2; });
        const at::Tensor magnitudes = needs_magnitudes ? reals.abs() : at::Tensor{};
        for (const part which : parts) {
            numbers.push_back(computed(which, reals, magnitudes, may_overflow).to(at::kDouble));
        }
    }

    [[nodiscard]] static at::Tensor computed(part which, const at::Tensor& reals, const at::Tensor& magnitudes,
                                             bool may_overflow) {
        switch (which) {
            case part::min:
                return reals.min();
            case part::max:
                return reals.max();
            case part::sum:
                return reals.sum();
            case part::variance:
                return reals.var(/*unbiased=*/false);
            case part::prod:
                return reals.prod();
            case part::abs_min:
                return magnitudes.min();
            case part::abs_max:
                return magnitudes.max();
            case part::l1:
                return magnitudes.sum();
            case part::abs_variance:
                return magnitudes.var(/*unbiased=*/false);
            case part::l2: {
                if (!may_overflow) {
                    return magnitudes.square().sum().sqrt();
                }
                const at::Tensor largest = magnitudes.max();
                const at::Tensor scale =
                    at::where((largest > 0).logical_and(largest.isfinite()), largest, at::ones_like(largest));
                return (magnitudes / scale).square().sum().sqrt() * scale;
            }
            case part::nan:
                return reals.isnan().sum();
            case part::pos_inf:
                return reals.isposinf().sum();
            case part::neg_inf:
                return reals.isneginf().sum();
            case part::zeros:
                return (reals == 0).sum();
        }
        return {};
    }

    // One part of a tensor from those of its blocks.
    [[nodiscard]] static double joined(part which, const std::vector<double>& of_blocks) {
        double result = of_blocks.front();
        for (std::size_t i = 1; i < of_blocks.size(); ++i) {
            const double next = of_blocks[i];
            switch (which) {
                case part::min:
                case part::abs_min:
                    result = is_nan(result) || next > result ? result : next;
                    break;
                case part::max:
                case part::abs_max:
                    result = is_nan(result) || next < result ? result : next;
                    break;
                case part::prod:
                    result *= next;
                    break;
                case part::l2:
                    result = std::hypot(result, next);
                    break;
                default:
                    result += next;
            }
        }
        return result;
    }

    [[nodiscard]] static reduction_values combined(const asked& one, const double* numbers) {
        using enum reduction;
        reduction_values values;
        values.count = one.count;
        values.computed = one.wanted;
        const auto set = [&](reduction what, bool abs, double number) {
            if (one.wanted.contains(what, abs)) {
                values.value[reduction_key{what, abs}.index()] = number;
            }
        };
        if (one.count == 0) {
            for (const bool abs : {false, true}) {
                set(sum, abs, 0);
                set(prod, abs, 1);
                set(l1, abs, 0);
                set(l2, abs, 0);
            }
            return values;
        }
        const auto n = static_cast<double>(one.count);
        const auto of_blocks = [&](std::size_t at) {
            std::vector<double> all;
            for (std::size_t i = 0; i < one.blocks; ++i) {
                all.push_back(numbers[i * one.parts.size() + at]);
            }
            return all;
        };
        std::vector<double> sums;
        for (std::size_t i = 0; i < one.parts.size(); ++i) {
            const part which = one.parts[i];
            const std::vector<double> each = of_blocks(i);
            const double all = joined(which, each);
            switch (which) {
                case part::min:
                case part::max:
                case part::abs_min:
                case part::abs_max:
                    set(which == part::min || which == part::abs_min ? min : max, which >= part::abs_min, all);
                    break;
                case part::sum:
                    set(sum, false, all);
                    set(mean, false, all / n);
                    sums = each;
                    break;
                case part::l1:
                    set(l1, false, all);
                    set(l1, true, all);
                    set(sum, true, all);
                    set(mean, true, all / n);
                    sums = each;
                    break;
                case part::variance:
                case part::abs_variance: {
                    const double squared = joined_variance(each, sums, one.count);
                    set(variance, which == part::abs_variance, squared);
                    set(std, which == part::abs_variance, std::sqrt(squared));
                    break;
                }
                case part::prod:
                    set(prod, false, all);
                    set(prod, true, std::abs(all));
                    break;
                case part::l2:
                    set(l2, false, all);
                    set(l2, true, all);
                    break;
                case part::nan:
                    values.nan = static_cast<std::uint64_t>(all);
                    break;
                case part::pos_inf:
                    values.pos_inf = static_cast<std::uint64_t>(all);
                    break;
                case part::neg_inf:
                    values.neg_inf = static_cast<std::uint64_t>(all);
                    break;
                case part::zeros:
                    values.zeros = static_cast<std::uint64_t>(all);
                    break;
            }
        }
        return values;
    }

    // Of all elements, from the variances and sums of blocks of equal size; the last one may be smaller.
    [[nodiscard]] static double joined_variance(const std::vector<double>& variances, const std::vector<double>& sums,
                                                std::uint64_t count) {
        const auto n = static_cast<double>(count);
        double sum = 0;
        for (const double each : sums) {
            sum += each;
        }
        double squares = 0;
        for (std::size_t i = 0; i < variances.size(); ++i) {
            const bool is_last = i + 1 == variances.size();
            const double size =
                is_last ? n - static_cast<double>(block) * static_cast<double>(i) : static_cast<double>(block);
            const double off = sums[i] / size - sum / n;
            squares += size * (variances[i] + (variances.size() == 1 ? 0.0 : off * off));
        }
        return squares / n;
    }

    [[nodiscard]] std::size_t device_of(const at::Tensor& tensor) {
        for (std::size_t i = 0; i < devices_.size(); ++i) {
            if (devices_[i].device == tensor.device()) {
                return i;
            }
        }
        devices_.push_back({tensor.device()});
        return devices_.size() - 1;
    }

    std::vector<asked> asked_;
    std::vector<computed_numbers> devices_;
};

}  // namespace detail

/// hook.save_tensor(name, tensor) for a torch::Tensor of any device, any strides, and every dtype that the format has.
/// Borrows: contiguous elements in this process's memory.  Others are copied; of a device, reductions and digests are
///          computed there and a handful of numbers is fetched where nothing else is due.  A training that saves many tensors of
///          a device does that with one transfer a step by a torch_watch.
/// Errors:  value_error, in a sentence, for sparse, quantised, nested and undefined tensors, for dtypes that the format
///          does not have, and for the device meta.
/// Cost:    nothing where the tensor is not due.
template <>
struct tensor_adapter<at::Tensor> {
    tensor_adapter(const at::Tensor& tensor, std::string_view name) : tensor_(tensor) {
        if (const std::string why = detail::torch_refusal(tensor); !why.empty()) {
            throw value_error("the tensor \"" + std::string{name} + "\" " + why, {.tensor = std::string{name}});
        }
        extents_ = detail::shape_of_torch(tensor);
    }
    tensor_adapter(const tensor_adapter&) = delete;  // the view points into it
    tensor_adapter& operator=(const tensor_adapter&) = delete;
    ~tensor_adapter() = default;

    [[nodiscard]] std::span<const std::size_t> shape() const noexcept { return extents_; }

    [[nodiscard]] tensor_view view() const {
        const at::Tensor plain = tensor_.detach().resolve_conj().resolve_neg();
        here_ = (plain.is_mkldnn() ? plain.to_dense() : plain).to(at::kCPU).contiguous();
        return {.type = detail::dtype_of_torch(here_.scalar_type()),
                .shape = extents_,
                .bytes = {static_cast<const std::byte*>(here_.data_ptr()), here_.nbytes()},
                .strings = {}};
    }

    [[nodiscard]] std::optional<tensor_numbers> compute(const due_numbers& due) const {
        if (!detail::lies_far(tensor_)) {
            return std::nullopt;
        }
        detail::device_numbers numbers;
        numbers.add(tensor_, due);
        return numbers.fetch().front();
    }

private:
    at::Tensor tensor_;
    mutable at::Tensor here_;  // fetched by view()
    shape_type extents_;
};

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
