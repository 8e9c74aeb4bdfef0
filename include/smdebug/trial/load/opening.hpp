// Waiting for a run to be there: until every worker has written its collections file.
// Source: decisions.md D5, D17.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog_source.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/run_contents.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// One run that is being opened.  Borrows everything, for its life.
class opening {
public:
    /// `source`: null, or what the run is made of instead of files of its own; then `contents` has what it found.
    opening(const any_storage& store, const trial_options& options, json::document& parser, any_catalog_source* source,
            run_contents& contents)
        : store_(store), options_(options), parser_(parser), source_(source), contents_(contents) {}

    /// What a source has said of the job so far.
    [[nodiscard]] static catalog::job_description job_of(const run_contents& contents);

    /// What the collections files say, once they are all there; or the source, once it has found anything.
    /// `seen_running` becomes true when the job was seen without its end-of-job mark.
    /// Errors: not_found (no run here), missing_collection_files (it has ended without them),
    ///         collections_file_exception, timed_out, stopped, and what the storage throws.
    [[nodiscard]] catalog::job_description wait(bool& seen_running);

private:
    [[nodiscard]] std::string place() const { return std::string(store_.name()); }

    [[nodiscard]] std::optional<catalog::job_description> ask_source(bool& seen_running);

    // Nothing while a file is missing, or half written: `missing_` or `cut_` then says which.
    [[nodiscard]] std::optional<catalog::job_description> look(bool& seen_running);

    // Returns false for a file that a running job may be writing this very moment.
    [[nodiscard]] bool read(const std::string& key, bool ended, catalog::job_description& job);

    [[nodiscard]] byte_buffer read_within_limit(const std::string& key) const;

    void check_size(const std::string& key, std::uint64_t size) const;

    [[noreturn]] void give_up() const;

    const any_storage& store_;
    const trial_options& options_;
    json::document& parser_;
    any_catalog_source* source_;
    run_contents& contents_;
    std::string missing_;  // what is not there yet
    std::string cut_;      // what is there and not whole
    std::string cut_key_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/load/impl/opening.ipp>
#endif
