// What `smdebug scan` does with one run: opens it, chooses the applicable rules, evaluates them.
#pragma once

#include <program/message_sink.hpp>
#include <program/rule_set.hpp>
#include <program/run_places.hpp>
#include <program/runs.hpp>
#include <program/scan_arguments.hpp>
#include <smdebug/batch/run_batch.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/trial.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// Messages about a run, kept until its turn comes.
class kept_messages final : public message_sink {
public:
    /// Called with the progress of a run.
    using progress_call = std::function<void(const std::string& what, std::size_t done, std::size_t all)>;

    /// Borrows it.
    explicit kept_messages(const progress_call& progress) : progress_(progress) {}

    void note(std::string_view text) override { add(run_message::kind::note, text); }
    void damage(std::string_view text) override { add(run_message::kind::damage, text); }
    void error(std::string_view text) override { add(run_message::kind::error, text); }
    void progress(std::string_view what, std::size_t done, std::size_t all) override;

    [[nodiscard]] std::vector<run_message> take() { return std::move(all_); }

private:
    void add(run_message::kind what, std::string_view text) { all_.push_back({what, std::string{text}}); }

    const progress_call& progress_;
    std::vector<run_message> all_;
};

/// The work on the runs of a batch.  Threads: calls may run at once.
class run_scanner {
public:
    /// Borrows arguments and registry.
    run_scanner(const scan_arguments& args, const program_rules& registry, unsigned threads,
                kept_messages::progress_call progress = {});

    /// Has run_result::run.version and .bytes filled in, and leaves alone what is at the version that
    /// batch_run::version names.  Before the first run.
    void tell_versions() { tells_versions_ = true; }

    [[nodiscard]] run_result operator()(const batch_run& one, const run_scope& scope);

private:
    // Gone only where nothing lies at its path.
    [[nodiscard]] static run_state state_after(const std::exception& wrong, const std::string& path);

    // Whether an archive that was found beside runs was opened, and holds none: models and sources.
    [[nodiscard]] static bool has_no_run(const std::exception& wrong, const batch_run& one, const run_place& place);

    // Permissions may differ the next time, though no file has changed.
    [[nodiscard]] static bool was_denied(const run_result& result);

    // All runs of an archive, which is read once.
    [[nodiscard]] run_result scan_archive(const batch_run& one, const run_options& how, const run_scope& scope);

    [[nodiscard]] run_result scan(run_result result, bool whole_archive, function_ref<run_place()> place,
                                  const run_options& how, const run_scope& scope);

    // Whether there is nothing to do; fills in version and size.
    [[nodiscard]] bool is_unchanged(run_result& result, const any_storage& store, bool archived, bool whole_archive,
                                    const run_options& how);

    void evaluate(run_result& result, const any_storage& store, const run_options& how, kept_messages& says,
                  const run_scope& scope);

    const scan_arguments& args_;
    const program_rules& registry_;
    run_options how_;
    sharing_options sharing_;
    rule_maker rules_;
    opened_archives archives_;
    kept_messages::progress_call progress_;
    bool tells_versions_ = false;
};

}  // namespace smdebug::inline v1::cli::detail
