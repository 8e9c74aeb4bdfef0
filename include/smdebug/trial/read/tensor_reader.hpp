// Finds one tensor's entry in the catalog and reads its data: the implementation of tensor handles.
// All results are values, found or why not; the handle converts the latter to exceptions where its caller wants them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/read/entry_decoder.hpp>
#include <smdebug/trial/read/trial_state.hpp>

#include <atomic>
#include <cstddef>
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

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/tensor_reader.ipp>
#endif
