#include <smdebug/formats/checkpoints/checkpoint_source.hpp>

#include <smdebug/archive.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

template <class T>
[[nodiscard]] std::string raw(const std::vector<T>& values) {
    std::string bytes(values.size() * sizeof(T), '\0');
    if (!values.empty()) {
        std::memcpy(bytes.data(), values.data(), bytes.size());
    }
    return bytes;
}

/// A .safetensors of one or two tensors, with this header.
[[nodiscard]] std::string safetensors(const std::string& header, const std::string& data) {
    return raw(std::vector<std::uint64_t>{header.size()}) + header + data;
}
[[nodiscard]] std::string weights(float first) {
    return safetensors(R"({"layer.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
                       R"("layer.bias":{"dtype":"BF16","shape":[2],"data_offsets":[16,20]},)"
                       R"("seen":{"dtype":"I64","shape":[],"data_offsets":[20,28]}})",
                       raw<float>({first, 2, 3, 4}) + raw<std::uint16_t>({0x3f80, 0x4000}) + raw<std::int64_t>({7}));
}
[[nodiscard]] std::string npy(const std::string& head, const std::string& data) {
    std::string header = head;
    while ((10 + header.size() + 1) % 64 != 0) {
        header += ' ';
    }
    header += '\n';
    return std::string{"\x93NUMPY\x01\x00", 8} +
           raw(std::vector<std::uint16_t>{static_cast<std::uint16_t>(header.size())}) + header + data;
}

struct checkpoint_folder {
    memory_storage files{"checkpoints"};
    std::chrono::seconds age{std::chrono::hours{1}};

    void write(const std::string& key, const std::string& bytes) { files.write(key, as_bytes(bytes)); }
    [[nodiscard]] trial open(const std::string& step_regex = {}) {
        const checkpoint_source source{any_storage{files}, {.step_regex = step_regex, .now = [this] {
                                                                return std::chrono::system_clock::now() + age;
                                                            }}};
        return trial{source.run()};
    }
};

}  // namespace

TEST_CASE("checkpoint_source: what the Trainer leaves is a run") {
    checkpoint_folder folder;
    folder.write("checkpoint-500/model.safetensors", weights(1));
    folder.write("checkpoint-1000/model.safetensors", weights(10));
    folder.write("checkpoint-1000/trainer_state.json", "{}");
    const trial run = folder.open();
    CHECK(run.steps() == std::vector<step_number>{500, 1000});
    CHECK(run.modes() == std::vector<mode>{mode::train});
    CHECK(run.tensor_names() == std::vector<std::string>{"layer.bias", "layer.weight", "seen"});
    CHECK(run.tensor("layer.weight").value<float>(1000)(0, 0) == 10);
    CHECK(run.tensor("layer.weight").shape(500) == shape_type{2, 2});
    CHECK(run.tensor("layer.bias").value(500).type() == dtype::bfloat16);
    CHECK(run.tensor("layer.bias").reduction_value(500, "sum") == 3);
    CHECK(run.tensor("seen").value<std::int64_t>(500)() == 7);
    CHECK(run.tensor_names({.collection = "weights"}) == std::vector<std::string>{"layer.weight"});
    CHECK(run.tensor_names({.collection = "biases"}) == std::vector<std::string>{"layer.bias"});
    CHECK(run.loaded_all_steps());
    CHECK(run.problems().empty());
}

