#include <smdebug/formats/checkpoints/torch_file.hpp>

#include <smdebug/archive.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/formats/checkpoints/torch_tree.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <support/checkpoint_files.hpp>
#include <support/torch_files.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::formats::detail;
using namespace smdebug_test;
namespace p = smdebug_test::pickled;

namespace {

using names = std::vector<std::string>;
bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

/// A file that was read, and its elements.
struct read_file {
    memory_storage store;
    torch_tensors all;

    explicit read_file(const std::string& bytes, const archive_options& options = {}) {
        store.write("x.pt", as_bytes(bytes));
        all = read_torch_file(any_storage{store}, "x.pt", options);
    }
    [[nodiscard]] names tensors() const {
        names found;
        for (const stored_tensor& each : all.tensors) {
            found.push_back(each.name);
        }
        std::sort(found.begin(), found.end());
        return found;
    }
    [[nodiscard]] const stored_tensor& at(const std::string& name) const {
        const auto found = std::find_if(all.tensors.begin(), all.tensors.end(),
                                        [&](const stored_tensor& each) { return each.name == name; });
        REQUIRE(found != all.tensors.end());
        return *found;
    }
    template <class T>
    [[nodiscard]] std::vector<T> values(const std::string& name) const {
        const stored_tensor& one = at(name);
        std::vector<std::byte> bytes;
        if (one.make) {
            bytes = one.make();
        } else {
            const byte_buffer read =
                all.unpacked != nullptr ? all.unpacked->read(one.where) : store.read("x.pt", one.where);
            bytes.assign(read.view().begin(), read.view().end());
        }
        std::vector<T> numbers(bytes.size() / sizeof(T));
        if (!numbers.empty()) {
            std::memcpy(numbers.data(), bytes.data(), bytes.size());
        }
        return numbers;
    }
};

std::string floats(std::size_t count) {
    std::vector<float> numbers;
    for (std::size_t i = 0; i < count; ++i) {
        numbers.push_back(static_cast<float>(i));
    }
    return p::elements(numbers);
}
/// A file of one tensor "w" over six numbers 0, 1, ... in storage "0".
std::string with(const std::string& tensor) { return p::torch_zip(p::dictionary({{"w", tensor}}), {{"0", floats(6)}}); }
std::string over(std::int64_t count = 6) { return p::storage("FloatStorage", "0", count); }

std::string why_of(const std::string& file) {
    const read_file one{file};
    CHECK(one.all.tensors.empty());
    REQUIRE(one.all.not_read.size() == 1);
    return one.all.not_read[0].why;
}

}  // namespace

TEST_CASE("read_torch_file: views of a storage, in C order in place, others made") {
    const auto values = [](const std::string& tensor) { return read_file{with(tensor)}.values<float>("w"); };
    using numbers = std::vector<float>;
    CHECK(values(p::tensor(over(), 0, {2, 3}, {3, 1})) == numbers{0, 1, 2, 3, 4, 5});
    CHECK(values(p::tensor(over(), 2, {2}, {1})) == numbers{2, 3});
    CHECK(values(p::tensor(over(), 0, {3, 2}, {1, 3})) == numbers{0, 3, 1, 4, 2, 5});  // transposed
    CHECK(values(p::tensor(over(), 1, {2, 2}, {3, 1})) == numbers{1, 2, 4, 5});        // a slice
    CHECK(values(p::tensor(over(), 1, {3, 2}, {0, 1})) == numbers{1, 2, 1, 2, 1, 2});  // expanded
    CHECK(values(p::tensor(over(), 5, {}, {})) == numbers{5});
    CHECK(values(p::tensor(over(), 0, {0, 3}, {3, 1})).empty());
    CHECK(values(p::tensor(over(), 3, {1, 2}, {77, 1})) == numbers{3, 4});  // the stride of one row does not matter
    CHECK_FALSE(read_file{with(p::tensor(over(), 3, {1, 2}, {77, 1}))}.at("w").make);
    CHECK(values(p::tensor(over(), 0, {6}, {1}, {}, "_rebuild_tensor")) == numbers{0, 1, 2, 3, 4, 5});
    const read_file flipped{with(p::tensor(over(), 0, {2}, {1}, {p::dictionary({{"neg", "\x88"}})}))};
    CHECK(flipped.values<float>("w") == numbers{-0.0F, -1});
}

