// From a payload to a tensor: Event, Summary, TensorProto, every dtype and list; and the events of TensorBoard logs.
// The payload is framed here with right checksums.  The first byte says whether the rest is the payload, or
// instructions that build it.
#include "message_maker.hpp"
#include "support.hpp"

#include <smdebug/formats/tensorboard/log_files.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/tensor/proto_decoder.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/wire/event.hpp>
#include <smdebug/wire/usual_event.hpp>

#include "support/standard.hpp"

using namespace smdebug;
using namespace smdebug_fuzz;
namespace wire = smdebug::detail::wire;

namespace {

// Checks a tensor's invariants.  Returns its bytes, with repeats expanded.
std::vector<std::byte> checked(const decoded_tensor& tensor, std::size_t repeats) {
    const tensor_view view = tensor.view();
    const std::optional<std::size_t> count = element_count(tensor.shape);
    demand(count && *count == view.count() + repeats, "as many elements as the shape says");
    demand(view.type != dtype::invalid, "a tensor has a dtype");
    for (const std::string_view text : view.strings) {
        static_cast<void>(sum_of(as_bytes(text)));
    }
    static_cast<void>(sum_of(view.bytes));
    if (view.type == dtype::string) {
        demand(view.bytes.empty() && repeats == 0, "strings are no bytes");
        return {};
    }
    demand(view.bytes.size() == view.count() * size_of(view.type), "whole elements");
    if (view.type == dtype::boolean) {
        demand(std::all_of(view.bytes.begin(), view.bytes.end(), [](std::byte one) { return one <= std::byte{1}; }),
               "a boolean is 0 or 1");
    }
    demand(repeats == 0 || (!view.bytes.empty() && view.bytes.size() % (repeated_block * size_of(view.type)) == 0),
           "elements that repeat follow whole blocks");
    return with_repeats(view, repeats);
}

bool same_but_elements(const decoded_tensor& a, const decoded_tensor& b) {
    return a.name == b.name && a.type == b.type && a.shape == b.shape &&
           equal(as_bytes({reinterpret_cast<const char*>(&a.wall_time), 8}),
                 as_bytes({reinterpret_cast<const char*>(&b.wall_time), 8}));
}

void check_plan(byte_view framed, const decoded_tensor& tensor, byte_view elements) {
    detail::record_parts parts;
    for (const std::size_t head : {framed.size(), std::min<std::size_t>(framed.size(), 100)}) {
        const exact_copy first{framed.first(head)};
        if (!event_decoder<>::plan(first.view(), framed.size(), {}, parts)) {
            continue;
        }
        demand(parts.size == framed.size() && parts.content <= framed.size() &&
                   parts.content_size <= framed.size() - parts.content,
               "planned elements lie in the record");
        std::optional<std::uint32_t> checksum;
        if (!event_decoder<>::ends_well(framed.subspan(parts.content + parts.content_size), checksum)) {
            continue;
        }
        demand(parts.name == tensor.name && parts.type == tensor.type && parts.shape == tensor.shape,
               "what is planned is what is decoded");
        demand(equal(framed.subspan(parts.content, parts.content_size), elements), "planned elements are the tensor's");
    }
}

// The fast parser finds what the slow one does.
void check_usual(byte_view message) {
    wire::usual_event usual;
    if (!wire::match_usual_event(message, usual)) {
        return;
    }
    const auto event = wire::decode_event(message);
    demand(event.ok() && event->summary.has_value(), "a usual event is an event");
    wire::summary_reader values{*event->summary};
    wire::summary_value value;
    demand(values.next(value) && value.tag == usual.tag && value.kind == wire::value_kind::tensor, "with a tensor");
    const auto tensor = wire::decode_tensor_proto(value.tensor);
    demand(tensor.ok() && tensor->dtype_code == usual.tensor.dtype_code && tensor->fields == usual.tensor.fields &&
               equal(tensor->content, usual.tensor.content) && equal(*tensor->shape, *usual.tensor.shape),
           "which is the same");
    demand(!values.next(value) && values.code() == status::ok, "and no other value");
}

void check_written(const decoded_tensor& tensor, byte_view elements) {
    const std::string name{tensor.name};
    const wire::value_fields value{.tag = name,
                                   .tensor = {.type = tensor.type == dtype::string ? dtype::invalid : tensor.type,
                                              .shape = {.extents = tensor.shape, .dim_name = name},
                                              .content = elements,
                                              .strings = tensor.strings},
                                   .plugins = {}};
    const wire::event_fields event{.wall_time = tensor.wall_time, .step = 3, .file_version = {}, .values = {&value, 1}};
    std::vector<std::byte> payload = wire::to_bytes(event);
    demand(payload.size() == wire::encoded_size(event), "a message is as long as was said");
    std::vector<std::byte> framed;
    record::append_record(framed, payload, record::footer_kind::checksum);
    decoded_tensor again;
    const status read = event_decoder<>{}.decode(framed, name, again);
    // An empty tensor is written without content, so empty strings look the same: the package does this, too.
    if (!elements.empty() || !tensor.strings.empty()) {
        demand(read == status::ok && same_but_elements(again, tensor), "what was written is read as it was");
        demand(equal(again.bytes, elements) && again.strings == tensor.strings, "and its elements");
    }
}

void check_log(byte_view message) {
    detail::log_event event;
    if (detail::read_log_event(message, event) != status::ok) {
        return;
    }
    for (const detail::log_value& value : event.values) {
        static_cast<void>(sum_of(as_bytes(value.tag)) + sum_of(as_bytes(value.plugin)));
        detail::histogram_rows histogram;
        if (detail::read_histogram_message(value.message, histogram) == status::ok) {
            demand(histogram.rows.size() % 3 == 0, "a histogram has whole rows");
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    input in{data, size};
    std::vector<std::byte> payload;
    if ((in.take_byte() & 1U) != 0) {
        payload = made_message(in);
    } else {
        payload.assign(in.rest().begin(), in.rest().end());
    }
    const exact_copy message{payload};
    check_usual(message.view());
    check_log(message.view());

    std::vector<std::byte> record_bytes;
    record::append_record(record_bytes, payload, record::footer_kind::checksum);
    const exact_copy framed{record_bytes};
    const event_decoder<> decoder;
    decoded_tensor in_parts;
    record::payload_check later;
    std::size_t repeats = 0;
    const status first = decoder.decode(framed.view(), {}, in_parts, later, repeats);
    demand(first != status::truncated && first != status::bad_length_checksum && first != status::bad_payload_checksum,
           "a whole record is neither cut nor damaged");
    if (first == status::ok) {
        demand(later.holds(), "a right checksum holds");
    }
    if (first == status::ok && repeats > (std::size_t{1} << 20U)) {
        return 0;  // it would only take time
    }
    decoded_tensor tensor;
    const status second = decoder.decode(framed.view(), {}, tensor);
    decoded_tensor unchecked;
    const status third = event_decoder<crc_check::none>{}.decode(framed.view(), {}, unchecked);
    demand(first == second && second == third, "every way to decode says the same");
    if (first != status::ok) {
        return 0;
    }
    const std::vector<std::byte> elements = checked(in_parts, repeats);
    static_cast<void>(checked(tensor, 0));
    demand(same_but_elements(tensor, in_parts) && same_but_elements(tensor, unchecked), "and finds the same tensor");
    demand(equal(tensor.bytes, elements) && equal(unchecked.bytes, elements), "with the same elements");
    check_plan(framed.view(), tensor, elements);
    check_written(tensor, elements);

    decoded_tensor named;
    const std::string name{tensor.name};
    demand(decode_named(decoder, framed.view(), name, named) == status::ok && same_but_elements(tensor, named),
           "a tensor is there under its name");
    demand(decoder.decode(framed.view(), name + "x", named) != status::ok || named.name == name + "x",
           "and not under another");

    const byte_buffer owner = byte_buffer::take(std::move(record_bytes));
    decoded_tensor owned;
    demand(decoder.decode(owner.view(), {}, owned) == status::ok, "elsewhere, too");
    const tensor_value value{std::move(owned), owner};
    demand(value.type() == tensor.type && value.shape() == tensor.shape && equal(value.bytes(), elements) &&
               value.strings().size() == tensor.strings.size(),
           "a value is the tensor that was decoded");
    return 0;
}
