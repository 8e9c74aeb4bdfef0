#include <smdebug/formats/checkpoints/checkpoint_source.hpp>

#include <smdebug/archive.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <support/checkpoint_files.hpp>
#include "support/test.hpp"

#include "support/temporary_folder.hpp"

using namespace smdebug;
using namespace smdebug::formats::detail;
using namespace smdebug_test;

namespace {

any_storage recorded_folder(const std::string& name) {
    return any_storage{local_storage{checkpoint_folder + "/" + name}};
}

std::vector<std::string> names_of(const step_contents& all) {
    std::vector<std::string> names;
    for (const checkpoint_tensor& each : all.tensors) {
        names.push_back(each.is.name);
    }
    return names;
}

std::string content_of(const any_storage& store, const step_contents& all, std::size_t tensor) {
    const checkpoint_tensor& one = all.tensors.at(tensor);
    const checkpoint_file& file = all.files.at(one.file);
    return hexadecimal(
        (file.joined != nullptr ? file.joined->read(one.is.where) : store.read(file.key, one.is.where)).view());
}

std::string weights(const std::string& name) {
    return safetensors_of("{\"" + name + R"(":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2);
}

bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

step_contents read_only_step(const memory_storage& files) {
    const any_storage store{files};
    const found_checkpoints found = find_checkpoints(store);
    REQUIRE(found.steps.size() == 1);
    return read_checkpoint(store, found.steps[0]);
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("read_checkpoint: a step of Hugging Face's Trainer") {
    const any_storage store = recorded_folder("trainer");
    for (const checkpoint_step& step : find_checkpoints(store).steps) {
        const step_contents all = read_checkpoint(store, step);
        CHECK(names_of(all) == texts{"layer.bias", "layer.weight", "state/0/exp_avg"});
        CHECK(all.metadata.size() == 1);
        CHECK(all.not_read.empty());
        CHECK(content_of(store, all, 1) == expected_in("trainer/" + step.files[0]).at(1).content);
    }
}

TEST_CASE("read_checkpoint: all shards are one step") {
    const any_storage store = recorded_folder("sharded");
    const found_checkpoints found = find_checkpoints(store);
    REQUIRE(found.steps.size() == 1);
    const step_contents all = read_checkpoint(store, found.steps[0]);
    CHECK(names_of(all) == texts{"a", "b"});
    CHECK(all.files.size() == 2);
    CHECK(all.not_read.empty());
    CHECK(content_of(store, all, 1) == "0300000000000000");
}

TEST_CASE("read_checkpoint: numpy's archives, a step each") {
    const any_storage store = recorded_folder("numbered");
    const found_checkpoints found = find_checkpoints(store);
    REQUIRE(found.steps.size() == 2);
    for (const checkpoint_step& step : found.steps) {
        const step_contents all = read_checkpoint(store, step);
        CHECK(names_of(all) == texts{"dense/bias", "dense/kernel", "step"});
        CHECK(content_of(store, all, 0) == "003c003c003c003c");
        CHECK(content_of(store, all, 2) == "f4010000");
    }
}

TEST_CASE("read_checkpoint: .npy are called as their files are, below the step's folder") {
    memory_storage files;
    for (const std::string name : {"square", "columns", "big_endian"}) {
        files.write("step_3/layers/" + name + ".npy", as_bytes(recorded("arrays/" + name + ".npy")));
    }
    const step_contents all = read_only_step(files);
    CHECK(names_of(all) == texts{"layers/big_endian", "layers/columns", "layers/square"});
    CHECK(all.tensors[0].is.big_endian);
    CHECK(all.tensors[1].is.column_major);
}

TEST_CASE("read_checkpoint: a tensor has one name at every step, whatever lies beside it at one of them") {
    memory_storage files;
    for (const std::string step : {"1", "2", "3"}) {
        files.write("checkpoint-" + step + "/model.safetensors", as_bytes(weights("w")));
    }
    files.write("checkpoint-2/ema.safetensors", as_bytes(weights("w")));
    files.write("checkpoint-3/optimizer.safetensors", as_bytes(weights("w")));
    const auto names = [&] {
        std::vector<texts> all;
        tensor_owners owners;
        for (const checkpoint_step& step : find_checkpoints(any_storage{files}).steps) {
            all.push_back(names_of(read_checkpoint(any_storage{files}, step, {}, owners)));
        }
        return all;
    };
    CHECK(names() == std::vector<texts>{{"w"}, {"ema/w", "w"}, {"optimizer/w", "w"}});
    files.write("checkpoint-4/ema.safetensors", as_bytes(weights("w")));
    files.write("checkpoint-5/pytorch_model.safetensors", as_bytes(weights("w")));  // under another name
    CHECK(names() == std::vector<texts>{{"w"}, {"ema/w", "w"}, {"optimizer/w", "w"}, {"ema/w"}, {"w"}});
    files.remove("checkpoint-4/ema.safetensors");
    files.remove("checkpoint-5/pytorch_model.safetensors");
    files.write("checkpoint-1/ema.safetensors", as_bytes(weights("w")));
    CHECK(names() == std::vector<texts>{{"ema/w", "model/w"}, {"ema/w", "model/w"}, {"model/w", "optimizer/w"}});
}

TEST_CASE("read_checkpoint: files of a step are called without its number") {
    memory_storage files;
    files.write("step_1.safetensors", as_bytes(weights("w")));
    files.write("optimizer_step_1.safetensors", as_bytes(weights("w")));
    CHECK(names_of(read_only_step(files)) == texts{"optimizer_step/w", "step/w"});
    memory_storage arrays;
    arrays.write("w_500.npy", as_bytes(recorded("arrays/square.npy")));
    CHECK(names_of(read_only_step(arrays)) == texts{"w"});
}

TEST_CASE("read_checkpoint: an index decides which file has a tensor, and the rest is named") {
    memory_storage files;
    const std::string one = "m-00001-of-00002.safetensors";
    const std::string two = "m-00002-of-00002.safetensors";
    const std::string both = R"({"u":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("w":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
    files.write(one, as_bytes(safetensors_of(both, 2)));
    files.write(two, as_bytes(weights("w")));
    files.write("m.safetensors.index.json", as_bytes(R"({"weight_map":{"u":")" + one + R"(","w":")" + two + "\"}}"));
    const step_contents stale = read_only_step(files);
    CHECK(names_of(stale) == texts{"u", "w"});
    CHECK(stale.files.at(stale.tensors.at(1).file).key == two);
    REQUIRE(stale.not_read.size() == 1);
    CHECK(stale.not_read[0].name == one + ": w");
    CHECK(says(stale.not_read[0].why, "left over"));

    files.write(two, as_bytes(weights("old")));  // neither is what the index does not name
    files.write(one, as_bytes(weights("u")));
    files.write("m.safetensors", as_bytes(weights("u")));
    files.write("m.safetensors.index.json", as_bytes(R"({"weight_map":{"u":")" + one + "\"}}"));
    const step_contents stray = read_only_step(files);
    CHECK(names_of(stray) == texts{"u"});
    CHECK(stray.files.at(stray.tensors.at(0).file).key == one);
    REQUIRE(stray.not_read.size() == 2);
    CHECK(stray.not_read[0].name == two);
    CHECK(stray.not_read[1].name == "m.safetensors");
}

