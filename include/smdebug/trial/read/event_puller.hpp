// Records of a run's event files, asked for one by one, file after file: for who walks two runs side by side and cannot
// let either of them lead, as a scan does.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/storage/opened_object.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/read/bounded_record.hpp>
#include <smdebug/trial/read/entry_decoder.hpp>
#include <smdebug/trial/read/event_source.hpp>
#include <smdebug/trial/read/opened_event_file.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/read/value_stream.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The values of a tensor; borrowed until the next record of the same puller is asked for.
struct pulled_values {
    decoded_tensor tensor;
    record::payload_check check;  ///< what is left to check: the values count where it holds()
    std::size_t repeats = 0;      ///< elements that follow the last one: see repeated_block
};

/// Reads some files of one run, in order.  Large ones in pieces of 256 KiB and of a record, small ones some together.
/// Cost: a read of each byte where records are asked for by ascending offset.
/// Memory: a piece, or the largest record that is not streamed; of small files 4 MiB, 32 where the storage reads many
///         objects together or opens none.  Borrows state and catalog.  One thread at a time.
class event_puller {
public:
    event_puller(const trial_state& state, const catalog& from, std::vector<const catalog::file*> files);

    /// Goes to the file at `place`, at or behind the last one; why none of it can be read, or null.
    [[nodiscard]] const lookup_error* open(std::size_t place);

    /// The values of a tensor, which are recorded under its name; why not.  Payload checksums of large ones are left to
    /// the caller.
    [[nodiscard]] std::optional<lookup_error> values(const layout::entry& entry, std::string_view name,
                                                     pulled_values& out);

    /// The same of a saved reduction.
    [[nodiscard]] std::optional<lookup_error> saved(const layout::entry& entry, std::string_view tensor,
                                                    reduction_key key, double& number);

    /// The values of a large tensor, left in the file; null: they are to be asked for by values().
    [[nodiscard]] value_stream* stream(const layout::entry& entry, std::string_view name);

    /// Why what stream() gave cannot be read.
    [[nodiscard]] lookup_error damaged(const layout::entry& entry, status damage) const;
    /// The same while an exception is handled.
    [[nodiscard]] lookup_error failed(const layout::entry& entry) const;

private:
    // A small file that was read with others.
    struct small_file {
        std::vector<std::byte> bytes;
        std::optional<lookup_error> failure;
        bool is_too_large = false;  // to be read whole
    };

    // Where the last record of a file ends, by its index file.
    [[nodiscard]] std::uint64_t end_of(const catalog::file& file);
    [[nodiscard]] bool is_small(const catalog::file& file);
    void read_small(std::size_t place);
    [[nodiscard]] const lookup_error* fail(lookup_error failure);
    [[nodiscard]] const lookup_error* open_large(const catalog::file& file);
    void read_ahead(std::size_t place);
    [[nodiscard]] byte_view at(byte_range record);

    static constexpr reading_limits limits{};  // those of scans
    static constexpr std::uint64_t small_at_once = std::uint64_t{4} << 20U;
    static constexpr std::uint64_t many_at_once = std::uint64_t{32} << 20U;
    static constexpr std::size_t most_files = 256;

    const trial_state& state_;
    const catalog& from_;
    std::vector<const catalog::file*> files_;
    bool reads_many_;  // objects together, or none in pieces
    record_bound bound_;
    entry_decoder decoder_;
    std::vector<std::uint64_t> ends_;  // by layout; 0: not known yet
    std::vector<small_file> small_;    // files from first_small_ on
    std::size_t first_small_ = 0;
    std::size_t next_ahead_ = 0;
    std::string key_;
    std::optional<lookup_error> failure_;
    piece_buffer buffer_;
    std::unique_ptr<opened_object> object_;
    std::optional<opened_event_file> opened_;
    std::optional<piecewise_event_file> pieces_;
    byte_view whole_;
    value_stream stream_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/event_puller.ipp>
#endif
