#include <smdebug/hook/collection_set.hpp>

#include <smdebug/hook/hook_options.hpp>
#include <smdebug/index/collections_file.hpp>

#define SMDEBUG_TEST_COUNT_ALLOCATIONS
#include <support/allocation_count.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

namespace {

using texts = std::vector<std::string>;

texts names(const collection_set& set, const collection_set::membership& tensor) {
    texts out;
    for (const std::uint32_t number : tensor.collections) {
        out.push_back(set[number].name);
    }
    return out;
}

texts due_names(const collection_set& set, const collection_set::membership& tensor) {
    texts out;
    set.for_each_due(tensor, [&](std::uint32_t number) { out.push_back(set[number].name); });
    return out;
}

texts reductions(const reduction_plan& plan) {
    texts out;
    for (const reduction_key key : plan.order) {
        out.push_back(key.name());
    }
    return out;
}

const collection_set::membership& put(collection_set& set, std::string_view name,
                                      const std::vector<std::string_view>& into) {
    return set.add(name, into);
}

bool due_at(collection_set& set, std::string_view name, mode which, step_number step) {
    set.begin_step(which, step);
    return set.due(set.of(name));
}

constexpr auto in_training = mode::train;

}  // namespace

TEST_CASE("collection_set: losses alone are saved unless something is included") {
    collection_set set{hook_options{}};
    CHECK(names(set, set.of("CrossEntropyLoss_output_0")) == texts{"losses"});
    CHECK(names(set, set.of("fc.weight")).empty());
    CHECK(set.begin_step(in_training, 0));
    CHECK(set.any_due());
    CHECK(set.due(set.of("CrossEntropyLoss_output_0")));
    CHECK_FALSE(set.due(set.of("fc.weight")));
    CHECK_FALSE(set.begin_step(in_training, 1));
    CHECK_FALSE(set.any_due());
    CHECK_FALSE(set.due(set.of("CrossEntropyLoss_output_0")));
}

TEST_CASE("collection_set: what is called a loss is one, unless the options say otherwise") {
    collection_set set{hook_options{}};
    for (const char* loss : {"loss", "Loss", "train_loss", "val/loss", "eval.loss", "TripletLoss", "LOSS", "l2loss"}) {
        CAPTURE(loss);
        CHECK(names(set, set.of(loss)) == texts{"losses"});
    }
    for (const char* other : {"gloss", "loss_scale", "lossless", "gradient/loss", "x", "blossom", "weight"}) {
        CAPTURE(other);
        CHECK(names(set, set.of(other)).empty());
    }
    collection_set no_more_than_the_package{{.loss_regex = {}}};
    CHECK(names(no_more_than_the_package, no_more_than_the_package.of("loss")).empty());
    CHECK(no_more_than_the_package.file(1).collections.at("losses").include_regex ==
          detail::known_collections::regexes_of("losses"));
    collection_set rarely{{.collections = {{.name = "losses", .save_config = save_config{.save_interval = 5}}}}};
    CHECK(names(rarely, rarely.of("loss")) == texts{"losses"});
    collection_set own{{.collections = {{.name = "losses", .include_regex = {"^cost$"}}}}};
    CHECK(names(own, own.of("loss")).empty());
    CHECK(names(own, own.of("cost")) == texts{"losses"});
}

TEST_CASE("collection_set: knows which tensors came that no saved collection holds, in their order") {
    collection_set set{hook_options{}};
    for (const char* name : {"x", "loss", "z", "a", "put"}) {
        static_cast<void>(set.of(name));
        static_cast<void>(set.of(name));
    }
    CHECK(set.unsaved() == texts{"x", "z", "a", "put"});
    put(set, "put", {"mine"});
    set.note_watched("z");
    set.note_watched("never seen");
    CHECK(set.unsaved() == texts{"x", "a"});
    CHECK(set.unsaved_count() == 2);
    set.save_everything(true);
    static_cast<void>(set.of("x"));
    static_cast<void>(set.of("new"));
    set.save_everything(false);
    CHECK(set.unsaved() == texts{"a"});
    put(set, "z", {"mine"});
    put(set, "a", {"mine"});
    CHECK(set.unsaved_count() == 0);
}

