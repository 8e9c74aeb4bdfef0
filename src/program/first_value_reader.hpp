// The first readable value of each tensor: a listing of a run takes dtypes and shapes from it.
// Reading tensor by tensor costs an open or a request each; here adjacent records are read together.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/read/entry_decoder.hpp>
#include <smdebug/trial/read/trial_state.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// Reads, for each tensor of a catalog, the first value by step, then worker, that can be read.  Values that cannot be
/// read are skipped, and so are missing event files, without waiting for them.  For one use.
/// Borrows: state and catalog, for its life.
class first_value_reader {
public:
    using found_value = function_ref<void(smdebug::detail::name_id, const decoded_tensor&)>;

    first_value_reader(const smdebug::detail::trial_state& state, const smdebug::detail::catalog& from);

    /// How many of the event files needed are missing; and the key of the first of them.
    [[nodiscard]] std::size_t missing_files() const noexcept { return missing_count_; }
    [[nodiscard]] const std::string& first_missing() const noexcept { return first_missing_; }
    /// How many tensors have values none of which could be read.
    [[nodiscard]] std::size_t unread() const noexcept { return unread_; }

    /// Lists the event files: missing_files() then counts all that are not there.
    void list_files();

    /// Calls found(name_id, const decoded_tensor&) once for each tensor with a readable value, in no order; the value
    /// is invalid after the call.  Only its dtype and shape are meaningful.
    /// Cost:   a pass over the entries of the files up to the last one in which a tensor first occurs, and one read of
    ///         at most 8 MiB, or of one record, for neighbours in a file; one call for up to 65,536 tensors, where the
    ///         storage reads many ranges together.  For unreadable values the same again, from the first of them on.
    ///         Each missing file is requested once; if several are missing in a remote storage, the existing ones are
    ///         listed.
    /// Memory: 12 bytes a name, 32 more for each of 65,536 tensors, one read, and what the storage has in flight.
    /// Errors: what `found` throws.
    void read(found_value found);

private:
    static constexpr std::size_t most_at_once = std::size_t{1} << 16U;
    static constexpr std::uint64_t gap = 4096;  // reading so many unneeded bytes costs less than another read
    static constexpr std::uint64_t largest_piece = std::uint64_t{8} << 20U;

    struct tensor {
        std::uint32_t next = 0;   // the first file that may still have a value of it
        std::uint32_t round = 0;  // in which it was last requested
        bool is_open = false;     // not found yet
    };
    struct wanted_record {
        std::uint32_t file = 0;
        smdebug::detail::layout::entry entry;  // its place cut, see record_bound
    };
    // Records that come with one read.
    struct piece {
        std::size_t begin = 0;
        std::size_t end = 0;
        byte_range where;
    };

    // Requests the next value of each open tensor; false if some have no further one.
    [[nodiscard]] bool ask_for_all(std::size_t first, found_value found);

    void give_up_the_others();

    void read_wanted(found_value found);

    // Keeps in wanted_, in order, the records that can be requested.
    void cut_into_pieces(std::deque<std::string>& keys, std::vector<piece>& pieces, std::vector<object_range>& ranges);

    [[nodiscard]] bool cut(const std::string& key, wanted_record& record);

    // Extends a piece to a record that does not begin before it, if that is worthwhile.
    [[nodiscard]] static bool extend(byte_range& piece_, byte_range record) noexcept;

    void take(const wanted_record& record, byte_view bytes, found_value found);

    void take_value(smdebug::detail::name_id name, found_value found);

    void pass_over(const wanted_record& record);

    void note_missing(std::size_t place);
    // Finds out which of the following files are missing, too.
    void pass_over_missing();
    [[nodiscard]] bool is_missing(const std::string& key) const;
    // Each query takes time.
    [[nodiscard]] bool is_remote() const { return state_.store().abilities().batches_ranges; }

    static constexpr std::size_t worth_a_listing = 8;

    const smdebug::detail::trial_state& state_;
    const smdebug::detail::catalog& from_;
    smdebug::detail::entry_decoder decoder_;
    std::vector<const smdebug::detail::catalog::file*> files_;
    std::vector<bool> missing_;  // by place in files_: not there
    std::size_t missing_count_ = 0;
    std::string first_missing_;
    bool is_listed_ = false;
    std::vector<tensor> tensors_;  // by name_id
    std::size_t open_ = 0;         // the number of open ones
    std::size_t unread_ = 0;       // the number given up
    std::uint32_t round_ = 0;
    std::size_t failed_from_ = 0;  // the first file that may have the next value of an unreadable one
    std::vector<wanted_record> wanted_;
    decoded_tensor value_;
};

}  // namespace smdebug::inline v1::cli::detail
