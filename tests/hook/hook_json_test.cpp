#include <smdebug/hook/collection_set.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/hook/hook_json.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <support/environment_variable.hpp>
#include <support/temporary_folder.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;
using smdebug_test::environment_variable;

namespace {

using texts = std::vector<std::string>;

hook_options options_of(std::string_view text) { return hook_options_from_json(as_bytes(text), "hook.json"); }

std::string wrong_with(std::string_view text) {
    try {
        static_cast<void>(options_of(text));
    } catch (const value_error& thrown) {
        CHECK(thrown.where() == "hook.json");
        return std::string{thrown.message()};
    }
    return "";
}

}  // namespace

TEST_CASE("hook_json: reads all sections, numbers as texts and as numbers") {
    const hook_options options = options_of(R"({
        "S3OutputPath": "s3://bucket/prefix", "LocalPath": "/runs/here", "RuleConfigurations": [1],
        "HookParameters": {"save_all": "false", "include_regex": "relu, ^fc", "save_interval": "100",
                           "save_steps": "1, 2,3", "start_step": 1, "end_step": " 1000000 ",
                           "train.save_interval": 10, "reductions": "min,abs_max,l1_norm,abs_l2_norm",
                           "save_raw_tensor": true, "save_shape": "True", "include_workers": "all",
                           "export_tensorboard": "true", "tensorboard_dir": "/tb"},
        "CollectionConfigurations": [
            {"CollectionName": "mine",
             "CollectionParameters": {"include_regex": ["z{1,2}", "b"], "eval.save_interval": "7", "start_step": "5",
                                      "reductions": "mean", "save_histogram": false}},
            {"CollectionName": "weights", "CollectionParameters": {"include_regex": "kernel"}},
            {"CollectionName": "gradients", "CollectionParameters": null},
            {"CollectionName": "biases"}]})");
    CHECK(options.out_dir == "/runs/here");
    CHECK_FALSE(options.save_all);
    CHECK(options.include_regex == texts{"relu", "^fc"});
    CHECK(options.include_workers == include_workers::all);
    CHECK(options.export_tensorboard);
    CHECK(options.tensorboard_dir == "/tb");
    const save_config_mode all{.save_interval = 100, .save_steps = {1, 2, 3}, .start_step = 1, .end_step = 1000000};
    CHECK(options.save_config.in(mode::global) == all);
    CHECK(options.save_config.modes.size() == 1);
    CHECK(options.save_config.in(mode::train) ==
          save_config_mode{.save_interval = 10, .save_steps = {1, 2, 3}, .start_step = 1, .end_step = 1000000});
    REQUIRE(options.reduction_config.has_value());
    CHECK(*options.reduction_config == reduction_config{.reductions = {"min", "abs_max", "l1_norm", "abs_l2_norm"},
                                                        .save_raw_tensor = true,
                                                        .save_shape = true});
    CHECK(options.include_collections == texts{"mine", "weights", "gradients", "biases"});
    REQUIRE(options.collections.size() == 4);
    const collection& mine = options.collections[0];
    CHECK(mine.name == "mine");
    CHECK(mine.include_regex == texts{"z{1,2}", "b"});
    CHECK_FALSE(mine.save_histogram);
    CHECK(mine.reduction_config == reduction_config{.reductions = {"mean"}});
    CHECK(mine.save_config->at(mode::eval) ==
          save_config_mode{.save_interval = 7, .save_steps = {1, 2, 3}, .start_step = 5, .end_step = 1000000});
    CHECK(mine.save_config->at(mode::train).save_interval == 10);
    CHECK(mine.save_config->at(mode::global).save_interval == 100);
    CHECK(options.collections[1].include_regex == texts{"^(?!gradient).*weight", "kernel"});
    CHECK(options.collections[2].include_regex.empty());
    CHECK_FALSE(options.collections[3].reduction_config.has_value());
    collection_set set{options};
    CHECK(set.of("gradient/w").collections.size() == 1);
    CHECK(set.of("dense/kernel").collections.size() == 1);
}