TEST_CASE("read_torch_file: complex numbers, conjugate and negative") {
    using numbers = std::vector<std::complex<float>>;
    const std::string file = p::elements(std::vector<float>{1, 2, 3, -4});
    const auto values = [&](const std::string& metadata) {
        const std::string tensor = p::tensor(p::storage("ComplexFloatStorage", "0", 2), 0, {2}, {1}, {metadata});
        return read_file{p::torch_zip(p::dictionary({{"w", tensor}}), {{"0", file}})}.values<std::complex<float>>("w");
    };
    CHECK(values("}") == numbers{{1, 2}, {3, -4}});
    CHECK(values(p::dictionary({{"conj", "\x88"}})) == numbers{{1, -2}, {3, 4}});
    CHECK(values(p::dictionary({{"neg", "\x88"}})) == numbers{{-1, -2}, {-3, 4}});
    CHECK(values(p::dictionary({{"conj", "\x88"}, {"neg", "\x88"}})) == numbers{{-1, 2}, {-3, -4}});
}

TEST_CASE("read_torch_file: dtypes by the storage, or beside an untyped one") {
    const std::pair<std::string, dtype> rows[] = {{"FloatStorage", dtype::float32},
                                                  {"DoubleStorage", dtype::float64},
                                                  {"HalfStorage", dtype::float16},
                                                  {"BFloat16Storage", dtype::bfloat16},
                                                  {"LongStorage", dtype::int64},
                                                  {"IntStorage", dtype::int32},
                                                  {"ShortStorage", dtype::int16},
                                                  {"CharStorage", dtype::int8},
                                                  {"ByteStorage", dtype::uint8},
                                                  {"BoolStorage", dtype::boolean},
                                                  {"ComplexFloatStorage", dtype::complex64},
                                                  {"ComplexDoubleStorage", dtype::complex128}};
    for (const auto& [of, type] : rows) {
        CAPTURE(of);
        const std::string tensor = p::tensor(p::storage(of, "0", 1), 0, {1}, {1});
        const read_file one{p::torch_zip(p::dictionary({{"w", tensor}}), {{"0", std::string(16, '\0')}})};
        CHECK(one.at("w").type == type);
        CHECK(one.at("w").where.length == size_of(type));
    }
    for (const auto& [of, type] : std::vector<std::pair<std::string, dtype>>{{"float8_e4m3fn", dtype::float8_e4m3fn},
                                                                             {"float8_e5m2", dtype::float8_e5m2},
                                                                             {"uint16", dtype::uint16},
                                                                             {"uint32", dtype::uint32},
                                                                             {"uint64", dtype::uint64}}) {
        CAPTURE(of);
        const std::string tensor =
            p::tensor(p::untyped_storage("0", 16), 1, {1}, {1}, {p::name("torch", of)}, "_rebuild_tensor_v3");
        const read_file one{p::torch_zip(p::dictionary({{"w", tensor}}), {{"0", std::string(16, '\0')}})};
        CHECK(one.at("w").type == type);
    }
    CHECK(
        says(why_of(p::torch_zip(p::dictionary({{"w", p::vector("0", 0) + "0" +
                                                          p::tensor(p::storage("QInt8Storage", "0", 1), 0, {1}, {1})}}),
                                 {{"0", "x"}})),
             "torch.QInt8Storage, which is not read"));
    const std::string odd =
        p::tensor(p::untyped_storage("0", 1), 0, {1}, {1}, {p::name("torch", "float4")}, "_rebuild_tensor_v3");
    CHECK(says(why_of(p::torch_zip(p::dictionary({{"w", odd}}), {{"0", "x"}})), "torch.float4 is not known"));
    CHECK(says(why_of(with(p::tensor(p::storage("FloatStorage", "0", 6, "meta"), 0, {6}, {1}))), "device meta"));
}