TEST_CASE("read_checkpoint: the files of an index are paths below it, and may have any names") {
    for (const std::string part : {"./m-00001-of-00001.safetensors", "parts/m-00001-of-00001.safetensors",
                                   "./parts//overlay-00007.safetensors", "overlay_step_3.safetensors"}) {
        CAPTURE(part);
        memory_storage files;
        files.write("x/" + std::filesystem::path{part}.lexically_normal().string(), as_bytes(weights("a")));
        files.write("x/m.safetensors.index.json", as_bytes(R"({"weight_map":{"a":")" + part + "\"}}"));
        const step_contents all = read_only_step(files);
        CHECK(names_of(all) == texts{"a"});
        CHECK(all.not_read.empty());
    }
}

TEST_CASE("read_checkpoint: files without tensors, tensors without elements and bytes behind an array are named") {
    memory_storage files;
    files.write("step_1/a.safetensors", as_bytes(safetensors_of("{}")));
    files.write("step_1/b.safetensors",
                as_bytes(safetensors_of(R"({"x":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},)"
                                        R"("y":{"dtype":"F32","shape":[2,0],"data_offsets":[0,0]}})")));
    files.write("step_1/c.npy", as_bytes(recorded("arrays/square.npy") + "more"));
    const step_contents all = read_only_step(files);
    CHECK(names_of(all) == texts{"c", "x", "y"});
    REQUIRE(all.not_read.size() == 3);
    CHECK(all.not_read[0].name == "step_1/a.safetensors");
    CHECK(all.not_read[0].why == "it has no tensors");
    CHECK(all.not_read[1].name == "step_1/b.safetensors: x");
    CHECK(says(all.not_read[1].why, "it and 1 more have no elements"));
    CHECK(all.not_read[2].name == "step_1/c.npy: c");
    CHECK(says(all.not_read[2].why, "4 bytes behind its array"));
}

