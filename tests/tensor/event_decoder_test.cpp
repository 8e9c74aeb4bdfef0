#include <smdebug/tensor/event_decoder.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <smdebug/record/reader.hpp>
#include <smdebug/record/writer.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/wire/event.hpp>
#include <smdebug/wire/summary.hpp>
#include <smdebug/wire/tensor_proto.hpp>
#include <smdebug/wire/tensor_shape.hpp>
#include "../record/event_files.hpp"
#include "../wire/messages.hpp"

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
using wire::field_writer;

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

}  // namespace

namespace {

messages::bytes framed(const messages::bytes& payload, record::footer_kind kind = record::footer_kind::checksum) {
    messages::bytes bytes;
    record::append_record(bytes, payload, kind);
    return bytes;
}

/// A record with an event whose summary has the values that `write` writes.
template <class F>
messages::bytes record_of(F&& write) {
    return framed(messages::written([&](field_writer& w) { w.write_bytes(5, messages::written(write)); }));
}

/// A record with one value: its fields as given.
messages::bytes record_with_value(std::string_view value) {
    return record_of([&](field_writer& w) { w.write_text(1, value); });
}

/// A record as the Python package writes it: a 2x3 tensor of float32 with metadata.
messages::bytes small_record() {
    static constexpr std::array<float, 6> values{1, 2, 3, 4, 5, 6};
    static constexpr std::array<std::size_t, 2> extents{2, 3};
    const std::array plugins{wire::plugin_data{"mode_step", "7"}, wire::plugin_data{"mode", "1"}};
    const std::array fields{
        wire::value_fields{"w", {dtype::float32, {extents, "w"}, std::as_bytes(std::span{values}), {}}, plugins}};
    return framed(wire::to_bytes({1.5, 7, {}, fields}));
}

template <class T>
std::vector<T> elements(const decoded_tensor& tensor) {
    std::vector<T> values(tensor.bytes.size() / sizeof(T));
    if (!values.empty()) {
        std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    }
    return values;
}

/// What tensor_view promises of a tensor that decoded; and every byte of it is looked at.
bool keeps_promises(const decoded_tensor& tensor) {
    const auto count = smdebug::element_count(tensor.shape);
    if (!count || tensor.type == dtype::invalid || tensor.view().count() != *count) {
        return false;
    }
    if (tensor.type == dtype::string) {
        std::size_t sum = 0;
        for (const std::string_view text : tensor.strings) {
            sum += static_cast<std::size_t>(std::count(text.begin(), text.end(), 'x'));
        }
        return tensor.bytes.empty() && sum < SIZE_MAX;
    }
    unsigned highest = 0;
    for (const std::byte byte : tensor.bytes) {
        highest = std::max(highest, static_cast<unsigned>(byte));
    }
    return tensor.strings.empty() && tensor.bytes.size() == *count * size_of(tensor.type) &&
           (tensor.type != dtype::boolean || highest <= 1);
}

/// The records of some runs, each in a block of its own.
std::vector<messages::bytes> records_of(std::string_view run) {
    std::vector<messages::bytes> records;
    for (const auto& file : event_files::of(run)) {
        const auto bytes = event_files::read(file);
        record::detail::reader reader{bytes};
        for (auto at = reader.position(); reader.next().ok(); at = reader.position()) {
            records.emplace_back(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                                 bytes.begin() + static_cast<std::ptrdiff_t>(reader.position()));
        }
    }
    return records;
}

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
    decoded_tensor out;
    CHECK(event_decoder<>{}.decode(framed(wire::to_bytes({1, 0, "brain.Event:2", {}})), "w", out) == status::no_value);
    CHECK(event_decoder<>{}.decode(framed({}), "w", out) == status::no_value);
    CHECK(event_decoder<>{}.decode(record_of([](field_writer&) {}), "w", out) == status::no_value);
    CHECK(event_decoder<>{}.decode(record_with_value("\x0a\x01w"sv), "w", out) == status::no_value);
    CHECK(event_decoder<>{}.decode(record_with_value("\x0a\x01w\x2a\x00"sv), "w", out) == status::unsupported);
}

TEST_CASE("event_decoder: every prefix of a record is truncated") {
    const auto whole = small_record();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto cut = messages::prefix(whole, size);
        decoded_tensor out;
        REQUIRE(event_decoder<>{}.decode(cut, "w", out) == status::truncated);
        REQUIRE(event_decoder<crc_check::none>{}.decode(cut, "w", out) == status::truncated);
    }
}

TEST_CASE("event_decoder: a payload that ends too early within a whole record is never truncated") {
    const auto whole = small_record();
    const messages::bytes payload(whole.begin() + record::header_size, whole.end() - record::footer_size);
    for (std::size_t size = 0; size < payload.size(); ++size) {
        decoded_tensor out;
        const status code = event_decoder<>{}.decode(framed(messages::prefix(payload, size)), "w", out);
        REQUIRE((code == status::malformed || code == status::no_value));
    }
}

