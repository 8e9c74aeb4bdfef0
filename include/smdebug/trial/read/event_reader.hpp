// Reads event files, tensor by tensor: in file order for scans, or on demand.
// Decides which entries count, and in which order, exactly as tensor handles do for single reads.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/read/entry_decoder.hpp>
#include <smdebug/trial/read/event_files.hpp>
#include <smdebug/trial/read/event_source.hpp>
#include <smdebug/trial/read/selected_tensors.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/scanned_tensor.hpp>
#include <smdebug/trial/selection.hpp>

#include <cstddef>
#include <optional>
#include <span>

namespace smdebug::inline v1::detail {

using tensor_visit = function_ref<void(const scanned_tensor&)>;

/// What to read of one tensor.
struct tensor_request {
    reduction_set saved = {};               ///< the reductions to read, if they were saved
    const layout::entry* values = nullptr;  ///< null without values
    bool stream = false;                    ///< values of large tensors may be left in the file
};

/// Reads some files of one run, in order.  One thread at a time; several instances may share state, catalog and
/// selection.
/// Borrows: state, catalog, selection, and what the configuration points to.
class event_reader {
public:
    /// `saved`: the saved reductions that a scan reads.
    event_reader(const trial_state& state, const catalog& from, const selected_tensors& which, reduction_set saved,
                 const reading_config& config = {});

    // A scan -------------------------------------------------------------------------------------------------------

    /// Calls visit(const scanned_tensor&) for each selected tensor of each file from `begin` to before `last`, in the
    /// order of each_tensor(), and done(place) after each file, after the file is released.  Returns false as soon as
    /// done() does.  A file that cannot be read is passed on as a failure of each of its tensors, and the next one is
    /// read.
    /// Errors: what `visit` and `done` throw, which ends it, too.
    bool read(std::span<const catalog::file* const> files, std::size_t begin, std::size_t last, tensor_visit visit,
              event_files::file_done done) {
        return files_.each(
            files, begin, last, [&](const event_file& file) { read(file, visit); }, done);
    }
    /// Reads all of the files.
    bool read(std::span<const catalog::file* const> files, tensor_visit visit, event_files::file_done done) {
        return read(files, 0, files.size(), visit, done);
    }
    /// Reads one file, as event_files passes it on.
    void read(const event_file& file, tensor_visit visit);

    // Two runs side by side, where neither determines the order ------------------------------------------------------

    /// Opens the file at `place`: see event_files::open().  Returns why it cannot be read, or null.
    [[nodiscard]] const lookup_error* open(std::span<const catalog::file* const> files, std::size_t place);

    /// A tensor of the open file, by name; valid until the next call.  Each byte is read once if records are read by
    /// ascending offset.
    [[nodiscard]] const scanned_tensor& tensor(name_id name, const tensor_request& wanted);

private:
    void begin_file(const event_file& file);
    void begin_tensor(name_id name);
    // Reads the bytes of an entry, none if it is not in an object; false after an error, which is then in failure_.
    [[nodiscard]] bool read_bytes(const layout::entry& entry, byte_view& bytes);
    void read_saved(name_id name, reduction_set asked);
    void read_values(const layout::entry& entry);

    // Whether a scan needs nothing but reductions of the values.
    [[nodiscard]] bool needs_no_values(name_id name) const {
        return config_.stream && (config_.values_of == nullptr || !(*config_.values_of)[name]);
    }
    // Whether the values were reduced before, or are left in the file.
    [[nodiscard]] bool take_reduced_early(const layout::entry& entry);
    [[nodiscard]] bool take_stream(const layout::entry& entry);

    const trial_state& state_;
    const catalog& from_;
    const selected_tensors& which_;
    reduction_set saved_;
    reading_config config_;
    bool takes_early_reductions_;
    bool can_stream_;
    event_files files_;
    entry_decoder decoder_;
    // The current file.
    const catalog::file* index_ = nullptr;
    const layout* entries_ = nullptr;  // its
    event_source* source_ = nullptr;
    const opened_event_file* opened_ = nullptr;  // which may know tensors without reading; null if not available
    std::optional<lookup_error> file_failure_;
    // The current tensor.
    lookup_error failure_;
    decoded_tensor values_;
    value_stream stream_;
    scanned_tensor out_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/event_reader.ipp>
#endif