TEST_CASE("collection_set: built-in collections take tensors by the Python package's regexes") {
    collection_set set{{.include_collections = {"weights", "biases", "gradients"}}};
    CHECK(names(set, set.of("fc.weight")) == texts{"weights"});
    CHECK(names(set, set.of("fc.bias")) == texts{"biases"});
    CHECK(names(set, set.of("gradient/fc.weight")) == texts{"gradients"});
    CHECK(names(set, set.of("relu_output_0")).empty());
}

TEST_CASE("collection_set: what is included need not be known, what is known need not be included") {
    collection_set set{{.collections = {{.name = "mine", .include_regex = {"^my_"}},
                                        {.name = "other", .include_regex = {"^my_"}},
                                        {.name = "listed", .tensor_names = {"x"}}},
                        .include_collections = {"mine", "new", "labels", "listed"}}};
    CHECK(names(set, set.of("my_tensor")) == texts{"mine"});
    CHECK(names(set, set.of("x")) == texts{"listed"});
    CHECK(names(set, set.of("labels")) == texts{"labels"});  // by the regex that goes with the name
    REQUIRE(set.find("new").has_value());
    CHECK(set.included(*set.find("new")));
    CHECK(set[*set.find("new")].include_regex.empty());
    CHECK_FALSE(set.included(*set.find("other")));
    CHECK_FALSE(set.find("missing").has_value());
}

TEST_CASE("collection_set: settings for a built-in collection keep its regexes unless they bring their own") {
    collection_set set{{.collections = {{.name = "weights", .save_config = save_config{.save_interval = 2}},
                                        {.name = "biases", .include_regex = {"^b"}}},
                        .include_collections = {"weights", "biases"}}};
    CHECK(names(set, set.of("fc.weight")) == texts{"weights"});
    CHECK(names(set, set.of("fc.bias")).empty());
    CHECK(names(set, set.of("b1")) == texts{"biases"});
    CHECK(due_at(set, "fc.weight", in_training, 2));
    CHECK_FALSE(due_at(set, "b1", in_training, 2));
}

TEST_CASE("collection_set: include_regex goes to `default`, which is then saved") {
    collection_set set{{.include_regex = {"relu", "^fc"}}};
    CHECK(names(set, set.of("relu_output_0")) == texts{"default"});
    CHECK(names(set, set.of("fc.weight")) == texts{"default"});
    CHECK(names(set, set.of("conv.weight")).empty());
    CHECK(set.file(1).collections.at("default").include_regex == texts{"relu", "^fc"});
}

TEST_CASE("collection_set: save_all takes everything into `all`, and saves every collection") {
    collection_set set{{.collections = {{.name = "mine", .include_regex = {"^fc"}}}, .save_all = true}};
    CHECK(names(set, set.of("fc.weight")) == texts{"all", "weights", "mine"});
    CHECK(names(set, set.of("anything")) == texts{"all"});
    collection_set by_name{{.include_collections = {"all"}}};
    CHECK(names(by_name, by_name.of("fc.weight")) == texts{"weights"});  // `all` has no regex of its own
    CHECK(names(by_name, by_name.of("anything")).empty());
}

TEST_CASE("collection_set: a tensor that is put into a collection is saved for it, included or not") {
    collection_set set{
        {.save_config = {.save_interval = 2}, .collections = {{.name = "extras", .include_regex = {"^my_"}}}}};
    set.begin_step(in_training, 0);
    CHECK(names(set, put(set, "my_np", {"extras"})) == texts{"extras"});
    CHECK(names(set, put(set, "my_tensor", {"default"})) == texts{"default"});
    CHECK(names(set, put(set, "x", {"made", "default"})) == texts{"default", "made"});
    CHECK(set.due(set.of("x")));
    CHECK(set.due(set.of("my_np")));
    CHECK(names(set, set.of("my_other")).empty());  // the regex counts only for what is included
    CHECK_FALSE(due_at(set, "x", in_training, 1));
    // As the golden run `scalars` has them.
    const smdebug::detail::collections_file file = set.file(1);
    CHECK(file.collections.at("extras").tensor_names == texts{"my_np"});
    CHECK(file.collections.at("default").tensor_names == texts{"my_tensor", "x"});
    CHECK(file.collections.at("made").tensor_names == texts{"x"});
    CHECK(file.collections.at("made").save_config->at(mode::eval).save_interval == 2);
}

