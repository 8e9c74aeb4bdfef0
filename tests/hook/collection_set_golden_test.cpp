// A golden run: what a set decides, and what the Python package did.
#include <smdebug/hook/collection_set.hpp>
#include <smdebug/index/collections_file.hpp>
#include <smdebug/index/index_file.hpp>

#include <support/temporary_folder.hpp>
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

namespace {

using texts = std::vector<std::string>;

smdebug::detail::collections_file golden_file(const std::filesystem::path& run) {
    smdebug::detail::json::document parser;
    smdebug::detail::collections_file file;
    const std::string text = smdebug_test::file_content(run / "collections/000000000/worker_0_collections.json");
    REQUIRE_FALSE(parse_collections_file(as_bytes(text), parser, file).has_value());
    return file;
}

}  // namespace

// Feeds the tensors that a training made into a set, and compares what it would write with what the Python package did.
TEST_CASE("collection_set: decides in the golden run `collections` as the Python package did") {
    const std::filesystem::path run = SMDEBUG_TEST_DATA "/golden/collections";
    const smdebug::detail::collections_file expected = golden_file(run);
    // As the run was configured.
    collection_set set{
        {.save_config = {.save_interval = 2},
         .collections = {{.name = "relu_out",
                          .include_regex = {"relu.*output", "^enc_input"},
                          .save_config = save_config{.save_interval = 3}},
                         {.name = "by_name",
                          .tensor_names = {"TinyNet_enc.bias", "TinyNet_norm.weight", "never_written"}},
                         {.name = "eval_only",
                          .include_regex = {"dec_output"},
                          .save_config = {{{mode::eval, {.save_steps = {0, 2}, .start_step = 0}},
                                           {mode::train, {.start_step = 100}}}},
                          .save_histogram = false},
                         {.name = "norms",
                          .include_regex = {"^gradient/.*enc"},
                          .save_config = save_config{.save_interval = 1, .start_step = 2, .end_step = 5},
                          .reduction_config = {{.abs_reductions = {"max"}, .norms = {"l1", "l2"}, .save_shape = true}}},
                         {.name = "not_included", .include_regex = {"enc_output"}},
                         {.name = "through_add", .include_regex = {"norm_output"}}},
         .include_collections = {"weights", "relu_out", "by_name", "eval_only", "norms"},
         .loss_regex = {}}};
    const texts always{"TinyNet_enc.weight",
                       "TinyNet_enc.bias",
                       "TinyNet_norm.weight",
                       "TinyNet_norm.bias",
                       "TinyNet_dec.weight",
                       "enc_input_0",
                       "enc_output_0",
                       "norm_output_0",
                       "relu_output_0",
                       "dec_output_0",
                       "CrossEntropyLoss_input_0",
                       "CrossEntropyLoss_output_0"};
    const texts in_training_alone{"gradient/TinyNet_dec.weight", "gradient/TinyNet_enc.bias",
                                  "gradient/TinyNet_enc.weight"};
    smdebug::detail::json::document parser;
    std::map<std::pair<mode, step_number>, std::pair<texts, texts>> saved;  // values and reductions; shapes
    for (const auto& entry : std::filesystem::recursive_directory_iterator{run / "index"}) {
        if (entry.is_regular_file()) {
            const std::string bytes = smdebug_test::file_content(entry.path());
            smdebug::detail::index_file::meta head;
            std::pair<texts, texts> found;
            REQUIRE_FALSE(smdebug::detail::index_file::parse(
                              as_bytes(bytes), parser, head,
                              [&](const smdebug::detail::index_file::location& place) {
                                  found.first.emplace_back(place.tensor_name);
                              },
                              [&](const smdebug::detail::index_file::saved_shape& shape) {
                                  found.second.emplace_back(shape.tensor_name);
                              })
                              .has_value());
            saved[{head.mode, head.mode_step}] = found;
        }
    }
    for (const auto& [which, steps] : {std::pair{mode::train, 5}, std::pair{mode::eval, 3}}) {
        for (step_number step = 0; step < steps; ++step) {
            texts all = always;
            if (which == mode::train) {
                all.insert(all.end(), in_training_alone.begin(), in_training_alone.end());
            }
            std::pair<texts, texts> written;
            if (set.begin_step(which, step)) {
                for (const std::string& name : all) {
                    const auto& tensor = set.of(name);
                    if (set.due(tensor)) {
                        const reduction_plan& plan = set.due_plan(tensor);
                        for (const reduction_key key : plan.order) {
                            written.first.push_back(reduction_tensor_name(name, key));
                        }
                        if (plan.raw) {
                            written.first.push_back(name);
                        }
                        if (plan.shape) {
                            written.second.push_back(name);
                        }
                    }
                }
            }
            CAPTURE(name_of(which));
            CAPTURE(step);
            CHECK(written == saved[{which, step}]);
        }
    }
    const smdebug::detail::collections_file file = set.file(1);
    for (const auto& [name, group] : expected.collections) {
        CAPTURE(name);
        const auto there = file.collections.find(name);
        REQUIRE(there != file.collections.end());
        CHECK(there->second.include_regex == group.include_regex);
        CHECK(there->second.tensor_names == group.tensor_names);
        CHECK(there->second.save_histogram == group.save_histogram);
        CHECK(make_reduction_plan(*there->second.reduction_config).order ==
              make_reduction_plan(*group.reduction_config).order);
        CHECK(there->second.reduction_config->save_raw_tensor == group.reduction_config->save_raw_tensor);
        CHECK(there->second.reduction_config->save_shape == group.reduction_config->save_shape);
        for (const mode which : all_modes) {
            save_config_mode ours = there->second.save_config->at(which);
            ours.start_step = ours.start_step.value_or(0);  // as files have it
            CHECK(ours == group.save_config->at(which));
        }
    }
    CHECK(file.collections.size() == expected.collections.size());
}