TEST_CASE("read_checkpoint: a tensor that is in two parts of a checkpoint is read once, and the other place is named") {
    memory_storage files;
    files.write("m-00001-of-00002.safetensors", as_bytes(weights("w")));
    files.write("m-00002-of-00002.safetensors", as_bytes(weights("w")));
    const step_contents all = read_only_step(files);
    CHECK(names_of(all) == texts{"w"});
    REQUIRE(all.not_read.size() == 1);
    CHECK(all.not_read[0].name == "m-00002-of-00002.safetensors: w");
}

TEST_CASE("read_checkpoint: a name that several files have gets the file's before it") {
    memory_storage files;
    files.write("checkpoint-1/model.safetensors", as_bytes(weights("w")));
    files.write("checkpoint-1/adapter.safetensors", as_bytes(weights("w")));
    files.write("checkpoint-1/more.safetensors", as_bytes(weights("v")));
    CHECK(names_of(read_only_step(files)) == texts{"adapter/w", "model/w", "v"});
    files.write("checkpoint-1/other.safetensors", as_bytes(weights("model/w")));
    CHECK(says(what_of<corrupt_data>([&] { return read_only_step(files); }), "two tensors model/w"));
}

TEST_CASE("read_checkpoint: a damaged file is named, the others are read; of damaged ones alone there is nothing") {
    memory_storage files;
    files.write("step_1/a.safetensors", as_bytes(weights("a").substr(0, 30)));
    CHECK(read_only_step(files).tensors.empty());
    CHECK(says(read_only_step(files).not_read.at(0).why, "step_1/a.safetensors"));
    files.write("step_1/b.safetensors", as_bytes(weights("b")));
    files.write("step_1/c.npz", as_bytes("PK\3\4 and no more"));
    files.write("step_1/d.npy", as_bytes(npy_of("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 9)));
    const step_contents all = read_only_step(files);
    CHECK(names_of(all) == texts{"b"});
    REQUIRE(all.not_read.size() == 3);
    CHECK(all.not_read[0].name == "step_1/a.safetensors");
    CHECK(all.not_read[1].name == "step_1/c.npz");
    CHECK(says(all.not_read[2].why, "Python objects"));
}

TEST_CASE("read_checkpoint: an index that says what is not so is named") {
    memory_storage files;
    const std::string index = "model.safetensors.index.json";
    const auto said = [&](const std::string& map) {
        files.write(index, as_bytes("{\"weight_map\":" + map + "}"));
        const step_contents all = read_only_step(files);
        CHECK(names_of(all) ==
              (map.find("\"c\"") == map.npos ? texts{"a"} : texts{}));  // what it does not name is left over
        std::string whys;
        for (const left_out& each : all.not_read) {
            whys += each.why + '\n';
        }
        return whys;
    };
    files.write("model-00001-of-00002.safetensors", as_bytes(weights("a")));
    CHECK(said(R"({"a":"model-00001-of-00002.safetensors"})").empty());
    CHECK(says(said(R"({"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"})"),
               "tensor b is not in model-00002-of-00002.safetensors, which is not there"));
    CHECK(says(said(R"({"c":"model-00001-of-00002.safetensors"})"), "tensor c is not in"));
    CHECK(says(said(R"({"a":"../model.safetensors"})"), "does not lie below"));
    CHECK(says(said("1"), "weight_map"));
    files.remove("model-00001-of-00002.safetensors");
    files.write(index, as_bytes(R"({"weight_map":{"a":"model-00001-of-00002.safetensors"}})"));
    const step_contents nothing = read_only_step(files);
    CHECK(nothing.tensors.empty());
    REQUIRE(nothing.not_read.size() == 1);
    CHECK(nothing.not_read[0].name == "model-00001-of-00002.safetensors");
    CHECK(says(nothing.not_read[0].why, "which is not there"));
}

TEST_CASE("read_checkpoint: each shard that is missing is named, with how many tensors of the index it has") {
    memory_storage files;
    files.write("m.safetensors.index.json",
                as_bytes(R"({"weight_map":{"a":"m-00001-of-00003.safetensors","b":"m-00002-of-00003.safetensors",)"
                         R"("c":"m-00003-of-00003.safetensors","d":"m-00003-of-00003.safetensors"}})"));
    files.write("m-00001-of-00003.safetensors", as_bytes(weights("a")));
    const step_contents all = read_only_step(files);
    CHECK(names_of(all) == texts{"a"});
    REQUIRE(all.not_read.size() == 2);
    CHECK(all.not_read[0].name == "m-00002-of-00003.safetensors");
    CHECK(says(all.not_read[0].why, "tensor b is not in m-00002-of-00003.safetensors, which is not there"));
    CHECK(all.not_read[1].name == "m-00003-of-00003.safetensors");
    CHECK(says(all.not_read[1].why, "tensor c and 1 more are not in m-00003-of-00003.safetensors, which is not there"));
}

TEST_CASE("read_checkpoint: shards without an index are counted by their names") {
    struct row {
        texts files;
        texts not_read;
        std::string why;
    };
    const row rows[] = {
        {{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}, {}, ""},
        {{"model-00000-of-00002.safetensors", "model-00001-of-00002.safetensors"}, {}, ""},
        {{"model-00001-of-00002.safetensors"},
         {"model-00002-of-00002.safetensors"},
         "it is not there: 1 of the 2 parts of this checkpoint is missing"},
        {{"model-00002-of-00002.safetensors"}, {"model-00001-of-00002.safetensors"}, "is missing"},
        {{"m.fp16-1-of-12.safetensors"},
         {"m.fp16-2-of-12.safetensors"},
         "11 of the 12 parts of this checkpoint are missing"},
        {{"model-00001-of-00002.fp16.safetensors"}, {"model-00002-of-00002.fp16.safetensors"}, "is missing"},
        {{"a-00001-of-00002.npz"}, {"a-00001-of-00002.npz", "a-00002-of-00002.npz"}, "is missing"},
        {{"model-00001-of-00001.safetensors", "model-00005-of-00001.safetensors"},
         {"model-00005-of-00001.safetensors"},
         "part 00005 of 00001, which cannot be"},
        {{"model-00001-of-00001.safetensors", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"},
         {"model-00001-of-00002.safetensors"},
         "parts of 1 and parts of 2"},
    };
    for (const row& each : rows) {
        memory_storage files;
        for (const std::string& name : each.files) {
            files.write("step_1/" + name, as_bytes(weights(name)));
        }
        const step_contents all = read_only_step(files);
        CAPTURE(each.files[0]);
        texts names;
        for (const left_out& one : all.not_read) {
            names.push_back(one.name.substr(std::string_view{"step_1/"}.size()));
        }
        std::sort(names.begin(), names.end());
        CHECK(names == each.not_read);
        if (!each.why.empty()) {
            CHECK(says(all.not_read.back().why, each.why));
        }
    }
}

TEST_CASE("read_checkpoint: a shard that the index does not name is of another save; an index of a variant is one") {
    memory_storage files;
    files.write("m.fp16-00001-of-00001.safetensors", as_bytes(weights("a")));
    files.write("m.safetensors.index.fp16.json",
                as_bytes(R"({"weight_map":{"a":"m.fp16-00001-of-00001.safetensors"}})"));
    CHECK(read_only_step(files).not_read.empty());
    files.write("m.fp16-00002-of-00002.safetensors", as_bytes(weights("a")));
    const step_contents all = read_only_step(files);
    CHECK(names_of(all) == texts{"a"});
    REQUIRE(all.not_read.size() == 1);
    CHECK(all.not_read[0].name == "m.fp16-00002-of-00002.safetensors");
    CHECK(all.not_read[0].kind == problem_kind::left_out);
    files.remove("m.fp16-00001-of-00001.safetensors");  // the index may be wrong: all is read, and it is reported
    const step_contents rest = read_only_step(files);
    CHECK(names_of(rest) == texts{"a"});
    REQUIRE(rest.not_read.size() == 1);
    CHECK(says(rest.not_read[0].why, "which is not there"));
}

TEST_CASE("read_checkpoint: a link to nothing is named, the other files are read") {
    const temporary_folder folder;
    folder.write("step_1/a.safetensors", weights("a"));
    std::filesystem::create_symlink("../../blobs/0", folder.path() + "/step_1/b.safetensors");
    std::filesystem::create_symlink("c.npy", folder.path() + "/step_1/c.npy");
    std::filesystem::create_symlink("../gone", folder.path() + "/step_2");
    std::filesystem::create_symlink("step_9", folder.path() + "/latest");
    const any_storage store{local_storage{folder.path()}};
    const found_checkpoints found = find_checkpoints(store);
    REQUIRE(found.not_read.size() == 1);
    CHECK(found.not_read[0].name == "step_2");
    REQUIRE(found.steps.size() == 1);
    const step_contents all = read_checkpoint(store, found.steps[0]);
    CHECK(names_of(all) == texts{"a"});
    REQUIRE(all.not_read.size() == 2);
    CHECK(all.not_read[0].name == "step_1/b.safetensors");
    CHECK(says(all.not_read[0].why, "link to a file that is missing"));
    CHECK(all.not_read[1].name == "step_1/c.npy");
}
