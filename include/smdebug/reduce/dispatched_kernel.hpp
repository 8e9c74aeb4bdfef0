// A kernel picked at program start: compiled for several instruction sets, the best that the CPU can run.
// Separate, because it must be linked (smdebug::kernels) and needs no xsimd; smdebug.hpp does not include it.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/digest.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/reduce/tensor_hash.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace reduce::detail {

/// A separately compiled kernel: simd_kernel<Arch>, compiled with the flags of Arch.
struct compiled_kernel {
    const char* instruction_set;  ///< "avx512bw", "avx2", "sse2", "neon64", "scalar"
    /// See in_place_reducer.
    status (*reduce)(const tensor_view& tensor, reduction_set wanted, const byte_watch* watch,
                     reduction_values& out) noexcept;
    /// See repeating_reducer.  If null, a trailing repeat is expanded for `reduce`.
    result<reduction_values> (*reduce_repeated)(const tensor_view& values, std::size_t repeats,
                                                reduction_set wanted) noexcept = nullptr;
    /// See fed_reducer.  If null, bytes from a feed are gathered for `reduce`.
    result<reduction_values> (*reduce_fed)(const smdebug::detail::fed_tensor& tensor,
                                           reduction_set wanted) noexcept = nullptr;
    /// See word_mixer.  If null, plain loops do it.
    std::uint64_t (*mix_words)(byte_view words, std::uint64_t first) noexcept = nullptr;
    /// See stripe_hasher.  Null: plain loops.
    void (*hash_stripes)(hash_sums sums, byte_view stripes, std::size_t first) noexcept = nullptr;
};

/// The code of a table.
template <class Kernel>
[[nodiscard]] status reduce_with(const tensor_view& tensor, reduction_set wanted, const byte_watch* watch,
                                 reduction_values& out) noexcept {
    return Kernel{}.reduce_into(tensor, wanted, watch, out);
}

template <class Kernel>
[[nodiscard]] result<reduction_values> reduce_repeated_with(const tensor_view& held, std::size_t repeats,
                                                            reduction_set wanted) noexcept {
    return Kernel{}.reduce_repeated(held, repeats, wanted);
}

template <class Kernel>
[[nodiscard]] result<reduction_values> reduce_fed_with(const smdebug::detail::fed_tensor& tensor,
                                                       reduction_set wanted) noexcept {
    return Kernel{}.reduce_fed(tensor, wanted);
}

template <class Kernel>
[[nodiscard]] std::uint64_t mix_words_with(byte_view words, std::uint64_t first) noexcept {
    return Kernel{}.mix_words(words, first);
}

template <class Kernel>
void hash_stripes_with(hash_sums sums, byte_view stripes, std::size_t first) noexcept {
    Kernel{}.hash_stripes(sums, stripes, first);
}

/// The table of a kernel.
template <class Kernel>
[[nodiscard]] constexpr compiled_kernel table_of(const char* instruction_set) noexcept {
    return {instruction_set,          &reduce_with<Kernel>,    &reduce_repeated_with<Kernel>,
            &reduce_fed_with<Kernel>, &mix_words_with<Kernel>, &hash_stripes_with<Kernel>};
}

}  // namespace reduce::detail

/// Reduces with the best instruction set of this CPU, whatever the including file is compiled for.
/// Models reduction_kernel; computes the same bits as scalar_kernel and every simd_kernel.
/// Link smdebug::kernels (CMake), which has the code.  Copies cost a pointer.
class dispatched_kernel {
public:
    /// The best that this CPU can run: available().front().
    dispatched_kernel() noexcept : dispatched_kernel(available().front()) {}

    /// A kernel of your own.  Borrows `code` for as long as any copy exists.
    constexpr explicit dispatched_kernel(const reduce::detail::compiled_kernel& code) noexcept : code_(&code) {}

    /// Every kernel in smdebug::kernels that this CPU, and its operating system, can run: the best first, never empty.
    /// Cost: queries the CPU once.
    [[nodiscard]] static std::span<const dispatched_kernel> available() noexcept;

