#include <smdebug/index/index_file.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail::index_file;

namespace {

const std::string canonical =
    R"({"meta": {"mode": "TRAIN", "mode_step": 12, "event_file_name": "events/000000000024/000000000024_worker_0.tfevents"}, )"
    R"("tensor_payload": [{"tensorname": "w", "start_idx": 0, "length": 114}, {"tensorname": "t\u00e4", "start_idx": 114, "length": 5}], )"
    R"("shape_payload": [{"tensorname": "s", "originalname": "orig", "shape": [2, 0, 3]}]})";

struct parsed {
    std::optional<damage> wrong;
    meta head;
    std::string event_file;
    std::vector<std::string> tensors;
    std::vector<byte_range> records;
    std::vector<std::string> shapes;
    shape_type extents;
};

parsed parse_text(std::string_view text) {
    smdebug::detail::json::document parser;
    parsed out;
    out.wrong = parse(
        as_bytes(text), parser, out.head,
        [&](const location& place) {
            out.tensors.emplace_back(place.tensor_name);
            out.records.push_back(place.record);
        },
        [&](const saved_shape& shape) {
            out.shapes.emplace_back(std::string{shape.tensor_name} + "=" + std::string{shape.original_name});
            out.extents = shape.extents;
        });
    out.event_file = out.head.event_file_name;
    return out;
}

}  // namespace

TEST_CASE("index_file: reads meta, tensors and shapes") {
    const parsed file = parse_text(canonical);
    REQUIRE_FALSE(file.wrong.has_value());
    CHECK(file.head.mode == mode::train);
    CHECK(file.head.mode_step == 12);
    CHECK(file.tensors == std::vector<std::string>{"w", "t\xC3\xA4"});
    CHECK(file.records == std::vector<byte_range>{{0, 114}, {114, 5}});
    CHECK(file.shapes == std::vector<std::string>{"s=orig"});
    CHECK(file.extents == shape_type{2, 0, 3});
}

TEST_CASE("index_file: a canonical file splits without parsing, and says the same") {
    const auto parts = split_canonical(as_bytes(canonical));
    REQUIRE(parts.has_value());
    CHECK(parts->head.mode == mode::train);
    CHECK(parts->head.mode_step == 12);
    CHECK(parts->head.event_file_name == "events/000000000024/000000000024_worker_0.tfevents");
    CHECK(as_text(parts->payload).starts_with(R"("tensor_payload": [)"));
    CHECK(as_text(parts->payload).ends_with("]}"));
}

namespace {

// Whether a file's payload is read without parsing; where it is, parsing has to say the same.
bool is_read_canonically(std::string_view text) {
    const std::string exact(text);
    const auto parts = split_canonical(as_bytes(exact));
    parsed quick;
    const auto keep = [&](const location& place) {
        quick.tensors.emplace_back(place.tensor_name);
        quick.records.push_back(place.record);
    };
    if (!parts || !read_canonical(parts->payload, keep)) {
        return false;
    }
    const parsed slow = parse_text(exact);
    CHECK_FALSE(slow.wrong.has_value());
    CHECK(quick.tensors == slow.tensors);
    CHECK(quick.records == slow.records);
    CHECK(slow.shapes.empty());
    CHECK(parts->head.mode == slow.head.mode);
    CHECK(parts->head.mode_step == slow.head.mode_step);
    CHECK(parts->head.event_file_name == slow.event_file);
    return true;
}

std::string file_with(const std::string& payload) {
    return R"({"meta": {"mode": "EVAL", "mode_step": 3, "event_file_name": "e"}, )" + payload + "}";
}

std::string entry(const std::string& name, const std::string& start, const std::string& length) {
    return R"({"tensorname": ")" + name + R"(", "start_idx": )" + start + R"(, "length": )" + length + "}";
}

}  // namespace

