#include <smdebug/formats/checkpoints/distributed.hpp>

#include <smdebug/archive.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/formats/checkpoints/checkpoint_source.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <support/checkpoint_files.hpp>
#include <support/temporary_folder.hpp>
#include <support/torch_files.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::formats::detail;
using namespace smdebug_test;
namespace p = smdebug_test::pickled;

namespace {

bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }
using extents = std::vector<std::int64_t>;

/// A chunk, and where it is stored.
struct chunk {
    extents offsets;
    extents sizes;
    std::vector<float> values;
    std::string file = "__0_0.distcp";
};

/// A folder of one tensor "w" of float32.
struct folder {
    memory_storage store{"dcp"};
    std::map<std::string, std::string> files = {};
    std::string stored = "}(";
    std::string more = {};  // further fields of each _StorageInfo

    [[nodiscard]] static std::string size(const extents& of) { return p::call("torch", "Size", {p::integers(of)}); }
    static constexpr const char* module = "torch.distributed.checkpoint.metadata";

    void put(const extents& shape, const std::vector<chunk>& chunks) {
        std::vector<std::string> described;
        for (const chunk& one : chunks) {
            described.push_back(p::object(module, "ChunkStorageMetadata",
                                          p::dictionary({{"offsets", size(one.offsets)}, {"sizes", size(one.sizes)}})));
            extents strides(one.sizes.size(), 1);
            for (std::size_t i = strides.size(); i-- > 1;) {
                strides[i - 1] = strides[i] * one.sizes[i];
            }
            const auto count = static_cast<std::int64_t>(one.values.size());
            const std::string zip =
                p::torch_zip(p::tensor(p::storage("FloatStorage", "0", count), 0, one.sizes, strides),
                             {{"0", p::elements(one.values)}});
            std::string& file = files[one.file];
            stored += p::object(module, "MetadataIndex",
                                p::dictionary({{"fqn", p::text("w")}, {"offset", size(one.offsets)}, {"index", "N"}}));
            stored += p::object("torch.distributed.checkpoint.filesystem", "_StorageInfo",
                                "}(" + p::text("relative_path") + p::text(one.file) + p::text("offset") +
                                    p::integer(static_cast<std::int64_t>(file.size())) + p::text("length") +
                                    p::integer(static_cast<std::int64_t>(zip.size())) + more + "u");
            file += zip;
        }
        const std::string properties =
            p::object(module, "TensorProperties", p::tuple({p::name("torch", "float32"), "N", "\x89", "N", "\x89"}));
        const std::string tensor = p::object(
            module, "TensorStorageMetadata",
            p::dictionary({{"properties", properties}, {"size", size(shape)}, {"chunks", p::list(described)}}));
        const std::string bytes = p::name(module, "BytesStorageMetadata") + ")\x81";
        const std::string state =
            p::dictionary({{"state_dict_metadata", p::dictionary({{"w", tensor}, {"epoch", bytes}})},
                           {"planner_data", "}"},
                           {"storage_data", stored + "u"}});
        store.write("step_5/.metadata", as_bytes(p::pickle(p::object(module, "Metadata", state))));
        for (const auto& [name, content] : files) {
            store.write("step_5/" + name, as_bytes(content));
        }
    }
    [[nodiscard]] distributed_tensors read() const { return read_distributed(any_storage{store}, "step_5/.metadata"); }
    [[nodiscard]] std::string why() const {
        const distributed_tensors all = read();
        CHECK(all.tensors.empty());
        REQUIRE(all.not_read.size() == 1);
        CHECK(all.not_read[0].name == "w");
        return all.not_read[0].why;
    }
    [[nodiscard]] trial open() const { return trial{checkpoint_source{any_storage{store}}.run()}; }
};

std::vector<float> values_of(const trial& run) {
    const tensor_value read = run.tensor("w").value(5);
    return {read.elements<float>().begin(), read.elements<float>().end()};
}

}  // namespace