    /// The available kernel for this instruction set, see compiled_kernel.
    [[nodiscard]] static std::optional<dispatched_kernel> named(std::string_view instruction_set) noexcept {
        for (const dispatched_kernel& kernel : available()) {
            if (kernel.instruction_set() == instruction_set) {
                return kernel;
            }
        }
        return std::nullopt;
    }

    /// At least `wanted` of one tensor, see reduction_kernel.  Cost: one pass, no allocation, an indirect call.
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted) const noexcept {
        return answer(tensor, wanted, nullptr);
    }

    /// Reduces a tensor and calls `watch` with its bytes piece by piece, see watched_reducer.
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted,
                                                  const byte_watch& watch) const noexcept {
        return answer(tensor, wanted, &watch);
    }

    /// Reduces a tensor into `out`, see in_place_reducer.
    [[nodiscard]] status reduce_into(const tensor_view& tensor, reduction_set wanted, const byte_watch* watch,
                                     reduction_values& out) const noexcept {
        return code_->reduce(tensor, wanted, watch, out);
    }

    /// Reduces a tensor with `repeats` more elements, see repeating_reducer.
    [[nodiscard]] result<reduction_values> reduce_repeated(const tensor_view& values, std::size_t repeats,
                                                           reduction_set wanted) const {
        if (code_->reduce_repeated != nullptr) {
            return code_->reduce_repeated(values, repeats, wanted);
        }
        const std::vector<std::byte> all = with_repeats(values, repeats);
        return reduce({.type = values.type, .shape = values.shape, .bytes = all, .strings = {}}, wanted);
    }

    /// Reduces a tensor whose bytes come from a feed, see fed_reducer.
    [[nodiscard]] result<reduction_values> reduce_fed(const detail::fed_tensor& tensor, reduction_set wanted) const {
        if (code_->reduce_fed != nullptr) {
            return code_->reduce_fed(tensor, wanted);
        }
        std::vector<std::byte> all;
        while (all.size() < tensor.size) {
            const byte_view some = tensor.feed(all.size(), 1);
            if (some.empty()) {
                return status::truncated;
            }
            const byte_view mine = some.first(std::min(some.size(), tensor.size - all.size()));
            all.insert(all.end(), mine.begin(), mine.end());
        }
        return reduce({.type = tensor.type, .shape = {}, .bytes = all, .strings = {}}, wanted);
    }

    /// The sum of mixed words of a digest, see word_mixer.
    [[nodiscard]] std::uint64_t mix_words(byte_view words, std::uint64_t first) const noexcept {
        return code_->mix_words != nullptr ? code_->mix_words(words, first)
                                           : reduce::detail::plain_mixer{}.mix_words(words, first);
    }

    /// The stripes of a content hash, see stripe_hasher.
    void hash_stripes(std::span<std::uint64_t, 8> sums, byte_view stripes, std::size_t first) const noexcept {
        if (code_->hash_stripes != nullptr) {
            code_->hash_stripes(sums, stripes, first);
        } else {
            reduce::detail::add_stripes<dispatched_kernel>(sums, stripes.data(),
                                                           stripes.size() / reduce::detail::stripe_size, first);
        }
    }

    /// "avx512bw".
    [[nodiscard]] std::string_view instruction_set() const noexcept { return code_->instruction_set; }

    /// "dispatched<avx512bw>".
    [[nodiscard]] std::string name() const { return std::string{"dispatched<"}.append(instruction_set()).append(">"); }

private:
    [[nodiscard]] result<reduction_values> answer(const tensor_view& tensor, reduction_set wanted,
                                                  const byte_watch* watch) const noexcept {
        result<reduction_values> found{std::in_place};
        if (const status outcome = code_->reduce(tensor, wanted, watch, *found); outcome != status::ok) {
            found = outcome;
        }
        return found;
    }

    const reduce::detail::compiled_kernel* code_;
};

template <>
inline constexpr bool gives_usual_bits<dispatched_kernel> = true;

}  // namespace smdebug::inline v1