TEST_CASE("read_torch_file: parameters and subclasses are their tensors") {
    const std::string plain = p::tensor(over(), 0, {6}, {1});
    const std::string parameter = p::call("torch._utils", "_rebuild_parameter", {plain, "\x88", "}"});
    const std::string given = p::tuple({over(), p::integer(0), p::integers({6}), p::integers({1}), "\x89", "}"});
    for (const std::string& tensor :
         {parameter, p::call("torch._utils", "_rebuild_parameter_with_state", {plain, "\x88", "}", "}"}),
          p::call("torch.nn.parameter", "Parameter", {plain, "\x88"}),
          p::call("torch._utils", "_rebuild_parameter", {parameter, "\x88", "}"}),
          p::call("torch._tensor", "_rebuild_from_type_v2",
                  {p::name("torch._utils", "_rebuild_tensor_v2"), p::name("my", "Tensor"), given, "}"}),
          p::call("torch._tensor", "_rebuild_from_type_v2",
                  {p::name("torch._utils", "_rebuild_parameter"), p::name("my", "Tensor"), p::tuple({plain, "\x88"}),
                   "}"})}) {
        CHECK(read_file{with(tensor)}.values<float>("w").size() == 6);
    }
    const std::string sizes = p::tensor(over(), 0, {}, {});
    CHECK(read_file{with(p::call("torch._utils", "_rebuild_tensor_v2",
                                 {over(), p::integer(0), p::call("torch", "Size", {p::integers({6})}), p::integers({1}),
                                  "\x89", "}"}))}
              .values<float>("w")
              .size() == 6);
}

TEST_CASE("read_torch_file: names are the keys, joined") {
    const std::string w = p::vector("0", 6);
    const read_file all{p::torch_zip(
        p::dictionary(
            {{"model_state_dict", p::dictionary({{"0.weight", w}})},
             {"optimizer", p::dictionary({{"state", "}(" + p::integer(0) + p::dictionary({{"exp_avg", w}}) + "u"}})},
             {"history", p::list({w, w})},
             {"epoch", p::integer(7)},
             {"loss", p::number(0.5)},
             {"done", "\x88"},
             {"note", p::text("x")}}),
        {{"0", floats(6)}})};
    CHECK(all.tensors() ==
          names{"epoch", "history/0", "history/1", "loss", "model_state_dict/0.weight", "optimizer/state/0/exp_avg"});
    CHECK(all.all.not_read.empty());
    CHECK(all.at("epoch").type == dtype::int64);
    CHECK(all.values<std::int64_t>("epoch") == std::vector<std::int64_t>{7});
    CHECK(all.values<double>("loss") == std::vector<double>{0.5});
    CHECK(all.at("loss").collection == "losses");
    CHECK(all.at("model_state_dict/0.weight").collection == "weights");
    CHECK(all.at("optimizer/state/0/exp_avg").collection == "optimizer");
    CHECK(all.at("history/0").collection == "");
    CHECK(all.all.step == 7);
    CHECK(read_file{p::torch_zip(w, {{"0", floats(6)}})}.tensors() == names{""});
    CHECK(
        read_file{p::torch_zip(p::dictionary({{"epoch", p::integer(3)}, {"global_step", p::integer(900)}}))}.all.step ==
        900);
}

TEST_CASE("read_torch_file: modules by their dictionaries, tied ones twice; TorchScript by its attributes") {
    const std::string w = p::vector("0", 6);
    const auto module = [](const std::string& parameters, const std::string& buffers, const std::string& modules) {
        return p::object(
            "my", "Net",
            p::dictionary(
                {{"training", "\x88"}, {"_parameters", parameters}, {"_buffers", buffers}, {"_modules", modules}}));
    };
    const std::string inner = module(p::dictionary({{"weight", w}, {"bias", "N"}}), p::dictionary({{"mean", w}}), "}");
    const std::string net = module("}", "}", "}(" + p::text("0") + inner + "q\x07" + p::text("1") + "h\x07" + "u");
    const read_file all{p::torch_zip(net, {{"0", floats(6)}})};
    CHECK(all.tensors() == names{"0.mean", "0.weight", "1.mean", "1.weight"});
    CHECK(all.at("0.mean").collection == "buffers");
    CHECK(all.at("1.weight").collection == "weights");
    CHECK(all.all.not_read.empty());
    CHECK(read_file{p::torch_zip(p::dictionary({{"model", net}}), {{"0", floats(6)}})}.tensors() ==
          names{"model/0.mean", "model/0.weight", "model/1.mean", "model/1.weight"});
    const std::string script =
        p::object("__torch__.a", "Net",
                  p::dictionary({{"fc", p::object("__torch__.b", "Linear", p::dictionary({{"weight", w}}))},
                                 {"training", "\x88"}}));
    CHECK(read_file{p::torch_zip(script, {{"0", floats(6)}})}.tensors() == names{"fc.weight"});
}