TEST_CASE("hook_json: missing and null values give default options") {
    for (
        const std::string_view text :
        {R"({})", R"({"LocalPath": null, "HookParameters": null, "CollectionConfigurations": null})",
         R"({"HookParameters": {}, "CollectionConfigurations": []})",
         R"({"HookParameters": {"save_interval": null, "reductions": null, "include_regex": null, "save_all": null}})"}) {
        CAPTURE(text);
        const hook_options options = options_of(text);
        CHECK(options.out_dir == "/opt/ml/output/tensors");
        CHECK(options.save_config.in(mode::train) == save_config_mode{});
        CHECK(options.save_config.modes.empty());
        CHECK_FALSE(options.reduction_config.has_value());
        CHECK(options.include_collections.empty());
        CHECK(options.include_regex.empty());
        CHECK_FALSE(options.save_all);
        CHECK(options.include_workers == include_workers::one);
        CHECK_FALSE(options.export_tensorboard);
    }
    CHECK(options_of(R"({"LocalPath": "/my/smdebug_hook/path"})").out_dir == "/my/smdebug_hook/path");
}

TEST_CASE("hook_json: save_raw_tensor and save_shape count beside reductions alone, which may be none") {
    const auto what = [](std::string_view parameters) {
        return options_of(R"({"HookParameters": )" + std::string{parameters} + "}").reduction_config;
    };
    CHECK_FALSE(what(R"({"save_raw_tensor": false})").has_value());
    CHECK_FALSE(what(R"({"save_raw_tensor": "true"})").has_value());
    CHECK_FALSE(what(R"({"save_shape": true})").has_value());
    CHECK(what(R"({"reductions": ""})") == reduction_config{});
    CHECK(what(R"({"reductions": "", "save_shape": true})") == reduction_config{.save_shape = true});
    CHECK(what(R"({"reductions": "min,,max", "save_raw_tensor": true})") ==
          reduction_config{.reductions = {"min", "max"}, .save_raw_tensor = true});
    CHECK(what(R"({"reductions": ["mean", "abs_l1_norm"]})") ==
          reduction_config{.reductions = {"mean", "abs_l1_norm"}});
}

// What the Python package writes of a weight and of a loss at step 0 under the same configurations.
TEST_CASE("hook_json: hooks save what the Python package saves by the same file") {
    struct expected {
        std::string_view sections;
        texts tensors;  // at step 0, in the order of the file
        texts shapes;
    };
    const std::string weight = "fc.weight";
    const std::string loss = "NLLLoss_output_0";
    const auto reduced = [&](const std::string& name) { return "smdebug/reductions/" + name + "/" + weight; };
    const std::vector<expected> cases{
        // Shapes are not saved without reductions.
        {R"("HookParameters": {"save_shape": true}, "CollectionConfigurations": [{"CollectionName": "weights"}])",
         {weight, loss},
         {}},
        {R"("HookParameters": {"save_shape": true, "reductions": ""},
            "CollectionConfigurations": [{"CollectionName": "weights"}])",
         {loss},
         {weight}},
        // A collection without reductions has the hook's, whatever else it says.
        {R"("HookParameters": {"reductions": "min,max"}, "CollectionConfigurations": [
            {"CollectionName": "weights", "CollectionParameters": {"save_raw_tensor": true}}])",
         {reduced("min"), reduced("max"), loss},
         {}},
        {R"("HookParameters": {"reductions": "min"}, "CollectionConfigurations": [
            {"CollectionName": "weights", "CollectionParameters": {"reductions": "", "save_raw_tensor": true}}])",
         {weight, loss},
         {}},
        {R"("CollectionConfigurations": [{"CollectionName": "weights", "CollectionParameters": {"reductions": ""}}])",
         {loss},
         {}},
        // Switched off, as the package's documentation does it.
        {R"("CollectionConfigurations": [{"CollectionName": "weights", "CollectionParameters": {"end_step": 0}}])",
         {loss},
         {}},
        {R"("HookParameters": {"end_step": "0"}, "CollectionConfigurations": [{"CollectionName": "weights"}])", {}, {}},
        {R"("HookParameters": {"end_step": 10}, "CollectionConfigurations": [
            {"CollectionName": "weights", "CollectionParameters": {"start_step": 20}}])",
         {loss},
         {}},
        // An empty regex is found in every name.
        {R"("HookParameters": {"include_regex": "relu,"})", {weight, loss}, {}},
        {R"("HookParameters": {"include_regex": ""})", {weight, loss}, {}},
        {R"("HookParameters": {"include_regex": "relu"})", {loss}, {}},
        {R"("HookParameters": {"save_all": 1})", {weight, loss}, {}},
        {R"("CollectionConfigurations": [{"CollectionName": "losses"}])", {loss}, {}},  // and no "train_loss"
        {R"("HookParameters": {"save_all": 0.0, "save_interval": 2.0, "start_step": "+1"})", {}, {}},
    };
    for (const expected& each : cases) {
        CAPTURE(each.sections);
        const memory_storage store;
        {
            hook_options options = options_of("{" + std::string{each.sections} + "}");
            options.on_note = [](const std::string&) {};
            basic_hook<memory_storage> hook(store, options);
            hook.save_tensor(weight, std::vector<float>{1, 2}, {2});
            hook.save_tensor(loss, std::vector<float>{3}, {1});
            if (each.tensors != texts{weight, loss}) {
                CHECK_FALSE(hook.save_tensor("train_loss", std::vector<float>{3}, {1}));
            }
            hook.end_step();
        }
        texts tensors;
        texts shapes;
        for (const std::string& key : store.list("index/", "")) {
            smdebug::detail::json::document parser;
            smdebug::detail::index_file::meta head;
            const byte_buffer bytes = store.read(key);
            REQUIRE_FALSE(smdebug::detail::index_file::parse(
                              bytes.view(), parser, head,
                              [&](const smdebug::detail::index_file::location& place) {
                                  tensors.emplace_back(place.tensor_name);
                              },
                              [&](const smdebug::detail::index_file::saved_shape& shape) {
                                  shapes.emplace_back(shape.tensor_name);
                              })
                              .has_value());
        }
        CHECK(tensors == each.tensors);
        CHECK(shapes == each.shapes);
    }
}

