// Finding one tensor's entry in the catalog and reading what it names: the machinery behind a tensor's handle.
// Everything is a value here, found or why not; the handle turns the latter into errors where it is asked to.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/lookup.hpp>

#include <atomic>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

class trial_state;

/// Looks up and reads one tensor.  Shares the trial's state.
/// Threads: const calls may run at once.
class tensor_reader {
public:
    /// The files that hold the tensor at a step, in the catalog that they come from.
    struct place {
        std::shared_ptr<const catalog> from;
        name_id id = 0;
        std::vector<const catalog::file*> files;  // by worker's name; they live in `from`
    };
    /// The one of them that a worker wrote.
    struct located {
        std::shared_ptr<const catalog> from;
        name_id id = 0;
        const catalog::file* file = nullptr;
    };

    tensor_reader(std::shared_ptr<const trial_state> state, std::string name)
        : state_(std::move(state)), name_(std::move(name)) {}

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const trial_state& state() const noexcept { return *state_; }

    /// The name's number in one of the state's catalogs; nothing where it is unknown there.
    [[nodiscard]] std::optional<name_id> id_in(const catalog& from) const noexcept;

    /// A refresh comes only where nothing is found without it.
    [[nodiscard]] place look(step_number step, mode in) const;

    /// The same, of one worker: the first by name if none is given.
    [[nodiscard]] lookup<located> locate(step_number step, mode in, const std::optional<std::string>& worker) const;

    /// The values.
    [[nodiscard]] lookup<tensor_value> read_values(const located& where) const;

    /// The shape of the values.  Memory: as reduce().
    [[nodiscard]] lookup<shape_type> read_shape(const located& where) const;

    /// A saved reduction, as a plain double.
    [[nodiscard]] lookup<double> read_saved(const located& where, const layout::entry& entry, reduction_key key) const;

    /// All saved ones, of one version of the event file, as far as the storage tells versions.
    [[nodiscard]] lookup<std::map<reduction_key, double>> read_saved(const located& where) const;
    /// Reductions of the values, in one pass over the bytes as they lie in the file.
    /// Memory: the record; where its elements are not as they are in memory those, too, but of a last value that
    /// repeats
    ///         for long only some, if decoder and kernel can do with that.
    /// `type`: null, or where to put the dtype of the values.
    [[nodiscard]] lookup<reduction_values> reduce(const located& where, reduction_set wanted,
                                                  dtype* type = nullptr) const;

    /// One reduction of the values.
    [[nodiscard]] lookup<double> compute(const located& where, reduction_key key) const;

private:
    [[nodiscard]] place look_in(std::shared_ptr<const catalog> from, step_number step, mode in) const;
    // The record's bytes and what they decode to; `out` borrows from the bytes.  `repeats`: null, or those left out.
    [[nodiscard]] lookup<byte_buffer> read_record(const located& where, const layout::entry& entry, decoded_tensor& out,
                                                  std::size_t* repeats = nullptr) const;
    // Of large elements without a record around them; nothing for others, and where the kernel takes no pieces.
    [[nodiscard]] std::optional<lookup<reduction_values>> reduce_in_pieces(const located& where,
                                                                           const layout::entry& entry,
                                                                           reduction_set wanted) const;
    [[nodiscard]] lookup<double> decode_saved(const located& where, const layout::entry& entry, reduction_key key,
                                              byte_view bytes) const;

    [[nodiscard]] lookup_error no_values(const located& where) const;

    std::shared_ptr<const trial_state> state_;
    std::string name_;
    static constexpr name_id unknown = std::numeric_limits<name_id>::max();
    mutable std::atomic<name_id> id_{unknown};  // numbers stay what they are from one catalog to the next
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/tensor_reader.ipp>
#endif
