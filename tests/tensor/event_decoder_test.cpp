#include <smdebug/tensor/event_decoder.hpp>

#include "support/test.hpp"

#include <smdebug/record/framing.hpp>
#include <smdebug/wire/event.hpp>

#include "../record/event_files.hpp"
#include "../wire/messages.hpp"
#include "event_decoder_fixture.hpp"

namespace record = smdebug::record;
namespace wire = smdebug::detail::wire;
using namespace std::literals;
using smdebug::as_text;
using smdebug::byte_view;
using smdebug::crc_check;
using smdebug::decoded_tensor;
using smdebug::dtype;
using smdebug::event_decoder;
using smdebug::shape_type;
using smdebug::status;
using smdebug::detail::wire::field_writer;
using namespace smdebug_test::event_records;

static_assert(smdebug::tensor_decoder<event_decoder<crc_check::full>>);
static_assert(smdebug::tensor_decoder<event_decoder<crc_check::length_only>>);
static_assert(smdebug::tensor_decoder<event_decoder<crc_check::none>>);
static_assert(smdebug::deferring_decoder<event_decoder<crc_check::full>>);
static_assert(smdebug::deferring_decoder<event_decoder<crc_check::length_only>>);

namespace {

// Near misses of deferring_decoder.
struct checks_at_once {
    status decode(byte_view, std::string_view, decoded_tensor&) const { return status::ok; }
};
struct answers_nothing {
    void decode(byte_view, std::string_view, decoded_tensor&, record::payload_check&) const {}
};
static_assert(!smdebug::deferring_decoder<checks_at_once> && !smdebug::deferring_decoder<answers_nothing>);

// Near misses of repeating_decoder; a decoder that has a decode() of its own does not inherit the ability.
struct repeats_into_a_copy : event_decoder<> {
    using event_decoder<>::decode;
    status decode(byte_view, std::string_view, decoded_tensor&, record::payload_check&, std::size_t&) const = delete;
};
struct wraps : event_decoder<> {
    status decode(byte_view, std::string_view, decoded_tensor&) const { return status::ok; }
};
static_assert(!smdebug::repeating_decoder<repeats_into_a_copy> && !smdebug::repeating_decoder<wraps>);
static_assert(smdebug::repeating_decoder<event_decoder<crc_check::none>>);

/// The tensors of the run `dtypes`, by name; of those saved twice, the last one.
class dtypes_run {
public:
    dtypes_run() : records_(records_of("dtypes")) {
        for (const auto& bytes : records_) {
            decoded_tensor tensor;
            REQUIRE(event_decoder<>{}.decode(bytes, "", tensor) == status::ok);
            REQUIRE(keeps_promises(tensor));
            tensors_[std::string{tensor.name}] = std::move(tensor);
        }
    }
    const decoded_tensor& operator[](const std::string& name) const { return tensors_.at(name); }

private:
    std::vector<messages::bytes> records_;
    std::map<std::string, decoded_tensor> tensors_;
};

}  // namespace

TEST_CASE("event_decoder: says what it checks") {
    CHECK(event_decoder<>::name() == "event_decoder<full>");
    CHECK(event_decoder<crc_check::length_only>{}.name() == "event_decoder<length_only>");
    CHECK(event_decoder<crc_check::none>{}.name() == "event_decoder<none>");
}

TEST_CASE("event_decoder: decodes a record of the Python package, byte by byte as it stands in a file") {
    const auto bytes = messages::of(
        "\x72\0\0\0\0\0\0\0\x25\x05\x3a\x82"
        "\x09\x84\xbc\x40\x54\x11\xc0\xda\x41\x2a\x67\x0a\x65\x0a\x11Sequential_0.bias"
        "\x42\x33\x08\x01\x12\x19\x12\x17\x08\x05\x12\x13Sequential_0.bias_5"
        "\x22\x14\x08\xac\x3e\xbe\x36\x9d\x9a\xbe\x70\xa3\xab\xbd\xb0\xd8\x5c\xbe\xd4\x11\x24\xbe"
        "\x4a\x1b\x0a\x0e\x0a\x09mode_step\x12\x01\x30\x0a\x09\x0a\x04mode\x12\x01\x31"
        "\xb3\xc0\x2d\x06"sv);
    decoded_tensor out;
    REQUIRE(event_decoder<>{}.decode(bytes, "Sequential_0.bias", out) == status::ok);
    CHECK(out.shape == shape_type{5});
    CHECK(elements<float>(out)[0] == -0.18620312F);
    CHECK(elements<float>(out)[4] == -0.16022426F);
}

TEST_CASE("event_decoder: gives name, dtype, shape and elements, in place") {
    const auto bytes = small_record();
    decoded_tensor out;
    REQUIRE(event_decoder<>{}.decode(bytes, "w", out) == status::ok);
    CHECK(out.name == "w");
    CHECK(out.type == dtype::float32);
    CHECK(out.shape == shape_type{2, 3});
    CHECK(elements<float>(out) == std::vector<float>{1, 2, 3, 4, 5, 6});
    CHECK(out.bytes.data() > bytes.data());
    CHECK(out.bytes.data() + 24 < bytes.data() + bytes.size());
}