TEST_CASE("hook_json: a regex of a known collection is added to those of its name") {
    const hook_options options = options_of(R"({"CollectionConfigurations": [
        {"CollectionName": "weights", "CollectionParameters": {"include_regex": "kernel,"}}]})");
    CHECK(options.collections.at(0).include_regex == texts{"^(?!gradient).*weight", "kernel", ""});
}

TEST_CASE("hook_json: a collection that no tensor can belong to is refused, the package's own are not") {
    const value_error thrown = smdebug_test::caught<value_error>([&] {
        return options_of(R"({"CollectionConfigurations": [
            {"CollectionName": "weights"}, {"CollectionName": "mine", "CollectionParameters": {"save_interval": 1}}]})");
    });
    CHECK(thrown.code() == error_code::invalid_collection_configuration);
    CHECK(thrown.python_name() == "InvalidCollectionConfiguration");
    CHECK(thrown.where() == "hook.json");
    CHECK(thrown.message() ==
          "hook.json: the collection \"mine\" is configured, but no tensor can belong to it: give it an "
          "\"include_regex\" in its CollectionParameters, or take it out");
    for (const char* const known : {"all", "default", "losses", "inputs", "outputs", "layers", "metrics", "sm_metrics",
                                    "optimizer_variables", "trees", "labels"}) {
        CAPTURE(known);
        CHECK_NOTHROW(
            options_of(R"({"CollectionConfigurations": [{"CollectionName": ")" + std::string{known} + R"("}]})"));
    }
    CHECK_NOTHROW(options_of(R"({"CollectionConfigurations": [
        {"CollectionName": "mine"}, {"CollectionName": "mine", "CollectionParameters": {"include_regex": "x"}}]})"));
}

TEST_CASE("hook_json: a misspelt key is refused, with what is meant") {
    struct misspelt {
        std::string_view text;
        std::string_view said;
    };
    constexpr std::string_view has_them_all =
        " is not known: in JSON \"reductions\" has them all, as \"min,abs_max,l2,abs_l1\"";
    const misspelt cases[] = {
        {R"({"HookParameter": {}})", "HookParameter is not known. Did you mean HookParameters?"},
        {R"({"localpath": "x"})", "localpath is not known. Did you mean LocalPath?"},
        {R"({"HookParameters": {"save_intervall": "3"}})",
         "HookParameters.save_intervall is not known. Did you mean save_interval?"},
        {R"({"HookParameters": {"train.save_step": "3"}})",
         "HookParameters.train.save_step is not known. Did you mean"},
        {R"({"HookParameters": {"regex": "a"}})", "HookParameters.regex is not known. Did you mean include_regex?"},
        {R"({"HookParameters": {"reduction": null}})",
         "HookParameters.reduction is not known. Did you mean reductions?"},
        {R"({"CollectionConfigurations": [{"CollectionName": "a", "CollectionParameter": {}}]})",
         "CollectionConfigurations[0].CollectionParameter is not known. Did you mean CollectionParameters"},
        {R"({"CollectionConfigurations": [{"CollectionName": "a", "CollectionParameters": {"save_histograms": 1}}]})",
         "CollectionConfigurations[0].CollectionParameters.save_histograms is not known. Did you mean "
         "save_histogram?"}};
    for (const misspelt& each : cases) {
        CAPTURE(each.text);
        CHECK(wrong_with(each.text).starts_with("hook.json: " + std::string{each.said}));
    }
    for (const std::string key : {"norms", "abs_norms", "abs_reductions"}) {
        CHECK(wrong_with(R"({"HookParameters": {")" + key + R"(": "l2"}})") ==
              "hook.json: HookParameters." + key + std::string{has_them_all});
        CHECK(wrong_with(R"({"CollectionConfigurations": [{"CollectionName": "weights", "CollectionParameters": {")" +
                         key + R"(": "l2"}}]})") ==
              "hook.json: CollectionConfigurations[0].CollectionParameters." + key + std::string{has_them_all});
    }
}