TEST_CASE("index_file: a payload of plain names and no shapes is read without parsing, and says the same") {
    for (std::size_t size = 0; size < 40; ++size) {
        const std::string name(size, 'n');
        CHECK(is_read_canonically(file_with(R"("tensor_payload": [)" + entry(name, "0", "999999999999999999") + ", " +
                                            entry(name + " ~!/:", "17", "3") + R"(], "shape_payload": [])")));
    }
    CHECK(is_read_canonically(file_with(R"("tensor_payload": [], "shape_payload": [])")));
    CHECK(is_read_canonically(file_with(R"("tensor_payload": [)" + entry("w", "1", "2") + "]")));
    for (const std::string& wrong : std::vector<std::string>{
             entry("w", "01", "2"), entry("w", "-1", "2"), entry("w", "1.0", "2"), entry("w", "", "2"),
             entry("w", "1000000000000000000", "2"), entry("a\\u00e4", "1", "2"), entry("a\xC3\xA4", "1", "2"),
             entry("a\x7f", "1", "2"), entry("a\x1f", "1", "2"), entry("eight by\x80tes", "1", "2"),
             entry("w", "1", "2") + ",", R"({"tensorname":"w", "start_idx": 1, "length": 2})", std::string{"{}"}}) {
        CAPTURE(wrong);
        CHECK_FALSE(is_read_canonically(file_with(R"("tensor_payload": [)" + wrong + R"(], "shape_payload": [])")));
    }
    CHECK_FALSE(is_read_canonically(canonical));
}

TEST_CASE("index_file: whatever is changed in a file, what is read without parsing is what parsing says") {
    std::mt19937 random{5};
    const auto any = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
    const std::string whole = file_with(R"("tensor_payload": [)" + entry("layer_1/kernel:0", "0", "4200") + ", " +
                                        entry("b", "4200", "17") + R"(], "shape_payload": [])");
    REQUIRE(is_read_canonically(whole));
    constexpr std::string_view likely = "\"\\,:{}[]0123456789 aZ~\x7f\x80\x1f";
    std::size_t still_read = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::string text = whole;
        for (std::size_t changes = 1 + any(2); changes-- > 0;) {
            const std::size_t place = any(text.size());
            const char letter = likely[any(likely.size())];
            any(3) == 0   ? text.erase(place, 1)
            : any(2) == 0 ? text.insert(place, 1, letter)
                          : text.replace(place, 1, 1, letter);
        }
        still_read += is_read_canonically(text) ? 1U : 0U;
    }
    CHECK(still_read > 1000);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CHECK_FALSE(is_read_canonically(std::string_view{whole}.substr(0, length)));
    }
}

TEST_CASE("index_file: any prefix of a canonical file is damaged, and never splits with a whole payload") {
    const auto whole = split_canonical(as_bytes(canonical));
    for (std::size_t length = 0; length < canonical.size(); ++length) {
        const auto piece = std::string_view{canonical}.substr(0, length);
        CAPTURE(piece);
        const parsed file = parse_text(piece);
        REQUIRE(file.wrong.has_value());
        CHECK(file.wrong->not_json);
        const auto parts = split_canonical(as_bytes(piece));
        CHECK((!parts || as_text(parts->payload) != as_text(whole->payload)));
    }
}

TEST_CASE("index_file: what stands otherwise does not split, but is read") {
    for (
        const std::string_view text : {
            std::string_view{R"({"meta":{"mode":"EVAL","mode_step":3,"event_file_name":"e"},"tensor_payload":[]})"},
            std::string_view{
                R"({"tensor_payload": [], "meta": {"mode": "EVAL", "mode_step": 3, "event_file_name": "e"}})"},
            std::string_view{
                "\xEF\xBB\xBF"
                R"({"meta": {"mode": "EVAL", "mode_step": 3, "event_file_name": "e"}, "tensor_payload": []})"},
            std::string_view{
                R"({"meta": {"mode": " EVAL ", "mode_step": 3, "event_file_name": "e"}, "tensor_payload": []})"},
            std::string_view{
                R"({"meta": {"mode": "EVAL", "mode_step": 3, "event_file_name": "\u0065"}, "shape_payload": []})"},
            std::string_view{
                R"({"meta": {"mode": "EVAL", "more": 1, "mode_step": 3, "event_file_name": "e"}, "x": 0, "tensor_payload": []})"},
        }) {
        CAPTURE(text);
        const parsed file = parse_text(text);
        CHECK_FALSE(split_canonical(as_bytes(text)).has_value());
        REQUIRE_FALSE(file.wrong.has_value());
        CHECK(file.head.mode == mode::eval);
        CHECK(file.head.mode_step == 3);
    }
}