TEST_CASE("read_torch_file: tensors in objects that are not known are named, others are silent") {
    const std::string w = p::vector("0", 6);
    const read_file all{
        p::torch_zip(p::dictionary({{"a", p::object("my", "Thing", p::dictionary({{"x", w}, {"y", p::list({w})}}))},
                                    {"b", p::object("my", "Thing", p::dictionary({{"x", "N"}}))},
                                    {"c", p::call("os", "system", {p::text("true")})},
                                    {"d", p::name("my", "Dict") + ")\x81" + p::text("k") + w + "s"},
                                    {"e", p::call("torch._utils", "_rebuild_sparse_tensor", {w})},
                                    {"w", w}}),
                     {{"0", floats(6)}})};
    CHECK(all.tensors() == names{"w"});
    REQUIRE(all.all.not_read.size() == 3);
    for (const left_out& each : all.all.not_read) {
        CHECK(each.kind == problem_kind::unsupported);
        CHECK(says(each.why, each.name == "a"   ? "my.Thing, which is not known here: its 2 tensors are not read"
                             : each.name == "d" ? "my.Dict, which is not known here: its 1 tensor is not read"
                                                : "form that is not read (torch._utils._rebuild_sparse_tensor)"));
    }
    CHECK(read_file{p::torch_zip(p::call("os", "system", {p::text("true")}))}.all.root == "os.system");
}

TEST_CASE("read_torch_file: what a tensor claims is checked against its storage") {
    constexpr std::int64_t huge = std::int64_t{1} << 62U;
    CHECK(says(why_of(with(p::tensor(over(7), 0, {7}, {1}))), "its storage claims 28 bytes; its record has 24"));
    CHECK(says(why_of(with(p::tensor(over(), 5, {2}, {1}))), "beyond its storage of 24 bytes"));
    CHECK(says(why_of(with(p::tensor(over(), 0, {2, 2}, {huge, huge}))), "beyond its storage"));
    CHECK(says(why_of(with(p::tensor(over(), 0, {huge, huge}, {0, 0}))), "beyond its storage"));
    CHECK(says(why_of(with(p::tensor(over(), huge, {1}, {1}))), "beyond its storage"));
    CHECK(says(why_of(with(p::tensor(over(huge), 0, {1}, {1}))), "beyond its storage"));
    CHECK(says(why_of(with(p::tensor(over(), -1, {1}, {1}))), "none of them negative"));
    CHECK(says(why_of(with(p::tensor(over(), 0, {-4}, {1}))), "none of them negative"));
    CHECK(says(why_of(with(p::tensor(over(), 0, {2}, {-1}))), "none of them negative"));
    CHECK(says(why_of(with(p::tensor(over(), 0, {2}, {1, 1}))), "as many extents"));
    CHECK(says(why_of(with(p::tensor(over(), 0, std::vector<std::int64_t>(255, 1), std::vector<std::int64_t>(255, 1)))),
               "at most 254"));
    CHECK(says(why_of(with(p::tensor("N", 0, {1}, {1}))), "not a storage"));
    CHECK(says(why_of(with(p::tensor(p::storage("FloatStorage", "../../x", 6), 0, {6}, {1}))),
               "no record of its storage ../../x"));
    CHECK(says(why_of(with(p::tensor(over(), 0, {100'000'000}, {0}))), "repeat 4 of its storage"));
    CHECK(read_file{with(p::tensor(over(), 0, {1'000'000}, {0}))}.values<float>("w").size() == 1'000'000);
    std::string many = "}(";
    for (int i = 0; i < 40; ++i) {  // each within the limit of one, together beyond that of the file
        many += p::text(std::to_string(i)) + p::tensor(over(), 0, {16'000'000}, {0});
    }
    const read_file all{p::torch_zip(many + "u", {{"0", floats(6)}})};
    CHECK(all.all.tensors.size() == 1);
    REQUIRE(all.all.not_read.size() == 1);
    CHECK(says(all.all.not_read[0].why, "more than 1000 times its bytes; the same holds for 38 more"));
}

