#include <smdebug/formats/checkpoints/pickle.hpp>

#include <smdebug/core/error.hpp>

#include <support/checkpoint_files.hpp>
#include <support/torch_files.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::formats::detail;
using namespace smdebug_test;
using namespace std::string_literals;
namespace p = smdebug_test::pickled;

namespace {

// Keeps the bytes that the tree borrows.
struct read_pickle {
    std::string bytes;
    pickle_tree tree;

    explicit read_pickle(std::string content)
        : bytes(std::move(content)), tree(pickle_tree::read(as_bytes(bytes), "x.pkl").value()) {}
    [[nodiscard]] std::vector<std::int64_t> integers(pickle_tree::node of) const {
        std::vector<std::int64_t> all;
        for (const pickle_tree::node each : tree.items(of)) {
            all.push_back(tree.integer(each).value());
        }
        return all;
    }
};

std::string refused(const std::string& bytes, const pickle_limits& limits = {}) {
    return what_of<corrupt_data>([&] { return pickle_tree::read(as_bytes(bytes), "x.pkl", limits).has_value(); });
}
bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("pickle_tree: integers of every opcode, with their signs") {
    const std::pair<std::string, std::int64_t> rows[] = {
        {"K\xff"s, 255},
        {"M\xff\xff"s, 65'535},
        {"J\xfe\xff\xff\xff"s, -2},
        {"\x8a\x00"s, 0},
        {"\x8a\x01\xff"s, -1},
        {"\x8a\x02\xff\x00"s, 255},
        {"\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"s, INT64_MIN},
        {"\x8b\x02\x00\x00\x00\x00\x01"s, 256},
        {"I-12\n"s, -12},
        {"L77L\n"s, 77},
    };
    for (const auto& [bytes, value] : rows) {
        CAPTURE(value);
        const read_pickle one{bytes + "."};
        CHECK(one.tree.integer(one.tree.root()) == value);
    }
    const read_pickle seed{
        "\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."s};  // 2^64: more than 64 bits, and kept as bytes
    CHECK(seed.tree.kind(seed.tree.root()) == pickle_kind::bytes);
    CHECK(read_pickle{"I01\n."}.tree.is_true(read_pickle{"I01\n."}.tree.root()));
}

TEST_CASE("pickle_tree: other scalars and texts of every opcode") {
    const read_pickle real{"G\x3f\xf8\x00\x00\x00\x00\x00\x00."s};
    CHECK(real.tree.number(real.tree.root()) == 1.5);
    const read_pickle line{"F0.25\n."};
    CHECK(line.tree.number(line.tree.root()) == 0.25);
    for (const std::string& bytes : {"X\x02\0\0\0ab."s, "U\x02"s + "ab."s, "T\x02\0\0\0ab."s, "\x8c\x02"s + "ab."s,
                                     "\x8d\x02\0\0\0\0\0\0\0ab."s, "S'ab'\n."s, "Vab\n."s}) {
        CAPTURE(bytes);
        const read_pickle one{bytes};
        CHECK(one.tree.kind(one.tree.root()) == pickle_kind::text);
        CHECK(one.tree.text(one.tree.root()) == "ab");
    }
    for (const std::string& bytes : {"C\x02"s + "ab."s, "B\x02\0\0\0ab."s, "\x8e\x02\0\0\0\0\0\0\0ab."s}) {
        CHECK(read_pickle{bytes}.tree.kind(read_pickle{bytes}.tree.root()) == pickle_kind::bytes);
    }
    CHECK(read_pickle{"N."}.tree.kind(read_pickle{"N."}.tree.root()) == pickle_kind::none);
    CHECK(read_pickle{"\x88."}.tree.is_true(read_pickle{"\x88."}.tree.root()));
    CHECK_FALSE(read_pickle{"\x89."}.tree.is_true(read_pickle{"\x89."}.tree.root()));
}

TEST_CASE("pickle_tree: containers of every opcode") {
    using numbers = std::vector<std::int64_t>;
    for (const std::string& bytes : {"K\1K\2\x86."s, "(K\1K\2t."s, "](K\1K\2e."s, "]K\1aK\2a."s, "(K\1K\2l."s,
                                     "\x8f(K\1K\2\x90."s, "NK\1K\2\x86."s,
                                     "K\1K\2K\3"
                                     "0\x86."s,
                                     "K\1(K\7K\7"
                                     "1K\2\x86."s,
                                     "K\1K\2\x95\0\0\0\0\0\0\0\0\x86."s}) {
        CAPTURE(bytes);
        const read_pickle one{bytes};
        CHECK(one.integers(one.tree.root()) == numbers{1, 2});
    }
    const read_pickle twice{
        "K\4"
        "2\x86."s};
    CHECK(twice.integers(twice.tree.root()) == numbers{4, 4});
    for (const std::string& bytes :
         {"}X\1\0\0\0aK\1sX\1\0\0\0bK\2s."s, "}(X\1\0\0\0aK\1X\1\0\0\0bK\2u."s, "(X\1\0\0\0aK\1X\1\0\0\0bK\2d."s}) {
        CAPTURE(bytes);
        const read_pickle one{bytes};
        CHECK(one.tree.entries(one.tree.root()).size() == 2);
        CHECK(one.tree.integer(one.tree.value(one.tree.root(), "b")) == 2);
        CHECK(one.tree.value(one.tree.root(), "c") == pickle_tree::nothing);
    }
    const read_pickle last{"}(X\1\0\0\0aK\1K\7K\2X\1\0\0\0aK\3K\7K\4u."s};  // of equal keys the last value
    REQUIRE(last.tree.entries(last.tree.root()).size() == 2);
    CHECK(last.tree.integer(last.tree.entries(last.tree.root())[0].second) == 3);
    CHECK(last.tree.integer(last.tree.entries(last.tree.root())[1].second) == 4);
}

TEST_CASE("pickle_tree: the memo refers to what is filled later") {
    for (const std::string& bytes : {"}q\0X\1\0\0\0aK\1s0h\0."s, "}r\0\0\1\0X\1\0\0\0aK\1s0j\0\0\1\0."s,
                                     "}\x94X\1\0\0\0aK\1s0h\0."s, "}p7\nX\1\0\0\0aK\1s0g7\n."s}) {
        CAPTURE(bytes);
        const read_pickle one{bytes};
        CHECK(one.tree.integer(one.tree.value(one.tree.root(), "a")) == 1);
    }
    const read_pickle circle{"]q\0h\0a."s};
    CHECK(circle.tree.items(circle.tree.root()) == std::vector{circle.tree.root()});
    const read_pickle sparse{
        "K\5r\xff\xff\xff\xff"
        "0j\xff\xff\xff\xff."s};
    CHECK(sparse.tree.integer(sparse.tree.root()) == 5);
}

TEST_CASE("pickle_tree: names are looked up as a whole, and calls are only noted") {
    const auto meaning = [](const std::string& bytes) {
        const read_pickle one{bytes + "."};
        return one.tree.meaning(one.tree.root());
    };
    CHECK(meaning(p::name("torch._utils", "_rebuild_tensor_v2")) == pickle_name::rebuild_tensor);
    CHECK(meaning(p::text("torch._utils") + p::text("_rebuild_tensor_v2") + "\x93") == pickle_name::rebuild_tensor);
    CHECK(meaning(p::name("torch._utils", "_rebuild_parameter")) == pickle_name::first_argument);
    for (const auto& [module, what] :
         std::vector<std::pair<std::string, std::string>>{{"torch._utils", "_rebuild_tensor_v"},
                                                          {"torch._utils", "rebuild_tensor_v2"},
                                                          {"torch._utils", ""},
                                                          {"torch._utils", "_rebuild_tensor _rebuild_tensor_v2"},
                                                          {"torch", "_utils._rebuild_tensor_v2"},
                                                          {"Torch._utils", "_rebuild_tensor_v2"},
                                                          {"os", "system"}}) {
        CAPTURE(what);
        CHECK(meaning(p::name(module, what)) == pickle_name::unknown);
    }
    const read_pickle call{p::call("os", "system", {p::text("rm")}) + "."};
    const pickle_tree::node root = call.tree.root();
    CHECK(call.tree.kind(root) == pickle_kind::object);
    CHECK(call.tree.full_name(root) == "os.system");
    CHECK(call.tree.text(call.tree.items(call.tree.arguments(root)).at(0)) == "rm");
    // An object that is called is no name: its meaning does not go on.
    CHECK(meaning(p::call("torch", "Size", {}) + ")R") == pickle_name::unknown);
}

TEST_CASE("pickle_tree: dictionaries of Python's classes; their state is no entry") {
    const read_pickle ordered{p::call("collections", "OrderedDict", {}) + p::text("a") + "K\1s" +
                              p::dictionary({{"_metadata", "N"}}) + "b."};
    CHECK(ordered.tree.kind(ordered.tree.root()) == pickle_kind::mapping);
    CHECK(ordered.tree.entries(ordered.tree.root()).size() == 1);
    const read_pickle python2{p::call("collections", "OrderedDict",
                                      {p::list({p::list({p::text("a"), "K\1"}), p::list({p::text("b"), "K\2"})})}) +
                              "."};
    CHECK(python2.tree.integer(python2.tree.value(python2.tree.root(), "b")) == 2);
    const read_pickle unknown{p::name("a", "b") + ")\x81" + p::text("k") + "K\1s" +
                              "K\2"
                              "aN"
                              "b."};
    CHECK(unknown.tree.kind(unknown.tree.root()) == pickle_kind::object);
    CHECK(unknown.tree.items(unknown.tree.contents(unknown.tree.root())).size() == 3);
}

TEST_CASE("pickle_tree: damage is named with its place") {
    const std::pair<std::string, std::string> rows[] = {
        {"K\1K\2\x86" + p::text("k") + "K\1s.", "sets an entry of something that is not a dictionary"},
        {"}K\1a.", "appends to something that is not a list"},
        {"]" + p::text("k") + "K\1s.", "not a dictionary"},
        {"(K\1K\2u.", "takes more from the stack"},
        {"}(K\1u.", "has no value"},
        {".", "takes more from the stack"},
        {"K\1\x86.", "takes more from the stack"},
        {"(K\1\x86.", "takes more from the stack"},
        {"t.", "needs a mark"},
        {"h\1.", "entry 1 of the memo"},
        {"K\1Q.", "persistent id"},
        {"Pabc\n.", "opcode 80"},
        {"\x82\1.", "opcode 130"},
        {"(ios\nsystem\n.", "opcode 105"},
        {"}}}\x92.", "opcode 146"},
        {"\x96\0\0\0\0\0\0\0\0.", "opcode 150"},
        {"\x80\6.", "protocol is 6"},
        {"K\1K\2R.", "not a tuple"},
        {"K\1N"
         "b.",
         "state of something that has none"},
        {"K\1K\2\x93.", "not a text"},
        {"I1x\n.", "number that is none"},
        {"X\xff\xff\xff\x7f.", "text of 2147483647 bytes"},
        {"\x8b\xff\xff\0\0."s, "integer of 65535 bytes"},
    };
    for (const auto& [bytes, words] : rows) {
        CAPTURE(words);
        const std::string said = refused(bytes);
        CHECK(says(said, words));
        CHECK(says(said, "the file x.pkl: its pickle, at byte "));
    }
    for (const std::string& cut : {""s, "}"s, "X\4\0\0\0ab"s, "cos\nsys"s, "K"s, "\x80"s, "G\0\0"s}) {
        CHECK_FALSE(pickle_tree::read(as_bytes(cut), "x.pkl").has_value());
    }
}

TEST_CASE("pickle_tree: limits are reached before the memory is taken") {
    CHECK(says(refused("]]]]].", {.opcodes = 3}), "more than 3 opcodes"));
    CHECK(says(refused("]]]]].", {.nodes = 5}), "more than 5 objects"));
    CHECK(says(refused("(NNNNt.", {.cells = 3}), "more than 3 items"));
    CHECK(says(refused("(NNNNt.", {.entries = 4}), "more than 4 entries"));
    CHECK(says(refused(p::text("abcd") + ".", {.text_bytes = 3}), "text of 4 bytes"));
}

TEST_CASE("pickle_tree: depth costs neither stack nor time") {
    std::string deep = ")";
    for (int i = 0; i < 200'000; ++i) {
        deep += "\x85";
    }
    const read_pickle one{deep + "."};
    CHECK(one.tree.size() > 200'000);
}
