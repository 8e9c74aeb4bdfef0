#include <smdebug/record/framing.hpp>

#include "support/test.hpp"

#include "event_files.hpp"

namespace record = smdebug::record;
using record::footer_kind;
using smdebug::as_bytes;
using smdebug::as_text;
using smdebug::byte_view;

TEST_CASE("append_record: what it writes is read back, with either footer") {
    for (const footer_kind kind : {footer_kind::package_constant, footer_kind::checksum}) {
        std::vector<std::byte> bytes;
        for (std::size_t size : {0U, 1U, 15U, 16U, 17U, 1000U}) {
            const std::string payload(size, 'x');
            const std::size_t begin = bytes.size();
            record::append_record(bytes, as_bytes(payload), kind);
            REQUIRE(bytes.size() == begin + size + record::overhead);
            const auto read = record::read_record(byte_view{bytes}.subspan(begin));
            REQUIRE(read.ok());
            REQUIRE(as_text(read->payload) == payload);
        }
    }
}

TEST_CASE("append_record: the footer is the package's constant by default, a checksum on request") {
    std::vector<std::byte> bytes;
    record::append_record(bytes, as_bytes("payload"));
    CHECK(smdebug::load_le<std::uint32_t>(bytes.data() + bytes.size() - 4) == 0x062dc0b3);
    record::append_record(bytes, as_bytes("payload"), footer_kind::checksum);
    CHECK(smdebug::load_le<std::uint32_t>(bytes.data() + bytes.size() - 4) ==
          record::crc32c::mask(record::crc32c::value("payload")));
}

TEST_CASE("append_record: framing the payloads of a golden file again gives the file, byte for byte") {
    for (const char* run : {"torch_mlp", "checksummed"}) {
        for (const auto& file : event_files::of(run)) {
            const auto bytes = event_files::read(file);
            std::vector<std::byte> again;
            record::detail::reader reader{bytes};
            for (auto read = reader.next(); read.ok(); read = reader.next()) {
                const auto footer = smdebug::load_le<std::uint32_t>(read->payload.data() + read->payload.size());
                record::append_record(
                    again, read->payload,
                    footer == record::package_footer ? footer_kind::package_constant : footer_kind::checksum);
            }
            REQUIRE(again == bytes);
        }
    }
}