TEST_CASE("read_torch_file: containers that contain themselves, stand in many places, or are deep") {
    const std::string w = p::vector("0", 6);
    CHECK(read_file{p::torch_zip("}q\1" + p::text("me") + "h\1s" + p::text("w") + w + "s", {{"0", floats(6)}})}
              .tensors() == names{"w"});
    std::string bomb = w;  // 2^60 names
    for (int i = 0; i < 60; ++i) {
        bomb += "2\x86";
    }
    const read_file many{p::torch_zip(bomb, {{"0", floats(6)}})};
    CHECK(many.all.tensors.size() <= most_tensors);
    REQUIRE(many.all.not_read.size() == 1);
    CHECK(says(many.all.not_read[0].why, "in more places than are read"));
    std::string deep = w;
    for (int i = 0; i < 300; ++i) {
        deep += "\x85";
    }
    CHECK(says(why_of(p::torch_zip(deep, {{"0", floats(6)}})), "nested more than 200 deep"));
}

TEST_CASE("read_torch_file: deflated records, another byte order") {
    const std::string whole = p::tensor(over(), 0, {6}, {1});
    const std::string turned = p::tensor(over(), 0, {3, 2}, {1, 3});
    const read_file deflated{p::torch_zip(p::dictionary({{"a", whole}, {"b", turned}}), {{"0", floats(6)}}, 8)};
    CHECK(deflated.all.unpacked != nullptr);
    CHECK(deflated.values<float>("a") == std::vector<float>{0, 1, 2, 3, 4, 5});
    CHECK(deflated.values<float>("b") == std::vector<float>{0, 3, 1, 4, 2, 5});
    std::string swapped;
    for (const float each : {1.0F, 2.0F}) {
        const std::string bytes = p::raw(each);
        swapped.append(bytes.rbegin(), bytes.rend());
    }
    const std::string two = p::storage("FloatStorage", "0", 2);
    const read_file big{
        p::torch_zip(p::dictionary({{"a", p::tensor(two, 0, {2}, {1})}, {"b", p::tensor(two, 1, {2}, {0})}}),
                     {{"0", swapped}}, 0, "big")};
    CHECK(big.at("a").big_endian);
    CHECK(big.values<float>("b") == std::vector<float>{2, 2});
}