TEST_CASE("index_file: split never takes a number or a name that the parser would refuse") {
    for (const std::string_view meta_text : {
             std::string_view{R"("mode": "TRAIN", "mode_step": 01, "event_file_name": "e")"},
             std::string_view{R"("mode": "TRAIN", "mode_step": -1, "event_file_name": "e")"},
             std::string_view{R"("mode": "TRAIN", "mode_step": 1.0, "event_file_name": "e")"},
             std::string_view{R"("mode": "TRAIN", "mode_step": "1", "event_file_name": "e")"},
             std::string_view{R"("mode": "TRAIN", "mode_step": 9999999999999999999, "event_file_name": "e")"},
             std::string_view{R"("mode": "TRAIN", "mode_step": 99999999999999999999, "event_file_name": "e")"},
             std::string_view{R"("mode": "train", "mode_step": 1, "event_file_name": "e")"},
             std::string_view{"\"mode\": \"TRAIN\", \"mode_step\": 1, \"event_file_name\": \"e\xFF\""},
         }) {
        CAPTURE(meta_text);
        const std::string text = "{\"meta\": {" + std::string{meta_text} + "}, \"tensor_payload\": []}";
        CHECK_FALSE(split_canonical(as_bytes(text)).has_value());
        CHECK(parse_text(text).wrong.has_value());
    }
}

TEST_CASE("index_file: damage is distinguished from a file that is still being written") {
    const auto wrong = [](std::string_view text) {
        const parsed file = parse_text(text);
        REQUIRE(file.wrong.has_value());
        CHECK_FALSE(file.wrong->what.empty());
        return *file.wrong;
    };
    CHECK(wrong("").not_json);
    CHECK(wrong("not json").not_json);
    for (
        const std::string_view text : {
            "[]",
            "3",
            "{}",
            R"({"meta": {}, "tensor_payload": []})",
            R"({"meta": [], "tensor_payload": []})",
            R"({"meta": {"mode": "TRAIN", "mode_step": 1, "event_file_name": "e"}})",
            R"({"meta": {"mode": "NONE", "mode_step": 1, "event_file_name": "e"}, "tensor_payload": []})",
            R"({"meta": {"mode": 1, "mode_step": 1, "event_file_name": "e"}, "tensor_payload": []})",
            R"({"meta": {"mode": "TRAIN", "mode_step": 1}, "tensor_payload": []})",
            R"({"meta": {"mode": "TRAIN", "event_file_name": "e"}, "tensor_payload": []})",
            R"({"meta": {"mode": "TRAIN", "mode_step": 1, "event_file_name": 7}, "tensor_payload": []})",
            R"({"meta": {"mode": "TRAIN", "mode_step": 1, "event_file_name": "e"}, "tensor_payload": {}})",
            R"({"meta": {"mode": "TRAIN", "mode_step": 1, "event_file_name": "e"}, "tensor_payload": [{}]})",
            R"({"meta": {"mode": "TRAIN", "mode_step": 1, "event_file_name": "e"}, "tensor_payload": [{"tensorname": "a", "start_idx": -1, "length": 1}]})",
            R"({"meta": {"mode": "TRAIN", "mode_step": 1, "event_file_name": "e"}, "tensor_payload": [{"tensorname": "a", "start_idx": "0", "length": 1}]})",
            R"({"meta": {"mode": "TRAIN", "mode_step": 1, "event_file_name": "e"}, "tensor_payload": [], "shape_payload": [{"tensorname": "a", "originalname": "b", "shape": [-1]}]})",
            R"({"meta": {"mode": "TRAIN", "mode_step": 1, "event_file_name": "e"}, "tensor_payload": [], "shape_payload": [{"tensorname": "a"}]})",
        }) {
        CAPTURE(text);
        CHECK_FALSE(wrong(text).not_json);
    }
}

