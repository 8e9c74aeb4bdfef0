// The first value of each tensor that can be read: what a listing of a run says of dtypes and shapes.
// Asking tensor by tensor costs an open or a request each; here what lies together comes together.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/read_ranges.hpp>
#include <smdebug/storage/versioned_read.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/catalog/name_list.hpp>
#include <smdebug/trial/read/entry_decoder.hpp>
#include <smdebug/trial/read/event_source.hpp>
#include <smdebug/trial/read/trial_state.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Reads, of each tensor of a catalog, the first value by step, then worker, that can be read.  One that cannot is
/// passed over, and so is an event file that is not there: it is not waited for.  For one use.
/// Borrows: state and catalog, for its life.
class first_values {
public:
    first_values(const trial_state& state, const catalog& from);

    /// How many event files were not there, of those that were looked for; and the key of the first of them.
    [[nodiscard]] std::size_t missing_files() const noexcept { return missing_count_; }
    [[nodiscard]] const std::string& first_missing() const noexcept { return first_missing_; }
    /// Of how many tensors that have values none could be read.
    [[nodiscard]] std::size_t unread() const noexcept { return unread_; }

    /// Calls found(name_id, const decoded_tensor&) once for each tensor of which a value can be read, in no order; the
    /// value is gone after the call.  Only its dtype and shape count.
    /// Cost:   a look at the entries of the files up to the last one that has a tensor first, and one read of at most
    ///         8 MiB, or of one record, for neighbours in a file; one call for up to 65,536 tensors, where the storage
    ///         reads many ranges together.  For values that cannot be read the same again, from the first of them on.
    ///         Files that are not there are asked for once each; of a storage far away that lacks several, those that
    ///         are there are listed.
    /// Memory: 12 bytes a name, 32 more for each of 65,536 tensors, one read, and what the storage has in flight.
    /// Errors: what `found` throws.
    template <class Found>
    void read(Found&& found) {
        for (std::size_t first = 0; open_ > 0; first = failed_from_) {
            ++round_;
            failed_from_ = files_.size();
            const std::size_t missing = missing_count_;
            if (!ask_for_all(first, found)) {
                give_up_the_others();
            }
            if (missing_count_ > missing && open_ > 0) {
                pass_over_missing();
            }
        }
    }

private:
    static constexpr std::size_t most_at_once = std::size_t{1} << 16U;
    static constexpr std::uint64_t gap = 4096;  // to read so much for nothing costs less than another read
    static constexpr std::uint64_t largest_piece = std::uint64_t{8} << 20U;

    struct tensor {
        std::uint32_t next = 0;   // the first file that may still have a value of it
        std::uint32_t round = 0;  // in which it was asked for last
        bool is_open = false;     // still to be found
    };
    struct wanted_record {
        std::uint32_t file = 0;
        layout::entry entry;  // its place cut, see record_bound
    };
    // Records that come with one read.
    struct piece {
        std::size_t begin = 0;
        std::size_t end = 0;
        byte_range where;
    };

    // Asks for the next value of each tensor that is still to be found; false where some have no other one.
    template <class Found>
    [[nodiscard]] bool ask_for_all(std::size_t first, Found& found) {
        std::size_t left = open_;
        const name_list* nothing_in = nullptr;  // a list of which everything was asked for
        for (std::size_t place = first; place < files_.size() && left > 0; ++place) {
            if (missing_[place]) {
                continue;
            }
            const layout& entries = from_.layout_of(*files_[place]);
            if (&entries.names() == nothing_in) {
                continue;
            }
            bool later = false;
            for (std::size_t i = entries.size(); i-- > 0;) {  // of two of one name the last one counts
                const layout::entry entry = from_.entry_of(*files_[place], i);
                tensor& wanted = tensors_[entry.what.name];
                if (entry.what.kind != 0 || !wanted.is_open || wanted.round == round_) {
                    continue;
                }
                if (wanted.next > place) {
                    later = true;
                    continue;
                }
                wanted.round = round_;
                --left;
                if (entry.form != nullptr && entry.form->type != dtype::invalid) {  // the catalog knows it
                    value_.type = entry.form->type;
                    value_.shape = entry.form->shape;
                    take_value(entry.what.name, found);
                    continue;
                }
                wanted_.push_back({static_cast<std::uint32_t>(place), entry});
                if (wanted_.size() == most_at_once) {
                    read_wanted(found);
                }
            }
            nothing_in = later ? nothing_in : &entries.names();
        }
        read_wanted(found);
        return left == 0;
    }

