// Reading a run's collections and index files from a storage into catalogs, or what a catalog_source finds there: the first
// one, and each that follows.
// Source: decisions.md D5-D7, D16, D17.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/problem.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/catalog_builder.hpp>
#include <smdebug/trial/catalog/load_memory.hpp>
#include <smdebug/trial/catalog_source.hpp>
#include <smdebug/trial/environment.hpp>
#include <smdebug/trial/load/index_keys.hpp>
#include <smdebug/trial/load/index_listing.hpp>
#include <smdebug/trial/load/wait.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/run_contents.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Loads one run.  Not for several threads at once: trial_state locks.
/// Borrows: the storage and the options, for its life.
class loader {
public:
    loader(const any_storage& store, const trial_options& options);

    /// Waits for the collections files, and loads what index files there are.
    /// Errors:  not_found (no run here), missing_collection_files, collections_file_exception, index_reader_exception,
    ///          timed_out, stopped, and what the storage throws.
    [[nodiscard]] catalog open();

    /// The catalog after `last`; nothing when nothing has changed.
    /// What one worker wrote is taken in the order in which it was written, whatever is written meanwhile: a step is
    /// never there without those that came before it.
    /// `changed_keys`: the only keys that have changed since a load that began after the watching did; null: look for
    /// them. Cost:   a call of index_listing, a second one where something is new, and a read of each new file; only
    /// the
    ///         reads where `changed_keys` says them.
    /// Errors: index_reader_exception, and what the storage throws; `last` then stays the newest, and nothing is lost.
    [[nodiscard]] std::optional<catalog> load(const catalog& last,
                                              const std::vector<std::string>* changed_keys = nullptr);

    [[nodiscard]] const settled_options& settled() const noexcept { return settled_; }
    /// When a job that was seen to end counts as ended.
    [[nodiscard]] std::optional<waiter::clock::time_point> end_due() const {
        return end_seen_ ? std::optional{*end_seen_ + settled_.training_end_delay_refresh} : std::nullopt;
    }
    /// Of index files or of the source, by place, and of the storage.
    [[nodiscard]] std::vector<problem> problems() const;

private:
    // Whether the job has ended, and long enough ago.
    [[nodiscard]] bool has_ended();

    /// The same of what the source has found.
    [[nodiscard]] std::optional<catalog> load_found(const catalog& last);

    [[nodiscard]] std::optional<catalog> load_new(const catalog& last, bool ended,
                                                  const std::vector<std::string>* changed_keys);

    /// Adds the listed index files that `last` does not know.
    void add_new(std::vector<parsed_index_key>& keys, std::vector<std::string> listed, const catalog& last);

    /// A folder that somebody writes to while it is listed may show a file and hide one that was written before it.
    /// All that was there when one listing ended is in the next: when that shows nothing more, nothing is hidden.
    void list_until_quiet(std::vector<parsed_index_key>& keys, const catalog& last);

    void read(const std::vector<parsed_index_key>& files, bool ended, catalog_builder& builder);

    static constexpr std::size_t worth_threads = 512;  // files: fewer are read before threads have begun
    static constexpr std::size_t files_in_share = 64;

    /// Some index files as they were read.
    struct read_files {
        struct one {
            std::size_t begin = 0;
            std::size_t end = 0;
            bool is_there = false;
            bool is_left_out = false;  // it is too much to be kept: it has to be read again
            std::exception_ptr failed = {};
        };
        std::vector<std::byte> bytes = {};
        std::vector<one> files = {};

        void keep(std::optional<byte_view> file);
        void clear() noexcept {
            bytes.clear();
            files.clear();
        }
    };

    /// Has two threads read the files, and takes them in their order, with the same errors, meanwhile.  False where no
    /// threads are to be had: nothing has been taken then.
    /// Memory: 6 times 64 files, or 8 MiB.
    [[nodiscard]] bool read_on_threads(const std::vector<parsed_index_key>& files, const std::vector<std::string>& keys,
                                       bool ended, catalog_builder& builder);

    void take_read(const parsed_index_key& key, const read_files& part, std::size_t i, bool ended,
                   catalog_builder& builder);

    /// One that the storage fails to read, while its error is handled.
    void take_failed(const parsed_index_key& key, const error& failed, bool ended, catalog_builder& builder);

    /// An index file that the storage does not read with others.
    void take_large(const parsed_index_key& key, bool ended, catalog_builder& builder);

    void too_large(const parsed_index_key& key, std::uint64_t size);

    /// Errors: index_reader_exception, where so many index files more, or so many bytes of them, are beyond what size_limits
    /// allow the run.
    void check_in_all(std::uint64_t files, std::uint64_t bytes) const;

    void take(const parsed_index_key& key, std::optional<byte_view> bytes, bool ended, catalog_builder& builder);

    void damaged(const std::string& key, const parsed_index_key* parsed, const std::string& what,
                 error_remedy remedy = error_remedy::skip_damaged);

    const any_storage& store_;
    const trial_options& options_;
    settled_options settled_;
    std::unique_ptr<any_catalog_source> source_;  // null: the run has index files
    run_contents contents_;                       // what it has found
    bool is_asked_ = false;                       // what that is is not in a catalog yet
    std::map<std::string, std::size_t> late_;     // entries for steps that have them already, by object
    index_listing listing_;
    load_memory memory_;
    std::vector<parsed_index_key> left_over_;      // listed, and half written, unreadable or held back so far
    std::map<std::string, std::string> problems_;  // what is wrong, by key
    std::uint64_t files_taken_ = 0;                // index files in the catalog
    std::uint64_t bytes_taken_ = 0;                // in them
    bool needs_listing_ = false;                   // the next load looks for itself, whatever changed_keys says
    bool seen_running_ = false;
    bool opens_ = false;  // for the first time: trial_options::stop ends that
    std::optional<waiter::clock::time_point> end_seen_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/load/impl/loader.ipp>
#endif
