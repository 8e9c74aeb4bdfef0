// Fetches the bytes of event files: whole, in place, in large pieces, or in pieces that fit into the CPU's cache; where
// the storage reads many ranges at once, the pieces of many files together.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/read/event_source.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/read/record_batch.hpp>
#include <smdebug/trial/read/selected_tensors.hpp>
#include <smdebug/trial/selection.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smdebug::inline v1::detail {

class trial_state;

/// How event files are read.
struct reading_config {
    /// Large files on local disks may be read in place while they are visited.  Only for a visit that neither blocks nor
    /// writes to the run: a process that opens the file for writing waits meanwhile, up to 45 s; see leased_map for what
    /// happens then.
    bool in_place = false;
    /// Leaves the payload checksums of large tensors to the visit, which can verify them while it works: see
    /// scanned_values::check.  Values must not be trusted before the check holds.
    bool defer_checks = false;
    /// Does not expand a long trailing repeat, which is how TensorFlow writes constant tensors: scanned_values::repeats
    /// is the number of elements left out, see repeated_block.  If false, such a record of a hundred bytes may become
    /// 256 MiB.  Ignored where the trial's decoder is no repeating_decoder.
    bool keep_repeats = false;
    /// Values of large tensors may be left in the file, or be given as reductions only: see scanned_tensor::content.
    /// For a visit that uses nothing but their reductions, through reduced().
    bool stream = false;
    const std::vector<bool>* values_of = nullptr;  ///< values of these tensors, by name_id, are always read whole
    reading_limits limits = {};
    files_ahead* ahead = nullptr;  ///< shared by all readers of the same files; null if files are not prefetched
};

/// An event file that is being read.
struct event_file {
    const catalog::file* index = nullptr;  ///< its entry in the catalog
    const std::string& key;                ///< empty if the index file names none
    event_source* source = nullptr;        ///< null if it cannot be read, or does not exist
    const std::string* why_not = nullptr;  ///< why there is no source; null if the file does not exist
};

/// Fetches event files of one run, in order.  One thread at a time; several instances may share what they borrow.
/// Borrows: state, catalog, selection, and what the configuration points to.
class event_files {
public:
    using visit_file = function_ref<void(const event_file&)>;
    using file_done = function_ref<bool(std::size_t place)>;

    /// `saved`: the reductions that will be read.
    event_files(const trial_state& state, const catalog& from, const selected_tensors& which, reduction_set saved,
                const reading_config& config);

    /// Whether the trial's decoder and kernel can leave values in their files.
    [[nodiscard]] static bool can_stream(const trial_state& state) noexcept;

    /// Whether many ranges are read together.
    [[nodiscard]] bool batches() const noexcept { return batches_; }

    /// The extent of a file; free for further files of the same layout.
    [[nodiscard]] file_extent extent(const catalog::file& file);

    /// Calls visit(const event_file&) for each file from `begin` to before `last`, and done(place) after it, when
    /// nothing of it is held any more; returns false as soon as `done` does.  The visitor must read the records that
    /// each_record() returns, in that order.
    /// Errors: what `visit` and `done` throw, which also ends the walk.
    bool each(std::span<const catalog::file* const> all, std::size_t begin, std::size_t last, visit_file visit,
              file_done done);

    /// Opens a file whose records are read in any order; valid until the next call.  Small files are read together with
    /// those that follow: 4 MiB at once, or 32 MiB where the storage reads many ranges together.
    /// `files`: the same at each call; `place`: never before that of the last call.
    [[nodiscard]] event_file open(std::span<const catalog::file* const> files, std::size_t place);

private:
    class pass;  // of each()
    using source_pointer = std::unique_ptr<event_source>;

    // A small file that was read with others.
    struct small_file {
        std::vector<std::byte> bytes = {};
        bool is_there = false;
        std::optional<std::string> why_not = {};
        bool is_too_large = false;  // to be read whole
    };

    struct wanted_records {
        std::vector<byte_range> places = {};
        std::vector<std::size_t> tensor_ends = {};  // indices into the records: those of one tensor are adjacent
    };

    // The records that a scan of a file reads, in that order; a single record if there are none though something in it
    // is wanted: reading it shows whether the file exists.
    [[nodiscard]] wanted_records records_of(const catalog::file& file);
    [[nodiscard]] byte_range first_wanted(const catalog::file& file) const noexcept;
    // Whether a scan reads the records of a file in the order in which they are stored.
    [[nodiscard]] bool in_order(const catalog::file& file) const;

    // The way to read a file that is `ahead` files ahead.
    [[nodiscard]] read_strategy way(const catalog::file& file, std::size_t ahead);
    // Prefetches the file at `place` and the next few, where the storage has the system read ahead, or is read in
    // place.
    void prefetch(std::span<const catalog::file* const> files, std::size_t place);

    // Null where the storage does not show the file, or open it.
    [[nodiscard]] source_pointer shown(const std::string& key) const;
    [[nodiscard]] source_pointer opened(const std::string& key, bool any_order);
    // `key` is borrowed.
    [[nodiscard]] source_pointer read_opened(std::unique_ptr<opened_object> object, const std::string& key,
                                             bool any_order);
    // For data of a catalog_source: the object stays open for the following files in it.
    [[nodiscard]] event_file of_source(const catalog::file& file, const std::string& key);
    // Null if the file does not exist.
    [[nodiscard]] source_pointer in_pieces(const catalog::file& file, const std::string& key, std::uint64_t piece,
                                           bool any_order = false);
    // Reads a file separately; nothing if it is to be read with others.
    [[nodiscard]] std::optional<source_pointer> apart(const catalog::file& file, const std::string& key);

    [[nodiscard]] bool is_small(const catalog::file& file) {
        return extent(file).end <= (batches_ ? many_at_once : reading_limits{}.opened_from);
    }
    void read_small(std::span<const catalog::file* const> files, std::size_t place);
    void prefetch_large(std::span<const catalog::file* const> files, std::size_t place);

    static constexpr std::size_t most_at_once = 256;  // files that are named to the storage in one call
    static constexpr std::size_t most_records = std::size_t{1} << 16U;  // in those files, not counting the last one
    static constexpr std::uint64_t small_at_once = std::uint64_t{4} << 20U;
    static constexpr std::uint64_t many_at_once = std::uint64_t{32} << 20U;

    // If one file cannot be shown (it is still being written, say, or belongs to another user) or opened, the next ones
    // probably cannot either.
    static constexpr std::size_t files_skipped = 64;

    const trial_state& state_;
    const catalog& from_;
    const selected_tensors& which_;
    reduction_set saved_;
    reading_config config_;
    bool views_;
    bool batches_;
    bool small_ahead_;  // small files are prefetched, too, as the storage does not do it
    record_bound bound_;
    std::optional<std::uint32_t> last_layout_;
    file_extent last_extent_;
    bool last_in_order_ = false;
    std::size_t unviewed_ = 0;  // files to read before the next attempt in place
    std::size_t unopened_ = 0;  // the same before the next attempt to open
    piece_buffer buffer_;
    // For open().
    std::vector<small_file> small_;  // files from first_small_ on
    std::size_t first_small_ = 0;
    std::size_t next_ahead_ = 0;
    std::string key_;
    source_pointer source_;
    // For of_source().
    std::string shared_key_;
    source_pointer shared_;
    std::string shared_failure_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/event_files.ipp>
#endif
