// Files that torch wrote, and others written by hand, in tests/data/pytorch, against what torch and an independent
// reader say of them: alone, as steps of a folder, and in an archive.
#include <smdebug/formats/checkpoints/torch_file.hpp>

#include <smdebug/archive.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/formats/open_data.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <support/archive_builder.hpp>
#include <support/fake_s3.hpp>
#include <support/remote_storage.hpp>
#include <support/torch_files.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

const std::string cases = SMDEBUG_TEST_DATA "/pytorch";

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct expected_tensor {
    std::string name;
    std::string type;
    shape_type shape;
    std::map<std::string, double> numbers;  // min, max, mean, l2, as far as they are defined
};
struct expected_file {
    std::vector<expected_tensor> tensors;
    std::string refuse;
};

std::map<std::string, expected_file> expected() {
    const std::string text = content_of(cases + "/expected.json");
    smdebug::detail::json::document document;
    std::map<std::string, expected_file> all;
    document.parse(as_bytes(text))
        .value()
        .for_each_field([&](std::string_view file, smdebug::detail::json::value value) {
            expected_file& one = all[std::string{file}];
            if (const auto refuse = value["refuse"]) {
                one.refuse = refuse->string().value();
            }
            if (const auto tensors = value["tensors"]) {
                tensors->for_each_element([&](smdebug::detail::json::value each) {
                    expected_tensor tensor;
                    each["path"]->for_each_element([&](smdebug::detail::json::value part) {
                        tensor.name += tensor.name.empty() ? "" : "/";
                        const auto key = part.string();
                        tensor.name += key ? std::string{*key} : std::to_string(part.unsigned_integer().value());
                        return true;
                    });
                    tensor.type = each["dtype"]->string().value();
                    each["shape"]->for_each_element([&](smdebug::detail::json::value extent) {
                        tensor.shape.push_back(extent.unsigned_integer().value());
                        return true;
                    });
                    for (const char* const number : {"min", "max", "mean", "l2"}) {
                        if (const auto known = each[number]; known && known->number()) {
                            tensor.numbers[number] = *known->number();
                        }
                    }
                    one.tensors.push_back(std::move(tensor));
                    return true;
                });
            }
            return true;
        });
    return all;
}

void check(const trial& run, step_number step, const std::vector<expected_tensor>& wanted) {
    for (const expected_tensor& each : wanted) {
        CAPTURE(each.name);
        REQUIRE(run.has_tensor(each.name));
        const tensor_handle tensor = run.tensor(each.name);
        CHECK(tensor.shape(step) == each.shape);
        CHECK(name_of(tensor.value(step).type()) == each.type);
        for (const auto& [number, value] : each.numbers) {
            CAPTURE(number);
            if (element_count(each.shape) == std::size_t{0} || each.type.starts_with("complex")) {
                continue;
            }
            CHECK(tensor.reduction_value(step, number) == doctest::Approx(value).epsilon(1e-6));
        }
    }
    // Nothing else but numbers of the outermost dictionary.
    for (const std::string& name : run.tensor_names()) {
        const bool is_known =
            std::any_of(wanted.begin(), wanted.end(), [&](const expected_tensor& each) { return each.name == name; });
        CHECK((is_known || run.tensor(name).shape(step) == shape_type{}));
    }
}

trial opened(const any_storage& store) { return trial{open_data(store, {.as = data_format::checkpoints})}; }

// Where a file lies as the only one.
std::map<std::string, std::string> files_of(const std::string& name, const std::string& as) {
    if (!name.starts_with("30_")) {
        return {{as + name.substr(name.rfind('.')), content_of(cases + "/" + name)}};
    }
    std::map<std::string, std::string> all;
    for (const char* const file : {".metadata", "__0_0.distcp", "__1_0.distcp"}) {
        all[as + "/" + file] = content_of(cases + "/" + name + "/" + file);
    }
    return all;
}

}  // namespace