TEST_CASE("checkpoint_source: numpy's arrays, turned around where they lie in another order") {
    checkpoint_folder folder;
    folder.write("step_1/a.npy",
                 npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", raw<float>({1, 2, 3, 4, 5, 6})));
    folder.write("step_1/b.npy",
                 npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", std::string{"\x00\x01\xff\xfe", 4}));
    folder.write("step_1/c.npy",
                 npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", raw<double>({1, 4, 2, 5, 3, 6})));
    folder.write("step_1/d.npy", npy("{'descr': '>i4', 'fortran_order': True, 'shape': (2, 1, 2), }",
                                     std::string{"\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4", 16}));
    const trial run = folder.open();
    CHECK(run.tensor("a").value<float>(1)(1, 0) == 4);
    CHECK(run.tensor("b").value<std::int16_t>(1)(1) == -2);
    const tensor_value c = run.tensor("c").value(1);
    CHECK(std::vector<double>(c.elements<double>().begin(), c.elements<double>().end()) ==
          std::vector<double>{1, 2, 3, 4, 5, 6});
    const tensor_value d = run.tensor("d").value(1);
    CHECK(std::vector<std::int32_t>(d.elements<std::int32_t>().begin(), d.elements<std::int32_t>().end()) ==
          std::vector<std::int32_t>{1, 3, 2, 4});
}

TEST_CASE("checkpoint_source: a damaged checkpoint is named, the others are read") {
    checkpoint_folder folder;
    folder.write("checkpoint-1/model.safetensors", weights(1));
    folder.write("checkpoint-2/model.safetensors", weights(2).substr(0, 40));
    folder.write("checkpoint-3/model.safetensors", weights(3));
    const trial run = folder.open();
    CHECK(run.steps() == std::vector<step_number>{1, 3});
    REQUIRE(run.problems().size() == 1);
    CHECK(run.problems()[0].where == "checkpoint-2/model.safetensors, step 2");
    CHECK(run.problems()[0].kind == problem_kind::damaged);
}

TEST_CASE("checkpoint_source: those that come later are seen, and one that is being written is waited for") {
    checkpoint_folder folder;
    folder.age = std::chrono::seconds{0};
    folder.write("checkpoint-1/model.safetensors", weights(1));
    const trial run = folder.open();
    CHECK(run.steps() == std::vector<step_number>{1});
    CHECK_FALSE(run.loaded_all_steps());
    folder.write("checkpoint-2/model.safetensors", weights(2).substr(0, weights(2).size() - 5));
    CHECK(run.steps() == std::vector<step_number>{1});
    CHECK(run.problems().empty());
    folder.write("checkpoint-2/model.safetensors", weights(2));
    CHECK(run.steps() == std::vector<step_number>{1, 2});
    folder.write("checkpoint-3/model.safetensors", weights(3).substr(0, weights(3).size() - 5));
    folder.age = std::chrono::minutes{20};
    CHECK(run.steps() == std::vector<step_number>{1, 2});
    CHECK(run.loaded_all_steps());
    CHECK(run.problems().size() == 1);
}

TEST_CASE(
    "checkpoint_source: what was written a moment ago, or in the future, is read at once, and named where it cannot "
    "be") {
    for (const std::chrono::seconds age : {std::chrono::seconds{0}, -std::chrono::seconds{std::chrono::hours{1000}}}) {
        checkpoint_folder folder;
        folder.age = age;
        folder.write("step_1/labels.npy",
                     npy("{'descr': '<U3', 'fortran_order': False, 'shape': (1,), }", "abcabcabcabc"));
        folder.write("step_1/w.safetensors", weights(1));
        folder.write("step_2/w.safetensors", weights(1).substr(0, 40));
        const trial run = folder.open();
        CHECK(run.steps() == std::vector<step_number>{1});
        CHECK(run.loaded_all_steps() == (age < std::chrono::seconds{0}));
        const std::vector<problem> problems = run.problems();
        REQUIRE(problems.size() == 2);
        CHECK(problems[0].where == "step_1/labels.npy, step 1");
        CHECK(problems[0].kind == problem_kind::unsupported);
        CHECK(problems[1].where == "step_2/w.safetensors, step 2");
        CHECK(problems[1].kind == problem_kind::damaged);
    }
}

TEST_CASE("checkpoint_source: what becomes whole later is added to its step, and is no problem any longer") {
    checkpoint_folder folder;
    folder.age = std::chrono::seconds{0};
    const std::string second =
        safetensors(R"({"late":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", raw<float>({5}));
    folder.write("checkpoint-1/model-00001-of-00002.safetensors", weights(1));
    const trial run = folder.open();
    REQUIRE(run.problems().size() == 1);
    CHECK(run.problems()[0].where == "checkpoint-1/model-00002-of-00002.safetensors, step 1");
    folder.write("checkpoint-1/model-00002-of-00002.safetensors", second.substr(0, 20));
    static_cast<void>(run.steps());
    CHECK(run.problems().size() == 1);
    folder.write("checkpoint-1/model-00002-of-00002.safetensors", second);
    static_cast<void>(run.steps());
    CHECK(run.problems().empty());
    CHECK(run.tensor_names() == std::vector<std::string>{"late", "layer.bias", "layer.weight", "seen"});
    CHECK(run.tensor("layer.weight").workers(1) == std::vector<std::string>{"worker_0"});
    CHECK(run.tensor("late").workers(1) == std::vector<std::string>{"worker_0"});
    // A file that is added to a complete step is read, too.
    folder.write("checkpoint-1/optimizer.safetensors",
                 safetensors(R"({"m":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", raw<float>({6})));
    CHECK(run.steps() == std::vector<step_number>{1});
    CHECK(run.has_tensor("m"));
}

TEST_CASE("checkpoint_source: a run that is followed ends after three times the longest pause between checkpoints") {
    for (const bool followed : {false, true}) {
        CAPTURE(followed);
        memory_storage files{"checkpoints"};
        std::chrono::minutes age{0};
        checkpoint_source::settings how{.now = [&age] { return std::chrono::system_clock::now() + age; }};
        if (followed) {  // since two hours before the first checkpoint
            how.followed_since = std::chrono::system_clock::now() - std::chrono::hours{2};
        }
        checkpoint_source source{any_storage{files}, how};
        run_contents contents;
        CHECK_FALSE(source.update(contents));
        files.write("checkpoint-1/model.safetensors", as_bytes(weights(1)));
        age = std::chrono::minutes{5};
        CHECK(source.update(contents));
        CHECK_FALSE(contents.ended());
        age = std::chrono::hours{5};
        static_cast<void>(source.update(contents));
        CHECK(contents.ended() != followed);
        age = std::chrono::hours{7};
        static_cast<void>(source.update(contents));
        CHECK(contents.ended());
    }
}

TEST_CASE("checkpoint_source: a look between a removal and the next checkpoint does not end the run") {
    for (const bool followed : {false, true}) {
        CAPTURE(followed);
        memory_storage files{"checkpoints"};
        std::chrono::minutes age{1};
        checkpoint_source::settings how{.now = [&age] { return std::chrono::system_clock::now() + age; }};
        if (followed) {
            how.followed_since = std::chrono::system_clock::now();
        }
        checkpoint_source source{any_storage{files}, how};
        run_contents contents;
        files.write("checkpoint-1/model.safetensors", as_bytes(weights(1)));
        CHECK(source.update(contents));
        files.remove("checkpoint-1/model.safetensors");
        CHECK_FALSE(source.update(contents));
        CHECK_FALSE(contents.ended());
        files.write("checkpoint-2/model.safetensors", as_bytes(weights(2)));
        CHECK(source.update(contents));
        CHECK_FALSE(contents.ended());
        files.remove("checkpoint-2/model.safetensors");
        age = std::chrono::hours{1};
        static_cast<void>(source.update(contents));
        CHECK(contents.ended());
    }
}

TEST_CASE(
    "checkpoint_source: one that is followed shows a checkpoint once it is complete, and no trace of a removed one") {
    memory_storage files{"checkpoints"};
    std::chrono::seconds age{0};
    checkpoint_source source{any_storage{files}, {.followed_since = std::chrono::system_clock::now(), .now = [&age] {
                                                      return std::chrono::system_clock::now() + age;
                                                  }}};
    run_contents contents;
    const std::string half = weights(1).substr(0, 40);
    files.write("checkpoint-1/model.safetensors", as_bytes(half));
    files.write("checkpoint-2/model.safetensors", as_bytes(weights(2)));
    files.write("tmp-checkpoint-3/model.safetensors", as_bytes(weights(3)));
    files.write("checkpoint-1/state.joblib", as_bytes("PK"));
    files.write("checkpoint-2/state.joblib", as_bytes("PK"));
    CHECK_FALSE(source.update(contents));  // a moment ago
    age = std::chrono::seconds{5};
    CHECK(source.update(contents));
    REQUIRE(smdebug::detail::contents_access::stretches(contents).size() == 1);
    CHECK(smdebug::detail::contents_access::stretches(contents)[0].step == 2);
    REQUIRE(contents.problems().size() == 1);  // the first is being written still
    CHECK(contents.problems()[0].where == "state.joblib");
    age = std::chrono::seconds{20};
    CHECK_FALSE(source.update(contents));
    CHECK(contents.problems().size() == 2);  // and never became whole
    files.remove("checkpoint-1/model.safetensors");
    CHECK_FALSE(source.update(contents));
    CHECK(contents.problems().size() == 1);
    CHECK(smdebug::detail::contents_access::stretches(contents).size() == 1);
}

TEST_CASE("checkpoint_source: a name is bytes, UTF-8 or not") {
    checkpoint_folder folder;
    folder.write("step_1/w\x82.npy", npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", "1"));
    folder.write("step_1/z.npy", npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", "2"));
    const trial run = folder.open();
    CHECK(run.tensor_names() == std::vector<std::string>{"w\x82", "z"});
    CHECK(run.tensor("w\x82").value<std::uint8_t>(1)(0) == '1');
    CHECK(run.problems().empty());
}

TEST_CASE("checkpoint_source: pickles of other tools are refused with what to do; a step_regex says the step") {
    checkpoint_folder folder;
    folder.write("model.joblib", "x");
    CHECK_THROWS_AS(static_cast<void>(folder.open()), unsupported);
    checkpoint_folder odd;
    odd.write("v7_of_run3.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", raw<float>({1})));
    odd.write("v9_of_run3.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", raw<float>({2})));
    CHECK(odd.open("v([0-9]+)_").steps() == std::vector<step_number>{7, 9});
}

TEST_CASE("checkpoint_source: floating-point tensors of an optimizer's file are a collection of their own") {
    checkpoint_folder folder;
    folder.write("checkpoint-5/model.safetensors", weights(1));
    folder.write("checkpoint-5/optimizer.safetensors",
                 safetensors(R"({"exp_avg.layer.bias":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                             R"("state.step":{"dtype":"I64","shape":[],"data_offsets":[8,16]}})",
                             raw<float>({0.5F, 1.5F}) + raw<std::int64_t>({5})));
    const trial run = folder.open();
    CHECK(run.tensor_names({.collection = "optimizer"}) == std::vector<std::string>{"exp_avg.layer.bias"});
    CHECK(run.tensor_names({.collection = "biases"}) == std::vector<std::string>{"layer.bias"});
    CHECK(run.tensor_names({.collection = "weights"}) == std::vector<std::string>{"layer.weight"});
    CHECK(run.tensor("exp_avg.layer.bias").reduction_value(5, "sum") == 2);
    CHECK(run.tensor("state.step").value<std::int64_t>(5)() == 5);
    CHECK(run.problems().empty());
}

TEST_CASE("checkpoint_source: names are those of the whole set, also while it grows") {
    checkpoint_folder folder;
    folder.age = std::chrono::seconds{0};
    folder.write("checkpoint-1/model.safetensors", weights(1));
    const trial run = folder.open();
    CHECK(run.has_tensor("seen"));
    folder.write("checkpoint-1/ema.safetensors", weights(2));  // one that is late
    folder.write("checkpoint-2/ema.safetensors", weights(3));
    folder.write("checkpoint-2/model.safetensors", weights(4));
    CHECK(run.steps() == std::vector<step_number>{1, 2});
    CHECK(run.tensor_names() == folder.open().tensor_names());
    CHECK(run.tensor("model/layer.weight").value<float>(2)(0, 0) == 4);
    CHECK(run.tensor("ema/layer.weight").value<float>(1)(0, 0) == 2);
    CHECK(run.problems().empty());
}

TEST_CASE("checkpoint_source: steps that files which come later show to be others are read anew") {
    memory_storage files{"checkpoints"};
    checkpoint_source source{any_storage{files}};
    run_contents contents;
    files.write("10000_steps/500.safetensors", as_bytes(weights(1)));
    CHECK(source.update(contents));
    REQUIRE(smdebug::detail::contents_access::stretches(contents).size() == 1);
    CHECK(smdebug::detail::contents_access::stretches(contents)[0].step == 10000);
    files.write("10000_steps/1000.safetensors", as_bytes(weights(2)));
    static_cast<void>(source.update(contents));
    CHECK(contents.outdated() == run_contents::outdated_in::all);
    checkpoint_source anew{any_storage{files}};
    run_contents now;
    CHECK(anew.update(now));
    REQUIRE(smdebug::detail::contents_access::stretches(now).size() == 2);
    CHECK(smdebug::detail::contents_access::stretches(now)[0].step == 500);
}

TEST_CASE("checkpoint_source: a step in a form that is not read is a problem, and the run has begun") {
    checkpoint_folder folder;
    folder.write("step_100/model.safetensors", weights(1));
    folder.write("step_200/model.h5", "x");
    folder.write("step_300/model.safetensors", weights(3));
    const trial run = folder.open();
    CHECK(run.steps() == std::vector<step_number>{100, 300});
    REQUIRE(run.problems().size() == 1);
    CHECK(run.problems()[0].where == "step_200/model.h5");
    CHECK(run.problems()[0].kind == problem_kind::unsupported);
    checkpoint_folder empty;
    empty.write("checkpoint-1/model.safetensors", safetensors("{}", ""));
    REQUIRE(empty.open().problems().size() == 1);
    CHECK(empty.open().problems()[0].what == "it has no tensors");
}

TEST_CASE(
    "checkpoint_source: one that is followed names no step that is being written or removed, but one that stays") {
    memory_storage files{"checkpoints"};
    std::chrono::seconds age{5};
    checkpoint_source source{any_storage{files}, {.followed_since = std::chrono::system_clock::now(), .now = [&age] {
                                                      return std::chrono::system_clock::now() + age;
                                                  }}};
    run_contents contents;
    files.write("checkpoint-1/model.safetensors", as_bytes(weights(1)));
    files.write("checkpoint-1/config.json", as_bytes("{}"));
    files.write("checkpoint-2/config.json", as_bytes("{}"));
    files.write("checkpoint-3/model.safetensors.tmp", as_bytes("x"));
    CHECK(source.update(contents));
    CHECK(contents.problems().empty());
    age = std::chrono::seconds{20};
    files.remove("checkpoint-1/model.safetensors");
    files.write("checkpoint-4/model.safetensors", as_bytes(weights(4)));
    CHECK(source.update(contents));
    REQUIRE(contents.problems().size() == 2);
    CHECK(contents.problems()[0].where == "checkpoint-2/config.json");
    CHECK(contents.problems()[1].where == "checkpoint-3/model.safetensors.tmp");
    files.write("checkpoint-2/model.safetensors", as_bytes(weights(2)));
    CHECK(source.update(contents));
    CHECK(contents.problems().size() == 1);
}
