// Reads a run's collections and index files from a storage, or a catalog_source's contents, into catalogs: the first
// one and all later ones.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/catalog_builder.hpp>
#include <smdebug/trial/load/opening.hpp>
#include <smdebug/trial/load/wait.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/run_contents.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::detail {

/// Lists a run's index files repeatedly.
/// A storage that follows its folders reports what is new.  Any other is listed from the first step to which a worker
/// may still add: files that come late, before that step, are seen only after forget().
/// Borrows: the storage, for its life.  One thread at a time.
class index_listing {
public:
    /// The key of a file, and its stamp, if the listing has it.
    struct listed {
        std::string key;
        std::uint64_t stamp = catalog::no_stamp;
    };

    /// `window`: at most the last `window` known steps are listed again.
    index_listing(const any_storage& store, std::size_t window) : store_(store), window_(window) {}

    /// Keys below index/ in byte order: all that are new since the last call, and possibly others.
    /// Errors: what the storage throws; nothing is lost then.
    [[nodiscard]] std::vector<listed> next(const catalog& last);

    /// Makes the next call list everything.
    void forget();
    [[nodiscard]] bool lists_everything() const noexcept { return from_start_; }

private:
    // A key that sorts before those of the first step to which a worker may still add, and after all earlier ones.
    [[nodiscard]] std::string first_open_key(const catalog& last);

    static constexpr step_number step_with_long_name = 1'000'000'000'000;  // its keys do not sort by step

    const any_storage& store_;
    std::size_t window_;
    step_number open_from_ = 0;
    bool from_start_ = true;
    std::unique_ptr<key_follower> follower_;
};

/// The parsed key of an index file.
class parsed_index_key {
public:
    /// Nothing if the name is not of the form <step>_<worker>; the key is then not moved from.
    [[nodiscard]] static std::optional<parsed_index_key> parse(std::string&& key);

    [[nodiscard]] const std::string& text() const noexcept { return key_; }
    [[nodiscard]] step_number step() const noexcept { return step_; }
    std::uint64_t stamp = catalog::no_stamp;  ///< as listed
    /// locations::worker_from_file_part converts it to the worker's name.  Borrowed.
    [[nodiscard]] std::string_view worker_part() const noexcept {
        return std::string_view{key_}.substr(worker_begin_, worker_size_);
    }

    [[nodiscard]] friend bool operator==(const parsed_index_key& a, const parsed_index_key& b) noexcept {
        return a.key_ == b.key_;
    }
    /// By step, then by worker: the order decides which step claims a mode step, and which of two files of one worker
    /// counts.
    [[nodiscard]] friend std::strong_ordering operator<=>(const parsed_index_key& a,
                                                          const parsed_index_key& b) noexcept {
        if (const auto by_step = a.step_ <=> b.step_; by_step != 0) {
            return by_step;
        }
        const auto by_worker = a.worker_part() <=> b.worker_part();
        return by_worker != 0 ? by_worker : a.key_ <=> b.key_;
    }

private:
    parsed_index_key() = default;
    std::string key_;
    step_number step_ = 0;
    std::size_t worker_begin_ = 0;
    std::size_t worker_size_ = 0;
};

/// Finds out whether a catalog knows a file.  Borrows the catalog.  Cost: negligible for keys that come in order.
class known_files {
public:
    explicit known_files(const catalog& of) : of_(of) {}

    /// Null if it does not.
    [[nodiscard]] const catalog::file* find(const parsed_index_key& key);

private:
    [[nodiscard]] static bool is_worker(std::string_view name, std::string_view part) {
        return name == part || (part.starts_with('_') && name == locations::worker_from_file_part(part));
    }

    const catalog& of_;
    const catalog::step_entry* at_ = nullptr;
    std::size_t place_ = 0;  // the next file, if keys come in order
};

/// Sorts keys and removes duplicates.
void put_in_order(std::vector<parsed_index_key>& keys);

/// Whether sorted `keys` hold a later step of the key's worker.
[[nodiscard]] bool has_later_step(const std::vector<parsed_index_key>& keys, const parsed_index_key& key);

/// Loads one run.  Not thread-safe: trial_state locks.
/// Borrows: the storage and the options, for its life.
class loader {
public:
    loader(const any_storage& store, const trial_options& options);

    /// Waits for the collections files, and loads the index files that exist.
    /// Errors:  not_found (no run here), missing_collection_files, corrupt_collections_file, corrupt_index,
    ///          timed_out, stopped_error, and what the storage throws.
    [[nodiscard]] catalog open();

    /// The next catalog after `last`; nothing if nothing has changed.
    /// What one worker wrote is added in the order of writing, even while files are being written: a step never appears
    /// without the steps before it.
    /// If index files were written again or removed, or the source would now find something else, the run is loaded
    /// anew, as if it were opened now; growth::carry_over_loads marks the steps that have changed.  Loading anew takes at
    /// most a fifth of the time: it is put off for as long as that requires, but not beyond the job's end.
    /// `changed_keys`: the only keys that have changed since a load that began after the watch did; if null, it looks
    /// for changes.
    /// Cost:   a call of index_listing, a second one where something is new, and a read of each new file; only the
    ///         reads if `changed_keys` is given.
    /// Errors: corrupt_index, and what the storage throws; `last` then stays the newest, and nothing is lost.
    [[nodiscard]] std::optional<catalog> load(const catalog& last,
                                              const std::vector<std::string>* changed_keys = nullptr);

