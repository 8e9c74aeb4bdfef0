// How the bytes of event files are fetched: whole, looked at in place, or in pieces, large or such as stay in the CPU's
// cache; where the storage reads many ranges at once, the pieces of many files together.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/read/bounded_record.hpp>
#include <smdebug/trial/read/event_source.hpp>
#include <smdebug/trial/read/faster_way.hpp>
#include <smdebug/trial/read/files_ahead.hpp>
#include <smdebug/trial/read/opened_event_file.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/selection.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

class trial_state;

/// How event files are read.
struct reading_config {
    bool in_place = false;      ///< files may be looked at in place, while they are visited: nothing may block then
    bool defer_checks = false;  ///< the payload checksums of large tensors are left to the caller
    bool keep_repeats = false;  ///< see scan_options
    bool stream = false;        ///< large values may be left in the file, or be given as reduced already
    bool in_turn = false;       ///< on the thread that called, and no other
    const std::vector<bool>* values_of = nullptr;  ///< but for these tensors, by name_id; null: none
    reading_limits limits = {};
    files_ahead* ahead = nullptr;  ///< of all readers of the same files; null: none is asked for before its turn
    faster_way* faster = nullptr;  ///< see scan_options; null: the reader has its own
};

/// An event file that is being read.
struct event_file {
    const catalog::file* index = nullptr;  ///< what its index file says
    const std::string& key;                ///< empty: the index file names none
    event_source* source = nullptr;        ///< null: it cannot be read
    const std::string* why_not = nullptr;  ///< null: it is not there
    bool undisturbed = false;              ///< it is neither looked at in place, which others wait for, nor timed
};

/// Fetches event files of one run, in order.  One thread at a time; several may share what it borrows.
/// Borrows: state, catalog, selection, and what the configuration names.
class event_files {
public:
    using visit_file = function_ref<void(const event_file&)>;
    using file_done = function_ref<bool(std::size_t place)>;

    /// `saved`: the reductions that will be asked for.
    event_files(const trial_state& state, const catalog& from, const selected_tensors& which, reduction_set saved,
                const reading_config& config);

    /// Whether the trial's decoder and kernel can leave values in their files.
    [[nodiscard]] static bool can_stream(const trial_state& state) noexcept;

    /// Whether many ranges are read together.
    [[nodiscard]] bool batches() const noexcept { return batches_; }

    /// The extent of a file; files of the same layout cost nothing after the first.
    [[nodiscard]] file_extent extent(const catalog::file& file);

    /// Calls visit(const event_file&) for each file from `begin` to before `last`, and done(place) behind it, when
    /// nothing of it is held any more; false where that returned false, which ends it.  The records that each_record()
    /// gives are to be asked for, in that order.
    /// Errors: what `visit` and `done` throw, which ends it, too.
    bool each(std::span<const catalog::file* const> all, std::size_t begin, std::size_t last, visit_file visit,
              file_done done);

    /// Opens a file whose records are asked for in any order: to the next call.  Of small files some are read together,
    /// 4 MiB, or 32 where the storage reads many objects together or opens none.
    /// `files`: the same at each call; `place`: at or behind the last one.
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
        std::vector<std::size_t> tensor_ends = {};  // among them: the records of one tensor follow each other
    };

    // What a scan of a file reads, in that order; one record, where that is nothing though something in it is wanted:
    // it shows whether the file is there.
    [[nodiscard]] wanted_records records_of(const catalog::file& file);
    [[nodiscard]] byte_range first_wanted(const catalog::file& file) const noexcept;
    // Whether a scan asks for the records of a file as they lie in it.
    [[nodiscard]] bool in_order(const catalog::file& file) const;

    // The way for a file that is `ahead` files ahead.
    [[nodiscard]] file_way way(const catalog::file& file, std::size_t ahead);
    // Whether opened files are looked at in place, now and then.
    [[nodiscard]] bool may_view() const noexcept { return views_ && config_.in_place && unviewed_ == 0; }
    // Asks for the file at `place` and some behind it, where the storage has the system read ahead, or is looked at in
    // place.
    void prefetch(std::span<const catalog::file* const> files, std::size_t place);

    // Null where the storage does not show the file, or open it.
    [[nodiscard]] source_pointer shown(const std::string& key) const;
    [[nodiscard]] source_pointer opened(const std::string& key, bool any_order);
    // `key` is borrowed.
    [[nodiscard]] source_pointer read_opened(std::unique_ptr<opened_object> object, const std::string& key,
                                             bool any_order);
    // What a catalog_source has found: the object stays open for the files that follow in it.
    [[nodiscard]] event_file of_source(const catalog::file& file, const std::string& key);
    // Null where it is not there.
    [[nodiscard]] source_pointer in_pieces(const catalog::file& file, const std::string& key, std::uint64_t piece,
                                           bool any_order = false);
    // A file that is not read with others; nothing where it is to be.  `timed`: set for one that may be opened or looked
    // at in place, whichever is faster.
    [[nodiscard]] std::optional<source_pointer> apart(const catalog::file& file, const std::string& key,
                                                      std::optional<faster_way::way>& timed);

    [[nodiscard]] bool is_small(const catalog::file& file) {
        return extent(file).end <= (batches_ ? many_at_once : reading_limits{}.opened_from);
    }
    void read_small(std::span<const catalog::file* const> files, std::size_t place);
    void prefetch_large(std::span<const catalog::file* const> files, std::size_t place);

    static constexpr std::size_t most_at_once = 256;  // files that are named to the storage in one call
    static constexpr std::size_t most_records = std::size_t{1} << 16U;  // of those, before the last
    static constexpr std::uint64_t small_at_once = std::uint64_t{4} << 20U;
    static constexpr std::uint64_t many_at_once = std::uint64_t{32} << 20U;

    // Where one file is not shown (it is still written to, say, or somebody else's) or opened, the next ones may not
    // be, either.
    static constexpr std::size_t files_skipped = 64;

    [[nodiscard]] faster_way& faster() noexcept { return config_.faster != nullptr ? *config_.faster : own_faster_; }

    const trial_state& state_;
    const catalog& from_;
    const selected_tensors& which_;
    reduction_set saved_;
    reading_config config_;
    bool views_;
    bool batches_;
    bool small_ahead_;  // small files are asked for, too: nobody else does
    record_bound bound_;
    std::optional<std::uint32_t> last_layout_;
    file_extent last_extent_;
    bool last_in_order_ = false;
    std::size_t unviewed_ = 0;  // files that are read before the next look in place
    std::size_t unopened_ = 0;  // the same before the next is opened
    faster_way own_faster_;     // the usual one is opening, the other looking in place
    piece_buffer buffer_;
    // Of open().
    std::vector<small_file> small_;  // files from first_small_ on
    std::size_t first_small_ = 0;
    std::size_t next_ahead_ = 0;
    std::string key_;
    source_pointer source_;
    // Of of_source().
    std::string shared_key_;
    source_pointer shared_;
    std::string shared_failure_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/event_files.ipp>
#endif
