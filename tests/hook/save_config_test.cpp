#include <smdebug/core/error.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/index/collections_file.hpp>
#include <smdebug/index/index_file.hpp>

#include <support/temporary_folder.hpp>
#include "support/test.hpp"

using namespace smdebug;

namespace {

std::string wrong_with(const save_config& config) {
    return smdebug_test::message_of<value_error>([&] { check(config, "save_config"); });
}

}  // namespace

TEST_CASE("save_config: the interval counts from start_step up to, not including, end_step") {
    const save_config_mode by_default;
    CHECK(is_due(by_default, 0));
    CHECK(is_due(by_default, 500));
    CHECK_FALSE(is_due(by_default, 1));
    CHECK_FALSE(is_due(by_default, 499));
    const save_config_mode bounded{.save_interval = 3, .start_step = 4, .end_step = 9};
    std::set<step_number> due;
    for (step_number step = 0; step < 20; ++step) {
        if (is_due(bounded, step)) {
            due.insert(step);
        }
    }
    CHECK(due == std::set<step_number>{6});  // divided by 3 as counted from 0
    CHECK(is_due({.save_interval = 3, .end_step = 10}, 9));
}

TEST_CASE("save_config: save_steps are saved wherever they lie, besides the interval") {
    const save_config_mode when{.save_interval = 10, .save_steps = {7, 3, 40}, .start_step = 10, .end_step = 30};
    CHECK(is_due(when, 3));
    CHECK(is_due(when, 7));
    CHECK(is_due(when, 20));
    CHECK(is_due(when, 40));
    CHECK_FALSE(is_due(when, 30));
    CHECK_FALSE(is_due(when, 0));
}

TEST_CASE("save_config: an interval that check refuses divides nothing") {
    CHECK_FALSE(is_due({.save_interval = 0}, 0));
    CHECK_FALSE(is_due({.save_interval = -1}, 5));
}

TEST_CASE("save_config: an end that does not lie after the start switches the interval off, not save_steps") {
    for (const save_config_mode& off :
         {save_config_mode{.save_interval = 1, .save_steps = {7}, .end_step = 0},
          save_config_mode{.save_interval = 1, .save_steps = {7}, .start_step = 20, .end_step = 10},
          save_config_mode{.save_interval = 1, .save_steps = {7}, .start_step = 5, .end_step = 5}}) {
        CHECK_NOTHROW(check(off, "save_config"));
        for (step_number step = 0; step < 30; ++step) {
            CHECK(is_due(off, step) == (step == 7));
        }
    }
}

TEST_CASE("save_config: a mode's own settings replace all of the others") {
    const save_config config{
        .save_interval = 10, .save_steps = {1}, .end_step = 50, .modes = {{mode::eval, {.save_interval = 2}}}};
    CHECK(config.in(mode::train) == save_config_mode{.save_interval = 10, .save_steps = {1}, .end_step = 50});
    CHECK(config.in(mode::global) == config.in(mode::train));
    CHECK(config.in(mode::eval) == save_config_mode{.save_interval = 2});
}

TEST_CASE("save_config: stands where a collection's config is wanted, with all four modes") {
    const collection group{
        .name = "g", .save_config = save_config{.save_interval = 3, .modes = {{mode::predict, {.save_interval = 1}}}}};
    REQUIRE(group.save_config.has_value());
    REQUIRE(group.save_config->size() == 4);
    CHECK(group.save_config->at(mode::train).save_interval == 3);
    CHECK(group.save_config->at(mode::eval).save_interval == 3);
    CHECK(group.save_config->at(mode::predict).save_interval == 1);
    CHECK(group.save_config->at(mode::global).save_interval == 3);
}

TEST_CASE("save_config: what has no meaning is refused by name and value") {
    CHECK(wrong_with({}).empty());
    CHECK(wrong_with({.save_interval = 1, .save_steps = {0}, .start_step = 0, .end_step = 1}).empty());
    CHECK(wrong_with({.save_interval = 0}) == "save_config.save_interval is 0: it must be 1 or more");
    CHECK(wrong_with({.save_steps = {3, -2}}) == "save_config.save_steps is -2: steps are counted from 0");
    CHECK(wrong_with({.start_step = -1}) == "save_config.start_step is -1: steps are counted from 0");
    CHECK(wrong_with({.end_step = -1}) ==
          "save_config.end_step is -1: steps are counted from 0; leave it out to go on to the end");
    CHECK(wrong_with({.modes = {{mode::eval, {.save_interval = -3}}}}) ==
          "save_config.modes[EVAL].save_interval is -3: it must be 1 or more");
}

TEST_CASE("save_config: says of the golden run `collections` what the Python package saved there") {
    const std::filesystem::path run = SMDEBUG_TEST_DATA "/golden/collections";
    smdebug::detail::json::document parser;
    smdebug::detail::collections_file file;
    const std::string text = smdebug_test::file_content(run / "collections/000000000/worker_0_collections.json");
    REQUIRE_FALSE(parse_collections_file(as_bytes(text), parser, file).has_value());
    // A tensor of each collection that was saved and that every step of these modes has.
    const std::map<std::string, std::pair<std::string, std::set<mode>>> witness{
        {"weights", {"TinyNet_dec.weight", {mode::train, mode::eval}}},
        {"losses", {"CrossEntropyLoss_output_0", {mode::train, mode::eval}}},
        {"relu_out", {"relu_output_0", {mode::train, mode::eval}}},
        {"eval_only", {"dec_output_0", {mode::train, mode::eval}}},
        {"norms", {"smdebug/reductions/l1/gradient/TinyNet_enc.bias", {mode::train}}}};
    std::map<std::pair<mode, step_number>, std::set<std::string>> saved;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{run / "index"}) {
        if (!entry.is_regular_file()) {
            continue;
        }
        const std::string bytes = smdebug_test::file_content(entry.path());
        smdebug::detail::index_file::meta head;
        std::set<std::string> names;
        REQUIRE_FALSE(smdebug::detail::index_file::parse(
                          as_bytes(bytes), parser, head,
                          [&](const smdebug::detail::index_file::location& place) { names.emplace(place.tensor_name); },
                          [](const smdebug::detail::index_file::saved_shape&) {})
                          .has_value());
        saved[{head.mode, head.mode_step}] = names;
    }
    CHECK(saved.size() == 6);
    for (const mode which : {mode::train, mode::eval}) {
        for (step_number step = 0; step < (which == mode::train ? 5 : 3); ++step) {
            for (const auto& [name, what] : witness) {
                CAPTURE(name);
                CAPTURE(step);
                const bool due = is_due(file.collections.at(name).save_config->at(which), step);
                const bool expected = saved[{which, step}].contains(what.first);
                CHECK((due && what.second.contains(which)) == expected);
            }
        }
    }
}