    /// Makes the next load() compare all stamps, and load anew at once if they differ: something that was read does not
    /// fit the catalog.  Ignored where comparing would then take more than a third of the time.
    void doubt();

    [[nodiscard]] const settled_options& settled() const noexcept { return settled_; }
    /// When a job whose end was seen counts as ended.
    [[nodiscard]] std::optional<waiter::clock::time_point> end_due() const {
        return end_seen_ ? std::optional{*end_seen_ + settled_.training_end_delay_refresh} : std::nullopt;
    }
    /// Problems of index files or of the source, by place, and of the storage.
    [[nodiscard]] std::vector<problem> problems() const;

private:
    // Whether the job has ended, long enough ago.
    [[nodiscard]] bool has_ended();

    /// load() for a run that a source describes.
    [[nodiscard]] std::optional<catalog> load_found(const catalog& last);

    [[nodiscard]] std::optional<catalog> load_new(const catalog& last, bool ended,
                                                  const std::vector<std::string>* changed_keys);

    /// Adds the listed index files that `last` does not know; finds out whether those that it knows were written again,
    /// or, if everything was listed, removed.
    void add_new(std::vector<parsed_index_key>& keys, std::vector<index_listing::listed> found, const catalog& last,
                 bool is_everything);

    [[nodiscard]] catalog load_anew(const catalog& last, bool ended);
    [[nodiscard]] bool is_due() const { return outdated_ && waiter::clock::now() >= anew_from_; }

    /// When an object was written, as a stamp.
    [[nodiscard]] static std::uint64_t stamp_of(std::optional<std::chrono::system_clock::time_point> written) noexcept;
    /// When the collections files were written, as one stamp of all.
    [[nodiscard]] std::uint64_t stamp_of_collections(const catalog::job_description& job) const;

    /// Listing a folder during writes may show a file and miss one that was written earlier.
    /// Whatever existed when one listing ended is in the next one: once that shows nothing new, nothing is missing.
    void list_until_quiet(std::vector<parsed_index_key>& keys, const catalog& last);

    void read(const std::vector<parsed_index_key>& files, bool ended, catalog_builder& builder);

    static constexpr std::size_t worth_threads = 512;  // files: with fewer, reading ends before threads have started
    static constexpr std::size_t files_in_share = 64;

    /// Some index files as they were read.
    struct read_files {
        struct one {
            std::size_t begin = 0;
            std::size_t end = 0;
            object_version version = {};
            bool is_there = false;
            bool is_left_out = false;  // too much to keep in memory: it must be read again
            std::exception_ptr failed = {};
        };
        std::vector<std::byte> bytes = {};
        std::vector<one> files = {};

        void keep(std::optional<byte_view> file, const object_version& version);
        void clear() noexcept {
            bytes.clear();
            files.clear();
        }
    };

    /// Reads the files on two threads, while the calling thread adds them in order, with the same errors.  False where
    /// no threads are available: nothing has been added then.
    /// Memory: six shares of 64 files, of at most 8 MiB each.
    [[nodiscard]] bool read_on_threads(const std::vector<parsed_index_key>& files, const std::vector<std::string>& keys,
                                       bool ended, catalog_builder& builder);

    void take_read(const parsed_index_key& key, const read_files& part, std::size_t i, bool ended,
                   catalog_builder& builder);

    /// Handles a file that the storage fails to read; call it inside a catch block.
    void take_failed(const parsed_index_key& key, const error& failed, bool ended, catalog_builder& builder);

    /// Reads an index file that is too large to be read with others.
    void take_large(const parsed_index_key& key, bool ended, catalog_builder& builder);

    void too_large(const parsed_index_key& key, std::uint64_t size);

    /// Errors: corrupt_index, if so many more index files, or bytes of them, exceed what size_limits allow the
    ///         run.
    void check_in_all(std::uint64_t files, std::uint64_t bytes) const;

    void take(const parsed_index_key& key, std::optional<byte_view> bytes, const object_version& version, bool ended,
              catalog_builder& builder);

    void damaged(const std::string& key, const parsed_index_key* parsed, const std::string& what,
                 error_remedy remedy = error_remedy::skip_damaged);

    const any_storage& store_;
    const trial_options& options_;
    settled_options settled_;
    std::unique_ptr<any_catalog_source> source_;  // null if the run has index files
    run_contents contents_;                       // what the source has found
    bool is_asked_ = false;                       // contents_ has data that are not in a catalog yet
    std::map<std::string, std::size_t> late_;     // entries for steps that already have them, by object
    index_listing listing_;
    loader_cache cache_;
    std::vector<parsed_index_key> left_over_;      // listed, but half written, unreadable or held back so far
    std::map<std::string, std::string> problems_;  // by key
    std::uint64_t files_taken_ = 0;                // index files in the catalog
    std::uint64_t bytes_taken_ = 0;                // in them
    bool outdated_ = false;                        // the catalog is not what opening would give: see load()
    bool is_anew_ = false;                         // in load_anew()
    waiter::clock::time_point anew_from_{};        // when it may be loaded anew
    waiter::clock::time_point check_from_{};       // when all stamps are due
    waiter::clock::time_point doubt_from_{};       // when doubt() may make them due
    std::uint64_t collections_stamp_ = catalog::no_stamp;
    bool needs_listing_ = false;  // the next load must list, whatever changed_keys says
    bool seen_running_ = false;
    bool opens_ = false;  // opening for the first time: trial_options::stop ends that
    std::optional<waiter::clock::time_point> end_seen_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/load/impl/loader.ipp>
#endif
