// Framing: records of a file that grows, with damage anywhere.
// The first byte says whether the rest is a file's raw bytes, or payloads that are framed here, the only way past the
// checksums; the second byte says where the file ends at first.
#include "support.hpp"

#include <smdebug/formats/record_file.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <vector>

using namespace smdebug;
using namespace smdebug_fuzz;

namespace {

// Payloads with a length of one byte before each; after some a byte of the file is damaged.
std::vector<std::byte> framed_file(input in) {
    std::vector<std::byte> file;
    while (!in.empty()) {
        const std::uint8_t how = in.take_byte();
        const byte_view payload = in.take_bytes(in.take_byte());
        const std::size_t begin = file.size();
        record::append_record(file, payload,
                              (how & 1U) != 0 ? record::footer_kind::checksum : record::footer_kind::package_constant);
        if ((how & 2U) != 0) {
            const std::size_t place = begin + in.take<std::uint16_t>() % (file.size() - begin);
            file[place] ^= std::byte{in.take_byte()};
        }
    }
    return file;
}

struct walk {
    std::vector<byte_range> records;
    status last = status::ok;
};

walk walk_of(byte_view file, std::size_t first_end, crc_check check) {
    walk seen;
    record::detail::reader reader{file.first(first_end), check};
    for (bool resumed = false;;) {
        const std::size_t before = reader.position();
        const auto record = reader.next();
        demand(reader.position() <= (resumed ? file.size() : first_end), "a reader stays in its bytes");
        if (record.ok()) {
            demand(
                reader.position() - before == record->size && record->size == record->payload.size() + record::overhead,
                "a record's size is that of its payload and frame");
            static_cast<void>(sum_of(record->payload));
            seen.records.push_back({before, record->size});
        } else if (record.code() != status::bad_payload_checksum) {
            if (!resumed && record.code() == status::truncated) {
                demand(reader.resume(file), "a file that has grown is gone on with");
                resumed = true;
                continue;
            }
            seen.last = reader.at_end() ? status::ok : record.code();
            return seen;
        } else {
            demand(check == crc_check::full && reader.position() > before, "a bad payload is stepped over");
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    input in{data, size};
    const bool is_framed = (in.take_byte() & 1U) != 0;
    const std::size_t share = in.take_byte();
    std::vector<std::byte> made;
    if (is_framed) {
        made = framed_file(in);
    } else {
        made.assign(in.rest().begin(), in.rest().end());
    }
    const exact_copy file{made};
    const std::size_t first_end = file.view().size() * share / 255;
    for (const crc_check check : {crc_check::full, crc_check::length_only, crc_check::none}) {
        const walk whole = walk_of(file.view(), file.view().size(), check);
        const walk in_parts = walk_of(file.view(), first_end, check);
        demand(whole.records == in_parts.records && whole.last == in_parts.last,
               "a file that grows has the same records");
    }

    // The result of another reader, over a storage, for the same file.
    const walk expected = walk_of(file.view(), file.view().size(), crc_check::full);
    memory_storage store;
    const any_storage any{store};
    detail::record_file records{"file"};
    std::vector<byte_range> seen;
    const auto read = [&](byte_view bytes) {
        store.write("file", bytes);
        static_cast<void>(records.read(
            any,
            [&](byte_range where, byte_view payload) {
                demand(where.length == payload.size() + record::overhead,
                       "a record is as long as its payload and frame");
                seen.push_back(where);
            },
            [](byte_range, status) {}));
    };
    read(file.view().first(first_end));
    read(file.view());
    const bool too_large = records.state() == status::too_large;
    // It awaits what is to be written over zeros, in a payload or behind the records.  The other reader steps over such a
    // payload, and to it zeros are no record.
    const bool awaits = records.cut_text().starts_with("zeros follow") &&
                        (expected.last == status::bad_length_checksum || expected.last == status::ok);
    demand(too_large || (seen == expected.records && (awaits || records.state() == expected.last)),
           "both readers find the same records");

    // What was written reads back unchanged.
    for (const byte_range& where : expected.records) {
        const byte_view framed = file.view().subspan(where.offset, where.length);
        const byte_view payload = framed.subspan(record::header_size, framed.size() - record::overhead);
        std::vector<std::byte> again;
        const bool is_constant = load_le<std::uint32_t>(payload.data() + payload.size()) == record::package_footer;
        record::append_record(again, payload,
                              is_constant ? record::footer_kind::package_constant : record::footer_kind::checksum);
        demand(equal(again, framed), "a record is written as it was read");
    }
    return 0;
}
