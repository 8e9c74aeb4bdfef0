// A reduction kernel whose type is chosen at run time: one indirect call a tensor, none an element.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/digest.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// The optional abilities of a kernel.
struct kernel_abilities {
    bool repeats = false;     ///< repeating_reducer: nothing is expanded
    bool feeds = false;       ///< fed_reducer
    bool usual_bits = false;  ///< see gives_usual_bits
};

/// Holds any kernel; models reduction_kernel and its optional refinements.  Copies share it.
/// Threads: const calls may run at once.
class any_kernel {
public:
    template <class Kernel>
        requires(!std::same_as<Kernel, any_kernel> && reduction_kernel<Kernel>)
    explicit any_kernel(Kernel kernel) : held_(std::make_shared<const model<Kernel>>(std::move(kernel))) {}

    [[nodiscard]] const kernel_abilities& abilities() const noexcept { return held_->abilities; }
    [[nodiscard]] std::string name() const { return held_->name(); }

    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted) const {
        return held_->reduce(tensor, wanted);
    }
    /// `watch` is not called for a kernel that is no watched_reducer.
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted,
                                                  const byte_watch& watch) const {
        return held_->reduce(tensor, wanted, watch);
    }
    /// See in_place_reducer; the answer of any other kernel is copied.
    [[nodiscard]] status reduce_into(const tensor_view& tensor, reduction_set wanted, const byte_watch* watch,
                                     reduction_values& out) const {
        return held_->reduce_into(tensor, wanted, watch, out);
    }
    /// Expands the elements for a kernel that is no repeating_reducer.
    [[nodiscard]] result<reduction_values> reduce_repeated(const tensor_view& values, std::size_t repeats,
                                                           reduction_set wanted) const {
        return held_->reduce_repeated(values, repeats, wanted);
    }
    /// Errors: unsupported for a kernel that is no fed_reducer.
    [[nodiscard]] result<reduction_values> reduce_fed(const fed_tensor& tensor, reduction_set wanted) const {
        return held_->reduce_fed(tensor, wanted);
    }

    /// See word_mixer; plain loops for a kernel that is none.
    [[nodiscard]] std::uint64_t mix_words(byte_view words, std::uint64_t first) const {
        return held_->mix_words(words, first);
    }

private:
    struct interface {
        explicit interface(const kernel_abilities& given) : abilities(given) {}
        interface(const interface&) = delete;
        interface& operator=(const interface&) = delete;
        virtual ~interface() = default;
        [[nodiscard]] virtual std::string name() const = 0;
        [[nodiscard]] virtual result<reduction_values> reduce(const tensor_view& tensor,
                                                              reduction_set wanted) const = 0;
        [[nodiscard]] virtual result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted,
                                                              const byte_watch& watch) const = 0;
        [[nodiscard]] virtual status reduce_into(const tensor_view& tensor, reduction_set wanted,
                                                 const byte_watch* watch, reduction_values& out) const = 0;
        [[nodiscard]] virtual result<reduction_values> reduce_repeated(const tensor_view& values, std::size_t repeats,
                                                                       reduction_set wanted) const = 0;
        [[nodiscard]] virtual result<reduction_values> reduce_fed(const fed_tensor& tensor,
                                                                  reduction_set wanted) const = 0;
        [[nodiscard]] virtual std::uint64_t mix_words(byte_view words, std::uint64_t first) const = 0;
        kernel_abilities abilities;
    };

    template <reduction_kernel Kernel>
    struct model final : interface {
        explicit model(Kernel given)
            : interface({.repeats = repeating_reducer<Kernel>,
                         .feeds = fed_reducer<Kernel>,
                         .usual_bits = gives_usual_bits<Kernel>}),
              kernel(std::move(given)) {}
        [[nodiscard]] std::string name() const override { return std::string{kernel.name()}; }
        [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted) const override {
            return kernel.reduce(tensor, wanted);
        }
        [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted,
                                                      const byte_watch& watch) const override {
            if constexpr (watched_reducer<Kernel>) {
                return kernel.reduce(tensor, wanted, watch);
            } else {
                static_cast<void>(watch);
                return kernel.reduce(tensor, wanted);
            }
        }
        [[nodiscard]] status reduce_into(const tensor_view& tensor, reduction_set wanted, const byte_watch* watch,
                                         reduction_values& out) const override {
            if constexpr (in_place_reducer<Kernel>) {
                return kernel.reduce_into(tensor, wanted, watch, out);
            } else {
                const auto found = watch != nullptr ? reduce(tensor, wanted, *watch) : reduce(tensor, wanted);
                if (found.ok()) {
                    out = *found;
                }
                return found.code();
            }
        }
        [[nodiscard]] result<reduction_values> reduce_repeated(const tensor_view& values, std::size_t repeats,
                                                               reduction_set wanted) const override {
            if constexpr (repeating_reducer<Kernel>) {
                return kernel.reduce_repeated(values, repeats, wanted);
            } else {
                const std::vector<std::byte> all = with_repeats(values, repeats);
                return kernel.reduce(tensor_view{values.type, values.shape, all, {}}, wanted);
            }
        }
        [[nodiscard]] result<reduction_values> reduce_fed(const fed_tensor& tensor,
                                                          reduction_set wanted) const override {
            if constexpr (fed_reducer<Kernel>) {
                return kernel.reduce_fed(tensor, wanted);
            } else {
                static_cast<void>(tensor);
                static_cast<void>(wanted);
                return status::unsupported;
            }
        }
        [[nodiscard]] std::uint64_t mix_words(byte_view words, std::uint64_t first) const override {
            if constexpr (word_mixer<Kernel>) {
                return kernel.mix_words(words, first);
            } else {
                return reduce::detail::plain_mixer{}.mix_words(words, first);
            }
        }
        Kernel kernel;
    };

    std::shared_ptr<const interface> held_;
};

}  // namespace smdebug::inline v1::detail
