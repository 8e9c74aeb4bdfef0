// Finds one tensor's entry in the catalog and reads its data: the implementation of tensor handles.  Also reads the
// first value of every tensor, for listings.
// All results are values, found or why not; the handle converts the latter to exceptions where its caller wants them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/read/entry_decoder.hpp>
#include <smdebug/trial/read/event_source.hpp>
#include <smdebug/trial/read/trial_state.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// Looks up and reads one tensor.  Shares the trial's state.
/// Threads: const calls may run at once.
class tensor_reader {
public:
    /// The files that hold the tensor at a step, and their catalog.
    struct place {
        std::shared_ptr<const catalog> from;
        name_id id = 0;
        std::vector<const catalog::file*> files;  // by worker's name; owned by `from`
    };
    /// One worker's file and entry.
    struct located {
        std::shared_ptr<const catalog> from;
        name_id id = 0;
        const catalog::file* file = nullptr;
    };

    tensor_reader(std::shared_ptr<const trial_state> state, std::string name)
        : state_(std::move(state)), name_(std::move(name)) {}

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const trial_state& state() const noexcept { return *state_; }
    [[nodiscard]] const std::shared_ptr<const trial_state>& shared_state() const noexcept { return state_; }

    /// The name's number in one of the state's catalogs; nothing if it is unknown there.
    [[nodiscard]] std::optional<name_id> id_in(const catalog& from) const noexcept;

    /// The files with the tensor at a step; refreshes once if there are none.
    [[nodiscard]] place find_files(step_number step, mode in) const;

    /// The file of one worker with the tensor at a step: of the first worker by name if none is given.
    [[nodiscard]] lookup<located> locate(step_number step, mode in, const std::optional<std::string>& worker) const;

    [[nodiscard]] lookup<tensor_value> read_values(const located& where) const;

    /// The shape of the values.  Memory: as reduce().
    [[nodiscard]] lookup<shape_type> read_shape(const located& where) const;

    /// A saved reduction, as a plain double.
    [[nodiscard]] lookup<double> read_saved(const located& where, const layout::entry& entry, reduction_key key) const;

    /// All saved reductions, from one version of the event file, if the storage knows versions.
    [[nodiscard]] lookup<std::map<reduction_key, double>> read_saved(const located& where) const;
    /// Reductions of the values, in one pass over the bytes in place.
    /// Memory: the record; also the elements, if they are stored in another form than in memory; a long trailing repeat
    ///         is not expanded, if decoder and kernel support that.
    /// `type`: null, or receives the dtype of the values.
    [[nodiscard]] lookup<reduction_values> reduce(const located& where, reduction_set wanted,
                                                  dtype* type = nullptr) const;

    /// One reduction of the values.
    [[nodiscard]] lookup<double> compute(const located& where, reduction_key key) const;

private:
    // read(located), which gives a lookup; again after a refresh if a running job has written the step anew since the
    // catalog was loaded.  While it is writing, the event file counts as missing rather than as damaged.
    template <class Read>
    [[nodiscard]] std::invoke_result_t<Read&, const located&> read_newest(const located& where, Read&& read) const;
    [[nodiscard]] lookup<reduction_values> reduce_now(const located& where, reduction_set wanted, dtype* type) const;
    [[nodiscard]] lookup<std::map<reduction_key, double>> read_saved_now(const located& where) const;
    [[nodiscard]] place find_files_in(std::shared_ptr<const catalog> from, step_number step, mode in) const;
    // The record's bytes and the decoded tensor; `out` borrows from the bytes.  `repeats`: null, or receives how many
    // repeats are left out.
    [[nodiscard]] lookup<byte_buffer> read_record(const located& where, const layout::entry& entry, decoded_tensor& out,
                                                  std::size_t* repeats = nullptr) const;
    // For large elements that are not in a record; nothing for others, and if the kernel does not take pieces.
    [[nodiscard]] std::optional<lookup<reduction_values>> reduce_in_pieces(const located& where,
                                                                           const layout::entry& entry,
                                                                           reduction_set wanted) const;
    [[nodiscard]] lookup<double> decode_saved(const located& where, const layout::entry& entry, reduction_key key,
                                              byte_view bytes) const;

    [[nodiscard]] lookup_error no_values(const located& where) const;

    std::shared_ptr<const trial_state> state_;
    std::string name_;
    static constexpr name_id unknown = std::numeric_limits<name_id>::max();
    mutable std::atomic<name_id> id_{unknown};  // numbers are the same in all catalogs
};

// The first readable value of each tensor: a listing of a run takes dtypes and shapes from it.
// Reading tensor by tensor costs an open or a request each; here adjacent records are read together.

/// Reads, for each tensor of a catalog, the first value by step, then worker, that can be read.  Values that cannot be
/// read are skipped, and so are missing event files, without waiting for them.  For one use.
/// Borrows: state and catalog, for its life.
class first_values {
public:
    first_values(const trial_state& state, const catalog& from);

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
    static constexpr std::uint64_t gap = 4096;  // reading so many unneeded bytes costs less than another read
    static constexpr std::uint64_t largest_piece = std::uint64_t{8} << 20U;

    struct tensor {
        std::uint32_t next = 0;   // the first file that may still have a value of it
        std::uint32_t round = 0;  // in which it was last requested
        bool is_open = false;     // not found yet
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

    // Requests the next value of each open tensor; false if some have no further one.
    template <class Found>
    [[nodiscard]] bool ask_for_all(std::size_t first, Found& found) {
        std::size_t left = open_;
        const name_list* nothing_in = nullptr;  // a list whose tensors were all requested
        for (std::size_t place = first; place < files_.size() && left > 0; ++place) {
            if (missing_[place]) {
                continue;
            }
            const layout& entries = from_.layout_of(*files_[place]);
            if (&entries.names() == nothing_in) {
                continue;
            }
            bool later = false;
            for (std::size_t i = entries.size(); i-- > 0;) {  // of two entries with one name the last one counts
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
                if (entry.form != nullptr && entry.form->type != dtype::invalid) {  // the catalog knows the form
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
        std::vector<wanted_record> alone;  // without its neighbours, as one of them may be unreadable
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

    // Keeps in wanted_, in order, the records that can be requested.
    void cut_into_pieces(std::deque<std::string>& keys, std::vector<piece>& pieces, std::vector<object_range>& ranges);

    [[nodiscard]] bool cut(const std::string& key, wanted_record& record);

    // Extends a piece to a record that does not begin before it, if that is worthwhile.
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
    // Finds out which of the following files are missing, too.
    void pass_over_missing();
    [[nodiscard]] bool is_missing(const std::string& key) const;
    // Each query takes time.
    [[nodiscard]] bool is_remote() const { return state_.store().abilities().batches_ranges; }

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
    std::size_t open_ = 0;         // the number of open ones
    std::size_t unread_ = 0;       // the number given up
    std::uint32_t round_ = 0;
    std::size_t failed_from_ = 0;  // the first file that may have the next value of an unreadable one
    std::vector<wanted_record> wanted_;
    decoded_tensor value_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/tensor_reader.ipp>
#endif
