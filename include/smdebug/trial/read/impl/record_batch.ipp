// The bodies of <smdebug/trial/read/record_batch.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/sorted_blocks.hpp>
#include <smdebug/core/text_number.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/reduce/digest.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/read/event_source.hpp>
#include <smdebug/trial/read/record_batch.hpp>
#include <smdebug/wire/event.hpp>
#include <smdebug/wire/tensor_proto.hpp>

#include <algorithm>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE void collected_event_file::put(std::size_t place, std::optional<byte_buffer> bytes) {
    slots_[place].is_there = bytes.has_value();
    slots_[place].bytes = std::move(bytes).value_or(byte_buffer{});
}

SMDEBUG_INLINE byte_view collected_event_file::at(byte_range record) {
    slot& next = slots_[next_++];
    taken_ = std::exchange(next.bytes, {});
    if (next.why != nullptr) {
        std::rethrow_exception(next.why);
    }
    if (!next.is_there) {
        throw not_found("event file " + key_ + " was removed while it was read", {.where = key_});
    }
    return taken_.slice({.offset = 0, .length = record.length}).view();
}

SMDEBUG_INLINE void record_batch::add(std::string key, std::span<const byte_range> records) {
    const std::string& kept = keys_.emplace_back(std::move(key));
    // Requested by ascending offset, which allows storages to merge ranges.
    const std::vector<std::uint32_t> order = places_in_order(
        records.size(), [&](std::size_t a, std::size_t b) { return records[a].offset < records[b].offset; });
    std::uint64_t wanted = 0;
    for (const std::uint32_t place : order) {
        ranges_.push_back({kept, records[place]});
        places_.push_back(place);
        wanted = bounded_sum(wanted, records[place].length);
    }
    const std::uint64_t span = order.empty() ? 0 : records[order.back()].offset - records[order.front()].offset;
    files_.push_back({.end = ranges_.size(), .scattered = wanted < span / 2});
}

SMDEBUG_INLINE record_batch::incoming_file::incoming_file(const record_batch& of, std::size_t number) : of_(&of) {
    if (number < of.files_.size()) {
        scattered_ = of.files_[number].scattered;
        collected = {of.keys_[number], of.files_[number].end - of.begin_of(number)};
    }
}

SMDEBUG_INLINE void record_batch::incoming_file::put(std::size_t i, std::optional<byte_buffer> bytes,
                                                     const object_version& version) {
    if (bytes) {
        mixed_ = !version_.merge(version) || mixed_;
    }
    if (bytes && scattered_ && bytes->size() <= largest_copy) {
        // A copy, as a slice would keep all bytes of the same request in memory.
        bytes = byte_buffer::take(std::vector<std::byte>(bytes->view().begin(), bytes->view().end()));
    }
    collected.put(of_->places_[i], std::move(bytes));
}

SMDEBUG_INLINE bool record_batch::read(const any_storage& store,
                                       visitor_ref<std::size_t, collected_event_file&> finish) const {
    std::size_t number = 0;
    incoming_file incoming{*this, 0};
    const auto finish_to = [&](std::size_t end) {
        while (number < files_.size() && files_[number].end == end) {
            if (incoming.is_mixed()) {
                read_again(store, number, incoming);
            }
            if (!finish(number, incoming.collected)) {
                return false;
            }
            incoming = incoming_file{*this, ++number};
        }
        return true;
    };
    return finish_to(0) && read_ranges_past_errors(
                               store, ranges_,
                               [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version& version) {
                                   incoming.put(i, std::move(bytes), version);
                                   return finish_to(i + 1);
                               },
                               [&](std::size_t i) {
                                   incoming.collected.fail(places_[i], std::current_exception());
                                   return finish_to(i + 1);
                               });
}

SMDEBUG_INLINE void record_batch::read_again(const any_storage& store, std::size_t number,
                                             incoming_file& incoming) const {
    const std::size_t begin = begin_of(number);
    for (int version = 1; incoming.is_mixed() && version < most_versions; ++version) {
        incoming = incoming_file{*this, number};
        read_ranges_past_errors(
            store, std::span{ranges_}.subspan(begin, files_[number].end - begin),
            [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version& version_read) {
                incoming.put(begin + i, std::move(bytes), version_read);
            },
            [&](std::size_t i) { incoming.collected.fail(places_[begin + i], std::current_exception()); });
    }
    if (incoming.is_mixed()) {
        incoming = incoming_file{*this, number};
        try {
            throw_replaced(keys_[number]);
        } catch (const unavailable&) {
            for (std::size_t i = begin; i < files_[number].end; ++i) {
                incoming.collected.fail(places_[i], std::current_exception());
            }
        }
    }
}