    void give_up_the_others();

    template <class Found>
    void read_wanted(Found& found) {
        std::deque<std::string> keys;  // which the ranges borrow
        std::vector<piece> pieces;
        std::vector<object_range> ranges;
        cut_into_pieces(keys, pieces, ranges);
        std::vector<wanted_record> alone;  // a neighbour may be what cannot be read
        read_ranges_past_errors(
            state_.store(), ranges,
            [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version&) {
                const piece& read = pieces[i];
                if (!bytes) {
                    note_missing(wanted_[read.begin].file);
                }
                for (std::size_t place = read.begin; place < read.end; ++place) {
                    const wanted_record& record = wanted_[place];
                    const byte_range in{record.entry.record.offset - read.where.offset, record.entry.record.length};
                    bytes ? take(record, whole_event_file{bytes->view()}.part(in), found) : pass_over(record);
                }
            },
            [&](std::size_t i) {
                const piece& failed = pieces[i];
                if (failed.end - failed.begin == 1) {
                    pass_over(wanted_[failed.begin]);
                } else {
                    alone.insert(alone.end(), wanted_.begin() + static_cast<std::ptrdiff_t>(failed.begin),
                                 wanted_.begin() + static_cast<std::ptrdiff_t>(failed.end));
                }
            });
        for (const wanted_record& record : alone) {
            byte_buffer bytes;
            try {
                bytes = state_.store().read(trial_state::event_key(from_, *files_[record.file]), record.entry.record);
            } catch (const std::exception&) {
                bytes = {};
            }
            take(record, bytes.view(), found);
        }
        wanted_.clear();
    }

    // Leaves in wanted_, in order, what can be asked for.
    void cut_into_pieces(std::deque<std::string>& keys, std::vector<piece>& pieces, std::vector<object_range>& ranges);

    [[nodiscard]] bool cut(const std::string& key, wanted_record& record);

    // Makes a piece hold a record that does not begin before it, where that is worth it.
    [[nodiscard]] static bool extend(byte_range& piece_, byte_range record) noexcept;

    template <class Found>
    void take(const wanted_record& record, byte_view bytes, Found& found) {
        const name_id name = record.entry.what.name;
        const auto file = [&] { return trial_state::event_key(from_, *files_[record.file]); };
        if (decoder_.decode(
                record.entry, (*from_.names)[name], file, [&](const layout::entry&) { return bytes; }, value_)) {
            pass_over(record);
            return;
        }
        take_value(name, found);
    }

    template <class Found>
    void take_value(name_id name, Found& found) {
        tensors_[name].is_open = false;
        --open_;
        found(name, std::as_const(value_));
    }

    void pass_over(const wanted_record& record);

    void note_missing(std::size_t place);
    // Finds out which of the files behind that are not there either.
    void pass_over_missing();
    [[nodiscard]] bool is_missing(const std::string& key) const;
    void list_files();

    static constexpr std::size_t worth_a_listing = 8;

    const trial_state& state_;
    const catalog& from_;
    entry_decoder decoder_;
    std::vector<const catalog::file*> files_;
    std::vector<bool> missing_;  // by place in files_: not there
    std::size_t missing_count_ = 0;
    std::string first_missing_;
    bool is_listed_ = false;
    std::vector<tensor> tensors_;  // by name_id
    std::size_t open_ = 0;         // of them
    std::size_t unread_ = 0;       // of them, given up
    std::uint32_t round_ = 0;
    std::size_t failed_from_ = 0;  // the first file that may have the next value of one that could not be read
    std::vector<wanted_record> wanted_;
    decoded_tensor value_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/first_values.ipp>
#endif