TEST_CASE("recorded files of PyTorch: every tensor, as steps of a folder, in S3 and in a tar") {
    for (const auto& [name, file] : expected()) {
        if (!file.refuse.empty()) {
            continue;
        }
        CAPTURE(name);
        REQUIRE_FALSE(file.tensors.empty());
        std::map<std::string, std::string> files;
        for (const char* const step : {"step_1", "step_2", "step_3"}) {
            files.merge(files_of(name, step));
        }
        memory_storage folder{"out"};
        memory_storage outer;
        const fake_s3 server{{.keys = std::nullopt}};
        s3_options bucket = quick_options();
        bucket.anonymous = true;
        for (const auto& [key, bytes] : files) {
            folder.write(key, as_bytes(bytes));
            server.put("run/" + key, bytes);
        }
        outer.write("a.tar", as_bytes(tar_of(files)));
        for (const any_storage& store : {any_storage{folder}, any_storage{remote_storage{folder}},
                                         any_storage{s3_storage{"s3://bucket/run", bucket, server}},
                                         any_storage{archive_storage{any_storage{outer}, "a.tar"}}}) {
            const trial run = opened(store);
            CHECK(run.steps() == std::vector<step_number>{1, 2, 3});
            check(run, 2, file.tensors);
            for (const problem& each : run.problems()) {
                CAPTURE(each.what);
                const bool is_known = name == "18_sparse.pt" || each.what.find("no elements") != std::string::npos;
                CHECK(is_known);
            }
        }
    }
}

TEST_CASE("recorded files of PyTorch: what is refused is named, and costs nothing") {
    for (const auto& [name, file] : expected()) {
        if (file.refuse.empty()) {
            continue;
        }
        CAPTURE(name);
        memory_storage folder{"out"};
        folder.write("step_1.pt", as_bytes(content_of(cases + "/" + name)));
        folder.write("step_2.pt", as_bytes(content_of(cases + "/01_state_dict.pt")));
        const auto begin = std::chrono::steady_clock::now();
        const trial run = opened(any_storage{folder});
        CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{5});  // also with sanitizers
        REQUIRE(run.problems().size() == 1);
        CHECK(run.problems()[0].where.starts_with("step_1.pt"));
        CHECK((run.problems()[0].kind == problem_kind::damaged || run.problems()[0].kind == problem_kind::unsupported));
        CHECK(run.tensor("fc.weight").steps() == std::vector<step_number>{2});
    }
}

TEST_CASE("recorded files of PyTorch: a sparse and a masked tensor are named, the other is read") {
    memory_storage folder{"out"};
    folder.write("step_1.pt", as_bytes(content_of(cases + "/18_sparse.pt")));
    const trial run = opened(any_storage{folder});
    CHECK(run.tensor_names() == std::vector<std::string>{"w"});
    CHECK_FALSE(run.problems().empty());
    for (const problem& each : run.problems()) {
        CHECK(each.kind == problem_kind::unsupported);
    }
}

TEST_CASE("checkpoint_source: files of PyTorch without a step in their names have the step that they say inside") {
    memory_storage folder{"out"};
    folder.write("last.ckpt", as_bytes(content_of(cases + "/05_lightning.ckpt")));
    const trial run = opened(any_storage{folder});
    REQUIRE(run.steps().size() == 1);
    const double said = run.tensor("global_step").reduction_value(run.steps()[0], "max");
    CHECK(static_cast<double>(run.steps()[0]) == said);
    CHECK(said > 0);
    memory_storage named{"out"};
    named.write("epoch=3-step=77.ckpt", as_bytes(content_of(cases + "/05_lightning.ckpt")));
    CHECK(opened(any_storage{named}).steps() == std::vector<step_number>{77});
}

TEST_CASE("recorded files of PyTorch: in a remote storage the heads of storages are read together") {
    namespace p = smdebug_test::pickled;
    std::vector<std::pair<std::string, std::string>> entries;
    std::map<std::string, std::string> storages;
    for (int i = 0; i < 40; ++i) {
        const std::string key = std::to_string(i);
        entries.emplace_back("w" + key, p::vector(key, 12'000));
        storages[key] = std::string(48'000, '\0');
    }
    memory_storage objects;
    objects.write("step_1.pt", as_bytes(p::torch_zip(p::dictionary(entries), storages)));
    const remote_storage store{objects};
    const auto read = formats::detail::read_torch_file(any_storage{store}, "step_1.pt");
    CHECK(read.tensors.size() == 40);
    const asked_for asked = store.asked();
    CHECK(std::find(asked.calls.begin(), asked.calls.end(), "ranges 40") != asked.calls.end());
    CHECK(asked.calls.size() < 12);
}
