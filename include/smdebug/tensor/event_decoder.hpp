// The decoder of the Python package's event files: record -> Event -> Summary -> value -> TensorProto -> tensor.
// The only header of tensor/ that uses records: here framing and wire format meet.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/tensor/concepts.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug::inline v1 {
namespace detail {

/// The position of a record's elements, for callers that do not load the whole record.
struct record_parts {
    std::string_view name;  ///< borrows the record's head
    dtype type = dtype::invalid;
    shape_type shape;
    std::uint64_t content = 0;       ///< their position in the record
    std::uint64_t content_size = 0;  ///< their bytes
    std::uint64_t size = 0;          ///< bytes of the record
};

/// Optional: plan() and ends_well() of a decoder compute it, see event_decoder.
template <class Candidate>
concept planning_decoder = requires(byte_view bytes, std::uint64_t size, std::string_view name, record_parts& parts,
                                    std::optional<std::uint32_t>& checksum) {
    { Candidate::plan(bytes, size, name, parts) } -> std::same_as<bool>;
    { Candidate::ends_well(bytes, checksum) } -> std::same_as<bool>;
};

/// Decodes an Event's bytes to a tensor.  Statuses are those of wire/: truncated means that a field reaches too far.
[[nodiscard]] status decode_event_tensor(byte_view message, std::string_view name, decoded_tensor& out,
                                         std::size_t* repeats);

}  // namespace detail

/// Decodes records of event files; models tensor_decoder.  Stateless: copies are free, any thread may use it.
/// Reads the first record in the bytes, and in it the first value with the given name (the first of all for an empty
/// name).  A scalar summary is a 0-d float32 tensor; histograms, images and audio are unsupported.
/// Errors:  truncated only if the record itself is incomplete, since only then more bytes can help: a message that ends
///          too early within a whole record is malformed.  bad_length_checksum, bad_payload_checksum as `Check` says;
///          no_value, wrong_tensor, unsupported, size_mismatch, too_large as in status.
/// Borrows: the record's bytes, in `out`.
/// Cost:    per record, not per element, if elements lie in tensor_content; `Check` may add a pass (read_record).
template <crc_check Check = crc_check::full>
class event_decoder {
public:
    [[nodiscard]] status decode(byte_view bytes, std::string_view expected_name, decoded_tensor& out) const;

    /// Decodes a record, but if it has many elements, their checksum is left to the caller, which is about to read
    /// them: `out` is valid once later.holds().
    [[nodiscard]] status decode(byte_view bytes, std::string_view expected_name, decoded_tensor& out,
                                record::payload_check& later) const;

    /// Decodes a record without expanding a long trailing repeat: `repeats` elements are left out, see repeated_block.
    [[nodiscard]] status decode(byte_view bytes, std::string_view expected_name, decoded_tensor& out,
                                record::payload_check& later, std::size_t& repeats) const;

    /// Bytes of a record before its payload.
    static constexpr std::size_t head_size = 12;
    /// Bytes of the record that begins with `head`.  Errors: truncated, bad_length_checksum (as `Check` says),
    /// too_large.
    [[nodiscard]] static result<std::uint64_t> record_size(byte_view head) noexcept;

    /// Fills `out` if the record of at most `size` bytes that begins with `head` is that of the tensor `name` (empty:
    /// of any), and its elements are one contiguous part of it.  False for any other record, and for damage: decode()
    /// reports the reason.
    [[nodiscard]] static bool plan(byte_view head, std::uint64_t size, std::string_view name,
                                   detail::record_parts& out);

    /// Whether the bytes after the elements are valid; `checksum` is then the payload's expected one, or nothing if it
    /// is not verified.
    [[nodiscard]] static bool ends_well(byte_view tail, std::optional<std::uint32_t>& checksum) noexcept;

    /// "event_decoder<full>".
    [[nodiscard]] static std::string name();

private:
    [[nodiscard]] static status decode_deferring(byte_view bytes, std::string_view expected_name, decoded_tensor& out,
                                                 record::payload_check& later, std::size_t* repeats);

    [[nodiscard]] static status decode_payload(byte_view payload, std::string_view expected_name, decoded_tensor& out,
                                               std::size_t* repeats);
};

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/tensor/impl/event_decoder.ipp>
#include <smdebug/tensor/impl/event_decoder.tpp>
#endif

// A tensor decoder whose type is chosen at run time: one indirect call a record.
namespace smdebug::inline v1::detail {

/// plan() and ends_well() of a planning_decoder.
struct decoder_plan {
    bool (*plan)(byte_view head, std::uint64_t size, std::string_view name, record_parts& out);
    bool (*ends_well)(byte_view tail, std::optional<std::uint32_t>& checksum);
};

template <planning_decoder Decoder>
inline constexpr decoder_plan plan_of{&Decoder::plan, &Decoder::ends_well};

/// The optional abilities of a decoder.
struct decoder_abilities {
    std::uint64_t head_size = 0;         ///< for a sizing_decoder; else 0
    const decoder_plan* plan = nullptr;  ///< for a planning_decoder; else null
    bool is_usual = false;               ///< it is event_decoder<>
};

/// Holds any decoder; models tensor_decoder and its optional refinements.  Copies share it.
/// Threads: const calls may run concurrently, each with its own `out`.
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
    /// A decoder that is no deferring_decoder leaves `later` without work.
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

}  // namespace smdebug::inline v1::detail
