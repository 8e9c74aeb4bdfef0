// A trial as rules see it: what one of them reads the others share, and what could not be read is logged.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/guarded.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/shared/read_log.hpp>
#include <smdebug/trial/shared/shared_tensors.hpp>
#include <smdebug/trial/sharing_options.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <typeindex>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

class trial_state;

/// What a trial and its handles have beside its state while rules look at it: see smdebug::trial::for_rules().
/// Threads: const calls may run at once; begin_step() and the log's begin() and end() not beside them.
class rule_view {
public:
    /// `sharing`: null for one rule alone, which has nobody to share with.
    rule_view(const std::shared_ptr<const trial_state>& state, const sharing_options* sharing);

    /// Null where nothing is shared.
    [[nodiscard]] shared_tensors* shared() const noexcept { return shared_.get(); }
    /// Of the rule that is being called.
    [[nodiscard]] read_log& log() const noexcept { return log_; }

    /// Says that rules are about to look at a step that is there, and will not look at `end` or later ones.
    void begin_step(const catalog& from, step_number step, std::optional<step_number> end = std::nullopt);

    /// Names of tensors, by ask(): those of the step at hand are not worked out again while steps hold the same tensors.
    [[nodiscard]] std::vector<std::string> tensor_names(const tensor_names_options& which,
                                                        function_ref<std::vector<std::string>()> ask) const;

    /// What make() says of the tensors of some collections and regexes at the step at hand, kept like tensor_names(); null
    /// for other steps, and where nothing is shared.  Errors: those of make().
    [[nodiscard]] std::shared_ptr<const void> kept_of_step(step_number step, std::type_index type,
                                                           const text_list& collections, const text_list& regexes,
                                                           function_ref<std::shared_ptr<const void>()> make) const;

private:
    // What decides which tensors a step has, and in which collections.
    struct step_files {
        std::shared_ptr<const catalog::job_description> job;
        std::vector<std::shared_ptr<const layout>> layouts;
        std::vector<worker_id> workers;
        [[nodiscard]] friend bool operator==(const step_files&, const step_files&) = default;
    };
    using question = std::tuple<bool, std::vector<std::string>, std::optional<std::string>>;
    struct step_choice {
        std::type_index type;
        std::vector<std::string> collections;
        std::vector<std::string> regexes;
        std::shared_ptr<const void> made;
    };

    mutable read_log log_;
    std::unique_ptr<shared_tensors> shared_;
    std::optional<step_number> step_;
    step_files files_;
    // Of steps whose files are like files_.
    mutable guarded<std::map<question, std::vector<std::string>>> names_;
    mutable guarded<std::vector<step_choice>> choices_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/shared/impl/rule_view.ipp>
#endif
