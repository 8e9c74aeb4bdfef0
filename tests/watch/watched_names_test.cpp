#include <smdebug/watch/watch.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

TEST_CASE("watched_names: those that match, in every mode") {
    watched_names names{hook_options{}, {"^gradient", "bias$"}};
    for (const mode in : all_modes) {
        CHECK(names.contains("gradient/fc1", in));
        CHECK(names.contains("gradient/fc1", in));  // known by now
        CHECK(names.contains("fc1.bias", in));
        CHECK_FALSE(names.contains("fc1.weight", in));
        CHECK_FALSE(names.contains("fc1.weight", std::array<std::string_view, 1>{"gradients"}, in));
    }
}

TEST_CASE("watched_names: without regexes all, but outside of training none that is of the training") {
    watched_names names{hook_options{}, {}};
    for (const mode in : {mode::train, mode::global}) {
        CHECK(names.contains("gradient/fc1", in));
        CHECK(names.contains("fc1.weight", in));
        CHECK(names.contains("grad", std::array<std::string_view, 1>{"gradients"}, in));
    }
    for (const mode in : {mode::eval, mode::predict}) {
        CHECK_FALSE(names.contains("gradient/fc1", in));
        CHECK(names.contains("fc1.weight", in));
        CHECK_FALSE(names.contains("grad", std::array<std::string_view, 1>{"gradients"}, in));
        CHECK(names.contains("grad", std::array<std::string_view, 1>{"weights"}, in));
    }
}

TEST_CASE("watched_names: what is of the training is what the hook's collections say") {
    watched_names names{hook_options{.collections = {{.name = "gradients", .include_regex = {"^grad_of_"}},
                                                     {.name = "optimizer_variables", .tensor_names = {"momentum"}},
                                                     {.name = "activations", .include_regex = {"relu"}}}},
                        {}};
    CHECK_FALSE(names.contains("grad_of_fc1", mode::eval));
    CHECK_FALSE(names.contains("momentum", mode::eval));
    CHECK(names.contains("gradient/fc1", mode::eval));
    CHECK(names.contains("relu_0", mode::eval));
}
