// The files of a scan, one after another: read whole, looked at in place, or read in pieces, large or such as stay in the
// CPU's cache; where the storage reads many ranges at once, the pieces of many files together.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/read/bounded_record.hpp>
#include <smdebug/trial/read/faster_way.hpp>
#include <smdebug/trial/read/files_ahead.hpp>
#include <smdebug/trial/read/opened_event_file.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/scan/scan_file.hpp>
#include <smdebug/trial/selection.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

class collected_event_file;

using walk_visit = function_ref<void(std::size_t place, const scanned_tensor&)>;
using walk_done = function_ref<void(std::size_t place)>;

/// What a walk is to do beside visiting.
struct walk_manner {
    bool in_place = false;      ///< files may be looked at in place, while `visit` runs: it must not block
    bool defer_checks = false;  ///< see scanned_tensor::check
    bool keep_repeats = false;  ///< see scanned_tensor::repeats
    bool stream = false;        ///< see scanned_tensor::stream
    const std::vector<bool>* values_of = nullptr;  ///< tensors that are not streamed, by name_id; null: none
    reading_limits limits = {};
    files_ahead* ahead = nullptr;  ///< of all walks through the same files; null: none is asked for before its turn
    faster_way* faster = nullptr;  ///< see scan_options; null: the walk has its own
};

/// Reads some files of one run, in order.  One thread at a time; several may share state, catalog and selection.
/// Borrows: state, catalog, selection, and what the manner names.
class scan_walk {
public:
    scan_walk(const trial_state& state, const catalog& from, const selected_tensors& which, reduction_set saved,
              const walk_manner& manner = {});

    /// Whether many ranges are read together.
    [[nodiscard]] bool batches() const noexcept { return batches_; }

    /// The extent of a file; files of the same layout cost nothing after the first.
    [[nodiscard]] file_extent extent(const catalog::file& file);

    /// Calls visit(place, const scanned_tensor&) for each selected tensor of each file from `begin` to before `end`, and
    /// done(place) after each file, when it is not looked at in place any more.  A file that cannot be read is handed over as a failure of
    /// each of its tensors, and the next one is read.
    /// Errors: what `visit` and `done` throw, which ends the walk.
    void walk(std::span<const catalog::file* const> all, std::size_t begin, std::size_t last, walk_visit visit,
              walk_done done);

    /// The same for all files.
    void walk(std::span<const catalog::file* const> files, walk_visit visit, walk_done done) {
        walk(files, 0, files.size(), visit, done);
    }

private:
    /// Asks for the file at `place` and some behind it, where the storage has the system read ahead, or is looked at in
    /// place.
    void bring(std::span<const catalog::file* const> files, std::size_t place);

    /// Whether a scan asks for the records of a file as they lie in it.
    [[nodiscard]] bool in_order(const catalog::file& file);

    /// The way for a file that is `ahead` files ahead.
    [[nodiscard]] file_way way(const catalog::file& file, std::size_t ahead);

    template <class Source>
    void scan(const catalog::file& file, const std::string& key, std::size_t place, Source* source,
              const std::string* why_not, walk_visit visit) {
        scanner_.scan(file, key, source, why_not, [&](const scanned_tensor& tensor) { visit(place, tensor); });
    }

    void read_whole(std::span<const catalog::file* const> files, std::size_t begin, std::size_t end, walk_visit visit,
                    walk_done done);

    /// Up to where the files from `begin` on can be read by their ranges, together.
    [[nodiscard]] std::size_t ranged_to(std::span<const catalog::file* const> files, std::size_t begin);

    /// Reads what is wanted of some files with one call, and scans each when all of it is there.
    void read_ranged(std::span<const catalog::file* const> files, std::size_t begin, std::size_t end, walk_visit visit,
                     walk_done done);

    /// Scans a file by its records.
    template <class Source>
    void scan_ranged(const catalog::file& file, const std::string& key, std::size_t place, Source& source,
                     walk_visit visit) {
        const bool is_there = extent(file).records == 0 || (!key.empty() && source.is_there());
        scan(file, key, place, is_there ? &source : nullptr, nullptr, visit);
    }

    /// Scans a file that was read as one range: as read_whole does.
    void scan_collected(const catalog::file& file, std::size_t place, collected_event_file& source, walk_visit visit);

    void read_apart(std::span<const catalog::file* const> files, std::size_t place, walk_visit visit, walk_done done);

    /// False where the storage does not open the file.
    [[nodiscard]] bool read_opened(std::span<const catalog::file* const> files, std::size_t place,
                                   const std::string& key, walk_visit visit);

    /// False where the storage does not show the file.
    [[nodiscard]] bool look_in_place(std::span<const catalog::file* const> files, std::size_t place,
                                     const std::string& key, walk_visit visit);

    void read_pieces(const catalog::file& file, const std::string& key, std::size_t place, std::uint64_t piece,
                     walk_visit visit);

    struct wanted_records {
        std::vector<byte_range> places = {};
        std::vector<std::size_t> tensor_ends = {};  // among them: the records of one tensor follow each other
    };

    /// What a scan of a file reads, in that order; one record, where that is nothing though something in it is wanted:
    /// it tells whether the file is there.
    [[nodiscard]] wanted_records records_of(const catalog::file& file);

    [[nodiscard]] byte_range first_wanted(const catalog::file& file) const noexcept;

    static constexpr std::size_t most_at_once = 256;  // files that are named to the storage in one call
    static constexpr std::size_t most_records = std::size_t{1} << 16U;  // of those, before the last

    // Where one file is not shown (it is still written to, say, or somebody else's), the next ones may not be, either.
    static constexpr std::size_t views_skipped = 64;

    // The same where one is not opened.
    static constexpr std::size_t opens_skipped = 64;

    [[nodiscard]] faster_way& faster() noexcept { return manner_.faster != nullptr ? *manner_.faster : own_faster_; }

    const trial_state& state_;
    const catalog& from_;
    const selected_tensors& which_;
    walk_manner manner_;
    bool views_;
    bool batches_;
    bool small_ahead_;  // small files are asked for, too: nobody else does
    record_bound bound_;
    file_scanner scanner_;
    std::optional<std::uint32_t> last_layout_;
    file_extent last_extent_;
    bool last_in_order_ = false;
    std::size_t unviewed_ = 0;  // files that are read before the next look in place
    std::size_t unopened_ = 0;  // the same before the next is opened
    faster_way own_faster_;     // the usual one is opening, the other looking in place
    piece_buffer buffer_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/scan/impl/scan_walk.ipp>
#endif