TEST_CASE("read_distributed: chunks of whole rows are one tensor where they lie") {
    folder at;
    at.put({4, 2}, {{{2, 0}, {2, 2}, {4, 5, 6, 7}, "__1_0.distcp"}, {{0, 0}, {2, 2}, {0, 1, 2, 3}}});
    const distributed_tensors all = at.read();
    REQUIRE(all.tensors.size() == 1);
    CHECK_FALSE(all.tensors[0].make);
    CHECK(all.chunks->parts.size() == 2);
    const trial run = at.open();
    CHECK(run.steps() == std::vector<step_number>{5});
    CHECK(values_of(run) == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(run.tensor("w").reduction_value(5, "sum") == 28);
    CHECK(run.tensor("w").shape(5) == shape_type{4, 2});
    CHECK(run.tensor_names({.collection = "weights"}) == std::vector<std::string>{"w"});
    CHECK(run.problems().empty());
}

TEST_CASE("read_distributed: chunks of columns are put together when they are read") {
    folder at;
    at.put({2, 4}, {{{0, 0}, {2, 1}, {0, 4}}, {{0, 1}, {2, 3}, {1, 2, 3, 5, 6, 7}, "sub/__1_0.distcp"}});
    CHECK(values_of(at.open()) == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
    folder cube;
    cube.put({2, 2, 2}, {{{0, 0, 0}, {2, 1, 2}, {0, 1, 4, 5}}, {{0, 1, 0}, {2, 1, 2}, {2, 3, 6, 7}}});
    CHECK(values_of(cube.open()) == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("read_distributed: a scalar, and a tensor without elements") {
    folder scalar;
    scalar.put({}, {{{}, {}, {7}}});
    CHECK(values_of(scalar.open()) == std::vector<float>{7});
    folder empty;
    empty.put({0, 3}, {});
    CHECK(empty.read().tensors.at(0).where.length == 0);
}

TEST_CASE("read_distributed: a chunk that does not fit is named, with its file") {
    const auto why = [](const extents& shape, const std::vector<chunk>& chunks) {
        folder at;
        at.put(shape, chunks);
        return at.why();
    };
    CHECK(says(why({4}, {{{0}, {2}, {0, 1}}}), "its chunks have 2 of the 4 elements of its shape 4"));
    CHECK(says(why({4}, {{{0}, {3}, {0, 1, 2}}, {{1}, {3}, {1, 2, 3}}}), "its chunks overlap"));
    CHECK(says(why({4}, {{{0}, {2}, {0, 1}}, {{1}, {2}, {1, 2}}}), "overlap"));
    CHECK(says(why({4}, {{{3}, {2}, {0, 1}}}), "lies beyond its shape"));
    CHECK(says(why({2}, {{{0}, {2}, {0, 1}, "../x.distcp"}}), "does not lie below the checkpoint's folder"));
    folder missing;
    missing.put({2}, {{{0}, {2}, {0, 1}}});
    missing.store.remove("step_5/__0_0.distcp");
    CHECK(says(missing.why(), "step_5/__0_0.distcp, which is not there"));
    folder cut;
    cut.put({2}, {{{0}, {2}, {0, 1}}});
    cut.store.write("step_5/__0_0.distcp", as_bytes(std::string(10, 'x')));
    CHECK(says(cut.why(), "beyond the end of the file step_5/__0_0.distcp"));
    folder other;
    other.put({2}, {{{0}, {2}, {0, 1}}});
    other.store.write("step_5/__0_0.distcp", as_bytes(std::string(5000, 'x')));
    CHECK(says(other.why(), "its chunk at 0: the file"));
    folder packed;
    packed.more = p::text("transform_descriptors") + p::list({p::text("zstd")});
    packed.put({2}, {{{0}, {2}, {0, 1}}});
    CHECK(says(packed.why(), "compressed by an extension"));
}

TEST_CASE("read_distributed: metadata that are not is refused") {
    const auto refused = [](const std::string& bytes) {
        memory_storage store;
        store.write(".metadata", as_bytes(bytes));
        return what_of<corrupt_data>([&] { return read_distributed(any_storage{store}, ".metadata"); });
    };
    CHECK(says(refused(p::pickle("}")), "not the metadata of torch.distributed.checkpoint"));
    CHECK(says(refused("\x80\x02}"), "it ends within its pickle"));
    CHECK(says(refused(p::pickle("K\1K\2K\3s")), "not a dictionary"));
}

TEST_CASE("checkpoint_source: a distributed checkpoint without its metadata is not whole, and named") {
    folder at;
    at.put({2}, {{{0}, {2}, {0, 1}}});
    at.store.write("step_7/__0_0.distcp", as_bytes(std::string_view{"PK"}));
    at.store.write("step_7/__1_0.distcp", as_bytes(std::string_view{"PK"}));
    const trial run = at.open();
    CHECK(run.steps() == std::vector<step_number>{5});
    REQUIRE(run.problems().size() == 1);
    CHECK(run.problems()[0].where == "step_7/__0_0.distcp");
    CHECK(says(run.problems()[0].what, "no .metadata"));
}

TEST_CASE("find_checkpoints: a folder with chunks alone is no empty folder, too") {
    const temporary_folder at;
    at.write("step_5/model.safetensors", "x");
    at.write("step_7/sub/__0_0.distcp", "x");
    const found_checkpoints found = find_checkpoints(any_storage{local_storage{at.path()}});
    REQUIRE(found.not_read.size() == 1);
    CHECK(found.not_read[0].name == "step_7/sub/__0_0.distcp");
}