TEST_CASE("event_decoder: reads the first record only, whatever follows") {
    auto bytes = small_record();
    bytes.insert(bytes.end(), 50, std::byte{0xff});
    decoded_tensor out;
    CHECK(event_decoder<>{}.decode(bytes, "w", out) == status::ok);
}

TEST_CASE("event_decoder: another name is wrong_tensor, an empty one takes any") {
    const auto bytes = small_record();
    decoded_tensor out;
    CHECK(event_decoder<>{}.decode(bytes, "v", out) == status::wrong_tensor);
    CHECK(event_decoder<>{}.decode(bytes, "", out) == status::ok);
    CHECK(out.name == "w");
}

TEST_CASE("event_decoder: of several values the first of the name counts") {
    const auto bytes = record_of([](field_writer& w) {
        w.write_text(1,
                     "\x0a\x01"
                     "a\x15\x00\x00\x80\x3f"sv);
        w.write_text(1,
                     "\x0a\x01"
                     "b\x15\x00\x00\x00\x40"sv);
        w.write_text(1,
                     "\x0a\x01"
                     "b\x15\x00\x00\x40\x40"sv);
    });
    decoded_tensor out;
    REQUIRE(event_decoder<>{}.decode(bytes, "b", out) == status::ok);
    CHECK(elements<float>(out) == std::vector<float>{2});
    REQUIRE(event_decoder<>{}.decode(bytes, "", out) == status::ok);
    CHECK(elements<float>(out) == std::vector<float>{1});
    CHECK(event_decoder<>{}.decode(bytes, "c", out) == status::wrong_tensor);
}

TEST_CASE("event_decoder: a scalar summary is a 0-d float32 tensor") {
    const auto bytes = record_with_value("\x0a\x01s\x15\x00\x00\xc0\x3f"sv);
    decoded_tensor out;
    REQUIRE(event_decoder<>{}.decode(bytes, "s", out) == status::ok);
    CHECK(out.type == dtype::float32);
    CHECK(out.shape.empty());
    CHECK(elements<float>(out) == std::vector<float>{1.5F});
    CHECK(keeps_promises(out));
}

TEST_CASE("event_decoder: events without a tensor are no_value, other kinds unsupported") {
    struct row {
        const char* what;
        messages::bytes record;
        status code;
    };
    for (const row& each :
         {row{"a file's version", framed(wire::to_bytes({1, 0, "brain.Event:2", {}})), status::no_value},
          {"an empty event", framed({}), status::no_value},
          {"an empty summary", record_of([](field_writer&) {}), status::no_value},
          {"a name alone", record_with_value("\x0a\x01w"sv), status::no_value},
          {"a histogram", record_with_value("\x0a\x01w\x2a\x00"sv), status::unsupported}}) {
        CAPTURE(each.what);
        decoded_tensor out;
        CHECK(event_decoder<>{}.decode(each.record, "w", out) == each.code);
    }
}

TEST_CASE("event_decoder: every record of every golden run decodes, and knows its name from others") {
    std::size_t decoded = 0;
    decoded_tensor out;
    for (const auto& file : event_files::of_all_runs()) {
        const auto bytes = event_files::read(file);
        record::detail::reader reader{bytes};
        for (auto at = reader.position(); reader.next().ok(); at = reader.position()) {
            const auto rest = byte_view{bytes}.subspan(at);
            REQUIRE(event_decoder<>{}.decode(rest, "", out) == status::ok);
            REQUIRE(keeps_promises(out));
            const std::string name{out.name};
            REQUIRE(event_decoder<>{}.decode(rest, name, out) == status::ok);
            REQUIRE(event_decoder<>{}.decode(rest, name + "x", out) == status::wrong_tensor);
            ++decoded;
        }
    }
    CHECK(decoded == 2105);
}

TEST_CASE("event_decoder: finds what the indexes of a golden run name, at the place they name") {
    std::size_t entries = 0;
    for (const auto& index_file :
         std::filesystem::recursive_directory_iterator{event_files::golden() / "torch_mlp" / "index"}) {
        if (index_file.path().extension() != ".json") {
            continue;
        }
        const auto index_bytes = event_files::read(index_file.path());
        const std::string index{as_text(index_bytes)};
        std::size_t at = 0;
        const auto after = [&](std::string_view key) { return at = index.find(key, at) + key.size(); };
        const std::size_t file_at = after("\"event_file_name\": \"");
        const auto bytes = event_files::read(event_files::golden() / "torch_mlp" /
                                             index.substr(file_at, index.find('"', at) - file_at));
        while (index.find("\"tensorname\": \"", at) != std::string::npos) {
            const std::size_t name_at = after("\"tensorname\": \"");
            const std::string name = index.substr(name_at, index.find('"', name_at) - name_at);
            const std::size_t start = std::stoul(index.substr(after("\"start_idx\": ")));
            const std::size_t length = std::stoul(index.substr(after("\"length\": ")));
            decoded_tensor out;
            REQUIRE(event_decoder<>{}.decode(byte_view{bytes}.subspan(start, length), name, out) == status::ok);
            ++entries;
        }
    }
    CHECK(entries == 72);
}