TEST_CASE("collection_set: lists the collections of the options without a tensor so far") {
    collection_set set{{.collections = {{.name = "mine", .include_regex = {"^my_"}},
                                        {.name = "fed", .save_config = save_config{.save_interval = 1}},
                                        {.name = "listed", .tensor_names = {"x"}}},
                        .include_collections = {"mine", "others", "listed", "biases", "all"}}};
    CHECK(set.unmatched() == texts{"biases", "mine", "fed", "listed", "others"});
    static_cast<void>(set.of("x"));
    static_cast<void>(set.of("fc.weight"));
    put(set, "anything", {"fed"});
    CHECK(set.unmatched() == texts{"biases", "mine", "others"});
    static_cast<void>(set.of("fc.bias"));
    static_cast<void>(set.of("my_tensor"));
    CHECK(set.unmatched() == texts{"others"});
    CHECK(collection_set{hook_options{}}.unmatched().empty());
}

TEST_CASE("collection_set: nothing is due that nothing was put into") {
    collection_set set{{.save_config = {.save_interval = 1},
                        .collections = {{.name = "losses", .save_config = save_config{.save_interval = 100}}}}};
    CHECK_FALSE(set.begin_step(in_training, 1));
    CHECK_FALSE(set.due(*set.find("default")));
    put(set, "x", {"default"});
    CHECK(set.any_due());
    CHECK(set.due(*set.find("default")));
    CHECK(set.begin_step(in_training, 2));
}

TEST_CASE("collection_set: without a collection, what belongs to none is put into `default`") {
    collection_set set{{.include_collections = {"weights"}}};
    CHECK(names(set, put(set, "fc.weight", {})) == texts{"weights"});
    CHECK(names(set, put(set, "free", {})) == texts{"default"});
    CHECK(names(set, put(set, "free", {"weights"})) == texts{"default", "weights"});
    CHECK(names(set, set.of("free")) == texts{"default", "weights"});
}

TEST_CASE("collection_set: a tensor that is known is looked up without an allocation, at every step") {
    collection_set set{{.save_config = {.save_interval = 2, .modes = {{mode::eval, {.save_interval = 1}}}},
                        .reduction_config = {{.reductions = {"min", "max"}}},
                        .include_collections = {"weights", "gradients"},
                        .save_all = true}};
    const std::string name = "gradient/a/name/that/is/too/long/to/be/kept/in/a/string/itself.weight";
    std::size_t written = 0;
    const auto steps = [&] {
        for (step_number step = 0; step < 4; ++step) {
            for (const mode which : {mode::train, mode::eval}) {
                set.begin_step(which, step);
                const auto& tensor = set.of(name);
                written += set.due(tensor) ? set.due_plan(tensor).order.size() : 0;
            }
        }
    };
    steps();
    CHECK(written == 12);
    CHECK(smdebug_test::allocations_of(steps) == 0);
}

TEST_CASE("collection_set: memberships stay where they are") {
    collection_set set{{.include_collections = {"weights"}}};
    const auto* const first = &set.of("fc.weight");
    for (int i = 0; i < 1000; ++i) {
        static_cast<void>(set.of("tensor_" + std::to_string(i)));
    }
    put(set, "fc.weight", {"new"});
    CHECK(&set.of("fc.weight") == first);
    CHECK(names(set, *first) == texts{"weights", "new"});
}

