// Fields of protobuf messages, against Debian's libprotobuf: what this library reads, libprotobuf reads as the same
// fields; what only libprotobuf reads, this library reads once it is rewritten in the shortest form.
// The first byte says whether the rest is a message as it is, or instructions for one.
#include "message_maker.hpp"
#include "support.hpp"

#include <smdebug/wire/field.hpp>

#include <google/protobuf/unknown_field_set.h>

#include "support/standard.hpp"

using namespace smdebug;
using namespace smdebug_fuzz;
namespace wire = smdebug::detail::wire;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

namespace {

bool same(const wire::field& ours, const UnknownField& theirs) {
    if (static_cast<int>(ours.number) != theirs.number()) {
        return false;
    }
    switch (theirs.type()) {
        case UnknownField::TYPE_VARINT:
            return ours.type == wire::wire_type::varint && ours.scalar == theirs.varint();
        case UnknownField::TYPE_FIXED32:
            return ours.type == wire::wire_type::fixed32 && ours.scalar == theirs.fixed32();
        case UnknownField::TYPE_FIXED64:
            return ours.type == wire::wire_type::fixed64 && ours.scalar == theirs.fixed64();
        case UnknownField::TYPE_LENGTH_DELIMITED:
            return ours.type == wire::wire_type::length_delimited && ours.as_text() == theirs.length_delimited();
        case UnknownField::TYPE_GROUP:
            break;
    }
    return false;
}

int group_depth(const UnknownFieldSet& fields) {
    int depth = 0;
    for (int i = 0; i < fields.field_count(); ++i) {
        if (fields.field(i).type() == UnknownField::TYPE_GROUP) {
            depth = std::max(depth, 1 + group_depth(fields.field(i).group()));
        }
    }
    return depth;
}

// Our fields, which must equal theirs except for groups.
status read_as(byte_view message, const UnknownFieldSet& theirs) {
    wire::field_reader reader{message};
    int place = 0;
    const auto pass_groups = [&] {
        while (place < theirs.field_count() && theirs.field(place).type() == UnknownField::TYPE_GROUP) {
            ++place;
        }
    };
    for (wire::field field; reader.next(field); ++place) {
        pass_groups();
        demand(place < theirs.field_count(), "there are as many fields");
        demand(same(field, theirs.field(place)), "a field has the same number, layout and value");
    }
    pass_groups();
    demand(reader.code() != status::ok || place == theirs.field_count(), "no field is left out");
    return reader.code();
}

status read_alone(byte_view message) {
    wire::field_reader reader{message};
    for (wire::field field; reader.next(field);) {
        static_cast<void>(sum_of(field.bytes));
    }
    wire::field again;
    demand(!reader.next(again), "what has ended stays so");
    return reader.code();
}

void check_writer(byte_view message) {
    std::vector<std::byte> written;
    wire::field_writer writer{written};
    std::size_t size = 0;
    wire::field_reader reader{message};
    std::vector<wire::field> fields;
    for (wire::field field; reader.next(field); fields.push_back(field)) {
        switch (field.type) {
            case wire::wire_type::varint:
                writer.write_varint(field.number, field.scalar);
                size += wire::varint_field_size(field.number, field.scalar);
                break;
            case wire::wire_type::fixed32:
                writer.write_float(field.number, field.as_float());
                size += wire::fixed32_field_size(field.number);
                break;
            case wire::wire_type::fixed64:
                writer.write_double(field.number, field.as_double());
                size += wire::fixed64_field_size(field.number);
                break;
            default:
                writer.write_bytes(field.number, field.bytes);
                size += wire::delimited_field_size(field.number, field.bytes.size());
        }
    }
    demand(written.size() == size, "fields are as long as was said");
    wire::field_reader second{written};
    for (const wire::field& expected : fields) {
        wire::field field;
        demand(second.next(field) && field.number == expected.number && field.type == expected.type &&
                   field.scalar == expected.scalar && equal(field.bytes, expected.bytes),
               "a field is read as it was written");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    input in{data, size};
    std::vector<std::byte> made;
    if ((in.take_byte() & 1U) != 0) {
        made = made_message(in);
    } else {
        made.assign(in.rest().begin(), in.rest().end());
    }
    const exact_copy message{made};
    const status ours = read_alone(message.view());
    UnknownFieldSet theirs;
    const bool is_theirs = theirs.ParseFromArray(message.view().data(), static_cast<int>(message.view().size()));
    demand(ours != status::ok || is_theirs, "what is read here protobuf reads");
    if (is_theirs) {
        if (ours == status::ok) {
            demand(read_as(message.view(), theirs) == status::ok, "reading twice gives the same");
            check_writer(message.view());
        }
        std::string shortest;
        demand(theirs.SerializeToString(&shortest), "protobuf writes what it has read");
        if (group_depth(theirs) <= static_cast<int>(wire::field_reader::max_group_depth)) {
            const exact_copy copy{as_bytes(shortest)};
            demand(read_as(copy.view(), theirs) == status::ok, "what protobuf writes is read here");
        }
    }
    return 0;
}