TEST_CASE("read_torch_file: the stream of torch before 1.6, with views of storages") {
    const std::string view =
        p::tuple({p::text("storage"), p::name("torch", "FloatStorage"), p::text("7"), p::text("cpu"), p::integer(6),
                  p::tuple({p::text("8"), p::integer(2), p::integer(3)})}) +
        "Q";
    const std::string object = p::dictionary(
        {{"a", p::tensor(view, 1, {2}, {1})}, {"b", p::tensor(p::storage("DoubleStorage", "10", 1), 0, {}, {})}});
    const std::vector<p::old_storage> storages{{"10", 1, p::raw(2.5)}, {"7", 6, floats(6)}};
    const read_file all{p::torch_stream(object, storages)};
    CHECK(all.values<float>("a") == std::vector<float>{3, 4});
    CHECK(all.values<double>("b") == std::vector<double>{2.5});
    CHECK(all.all.not_read.empty());
    CHECK(read_file{p::torch_stream(object, storages, false)}.at("b").big_endian);
    // A view that reaches over its storage, and a tensor over its view.
    const std::string over_view =
        p::tuple({p::text("storage"), p::name("torch", "FloatStorage"), p::text("7"), p::text("cpu"), p::integer(6),
                  p::tuple({p::text("8"), p::integer(4), p::integer(3)})}) +
        "Q";
    CHECK(
        says(why_of(p::torch_stream(p::dictionary({{"a", p::tensor(over_view, 0, {1}, {1})}}), {{"7", 6, floats(6)}})),
             "a view that lies beyond the storage"));
    CHECK(says(why_of(p::torch_stream(p::dictionary({{"a", p::tensor(view, 2, {2}, {1})}}), {{"7", 6, floats(6)}})),
               "beyond its storage of 12 bytes"));
    // Cut within its elements, and with another number of them than in the pickle.
    const std::string file = p::torch_stream(object, storages);
    const read_file cut{file.substr(0, file.size() - 1)};
    CHECK(cut.tensors() == names{"b"});
    CHECK(says(cut.all.not_read.at(0).why, "its storage claims 24 bytes; its record has 23"));
    CHECK(says(what_of<corrupt_data>([&] {
                   return read_file{p::torch_stream(object, {{"10", 2, p::raw(2.5)}, {"7", 6, floats(6)}})};
               }),
               "storage 10 stands another number"));
    const read_file unknown{
        p::torch_stream(object, {{"9", 1, p::raw(2.5)}, {"10", 1, p::raw(2.5)}, {"7", 6, floats(6)}})};
    CHECK(unknown.all.tensors.empty());                       // nothing says how long the storage 9 is
    std::string padded = p::text(std::string(100'000, 'x'));  // longer than one read
    CHECK(read_file{p::torch_stream(p::dictionary({{"note", padded}, {"a", p::vector("7", 6)}}), {{"7", 6, floats(6)}})}
              .values<float>("a")
              .size() == 6);
}

TEST_CASE("read_torch_file: other files are named by what they are") {
    const auto refused = [](const std::string& bytes) { return what_of<error>([&] { return read_file{bytes}; }); };
    CHECK(says(refused("\x7f"
                       "ELF----"),
               "its first bytes are \"\\x7fELF----\""));
    CHECK(says(refused(""), "it is empty"));
    CHECK(says(refused(std::string{lfs_pointer_begin}), "Git LFS"));
    CHECK(says(refused(tar_of(std::map<std::string, std::string>{{"storages", "x"}})),
               "a tar, as torch wrote it before 0.2"));
    CHECK(says(refused(zip_of(std::map<std::string, std::string>{{"a/b.txt", "x"}})), "without a data.pkl"));
    CHECK(says(refused(zip_of(std::map<std::string, std::string>{{"a/data.pkl", "N."}, {"b/data.pkl", "N."}})),
               "two pickles"));
    CHECK(says(refused(zip_of(std::map<std::string, std::string>{{"a/data.pkl", "}"}})), "it is cut"));
    CHECK(says(refused("\x80\x02}}"), "it ends within its pickle"));
    const read_file bare{p::pickle(p::dictionary({{"a", p::text("b")}}))};
    CHECK(bare.all.is_bare);
    CHECK(bare.all.tensors.empty());
    archive_options tight;
    tight.most_bytes = 640;
    CHECK(says(what_of<corrupt_data>([&] {
                   return read_file{p::pickle(p::text("0123456789")), tight};
               }),
               "at most 10 are read"));
}

TEST_CASE("read_torch_file: every cut of a file is damage, or leaves what is whole") {
    const std::string object = p::dictionary({{"a", p::vector("0", 6)}, {"b", p::vector("1", 6)}});
    const std::string zip = p::torch_zip(object, {{"0", floats(6)}, {"1", floats(6)}});
    const std::string stream = p::torch_stream(object, {{"0", 6, floats(6)}, {"1", 6, floats(6)}});
    for (const std::string& file : {zip, stream}) {
        for (std::size_t length = 0; length < file.size(); ++length) {
            CAPTURE(length);
            try {
                const read_file part{file.substr(0, length)};
                CHECK_FALSE(part.all.not_read.empty());
                for (const stored_tensor& each : part.all.tensors) {
                    CHECK(each.where.offset + each.where.length <= length);
                }
            } catch (const error&) {  // named
            }
        }
    }
}
