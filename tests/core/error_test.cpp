#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;

// What the caller can do decides an error's place in the tree.
static_assert(std::is_base_of_v<not_found, tensor_unavailable_for_step>);
static_assert(std::is_base_of_v<unavailable, step_not_yet_available>);
static_assert(std::is_base_of_v<unavailable, stopped_error>);
static_assert(std::is_base_of_v<error, run_exists> && !std::is_base_of_v<unavailable, run_exists>);
static_assert(!std::is_base_of_v<not_found, step_not_yet_available>);
static_assert(std::is_base_of_v<std::runtime_error, error>);

TEST_CASE("error: what() begins with the Python name, message() is the rest, and the fields say where") {
    const tensor_unavailable_for_step thrown{"loss", 7, mode::train};
    CHECK(std::string{thrown.what()} ==
          "TensorUnavailableForStep: Value for tensor loss is not available for step 7 with mode TRAIN as it was not "
          "saved.");
    CHECK(thrown.python_name() == "TensorUnavailableForStep");
    CHECK(std::string{thrown.python_name()} + ": " + std::string{thrown.message()} == thrown.what());
    CHECK(thrown.tensor() == "loss");
    CHECK(thrown.step() == 7);
    CHECK(thrown.step_mode() == mode::train);
    CHECK_FALSE(thrown.offset().has_value());
    CHECK_FALSE(thrown.has_reductions());
    CHECK(std::string{tensor_unavailable_for_step{"a", 1, mode::global, true}.what()}.find(
              "query for the reductions") != std::string::npos);
}

TEST_CASE("error: advice stands at the end of what(), and is no part of the message") {
    const unavailable thrown{"it has 9 bytes, more than the 8 allowed\n",
                             {.remedy = error_remedy::raise_limit, .advice = " (limits.record)"}};
    CHECK(std::string{thrown.what()} == "Unavailable: it has 9 bytes, more than the 8 allowed\\n (limits.record)");
    CHECK(thrown.message() == "it has 9 bytes, more than the 8 allowed\\n");
    CHECK(thrown.remedy() == error_remedy::raise_limit);
    CHECK(thrown.advice() == " (limits.record)");
    CHECK(unavailable{"m"}.remedy() == error_remedy::none);
}

TEST_CASE("error: each leaf has the Python package's name and words") {
    CHECK(std::string{step_unavailable{3, mode::global}.what()} ==
          "StepUnavailable: Step 3 of mode GLOBAL is not available as it was not saved");
    CHECK(std::string{step_not_yet_available{3, mode::eval}.what()} ==
          "StepNotYetAvailable: Step 3 of mode EVAL not yet available");
    CHECK(std::string{no_more_data{6, mode::global, 5}.what()} ==
          "NoMoreData: Looking for step 6 of mode GLOBAL and reached end of training. Max step available is 5");
    CHECK(no_more_data{6, mode::global, 5}.last_step() == 5);
    CHECK(std::string{tensor_unavailable{"x"}.what()} == "TensorUnavailable: Tensor x was not saved.");
    CHECK(std::string{invalid_worker{"w"}.what()} == "InvalidWorker: Invalid Worker: w");
    CHECK(invalid_worker{"w"}.worker() == "w");
    CHECK(stopped_error{"m"}.python_name() == "Stopped");
    CHECK(std::string{run_exists{"m", {.where = "w"}}.what()} == "SMDebugError: m");
    CHECK(value_error{"m"}.python_name() == "SMDebugValueError");
    const rule_evaluation_condition_met met{"MeanAbove", 4};
    CHECK(std::string{met.what()} ==
          "RuleEvaluationConditionMet: Evaluation of the rule MeanAbove at step 4 resulted in the condition being met");
    CHECK(met.rule() == "MeanAbove");
}

TEST_CASE("error: the class says what to do, the code what happened, and each code has the Python package's name") {
    CHECK(not_found{"m"}.code() == error_code::not_found);
    CHECK(unavailable{"m"}.code() == error_code::unavailable);
    CHECK(corrupt_data{"m"}.code() == error_code::corrupt_data);
    CHECK(access_denied{"m"}.code() == error_code::access_denied);
    CHECK(unsupported{"m"}.code() == error_code::unsupported);
    CHECK(value_error{"m"}.code() == error_code::value_error);
    CHECK(run_exists{"m"}.code() == error_code::run_exists);
    CHECK(stopped_error{"m"}.code() == error_code::stopped);
    CHECK(tensor_unavailable_for_step{"x", 1, mode::global}.code() == error_code::tensor_unavailable_for_step);
    const unavailable held{error_code::in_use, "m", {.where = "w"}};
    CHECK(held.code() == error_code::in_use);
    CHECK(std::string{held.what()} == "InUse: m");
    CHECK(held.message() == "m");
    CHECK(held.where() == "w");
    const std::pair<error_code, std::string_view> names[] = {
        {error_code::other, "SMDebugError"},
        {error_code::no_training_run, "NotFound"},
        {error_code::shape_unavailable_for_step, "ShapeUnavailableForStep"},
        {error_code::collection_unavailable, "CollectionUnavailable"},
        {error_code::missing_collection_files, "MissingCollectionFiles"},
        {error_code::timed_out, "TimedOut"},
        {error_code::stalled, "Stalled"},
        {error_code::corrupt_record, "CorruptRecord"},
        {error_code::corrupt_index, "IndexReaderException"},
        {error_code::corrupt_collections_file, "CollectionsFileException"},
        {error_code::wrong_dtype, "SMDebugTypeError"},
        {error_code::insufficient_information, "InsufficientInformationForRuleInvocation"},
        {error_code::invalid_collection_configuration, "InvalidCollectionConfiguration"}};
    for (const auto& [code, name] : names) {
        CHECK(python_name_of(code) == name);
    }
}

TEST_CASE("error: messages are printable and not cut, fields hold names unchanged") {
    const std::string name{"a\0b\x1b[2J\xE2\x80\xAE\xFF", 11};
    const tensor_unavailable thrown{name};
    CHECK(std::string{thrown.what()} == "TensorUnavailable: Tensor a\\x00b\\x1b[2J\\u202e\\xff was not saved.");
    CHECK(thrown.message() == "Tensor a\\x00b\\x1b[2J\\u202e\\xff was not saved.");
    CHECK(thrown.tensor() == name);
    CHECK(std::string{value_error{std::string{thrown.message()}}.message()} == thrown.message());
}

TEST_CASE("error: a corrupt record names file and offset") {
    const corrupt_data thrown{
        error_code::corrupt_record, "bad", {.where = "events/x", .offset = 8192, .tensor = "t", .step = 4}};
    CHECK(thrown.where() == "events/x");
    CHECK(thrown.offset() == 8192);
    CHECK(thrown.worker().empty());
}