SMDEBUG_INLINE paged_event_file::paged_event_file(const any_storage& store, std::string key,
                                                  std::vector<byte_range> records, std::uint64_t most,
                                                  std::vector<std::size_t> group_ends)
    : store_(store),
      key_(std::move(key)),
      records_(std::move(records)),
      group_ends_(std::move(group_ends)),
      most_(most) {
    read_page();
    is_there_ = page_.is_there();
}

SMDEBUG_INLINE byte_view paged_event_file::at(byte_range record) {
    if (page_.taken()) {
        read_page();
    }
    return page_.at(record);
}

SMDEBUG_INLINE void paged_event_file::read_page() {
    page_ = {};
    const std::size_t begin = next_;
    std::uint64_t bytes = 0;
    while (next_ < records_.size()) {
        const std::size_t end = group_ < group_ends_.size() ? group_ends_[group_] : next_ + 1;
        const std::uint64_t more = bytes_of(next_, end);
        if (next_ > begin && more > most_ - bytes) {
            break;
        }
        bytes += std::min(more, most_ - bytes);
        next_ = end;
        ++group_;
    }
    record_batch batch;
    batch.add(key_, std::span{records_}.subspan(begin, next_ - begin));
    batch.read(store_, [&](std::size_t, collected_event_file& page) { page_ = std::move(page); });
}

SMDEBUG_INLINE std::uint64_t paged_event_file::bytes_of(std::size_t begin, std::size_t end) const noexcept {
    std::uint64_t bytes = 0;
    for (std::size_t i = begin; i < end; ++i) {
        bytes = bounded_sum(bytes, records_[i].length);
    }
    return bytes;
}

SMDEBUG_INLINE std::optional<step_number> whole_number(std::optional<std::string_view> text) noexcept {
    return number_of_text<step_number>(text.value_or(""));
}

SMDEBUG_INLINE status read_event_facts(byte_view payload, event_record& out) {
    const result<wire::event> event = wire::decode_event(payload);
    if (!event.ok()) {
        return status::malformed;
    }
    out.step = event->step;
    wire::summary_reader values{event->summary.value_or(byte_view{})};
    wire::summary_value value;
    if (!values.next(value)) {
        return values.code() == status::ok ? status::ok : status::malformed;
    }
    out.has_value = true;
    out.tag = value.tag;
    const auto in = whole_number(wire::find_plugin(value.metadata, "mode"));
    if (in && *in >= static_cast<int>(mode::train) && *in <= static_cast<int>(mode::global)) {
        out.mode = static_cast<smdebug::mode>(*in);
    }
    out.mode_step = whole_number(wire::find_plugin(value.metadata, "mode_step"));
    if (value.kind == wire::value_kind::tensor) {
        const result<wire::tensor_proto> tensor = wire::decode_tensor_proto(value.tensor);
        shape_type shape;
        if (!tensor.ok() || (tensor->shape && wire::decode_tensor_shape(*tensor->shape, shape) != status::ok)) {
            return status::malformed;
        }
        if (tensor->shape) {
            out.shape = std::move(shape);
        }
    }
    return status::ok;
}

SMDEBUG_INLINE void read_event_digest(byte_view payload, event_record& out) {
    decoded_tensor tensor;
    if (decode_event_tensor(payload, out.tag, tensor, nullptr) != status::ok || !has_digest(tensor.type)) {
        return;
    }
    const tensor_view values = tensor.view();
    out.digest = digest_of(values);
    if (values.type == dtype::int64 && values.bytes.size() == sizeof(std::int64_t)) {
        out.number = load_le<std::int64_t>(values.bytes.data());
    }
}

SMDEBUG_INLINE event_records read_event_records(const any_storage& store, const std::string& key, std::uint64_t most,
                                                bool digests) {
    piecewise_event_file file{store, key, std::uint64_t{4} << 20U};
    event_records read;
    const auto end_with = [&](status why) { read.end = why; };
    while (true) {
        const byte_view head = file.at({read.end_offset, record::header_size});
        if (head.empty()) {
            return read;
        }
        if (head.size() < record::header_size) {
            end_with(status::truncated);
            return read;
        }
        const record::detail::header claimed = record::load_header(head.data());
        const auto size = record::framed_size(claimed.length);
        if (!claimed.valid() || !size || *size > most) {
            end_with(claimed.valid() ? status::too_large : status::bad_length_checksum);
            return read;
        }
        const auto whole = record::read_record(file.at({read.end_offset, *size}), crc_check::full);
        if (!whole.ok() && whole.code() != status::bad_payload_checksum) {
            end_with(whole.code());
            return read;
        }
        event_record next{.where = {read.end_offset, *size}, .state = whole.code()};
        if (whole.ok()) {
            next.state = detail::read_event_facts(whole->payload, next);
        }
        if (digests && next.state == status::ok && next.has_value) {
            detail::read_event_digest(whole->payload, next);
        }
        read.records.push_back(std::move(next));
        read.end_offset += *size;
    }
}

}  // namespace smdebug::inline v1::detail
