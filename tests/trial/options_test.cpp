#include <smdebug/trial/options.hpp>

#include "support/test.hpp"

using namespace smdebug;
using texts = std::vector<std::string>;

TEST_CASE("options: text_list takes one text or several") {
    CHECK(text_list{"relu"}.texts() == texts{"relu"});
    CHECK(text_list{"relu", "tanh"}.texts() == texts{"relu", "tanh"});
    CHECK(text_list{std::string{"relu"}}.texts() == texts{"relu"});
    CHECK(text_list{std::string_view{"relu"}}.texts() == texts{"relu"});
    CHECK(text_list{texts{"a", "b"}}.texts() == texts{"a", "b"});
    CHECK(text_list{}.empty());
    CHECK_FALSE(text_list{}.given());
    CHECK(text_list{texts{}}.given());  // an empty list is a list
    CHECK(text_list{texts{}}.empty());
    const tensor_names_options one{.regex = "relu"};
    const tensor_names_options two{.regex = {"relu", "tanh"}};
    CHECK(one.regex.texts() == texts{"relu"});
    CHECK(two.regex.texts() == texts{"relu", "tanh"});
}

TEST_CASE("options: a collection is named by text or by itself") {
    const tensor_names_options by_name{.collection = "losses", .step = 3};
    CHECK(by_name.collection->name() == "losses");
    CHECK(by_name.step == 3);
    const collection group{.name = "gradients"};
    const tensor_names_options by_object{.collection = group};
    CHECK(by_object.collection->name() == "gradients");
}

TEST_CASE("options: a call reads like the Python one") {
    const trial_options options{.name = "resnet", .range = {100, 200}};
    CHECK(options.range.contains(100));
    CHECK_FALSE(options.range.contains(200));
    const reduction_options how{.worker = "worker_1", .abs = true};
    CHECK(how.mode == mode::global);
    CHECK(how.worker == "worker_1");
}

TEST_CASE("options: limits for untrusted runs are all tighter than the usual ones") {
    constexpr size_limits usual;
    constexpr size_limits tight = size_limits::untrusted();
    static_assert(tight.record < usual.record);
    static_assert(tight.index_file < usual.index_file);
    static_assert(tight.collections_file < usual.collections_file);
    static_assert(tight.index_files < usual.index_files);
    static_assert(tight.all_index_files < usual.all_index_files);
    CHECK(trial_options{}.limits == usual);
}

TEST_CASE("options: limits within a budget add up to it, and none is raised") {
    constexpr std::uint64_t budget = 4096;
    constexpr size_limits some = size_limits{}.within(budget);
    static_assert(some.record == budget / 2);
    static_assert(some.index_file == budget / 4);
    static_assert(some.collections_file == budget / 4);
    static_assert(some.all_index_files == budget / 4);
    static_assert(some.index_files == size_limits{}.index_files);
    static_assert(size_limits::untrusted().within(UINT64_MAX) == size_limits::untrusted());
}