TEST_CASE("collection_set: gradients are left alone in EVAL and PREDICT") {
    collection_set set{
        {.save_config = {.save_interval = 1}, .include_collections = {"gradients", "optimizer_variables"}}};
    put(set, "adam", {"optimizer_variables"});
    for (const auto& [which, expected] :
         std::map<mode, bool>{{mode::train, true}, {mode::global, true}, {mode::eval, false}, {mode::predict, false}}) {
        CAPTURE(name_of(which));
        CHECK(due_at(set, "gradient/w", which, 0) == expected);
        CHECK(due_at(set, "adam", which, 0) == expected);
    }
}

TEST_CASE("collection_set: a mode that a collection's config lacks is the hook's") {
    collection_set set{
        {.save_config = {.save_interval = 3},
         .collections = {{.name = "g", .include_regex = {"x"}, .save_config = {{{mode::eval, {.save_interval = 2}}}}}},
         .include_collections = {"g"}}};
    CHECK(due_at(set, "x", mode::eval, 2));
    CHECK_FALSE(due_at(set, "x", mode::eval, 3));
    CHECK(due_at(set, "x", mode::train, 3));
    CHECK_FALSE(due_at(set, "x", mode::train, 2));
    CHECK(set[*set.find("g")].save_config->size() == 4);
}

TEST_CASE(
    "collection_set: of a tensor in several due collections each reduction is written once, values if any says so") {
    collection_set set{{.save_config = {.save_interval = 4},
                        .reduction_config = {{.reductions = {"min", "mean"}}},
                        .collections = {{.name = "often",
                                         .include_regex = {"w"},
                                         .save_config = save_config{.save_interval = 1},
                                         .reduction_config = {{.reductions = {"mean", "abs_max"}, .save_shape = true}}},
                                        {.name = "raw",
                                         .include_regex = {"w"},
                                         .save_config = save_config{.save_interval = 2},
                                         .reduction_config = {{.save_raw_tensor = true}}}},
                        .include_collections = {"weights", "often", "raw"}}};
    const auto& tensor = set.of("fc.weight");
    set.begin_step(in_training, 1);
    CHECK(due_names(set, tensor) == texts{"often"});
    CHECK(reductions(set.due_plan(tensor)) == texts{"mean", "abs_max"});
    CHECK(set.due_plan(tensor).shape);
    CHECK_FALSE(set.due_plan(tensor).raw);
    set.begin_step(in_training, 2);
    CHECK(due_names(set, tensor) == texts{"often", "raw"});
    CHECK(reductions(set.due_plan(tensor)) == texts{"mean", "abs_max"});
    CHECK(set.due_plan(tensor).raw);
    set.begin_step(in_training, 4);
    CHECK(reductions(set.due_plan(tensor)) == texts{"min", "mean", "abs_max"});
    CHECK(set.due_plan(tensor).raw);
    set.begin_step(in_training, 3);
    CHECK(reductions(set.due_plan(tensor)) == texts{"mean", "abs_max"});
    put(set, "fc.weight", {"losses"});
    CHECK(reductions(set.due_plan(tensor)) == texts{"mean", "abs_max"});
    put(set, "fc.weight", {"raw"});  // is there already
    CHECK_FALSE(set.due_plan(tensor).raw);
}

TEST_CASE("collection_set: collections of single numbers have no reductions and no histogram, whatever is configured") {
    collection_set set{
        {.reduction_config = {{.reductions = {"min"}}},
         .collections = {{.name = "losses", .reduction_config = {{.norms = {"l1"}}}}, {.name = "metrics"}},
         .include_collections = {"metrics", "weights"}}};
    for (const char* name : {"losses", "metrics"}) {
        CAPTURE(name);
        const std::uint32_t number = set.find(name).value();
        CHECK(set.plan(number).order.empty());
        CHECK(set.plan(number).raw);
        CHECK_FALSE(set[number].save_histogram);
        CHECK(set[number].reduction_config == reduction_config{.save_raw_tensor = true});
    }
    CHECK(reductions(set.plan(set.find("weights").value())) == texts{"min"});
    CHECK(set[set.find("weights").value()].save_histogram);
}