TEST_CASE("hook_json: a key that is not known has no effect, and is a note when the hook is closed") {
    hook_options options = options_of(R"({"S3OutputPath": "s3://a", "RuleConfigurations": [], "Colour": 1,
        "HookParameters": {"dry": "x", "save_interval": 2},
        "CollectionConfigurations": [{"CollectionName": "weights", "Kind": 1, "CollectionParameters": {"save_all": 1}}]})");
    const texts wanted{"hook.json: Colour is not known, and has no effect",
                       "hook.json: HookParameters.dry is not known, and has no effect",
                       "hook.json: CollectionConfigurations[0].Kind is not known, and has no effect",
                       "hook.json: CollectionConfigurations[0].CollectionParameters.save_all is not known, and has no "
                       "effect"};
    CHECK(options.notes == wanted);
    CHECK(options.save_config.save_interval == 2);
    texts told;
    options.on_note = [&](const std::string& note) { told.push_back(note); };
    basic_hook<memory_storage> hook(memory_storage{}, options);
    hook.save_tensor("weight", std::vector<float>{1, 2});
    hook.end_step();
    hook.close();
    CHECK(told == wanted);
}

TEST_CASE("hook_json: a step alone, and lists of steps") {
    const auto steps = [](std::string_view held) {
        return options_of(R"({"HookParameters": {"save_steps": )" + std::string{held} + "}}").save_config.save_steps;
    };
    CHECK(steps(R"("")").empty());
    CHECK(steps(R"(",")").empty());
    CHECK(steps(R"(7)") == std::vector<step_number>{7});
    CHECK(steps(R"("7")") == std::vector<step_number>{7});
    CHECK(steps(R"([1, "2"])") == std::vector<step_number>{1, 2});
}

TEST_CASE("hook_json: a collection that is configured twice takes both, the later one first") {
    const hook_options options = options_of(R"({"CollectionConfigurations": [
        {"CollectionName": "g", "CollectionParameters": {"include_regex": "a", "save_interval": 3, "reductions": "min"}},
        {"CollectionName": "g", "CollectionParameters": {"include_regex": "b", "save_interval": 4}}]})");
    REQUIRE(options.collections.size() == 1);
    CHECK(options.collections[0].include_regex == texts{"a", "b"});
    CHECK(options.collections[0].save_config->at(mode::train).save_interval == 4);
    CHECK(options.collections[0].reduction_config == reduction_config{.reductions = {"min"}});
    CHECK(options.include_collections == texts{"g"});
}

