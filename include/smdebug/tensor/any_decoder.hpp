// A tensor decoder whose type is chosen at run time: one indirect call a record.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/tensor/concepts.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// plan() and ends_well() of a planning_decoder.
struct decoder_plan {
    bool (*plan)(byte_view head, std::uint64_t size, std::string_view name, record_parts& out);
    bool (*ends_well)(byte_view tail, std::optional<std::uint32_t>& checksum);
};

template <planning_decoder Decoder>
inline constexpr decoder_plan plan_of{&Decoder::plan, &Decoder::ends_well};

/// What a decoder can do beyond tensor_decoder.
struct decoder_abilities {
    std::uint64_t head_size = 0;         ///< of a sizing_decoder; else 0
    const decoder_plan* plan = nullptr;  ///< of a planning_decoder; else null
    bool is_usual = false;               ///< it is event_decoder<>
};

/// Holds any decoder; models tensor_decoder and its optional refinements.  Copies share it.
/// Threads: const calls may run at once, each with an `out` of its own.
class any_decoder {
public:
    template <class Decoder>
        requires(!std::same_as<Decoder, any_decoder> && tensor_decoder<Decoder>)
    explicit any_decoder(Decoder decoder) : held_(std::make_shared<const model<Decoder>>(std::move(decoder))) {}

    [[nodiscard]] const decoder_abilities& abilities() const noexcept { return held_->abilities; }
    [[nodiscard]] std::string name() const { return held_->name(); }

    [[nodiscard]] status decode(byte_view record, std::string_view expected_name, decoded_tensor& out) const {
        return held_->decode(record, expected_name, out);
    }
    /// A decoder that is no deferring_decoder leaves nothing to `later`.
    [[nodiscard]] status decode(byte_view record, std::string_view expected_name, decoded_tensor& out,
                                record::payload_check& later) const {
        return held_->decode(record, expected_name, out, later);
    }
    /// A decoder that is no repeating_decoder makes all elements: `repeats` is 0.
    [[nodiscard]] status decode(byte_view record, std::string_view expected_name, decoded_tensor& out,
                                record::payload_check& later, std::size_t& repeats) const {
        return held_->decode(record, expected_name, out, later, repeats);
    }
    /// Errors: unsupported for a decoder that is no sizing_decoder.
    [[nodiscard]] result<std::uint64_t> record_size(byte_view head) const { return held_->record_size(head); }

private:
    struct interface {
        explicit interface(const decoder_abilities& given) : abilities(given) {}
        interface(const interface&) = delete;
        interface& operator=(const interface&) = delete;
        virtual ~interface() = default;
        [[nodiscard]] virtual std::string name() const = 0;
        [[nodiscard]] virtual status decode(byte_view record, std::string_view expected_name,
                                            decoded_tensor& out) const = 0;
        [[nodiscard]] virtual status decode(byte_view record, std::string_view expected_name, decoded_tensor& out,
                                            record::payload_check& later) const = 0;
        [[nodiscard]] virtual status decode(byte_view record, std::string_view expected_name, decoded_tensor& out,
                                            record::payload_check& later, std::size_t& repeats) const = 0;
        [[nodiscard]] virtual result<std::uint64_t> record_size(byte_view head) const = 0;
        decoder_abilities abilities;
    };

    template <tensor_decoder Decoder>
    [[nodiscard]] static decoder_abilities abilities_of() {
        decoder_abilities known{.is_usual = std::same_as<Decoder, event_decoder<>>};
        if constexpr (sizing_decoder<Decoder>) {
            known.head_size = Decoder::head_size;
        }
        if constexpr (planning_decoder<Decoder>) {
            known.plan = &plan_of<Decoder>;
        }
        return known;
    }

    template <tensor_decoder Decoder>
    struct model final : interface {
        explicit model(Decoder given) : interface(abilities_of<Decoder>()), decoder(std::move(given)) {}
        [[nodiscard]] std::string name() const override { return std::string{decoder.name()}; }
        [[nodiscard]] status decode(byte_view record, std::string_view expected_name,
                                    decoded_tensor& out) const override {
            return decoder.decode(record, expected_name, out);
        }
        [[nodiscard]] status decode(byte_view record, std::string_view expected_name, decoded_tensor& out,
                                    [[maybe_unused]] record::payload_check& later) const override {
            if constexpr (deferring_decoder<Decoder>) {
                return decoder.decode(record, expected_name, out, later);
            } else {
                return decoder.decode(record, expected_name, out);
            }
        }
        [[nodiscard]] status decode(byte_view record, std::string_view expected_name, decoded_tensor& out,
                                    record::payload_check& later, std::size_t& repeats) const override {
            if constexpr (repeating_decoder<Decoder>) {
                return decoder.decode(record, expected_name, out, later, repeats);
            } else {
                repeats = 0;
                return decode(record, expected_name, out, later);
            }
        }
        [[nodiscard]] result<std::uint64_t> record_size([[maybe_unused]] byte_view head) const override {
            if constexpr (sizing_decoder<Decoder>) {
                return decoder.record_size(head);
            } else {
                return status::unsupported;
            }
        }
        Decoder decoder;
    };

    std::shared_ptr<const interface> held_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