TEST_CASE("collection_set: while everything is saved, every tensor is due and belongs to `all`") {
    collection_set set{{.reduction_config = {{.reductions = {"mean"}}}, .include_collections = {"gradients"}}};
    const auto& gradient = set.of("gradient/w");
    set.begin_step(mode::eval, 1);
    CHECK_FALSE(set.due(gradient));
    CHECK(set.due_plan(gradient).empty());
    set.save_everything(true);
    CHECK(set.any_due());
    CHECK(set.begin_step(mode::eval, 2));
    CHECK(set.due(gradient));
    CHECK(set.due(set.of("never_included")));
    CHECK(due_names(set, set.of("never_included")) == texts{"all"});
    CHECK(due_names(set, gradient) == texts{"all", "gradients"});
    CHECK(reductions(set.due_plan(gradient)) == texts{"mean"});
    CHECK(reductions(set.due_plan(set.of("never_included"))) == texts{"mean"});
    CHECK(set.file(1).collections.at("all").tensor_names == texts{"never_included"});
    CHECK(names(set, set.of("gradient/w")) == texts{"gradients"});
    CHECK(set.file(1).collections.at("all").tensor_names == texts{"gradient/w", "never_included"});
    set.save_everything(false);
    CHECK_FALSE(set.any_due());
    set.begin_step(mode::eval, 0);
    CHECK_FALSE(set.due(set.of("never_included")));
    CHECK(set.due_plan(gradient).empty());
    CHECK(due_names(set, set.of("never_included")).empty());
}

TEST_CASE("collection_set: changed() is true until file() is called, and after a new name or collection") {
    collection_set set{{.include_collections = {"weights"}}};
    CHECK(set.changed());
    CHECK(set.file(3).num_workers == 3);
    CHECK_FALSE(set.changed());
    static_cast<void>(set.of("not_saved"));
    CHECK_FALSE(set.changed());
    static_cast<void>(set.of("fc.weight"));
    CHECK(set.changed());
    static_cast<void>(set.file(1));
    static_cast<void>(set.of("fc.weight"));
    CHECK_FALSE(set.changed());
    put(set, "fc.weight", {"new"});
    CHECK(set.changed());
    static_cast<void>(set.file(1));
    put(set, "fc.weight", {"new", "weights"});
    CHECK_FALSE(set.changed());
}

TEST_CASE("collection_set: bad options are refused as check does") {
    CHECK_THROWS_AS(collection_set(hook_options{.save_config = {.save_interval = 0}}), value_error);
    CHECK_THROWS_AS(collection_set(hook_options{.include_regex = {"("}}), value_error);
}

TEST_CASE("collection_set: a regex that takes too long on a name is an error, each time, and nothing is noted") {
    collection_set set{{.include_regex = {"^(?:(a+)+)+$(?<=b)"}}};
    static_cast<void>(set.file(1));
    const std::string name = std::string(200, 'a') + "!";
    CHECK_THROWS_AS(static_cast<void>(set.of(name)), value_error);
    CHECK_THROWS_AS(static_cast<void>(set.of(name)), value_error);
    CHECK_FALSE(set.changed());
}

TEST_CASE("collection_set: a collection that a tensor is put into has a name that a file can hold") {
    collection_set set{hook_options{}};
    const std::array<std::string_view, 1> bad{"\xff"};
    const std::array<std::string_view, 1> empty{""};
    CHECK_THROWS_AS(set.add("x", bad), value_error);
    CHECK_THROWS_AS(set.add("x", empty), value_error);
    CHECK(set.file(1).collections.size() == 6);
}

