// The actions that SageMaker Debugger knows, as records: the program that embeds this library performs them.
// Source: the public Python package's smdebug.rules.action, and the texts that its configuration writes.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace actions {

/// Stop the one training job whose name begins so.
struct stop_training {
    std::string training_job_prefix;
    friend bool operator==(const stop_training&, const stop_training&) = default;
};
/// Write to an address.
struct email {
    std::string endpoint;
    friend bool operator==(const email&, const email&) = default;
};
/// Send a text to a telephone number.
struct sms {
    std::string endpoint;
    friend bool operator==(const sms&, const sms&) = default;
};

using action_record = std::variant<stop_training, email, sms>;

/// The value of its key "name": "stoptraining", "email", "sms".
[[nodiscard]] std::string_view name_of(const action_record& action) noexcept;

namespace detail {

struct parsed_actions {
    std::vector<action_record> actions = {};
    std::vector<std::string> problems = {};  ///< a sentence for each entry that was left out
};

[[nodiscard]] bool equal_but_for_case(std::string_view left, std::string_view right) noexcept;

/// The field of that name, whatever the case of its letters.
[[nodiscard]] std::optional<smdebug::detail::json::value> field_of(smdebug::detail::json::value entry,
                                                                   std::string_view name);

/// A field that an action cannot do without; where it is not there, says so in `problem`.
[[nodiscard]] std::string needed_field(smdebug::detail::json::value entry, std::string_view name,
                                       std::string_view action, std::string& problem);

/// One level of backslashes less: \" is a quote, \\ a backslash.
[[nodiscard]] std::string without_escapes(std::string_view text);

}  // namespace detail

/// The actions of a rule's parameter `action_json`: an object, or a list of objects, each with a "name" and a
/// "training_job_prefix" (stoptraining) or an "endpoint" (email, sms).  Nothing, blanks and None mean no actions.
/// Forms:  plain JSON; with its quotes escaped, as the service's builder writes it to be embedded; a JSON string that
///         holds either.
/// Case:   that of names and keys does not matter.  Values keep theirs: the package puts all letters in lower case, so
///         that a job with a capital in its name is never found and addresses change.
/// Left out, with a problem: what is no object, an unknown name, a missing, empty or non-text field; all of it where
///         it is neither an object nor a list.
/// Errors: value_error for what is not JSON.
[[nodiscard]] detail::parsed_actions parse_actions(std::string_view text);

}  // namespace actions
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/actions/impl/action_record.ipp>
#endif