TEST_CASE("event_decoder: under full every flipped bit is noticed; without checks none does harm") {
    const auto whole = small_record();
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        const auto damaged = messages::flipped(whole, bit);
        decoded_tensor out;
        REQUIRE(event_decoder<>{}.decode(damaged, "w", out) != status::ok);
        for (const std::string_view name : {"w"sv, ""sv}) {
            if (event_decoder<crc_check::none>{}.decode(damaged, name, out) == status::ok) {
                REQUIRE(keeps_promises(out));
            }
        }
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

TEST_CASE("event_decoder: mutations of real records never break a promise") {
    std::vector<messages::bytes> seeds = records_of("dtypes");
    for (const char* run : {"xgboost_like", "checksummed"}) {
        const auto more = records_of(run);
        seeds.insert(seeds.end(), more.begin(), more.end());
    }
    seeds.push_back(framed(messages::written([](field_writer& w) {  // lists in pieces, which no golden run has
        w.write_text(5,
                     "\x0a\x1f\x0a\x01l\x42\x1a\x08\x03\x12\x04\x12\x02\x08\x08\x38\x01\x3a\x03\x01\x02\x03"
                     "\x2a\x04\x00\x00\x80\x3f\x38\x05\x38\x06"sv);
    })));
    std::mt19937 random{20240601};
    const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
    decoded_tensor out;
    std::size_t decoded = 0;
    for (int round = 0; round < 20000; ++round) {
        messages::bytes bytes = seeds[below(seeds.size())];
        for (std::size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
            const std::size_t at = below(bytes.size());
            const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
            switch (below(5)) {
                case 0:
                    bytes[at] ^= static_cast<std::byte>(1U << below(8));
                    break;
                case 1:
                    bytes[at] = static_cast<std::byte>(below(256));
                    break;
                case 2:
                    bytes.erase(place);
                    break;
                case 3:
                    bytes.insert(place, static_cast<std::byte>(below(256)));
                    break;
                default:
                    bytes[at] = below(2) == 0 ? std::byte{0xff} : std::byte{0x00};
                    break;
            }
        }
        bytes.shrink_to_fit();
        if (event_decoder<>{}.decode(bytes, "", out) == status::ok) {
            REQUIRE(keeps_promises(out));
        }
        if (event_decoder<crc_check::none>{}.decode(bytes, "", out) == status::ok) {
            REQUIRE(keeps_promises(out));
            ++decoded;
        }
        // the same damage under a sound frame: it reaches the messages
        const std::size_t begin = std::min(bytes.size(), record::header_size);
        const messages::bytes payload(bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.end());
        const status code = event_decoder<>{}.decode(framed(payload), "", out);
        REQUIRE(code != status::truncated);
        if (code == status::ok) {
            REQUIRE(out.shape.size() <= payload.size());
        }
    }
    CHECK(decoded > 1000);
}

TEST_CASE(
    "event_decoder: what the usual event has in it is what it would have in any other layout, whatever is damaged") {
    std::vector<messages::bytes> seeds;
    for (const auto& record : records_of("dtypes")) {
        seeds.emplace_back(record.begin() + record::header_size, record.end() - record::footer_size);
    }
    std::mt19937 random{20260101};
    const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
    // A field that nobody knows, in front: never the usual event, and the same to whoever walks its fields.
    const messages::bytes unknown = messages::of("\x78\x01"sv);
    std::map<status, std::size_t> outcomes;
    for (int round = 0; round < 20000; ++round) {
        messages::bytes payload = seeds[below(seeds.size())];
        for (std::size_t changes = below(3); changes > 0 && !payload.empty(); --changes) {
            const std::size_t at =
                below(2) == 0 ? below(payload.size()) : below(std::min<std::size_t>(80, payload.size()));
            if (below(4) == 0) {
                payload.erase(payload.begin() + static_cast<std::ptrdiff_t>(at));
            } else {
                payload[at] ^= static_cast<std::byte>(1U << below(8));
            }
        }
        const messages::bytes exact(payload);
        messages::bytes general = unknown;
        general.insert(general.end(), exact.begin(), exact.end());
        for (const std::string_view name : {""sv, "d/float32"sv}) {
            decoded_tensor found;
            decoded_tensor wanted;
            std::size_t repeats = 0;
            std::size_t wanted_repeats = 0;
            const status code = smdebug::detail::decode_event_tensor(exact, name, found, &repeats);
            const status wanted_code = smdebug::detail::decode_event_tensor(general, name, wanted, &wanted_repeats);
            REQUIRE(code == wanted_code);
            ++outcomes[code];
            if (code == status::ok) {
                REQUIRE(found.name == wanted.name);
                REQUIRE(std::memcmp(&found.wall_time, &wanted.wall_time, sizeof(double)) == 0);
                REQUIRE(found.type == wanted.type);
                REQUIRE(found.shape == wanted.shape);
                REQUIRE(std::ranges::equal(found.bytes, wanted.bytes));
                REQUIRE(found.strings == wanted.strings);
                REQUIRE(repeats == wanted_repeats);
            }
        }
    }
    CHECK(outcomes[status::ok] > 3000);
    CHECK(outcomes.size() > 5);
}

namespace {

/// A record of `count` float32 in tensor_content.
messages::bytes record_of_floats(std::size_t count, record::footer_kind kind) {
    const std::vector<float> numbers(count, 1.5F);
    const std::vector<std::size_t> extents{count};
    wire::value_fields value;
    value.tag = "big";
    value.tensor = wire::tensor_fields{.type = dtype::float32,
                                       .shape = {.extents = extents, .dim_name = "big"},
                                       .content = std::as_bytes(std::span{numbers}),
                                       .strings = {}};
    return framed(wire::to_bytes({.wall_time = 1, .step = 2, .file_version = {}, .values = std::span{&value, 1}}),
                  kind);
}

}  // namespace

TEST_CASE("event_decoder: the checksum of many elements is left for later, that of few is not") {
    const event_decoder<> decoder;
    decoded_tensor out;
    record::payload_check later;
    const auto large = record_of_floats(100'000, record::footer_kind::checksum);
    REQUIRE(decoder.decode(large, "big", out, later) == status::ok);
    CHECK(later.needed());
    CHECK(out.bytes.size() == 400'000);
    later.pass(out.bytes);
    CHECK(later.holds());
    const auto small = record_of_floats(10, record::footer_kind::checksum);
    REQUIRE(decoder.decode(small, "big", out, later) == status::ok);
    CHECK_FALSE(later.needed());
    const auto unchecked = record_of_floats(100'000, record::footer_kind::package_constant);
    REQUIRE(decoder.decode(unchecked, "big", out, later) == status::ok);
    CHECK_FALSE(later.needed());
    REQUIRE(event_decoder<crc_check::length_only>{}.decode(large, "big", out, later) == status::ok);
    CHECK_FALSE(later.needed());
}

TEST_CASE("event_decoder: a flipped byte is found, at once or later, wherever it lies") {
    const event_decoder<> decoder;
    decoded_tensor out;
    for (const std::size_t count : {std::size_t{10}, std::size_t{20'000}}) {
        auto bytes = record_of_floats(count, record::footer_kind::checksum);
        const std::size_t stride = bytes.size() / 200 + 1;
        for (std::size_t at = record::header_size; at < bytes.size(); at += stride) {
            bytes[at] ^= std::byte{0x10};
            CHECK(decoder.decode(bytes, "big", out) == status::bad_payload_checksum);
            record::payload_check later;
            const status now = decoder.decode(bytes, "big", out, later);
            CHECK((now == status::bad_payload_checksum || (now == status::ok && !later.holds())));
            bytes[at] ^= std::byte{0x10};
        }
        bytes[3] ^= std::byte{1};
        record::payload_check later;
        CHECK(decoder.decode(bytes, "big", out, later) == status::bad_length_checksum);
    }
}

TEST_CASE("event_decoder: leaves out what repeats where it is asked to, and checks the record all the same") {
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

TEST_CASE("event_decoder: a record's size is told by its head, once that is checked") {
    const auto bytes = small_record();
    const byte_view head = byte_view{bytes}.first(event_decoder<>::head_size);
    REQUIRE(event_decoder<>::record_size(head).ok());
    CHECK(*event_decoder<>::record_size(head) == bytes.size());
    CHECK(*event_decoder<>::record_size(bytes) == bytes.size());
    CHECK(event_decoder<>::record_size(head.first(head.size() - 1)).code() == status::truncated);
    auto wrong = bytes;
    wrong[8] ^= std::byte{1};  // of the length's checksum
    CHECK(event_decoder<>::record_size(wrong).code() == status::bad_length_checksum);
    CHECK(event_decoder<crc_check::length_only>::record_size(wrong).code() == status::bad_length_checksum);
    CHECK(*event_decoder<crc_check::none>::record_size(wrong) == bytes.size());
    std::fill_n(wrong.begin(), 8, std::byte{0xff});
    CHECK(event_decoder<crc_check::none>::record_size(wrong).code() == status::too_large);
}

namespace {

using smdebug::detail::record_parts;

/// Whether a record's plan says what decoding it says; false where it has none.
bool has_true_plan(const messages::bytes& bytes) {
    record_parts parts;
    if (!event_decoder<>::plan(bytes, bytes.size(), "", parts)) {
        return false;
    }
    decoded_tensor tensor;
    REQUIRE(event_decoder<>{}.decode(bytes, "", tensor) == status::ok);
    REQUIRE(parts.name == tensor.name);
    REQUIRE(parts.type == tensor.type);
    REQUIRE(parts.shape == tensor.shape);
    REQUIRE(parts.size == bytes.size());
    REQUIRE(parts.content_size == tensor.bytes.size());
    REQUIRE(bytes.data() + parts.content == tensor.bytes.data());
    const byte_view tail = byte_view{bytes}.subspan(parts.content + parts.content_size);
    std::optional<std::uint32_t> checksum;
    REQUIRE(event_decoder<>::ends_well(tail, checksum));
    return true;
}

}  // namespace

TEST_CASE("event_decoder: plans what the package writes as decoding finds it, from the record's first bytes alone") {
    std::size_t planned = 0;
    for (const std::string run : {"dtypes", "torch_mlp"}) {
        for (const auto& bytes : records_of(run)) {
            planned += has_true_plan(bytes) ? 1U : 0U;
        }
    }
    CHECK(planned > 100);

    const auto bytes = small_record();
    record_parts whole;
    REQUIRE(event_decoder<>::plan(bytes, bytes.size(), "w", whole));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        record_parts parts;
        // Its head is enough, and all of it is needed.
        CHECK(event_decoder<>::plan(byte_view{bytes}.first(size), bytes.size(), "w", parts) == (size >= whole.content));
        CHECK_FALSE(event_decoder<>::plan(bytes, size, "w", parts));  // it would reach beyond what there is
    }
    CHECK(event_decoder<>::plan(bytes, bytes.size() + 1, "w", whole));
    CHECK_FALSE(event_decoder<>::plan(bytes, bytes.size(), "v", whole));
}

TEST_CASE("event_decoder: does not plan what decoding refuses, or has to look at") {
    record_parts parts;
    const auto planned = [&](dtype type, std::size_t extent, std::string_view content) {
        const std::array<std::size_t, 1> extents{extent};
        const std::array fields{wire::value_fields{"w", {type, {extents, "w"}, smdebug::as_bytes(content), {}}, {}}};
        const auto bytes = framed(wire::to_bytes({1.5, 7, {}, fields}));
        return event_decoder<>::plan(bytes, bytes.size(), "w", parts);
    };
    CHECK(planned(dtype::float32, 2, "12345678"));
    CHECK(planned(dtype::uint8, 8, "12345678"));
    CHECK_FALSE(planned(dtype::float32, 3, "12345678"));
    CHECK_FALSE(planned(dtype::float32, 1, "12345678"));
    CHECK_FALSE(planned(dtype::float32, 2, "1234567"));
    CHECK_FALSE(planned(dtype::float32, 2, "123456789"));
    CHECK_FALSE(planned(dtype::boolean, 8, "12345678"));
    CHECK_FALSE(planned(dtype::string, 8, "12345678"));
    CHECK_FALSE(planned(dtype::float32, std::size_t{1} << 63U, "12345678"));
}

TEST_CASE(
    "event_decoder: what stands behind the elements is metadata or nothing, and the checksum that they are held to") {
    for (const auto kind : {record::footer_kind::checksum, record::footer_kind::package_constant}) {
        const auto bytes = record_of_floats(10, kind);
        record_parts parts;
        REQUIRE(event_decoder<>::plan(bytes, bytes.size(), "big", parts));
        const byte_view tail = byte_view{bytes}.subspan(parts.content + parts.content_size);
        const auto footer = smdebug::load_le<std::uint32_t>(bytes.data() + bytes.size() - 4);
        std::optional<std::uint32_t> checksum = 1;
        CHECK(event_decoder<>::ends_well(tail, checksum));
        CHECK(checksum == (kind == record::footer_kind::checksum ? std::optional{footer} : std::nullopt));
        checksum = 1;
        CHECK(event_decoder<crc_check::length_only>::ends_well(tail, checksum));
        CHECK_FALSE(checksum);
        for (std::size_t size = 0; size < record::footer_size; ++size) {
            CHECK_FALSE(event_decoder<>::ends_well(tail.last(size), checksum));
        }
        // With metadata before it.
        const auto small = small_record();
        REQUIRE(event_decoder<>::plan(small, small.size(), "w", parts));
        CHECK(event_decoder<>::ends_well(byte_view{small}.subspan(parts.content + parts.content_size), checksum));
        CHECK(checksum == smdebug::load_le<std::uint32_t>(small.data() + small.size() - 4));
        messages::bytes more(tail.begin(), tail.end());
        more.insert(more.begin(), std::byte{0x7a});
        CHECK_FALSE(event_decoder<>::ends_well(more, checksum));
    }
}