TEST_CASE("collection_set: what an earlier file of the run says is kept") {
    collection_set earlier{hook_options{.include_collections = {"weights"}}};
    const std::array<std::string_view, 1> mine{"mine"};
    earlier.add("x", mine);
    static_cast<void>(earlier.of("a.weight"));
    collection_set set{hook_options{.include_collections = {"weights"}}};
    static_cast<void>(set.file(1));
    CHECK_FALSE(set.changed());
    set.adopt(earlier.file(1));
    CHECK(set.changed());
    static_cast<void>(set.of("b.weight"));
    const smdebug::detail::collections_file file = set.file(1);
    CHECK(file.collections.at("mine").tensor_names == std::vector<std::string>{"x"});
    CHECK(file.collections.at("weights").tensor_names == std::vector<std::string>{"a.weight", "b.weight"});
}

namespace {

const std::map<mode, save_config_mode> every_third = save_config{.save_interval = 3};
const reduction_config min_alone{.reductions = {"min"}};

}  // namespace

TEST_CASE("saved_collection: what is not said is filled in") {
    const saved_collection bare{{.name = "g"}, every_third, min_alone};
    CHECK(bare.configured.save_config == every_third);
    CHECK(bare.configured.reduction_config == min_alone);
    CHECK(bare.plan.order == std::vector<reduction_key>{{reduction::min, false}});
    CHECK(bare.when[place_of(mode::predict)].save_interval == 3);
    CHECK_FALSE(bare.included);
    CHECK_FALSE(bare.used);

    const saved_collection own{{.name = "g",
                                .save_config = {{{mode::eval, {.save_interval = 2}}}},
                                .reduction_config = {{.save_shape = true}}},
                               every_third,
                               min_alone};
    CHECK(own.when[place_of(mode::eval)].save_interval == 2);
    CHECK(own.when[place_of(mode::train)].save_interval == 3);
    CHECK(own.plan.order.empty());
    CHECK(own.plan.shape);
}

TEST_CASE("saved_collection: takes tensors by names and by regexes, its own or those that go with its name") {
    const saved_collection built_in{{.name = "weights"}, every_third, min_alone};
    CHECK(built_in.takes("fc.weight"));
    CHECK_FALSE(built_in.takes("gradient/fc.weight"));
    const saved_collection named{{.name = "weights", .tensor_names = {"x"}}, every_third, min_alone};
    CHECK(named.takes("x"));
    CHECK_FALSE(named.takes("fc.weight"));
    const saved_collection own{{.name = "weights", .include_regex = {"^a", "b$"}}, every_third, min_alone};
    CHECK(own.takes("ax"));
    CHECK(own.takes("xb"));
    CHECK_FALSE(own.takes("fc.weight"));
    CHECK_FALSE(saved_collection({.name = "all"}, every_third, min_alone).takes("x"));
}

TEST_CASE("saved_collection: exports the names that it was given and those that it has noted, in order") {
    saved_collection group{{.name = "g", .tensor_names = {"m"}}, every_third, min_alone};
    CHECK(group.note("z"));
    CHECK(group.note("a"));
    CHECK_FALSE(group.note("z"));
    CHECK_FALSE(group.note("m"));
    CHECK(group.takes("z"));
    CHECK(group.exported().tensor_names == texts{"a", "m", "z"});
    CHECK(group.configured.tensor_names == texts{"m"});
}

TEST_CASE("saved_collection: is due by its mode's settings; gradients only where training goes on") {
    const saved_collection group{{.name = "g"}, every_third, min_alone};
    CHECK(group.is_due(mode::eval, 3));
    CHECK_FALSE(group.is_due(mode::eval, 4));
    const saved_collection gradients{{.name = "gradients"}, every_third, min_alone};
    CHECK(gradients.is_due(mode::train, 3));
    CHECK(gradients.is_due(mode::global, 3));
    CHECK_FALSE(gradients.is_due(mode::eval, 3));
    CHECK_FALSE(gradients.is_due(mode::predict, 3));
}

TEST_CASE("saved_collection: single numbers are saved as they are") {
    const saved_collection losses{{.name = "losses", .reduction_config = min_alone}, every_third, min_alone};
    CHECK(losses.plan.raw);
    CHECK(losses.plan.order.empty());
    CHECK_FALSE(losses.configured.save_histogram);
    CHECK(losses.configured.reduction_config == reduction_config{.save_raw_tensor = true});
}
