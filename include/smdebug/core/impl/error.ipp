// The bodies of <smdebug/core/error.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>

namespace smdebug::inline v1 {

SMDEBUG_INLINE std::string_view python_name_of(error_code code) noexcept {
    switch (code) {
        case error_code::not_found:
        case error_code::no_training_run:
            return "NotFound";
        case error_code::tensor_unavailable:
            return "TensorUnavailable";
        case error_code::tensor_unavailable_for_step:
            return "TensorUnavailableForStep";
        case error_code::shape_unavailable_for_step:
            return "ShapeUnavailableForStep";
        case error_code::step_unavailable:
            return "StepUnavailable";
        case error_code::no_more_data:
            return "NoMoreData";
        case error_code::invalid_worker:
            return "InvalidWorker";
        case error_code::collection_unavailable:
            return "CollectionUnavailable";
        case error_code::missing_collection_files:
            return "MissingCollectionFiles";
        case error_code::unavailable:
            return "Unavailable";
        case error_code::step_not_yet_available:
            return "StepNotYetAvailable";
        case error_code::timed_out:
            return "TimedOut";
        case error_code::stalled:
            return "Stalled";
        case error_code::stopped:
            return "Stopped";
        case error_code::in_use:
            return "InUse";
        case error_code::corrupt_data:
            return "CorruptData";
        case error_code::corrupt_record:
            return "CorruptRecord";
        case error_code::corrupt_index:
            return "IndexReaderException";
        case error_code::corrupt_collections_file:
            return "CollectionsFileException";
        case error_code::access_denied:
            return "AccessDenied";
        case error_code::unsupported:
            return "Unsupported";
        case error_code::wrong_dtype:
            return "SMDebugTypeError";
        case error_code::value_error:
            return "SMDebugValueError";
        case error_code::insufficient_information:
            return "InsufficientInformationForRuleInvocation";
        case error_code::invalid_collection_configuration:
            return "InvalidCollectionConfiguration";
        case error_code::rule_evaluation_condition_met:
            return "RuleEvaluationConditionMet";
        case error_code::other:
        case error_code::run_exists:
            break;
    }
    return "SMDebugError";
}

SMDEBUG_INLINE error::error(error_code code, const std::string& message, error_context context)
    : std::runtime_error(std::string{python_name_of(code)}.append(": ").append(printable(message + context.advice))),
      code_(code),
      context_(std::move(context)),
      message_size_(std::string_view{what()}.size() - python_name().size() - 2 - context_.advice.size()) {}

SMDEBUG_INLINE tensor_unavailable_for_step::tensor_unavailable_for_step(const std::string& tensor, step_number step,
                                                                        smdebug::mode in, bool has_reductions,
                                                                        const std::string& why,
                                                                        const std::string& where)
    : not_found(error_code::tensor_unavailable_for_step,
                "Value for tensor " + tensor + " is not available for step " + std::to_string(step) + " with mode " +
                    std::string{name_of(in)} + " " + why +
                    (has_reductions ? " This tensor has reductions saved for this step. You might want to query "
                                      "for the reductions."
                                    : ""),
                {.where = where, .tensor = tensor, .step = step, .step_mode = in}),
      has_reductions_(has_reductions) {}

SMDEBUG_INLINE step_unavailable::step_unavailable(step_number step, smdebug::mode in)
    : not_found(error_code::step_unavailable,
                "Step " + std::to_string(step) + " of mode " + std::string{name_of(in)} +
                    " is not available as it was not saved",
                {.step = step, .step_mode = in}) {}

SMDEBUG_INLINE no_more_data::no_more_data(step_number step, smdebug::mode in, step_number last_step)
    : not_found(error_code::no_more_data,
                "Looking for step " + std::to_string(step) + " of mode " + std::string{name_of(in)} +
                    " and reached end of training. Max step available is " + std::to_string(last_step),
                {.step = step, .step_mode = in}),
      last_step_(last_step) {}

SMDEBUG_INLINE step_not_yet_available::step_not_yet_available(step_number step, smdebug::mode in)
    : unavailable(error_code::step_not_yet_available,
                  "Step " + std::to_string(step) + " of mode " + std::string{name_of(in)} + " not yet available",
                  {.step = step, .step_mode = in}) {}

SMDEBUG_INLINE rule_evaluation_condition_met::rule_evaluation_condition_met(const std::string& rule, step_number step,
                                                                            const std::string& details)
    : error(error_code::rule_evaluation_condition_met,
            "Evaluation of the rule " + rule + " at step " + std::to_string(step) +
                " resulted in the condition being met" + (details.empty() ? "" : ": " + details),
            {.step = step, .step_mode = smdebug::mode::global}),
      rule_(rule) {}

}  // namespace smdebug::inline v1