TEST_CASE("hook_json: says which file, which key and what is wrong with it") {
    const auto parameters = [](std::string_view held) {
        return wrong_with(R"({"HookParameters": {)" + std::string{held} + "}}");
    };
    CHECK(wrong_with("") == "hook.json: the hook's configuration is not valid JSON");
    CHECK(wrong_with("{") == "hook.json: the hook's configuration is not valid JSON");
    CHECK(wrong_with("[]") == "hook.json: the hook's configuration is not a JSON object");
    CHECK(wrong_with(R"({"LocalPath": 3})") == "hook.json: LocalPath is not a string");
    CHECK(wrong_with(R"({"HookParameters": "x"})") == "hook.json: HookParameters is not a JSON object");
    CHECK(wrong_with(R"({"CollectionConfigurations": {}})") == "hook.json: CollectionConfigurations is not a list");
    CHECK(wrong_with(R"({"CollectionConfigurations": [3]})") ==
          "hook.json: CollectionConfigurations[0] is not a JSON object");
    CHECK(wrong_with(R"({"CollectionConfigurations": [{"CollectionName": "a"}, {}]})") ==
          "hook.json: CollectionConfigurations[1].CollectionName is missing");
    CHECK(wrong_with(R"({"CollectionConfigurations": [{"CollectionName": 1}]})") ==
          "hook.json: CollectionConfigurations[0].CollectionName is not a string");
    CHECK(wrong_with(R"({"CollectionConfigurations": [{"CollectionName": "a", "CollectionParameters": []}]})") ==
          "hook.json: CollectionConfigurations[0].CollectionParameters is not a JSON object");
    CHECK(wrong_with(R"({"CollectionConfigurations": [{"CollectionName": "a",
                         "CollectionParameters": {"eval.start_step": "soon"}}]})") ==
          "hook.json: CollectionConfigurations[0].CollectionParameters.eval.start_step holds \"soon\", which is not a "
          "whole "
          "number");
    CHECK(wrong_with(R"({"LocalPath": "a", "LocalPath": "b"})") == "hook.json: the key \"LocalPath\" stands twice");
    CHECK(parameters(R"("save_interval": 1, "save_interval": 2)") ==
          "hook.json: HookParameters: the key \"save_interval\" stands twice");
    CHECK(wrong_with(R"({"CollectionConfigurations": [{"CollectionName": "a", "CollectionName": "b"}]})") ==
          "hook.json: CollectionConfigurations[0]: the key \"CollectionName\" stands twice");
    CHECK(parameters(R"("save_interval": "1.5")") ==
          "hook.json: HookParameters.save_interval holds \"1.5\", which is not a whole number");
    CHECK(parameters(R"("save_interval": 1.5)") == "hook.json: HookParameters.save_interval is not a whole number");
    CHECK(parameters(R"("save_interval": "")") ==
          "hook.json: HookParameters.save_interval holds \"\", which is not a whole number");
    CHECK(parameters(R"("save_interval": 0)") == "hook.json: save_config.save_interval is 0: it must be 1 or more");
    CHECK(parameters(R"("save_steps": "1,x")") ==
          "hook.json: HookParameters.save_steps holds \"x\", which is not a whole number");
    CHECK(parameters(R"("save_steps": {})") == "hook.json: HookParameters.save_steps is neither a string nor a list");
    CHECK(parameters(R"("save_steps": [null])") == "hook.json: HookParameters.save_steps is not a whole number");
    CHECK(parameters(R"("include_regex": [3])") ==
          "hook.json: HookParameters.include_regex holds something that is not a string");
    CHECK(parameters(R"("include_regex": 3)") ==
          "hook.json: HookParameters.include_regex holds something that is not a string");
    CHECK(parameters(R"("save_all": "perhaps")") == "hook.json: HookParameters.save_all is neither true nor false");
    CHECK(parameters(R"("save_all": 2)") == "hook.json: HookParameters.save_all is neither true nor false");
    CHECK(parameters(R"("include_workers": "some")") ==
          "hook.json: HookParameters.include_workers is \"some\", neither \"one\" nor \"all\"");
    CHECK(
        parameters(R"("reductions": "median")").starts_with("hook.json: reduction_config.reductions names \"median\""));
    CHECK(parameters(R"("include_regex": "(")").starts_with("hook.json: include_regex: the regular expression"));
}

TEST_CASE("hook_json: the file is the argument's, else the environment's, else in its usual place") {
    const smdebug_test::temporary_folder folder;
    folder.write("argument.json", R"({"LocalPath": "a"})");
    folder.write("environment.json", R"({"LocalPath": "e"})");
    folder.write("bad.json", "{");
    {
        const environment_variable set{"SMDEBUG_CONFIG_FILE_PATH", folder.path() + "/environment.json"};
        CHECK(hook_options_from_json_file(folder.path() + "/argument.json").out_dir == "a");
        CHECK(hook_options_from_json_file().out_dir == "e");
        const not_found thrown = smdebug_test::caught<not_found>(
            [&] { return hook_options_from_json_file(folder.path() + "/missing.json"); });
        const std::string message{thrown.message()};
        CHECK(thrown.where() == folder.path() + "/missing.json");
        CHECK(message.find("missing.json") != std::string::npos);
        CHECK(message.find("SMDEBUG_CONFIG_FILE_PATH") != std::string::npos);
        CHECK(message.find("/opt/ml/input/config/debughookconfig.json") != std::string::npos);
        CHECK_THROWS_AS(static_cast<void>(hook_options_from_json_file(folder.path())), error);
        const value_error refused =
            smdebug_test::caught<value_error>([&] { return hook_options_from_json_file(folder.path() + "/bad.json"); });
        CHECK(std::string{refused.message()}.starts_with(folder.path() + "/bad.json: "));
    }
    const environment_variable empty{"SMDEBUG_CONFIG_FILE_PATH", ""};
    const not_found thrown = smdebug_test::caught<not_found>([&] { return hook_options_from_json_file(); });
    CHECK(thrown.where() == "/opt/ml/input/config/debughookconfig.json");
}
