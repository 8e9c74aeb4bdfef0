// Type erasure for measures.
#pragma once

#include <smdebug/reduce/measure.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/lookup.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A measure or a comparison of any type.
class any_measure {
public:
    using answer = std::array<std::byte, largest_measured>;

    any_measure() = default;
    any_measure(const any_measure&) = delete;
    any_measure& operator=(const any_measure&) = delete;
    virtual ~any_measure() = default;

    /// Whether it compares two saves.
    [[nodiscard]] virtual bool compares() const noexcept = 0;
    [[nodiscard]] virtual bool equals(const any_measure& other) const = 0;
    [[nodiscard]] virtual std::unique_ptr<const any_measure> copy() const = 0;
    /// `earlier` is null unless it compares.  Errors: what the measure throws.
    [[nodiscard]] virtual answer operator()(const tensor_view* earlier, const tensor_view& now) const = 0;
};

template <measured_value T>
[[nodiscard]] any_measure::answer packed(const T& value) noexcept {
    any_measure::answer bytes{};
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

template <measured_value T>
[[nodiscard]] T unpacked(const any_measure::answer& bytes) noexcept {
    T value{};
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

template <measured_value T>
[[nodiscard]] lookup<T> unpacked(const lookup<any_measure::answer>& bytes) {
    return bytes ? lookup<T>{unpacked<T>(*bytes)} : lookup<T>{bytes.failure()};
}

template <class M, bool Compares>
class typed_measure final : public any_measure {
public:
    explicit typed_measure(const M& measure) : measure_(measure) {}

    [[nodiscard]] bool compares() const noexcept override { return Compares; }
    [[nodiscard]] bool equals(const any_measure& other) const override {
        const auto* const same = dynamic_cast<const typed_measure*>(&other);
        return same != nullptr && same->measure_ == measure_;
    }
    [[nodiscard]] std::unique_ptr<const any_measure> copy() const override {
        return std::make_unique<const typed_measure>(measure_);
    }
    [[nodiscard]] answer operator()([[maybe_unused]] const tensor_view* earlier,
                                    const tensor_view& now) const override {
        if constexpr (Compares) {
            return packed(measure_(*earlier, now));
        } else {
            return packed(measure_(now));
        }
    }

private:
    M measure_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
