// What rules see of a trial: what one of them reads the others share, and what could not be read is logged.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/guarded.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/shared/read_log.hpp>
#include <smdebug/trial/shared/rule_view.hpp>
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

/// Implements rule_view.
class shared_view final : public rule_view {
public:
    /// `sharing`: null for one rule alone, which has nobody to share with.
    shared_view(const std::shared_ptr<const trial_state>& state, const sharing_options* sharing);

    [[nodiscard]] read_log& log() const noexcept override { return log_; }
    [[nodiscard]] SMDEBUG_INLINE shared_tensor* share_of(const std::string& name) const override;
    [[nodiscard]] SMDEBUG_INLINE bool brings_files() const noexcept override;

    SMDEBUG_INLINE void begin_step(const catalog& from, step_number step, std::optional<step_number> end) override;
    [[nodiscard]] SMDEBUG_INLINE std::vector<std::string> tensor_names(
        const tensor_names_options& which, function_ref<std::vector<std::string>()> ask) const override;
    [[nodiscard]] SMDEBUG_INLINE std::shared_ptr<const void> kept_of_step(
        step_number step, std::type_index type, const text_list& collections, const text_list& regexes,
        function_ref<std::shared_ptr<const void>()> make) const override;
    SMDEBUG_INLINE void forget() noexcept override;

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
#include <smdebug/trial/shared/impl/shared_view.ipp>
#endif
