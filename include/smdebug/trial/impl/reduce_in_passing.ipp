// The bodies of <smdebug/trial/reduce_in_passing.hpp>.
#pragma once

#include <smdebug/core/status.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/reduce_in_passing.hpp>
#include <smdebug/trial/scanned_tensor.hpp>

#include <string>
#include <utility>

namespace smdebug::inline v1 {
namespace detail {

SMDEBUG_INLINE std::shared_ptr<const object_notes> passing_reductions::pass(std::string_view /*key*/,
                                                                            const opened_object& object) {
    auto notes = std::make_unique<cached_reductions>();
    const std::uint64_t before = *bytes_;
    opened_event_file file{object, buffer_, static_cast<std::size_t>(limits.hot_piece)};
    std::uint64_t offset = 0;
    while (offset < object.size() && before + notes->cost() < most_bytes_) {
        const result<std::uint64_t> size = decoder_.record_size(file.at({offset, event_decoder<>::head_size}));
        if (!size.ok() || *size > object.size() - offset) {
            break;  // the start of the next record is unknown
        }
        const byte_range record{offset, *size};
        offset += *size;
        if (*size <= cached_reductions::small_record) {
            notes->add(record, file.at(record));
            continue;
        }
        std::optional<early_reductions> tensor;
        if (*size >= limits.stream_from) {
            tensor = reduce_stream(file, record);
        }
        if (!tensor && *size <= limits.largest_record) {
            tensor = reduce_whole(file.at(record));
        }
        if (tensor) {
            notes->add(record, *std::move(tensor));
        }
    }
    if (notes->cost() == 0) {
        return nullptr;
    }
    *bytes_ += notes->cost();
    return {notes.release(), [bytes = bytes_](const cached_reductions* gone) {
                *bytes -= gone->cost();
                delete gone;
            }};
}

SMDEBUG_INLINE std::optional<early_reductions> passing_reductions::reduce_whole(byte_view record) {
    scanned_tensor tensor;
    auto& there = tensor.content.emplace<scanned_values>(scanned_values{.tensor = &values_});
    if (decoder_.decode(record, {}, values_, there.check, there.repeats) != status::ok) {
        return std::nullopt;
    }
    return reduced_of(tensor, values_.name);
}

SMDEBUG_INLINE std::optional<early_reductions> passing_reductions::reduce_stream(opened_event_file& file,
                                                                                 byte_range record) {
    std::string name;
    if (!stream_.begin_any(plan_of<event_decoder<>>, file, record, name)) {
        return std::nullopt;
    }
    scanned_tensor tensor;
    tensor.content = &stream_;
    return reduced_of(tensor, name);
}

SMDEBUG_INLINE std::optional<early_reductions> passing_reductions::reduced_of(const scanned_tensor& tensor,
                                                                              std::string_view name) const {
    const reduced_tensor made = reduced(tensor, reduction_set::all(), kernel_);
    if (made.failure != nullptr || made.shape == nullptr) {
        return std::nullopt;
    }
    return early_reductions{
        .name = std::string{name}, .type = made.type, .shape = *made.shape, .reductions = made.reductions};
}

}  // namespace detail

SMDEBUG_INLINE std::shared_ptr<inflate_observer> reduce_in_passing(std::uint64_t most_bytes) {
    return std::make_shared<detail::passing_reductions>(most_bytes);
}

}  // namespace smdebug::inline v1
