// The bodies of <smdebug/core/error.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>

namespace smdebug::inline v1 {

SMDEBUG_INLINE error::error(detail::error_name name, const std::string& message, error_context context)
    : std::runtime_error(std::string{name.text}.append(": ").append(printable(message + context.advice))),
      name_(name.text),
      context_(std::move(context)),
      message_size_(std::string_view{what()}.size() - name_.size() - 2 - context_.advice.size()) {}

SMDEBUG_INLINE tensor_unavailable_for_step::tensor_unavailable_for_step(const std::string& tensor, step_number step,
                                                                        smdebug::mode in, bool has_reductions,
                                                                        const std::string& why,
                                                                        const std::string& where)
    : not_found(detail::error_name{"TensorUnavailableForStep"},
                "Value for tensor " + tensor + " is not available for step " + std::to_string(step) + " with mode " +
                    std::string{name_of(in)} + " " + why +
                    (has_reductions ? " This tensor has reductions saved for this step. You might want to query "
                                      "for the reductions."
                                    : ""),
                {.where = where, .tensor = tensor, .step = step, .step_mode = in}),
      has_reductions_(has_reductions) {}

SMDEBUG_INLINE shape_unavailable_for_step::shape_unavailable_for_step(const std::string& tensor, step_number step,
                                                                      smdebug::mode in)
    : not_found(detail::error_name{"ShapeUnavailableForStep"},
                "Shape for tensor " + tensor + " is not available for step " + std::to_string(step) + " with mode " +
                    std::string{name_of(in)} + " as it was not saved.",
                {.tensor = tensor, .step = step, .step_mode = in}) {}

SMDEBUG_INLINE step_unavailable::step_unavailable(step_number step, smdebug::mode in)
    : not_found(detail::error_name{"StepUnavailable"},
                "Step " + std::to_string(step) + " of mode " + std::string{name_of(in)} +
                    " is not available as it was not saved",
                {.step = step, .step_mode = in}) {}

SMDEBUG_INLINE no_more_data::no_more_data(step_number step, smdebug::mode in, step_number last_step)
    : not_found(detail::error_name{"NoMoreData"},
                "Looking for step " + std::to_string(step) + " of mode " + std::string{name_of(in)} +
                    " and reached end of training. Max step available is " + std::to_string(last_step),
                {.step = step, .step_mode = in}),
      last_step_(last_step) {}

SMDEBUG_INLINE step_not_yet_available::step_not_yet_available(step_number step, smdebug::mode in)
    : unavailable(detail::error_name{"StepNotYetAvailable"},
                  "Step " + std::to_string(step) + " of mode " + std::string{name_of(in)} + " not yet available",
                  {.step = step, .step_mode = in}) {}

SMDEBUG_INLINE insufficient_information_for_rule_invocation::insufficient_information_for_rule_invocation(
    const std::string& rule, const std::string& message)
    : invalid_argument(detail::error_name{"InsufficientInformationForRuleInvocation"},
                       "Insufficient information to invoke rule " + rule + ": " + message) {}

SMDEBUG_INLINE rule_evaluation_condition_met::rule_evaluation_condition_met(const std::string& rule, step_number step,
                                                                            const std::string& details)
    : error(detail::error_name{"RuleEvaluationConditionMet"},
            "Evaluation of the rule " + rule + " at step " + std::to_string(step) +
                " resulted in the condition being met" + (details.empty() ? "" : ": " + details),
            {.step = step, .step_mode = smdebug::mode::global}),
      rule_(rule) {}

}  // namespace smdebug::inline v1