TEST_CASE("index_file: damage of the meta section is named, field by field") {
    const auto what = [](const std::string& fields) {
        const parsed file = parse_text("{\"meta\": {" + fields + "}, \"tensor_payload\": []}");
        return file.wrong ? file.wrong->what : std::string{};
    };
    const std::string mode_field = R"("mode": "EVAL")";
    const std::string step_field = R"("mode_step": 0)";
    const std::string event_field = R"("event_file_name": "e")";
    CHECK(what(mode_field + "," + step_field + "," + event_field).empty());  // a step 0 is one
    CHECK(what("") == "the meta section is empty");
    CHECK(what(R"("more": 1)") == "the meta section is empty");
    CHECK(what(mode_field).find("meta.mode_step") == 0);
    CHECK(what(step_field).find("meta.mode is missing") == 0);
    CHECK(what(event_field).find("meta.mode is missing") == 0);
    CHECK(what(mode_field + "," + step_field).find("meta.event_file_name") == 0);
    CHECK(what(mode_field + "," + event_field).find("meta.mode_step") == 0);
    CHECK(what(step_field + "," + event_field).find("meta.mode is missing") == 0);
    CHECK(what(mode_field + R"(, "mode_step": -1,)" + event_field).find("meta.mode_step") == 0);
    CHECK(what(R"("mode": "EVIL",)" + step_field + "," + event_field) ==
          "meta.mode is \"EVIL\", not TRAIN, EVAL, PREDICT or GLOBAL");
}

TEST_CASE("index_file: a shape and a place have all their fields, and nothing of the one before") {
    const auto read = [](const std::string& shapes, const std::string& tensors = "") {
        return parse_text(R"({"meta": {"mode": "EVAL", "mode_step": 3, "event_file_name": "e"}, "tensor_payload": [)" +
                          tensors + R"(], "shape_payload": [)" + shapes + "]}");
    };
    const std::string whole = R"({"tensorname": "a", "originalname": "b", "shape": [4, 5, 6]})";
    const parsed two = read(whole + R"(, {"tensorname": "c", "originalname": "d", "shape": [7]})");
    REQUIRE_FALSE(two.wrong.has_value());
    CHECK(two.shapes == std::vector<std::string>{"a=b", "c=d"});
    CHECK(two.extents == shape_type{7});
    for (const std::string broken : {
             R"({"originalname": "b", "shape": [1]})",
             R"({"tensorname": "a", "shape": [1]})",
             R"({"tensorname": "a", "originalname": "b"})",
             R"({"tensorname": "a", "originalname": "b", "shape": 1})",
             R"({"tensorname": 1, "originalname": "b", "shape": [1]})",
             R"({"tensorname": "a", "originalname": 1, "shape": [1]})",
             R"({"tensorname": "a", "originalname": "b", "shape": ["1"]})",
         }) {
        CAPTURE(broken);
        CHECK(read(whole + "," + broken).wrong.has_value());
    }
    CHECK_FALSE(read("", entry("a", "0", "1")).wrong.has_value());
    for (const std::string broken : {
             R"({"start_idx": 0, "length": 1})",
             R"({"tensorname": "a", "length": 1})",
             R"({"tensorname": "a", "start_idx": 0})",
             R"({"tensorname": 1, "start_idx": 0, "length": 1})",
             R"({"tensorname": "a", "start_idx": 0, "length": -1})",
         }) {
        CAPTURE(broken);
        CHECK(read("", broken).wrong.has_value());
    }
}

TEST_CASE("index_meta: a file that says nothing is of step 0 in mode GLOBAL") {
    const meta head;
    CHECK(head.mode == mode::global);
    CHECK(head.mode_step == 0);
    CHECK(head.event_file_name.empty());
}