TEST_CASE("event_decoder: reads every dtype of the golden run as it was written") {
    const dtypes_run run;
    const auto& f16 = run["f/float16_special"];
    CHECK(f16.type == dtype::float16);
    CHECK(elements<std::uint16_t>(f16)[1] == 0x7c00);
    CHECK(elements<std::uint16_t>(f16)[3] == 0x8000);
    const auto f32 = elements<float>(run["f/float32_denormal"]);
    CHECK(f32[0] == 1.40129846e-45F);
    CHECK(f32[3] == 3.4028235e+38F);
    CHECK(elements<double>(run["f/float64_denormal"])[0] == 5e-324);
    CHECK(elements<std::int8_t>(run["i/int8_ends"]) == std::vector<std::int8_t>{-128, 127, 0, 1});
    CHECK(elements<std::int16_t>(run["i/int16_ends"]) == std::vector<std::int16_t>{-32768, 32767, 0, 1});
    CHECK(elements<std::uint16_t>(run["i/uint16_ends"]) == std::vector<std::uint16_t>{0, 65535, 0, 1});
    CHECK(elements<std::uint32_t>(run["i/uint32"]) == std::vector<std::uint32_t>{8, 4, 6, 6, 5, 7});
    CHECK(elements<std::int64_t>(run["i/int64_ends"])[0] == INT64_MIN);
    CHECK(elements<std::uint64_t>(run["i/uint64_ends"])[1] == UINT64_MAX);
    CHECK(run["b/bool"].type == dtype::boolean);
    CHECK(elements<std::uint8_t>(run["b/bool"]) == std::vector<std::uint8_t>{0, 1, 1, 0, 0, 0});
    CHECK(elements<std::complex<float>>(run["c/complex64_0d"])[0] == std::complex<float>{3, -4});
    CHECK(elements<std::complex<double>>(run["c/complex128_0d"])[0] == std::complex<double>{3, -4});
    CHECK(run["f/float32_empty2"].shape == shape_type{3, 0});
    CHECK(run["rank/0"].shape.empty());
    CHECK(run["rank/5"].shape == shape_type{2, 3, 2, 2, 2});
    CHECK(elements<float>(run["dup"]) == std::vector<float>{3, 4, 5});
    CHECK(run["s/plain"].strings ==
          std::vector<std::string_view>{"foo", "barz", "na\xc3\xafve \xe2\x98\x83 \xe6\x95\xb0\xe6\x8d\xae"});
    CHECK(run["s/empty_string"].strings == std::vector<std::string_view>{"", "x", ""});
    CHECK(run["s/no_elements"].type == dtype::string);
    CHECK(run["s/no_elements"].shape == shape_type{0});
    CHECK(run["s/python_str"].strings == std::vector<std::string_view>{"barz"});
}

TEST_CASE("event_decoder: leaves out a trailing repeat on request, and checks the record all the same") {
    const auto record = record_of([](field_writer& w) {
        w.write_bytes(1, messages::written([](field_writer& value) {
                          value.write_text(1, "w");
                          value.write_bytes(
                              8, messages::written([](field_writer& tensor) {
                                  tensor.write_varint(1, 1);
                                  const auto extent =
                                      messages::written([](field_writer& dim) { dim.write_varint(1, 1U << 26U); });
                                  tensor.write_bytes(
                                      2, messages::written([&](field_writer& shape) { shape.write_bytes(2, extent); }));
                                  tensor.write_float(5, 0.5F);
                              }));
                      }));
    });
    decoded_tensor out;
    record::payload_check later;
    std::size_t repeats = 99;
    REQUIRE(event_decoder<>{}.decode(record, "w", out, later, repeats) == status::ok);
    CHECK(out.shape == shape_type{std::size_t{1} << 26U});
    CHECK(elements<float>(out) == std::vector<float>(smdebug::repeated_block, 0.5F));
    CHECK(repeats == (std::size_t{1} << 26U) - smdebug::repeated_block);
    CHECK(later.holds());
    auto damaged = record;
    damaged[damaged.size() - 5] ^= std::byte{1};  // the last byte of the value
    CHECK(event_decoder<>{}.decode(damaged, "w", out, later, repeats) == status::bad_payload_checksum);
    const auto small = small_record();
    REQUIRE(event_decoder<>{}.decode(small, "w", out, later, repeats) == status::ok);
    CHECK(repeats == 0);
    CHECK(elements<float>(out) == std::vector<float>{1, 2, 3, 4, 5, 6});
    repeats = 99;
    const auto none = record_with_value("no tensor");
    CHECK(event_decoder<>{}.decode(none, "w", out, later, repeats) != status::ok);
    CHECK(repeats == 0);
}
