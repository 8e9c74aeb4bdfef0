// Finding one tensor's entry in the catalog and reading what it names: the machinery behind a tensor's handle.
// Everything is a value here, found or why not; the handle turns the latter into errors where it is asked to.
// Used by: trial/tensor_handle.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/concepts.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/bounded_record.hpp>
#include <smdebug/trial/catalog.hpp>
#include <smdebug/trial/layout.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/record_batch.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Looks up and reads one tensor.  `State` is the trial's trial_state.
/// Threads: const calls may run at once.
template <class State>
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
        const catalog::file* held = nullptr;
    };

    tensor_reader(std::shared_ptr<const State> state, std::string name)
        : state_(std::move(state)), name_(std::move(name)) {}

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const State& state() const noexcept { return *state_; }

    /// A refresh comes only where nothing is found without it.
    [[nodiscard]] place look(step_number step, mode in) const {
        place at = look_in(state_->current(), step, in);
        return at.files.empty() ? look_in(state_->fresh(), step, in) : at;
    }

    /// The same, of one worker: the first by name if none is given.
    [[nodiscard]] lookup<located> locate(step_number step, mode in, const std::optional<std::string>& worker) const {
        place at = look(step, in);
        if (at.files.empty()) {
            switch (at.from->state_of(in, step)) {
                case step_state::available:
                    return absence::tensor_not_saved;
                case step_state::unavailable:
                    return absence::step_not_saved;
                case step_state::not_yet_available:
                    return absence::step_not_yet_available;
            }
        }
        const auto wanted = std::find_if(at.files.begin(), at.files.end(), [&](const catalog::file* held) {
            return !worker || at.from->workers[held->worker] == *worker;
        });
        if (wanted == at.files.end()) {
            return lookup_failure{.why = absence::no_such_worker, .where = *worker};
        }
        return located{std::move(at.from), at.id, *wanted};
    }

    /// The values.
    [[nodiscard]] lookup<tensor_value> read_values(const located& at) const {
        const auto entry = at.from->layout_of(*at.held).values(at.id);
        if (!entry) {
            return no_values(at);
        }
        decoded_tensor decoded;
        auto bytes = read_record(at, *entry, decoded);
        if (!bytes) {
            return bytes.failure();
        }
        return tensor_value{std::move(decoded), *std::move(bytes)};
    }

    /// The shape of the values.  Memory: as reduce().
    [[nodiscard]] lookup<shape_type> read_shape(const located& at) const {
        const auto entry = at.from->layout_of(*at.held).values(at.id);
        if (!entry) {
            return no_values(at);
        }
        decoded_tensor decoded;
        std::size_t repeats = 0;
        const auto bytes = read_record(at, *entry, decoded, &repeats);
        if (!bytes) {
            return bytes.failure();
        }
        return std::move(decoded.shape);
    }

    /// A saved reduction, as a plain double.
    [[nodiscard]] lookup<double> read_saved(const located& at, const layout::entry& entry, reduction_key key) const {
        const auto bytes = state_->read_event(*at.from, *at.held, entry.record);
        return bytes ? decode_saved(at, entry, key, bytes->view()) : bytes.failure();
    }

    /// All saved ones, of one version of the event file, as far as the storage tells versions.
    [[nodiscard]] lookup<std::map<reduction_key, double>> read_saved(const located& at) const {
        const layout& entries = at.from->layout_of(*at.held);
        const reduction_set saved = entries.saved_reductions(at.id);
        std::vector<byte_range> records;
        std::vector<std::pair<reduction_key, layout::entry>> wanted;
        for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
            if (const reduction_key key = reduction_key::from_index(i); saved.contains(key)) {
                wanted.emplace_back(key, *entries.reduction(at.id, key));
                records.push_back(wanted.back().second.record);
            }
        }
        std::map<reduction_key, double> found;
        if (wanted.empty()) {
            return found;
        }
        // The file may be about to come: that is waited for once.
        if (const auto first = state_->read_event(*at.from, *at.held, records.front()); !first) {
            return first.failure();
        }
        record_batch batch;
        collected_event_file source;
        const std::string key = State::event_key(*at.from, *at.held);
        const record_bound bound{state_->decoder(), state_->options().limits.record};
        for (byte_range& record : records) {
            try {
                record = bound(state_->store(), key, record);
            } catch (const std::exception&) {
                return failure_at_hand(key, record.offset);
            }
        }
        batch.add(key, records);
        batch.read(state_->store(), [&](std::size_t, collected_event_file& read) { source = std::move(read); });
        for (const auto& [which, entry] : wanted) {
            try {
                auto number = decode_saved(at, entry, which, source.at(entry.record));
                if (!number) {
                    return number.failure();
                }
                found.emplace(which, *number);
            } catch (const not_found&) {
                return lookup_failure{.why = absence::event_file_missing, .where = key};
            } catch (const std::exception&) {
                return failure_at_hand(key, entry.record.offset);
            }
        }
        return found;
    }
    /// Reductions of the values, in one pass over the bytes as they lie in the file.
    /// Memory: the record; where its elements are not as they are in memory those, too, but of a last value that
    /// repeats
    ///         for long only some, if decoder and kernel can do with that.
    /// `type`: null, or where to put the dtype of the values.
    [[nodiscard]] lookup<reduction_values> reduce(const located& at, reduction_set wanted,
                                                  dtype* type = nullptr) const {
        const auto entry = at.from->layout_of(*at.held).values(at.id);
        if (!entry) {
            return no_values(at);
        }
        decoded_tensor decoded;
        std::size_t repeats = 0;
        const auto bytes = read_record(at, *entry, decoded, can_repeat ? &repeats : nullptr);
        if (!bytes) {
            return bytes.failure();
        }
        if (type != nullptr) {
            *type = decoded.type;
        }
        auto values = reduce(decoded.view(), repeats, wanted);
        if (!values.ok() && is_numeric(decoded.type)) {
            return not_computed("reductions", decoded.type);
        }
        if (!values.ok()) {
            return lookup_failure{.why = absence::wrong_dtype,
                                  .note = "tensor " + name_ + " holds " + std::string{name_of(decoded.type)} +
                                          ", which has no reductions"};
        }
        return *std::move(values);
    }

    /// One reduction of the values.
    [[nodiscard]] lookup<double> compute(const located& at, reduction_key key) const {
        dtype type = dtype::invalid;
        const auto values = reduce(at, key, &type);
        if (!values) {
            return values.failure();
        }
        if (!values->computed.contains(key) &&
            (!is_complex(type) || key.abs || key.what == reduction::l1 || key.what == reduction::l2)) {
            return not_computed(key.name(), type);
        }
        if (!values->computed.contains(key)) {
            return lookup_failure{.why = absence::wrong_dtype,
                                  .note = "tensor " + name_ + " is complex, which has no " + key.name() +
                                          ": only the abs forms, l1 and l2"};
        }
        return (*values)(key.what, key.abs);
    }

private:
    static constexpr bool can_repeat = repeating_reducer<typename State::kernel_type>;

    [[nodiscard]] result<reduction_values> reduce(const tensor_view& held, [[maybe_unused]] std::size_t repeats,
                                                  reduction_set wanted) const {
        if constexpr (can_repeat) {
            if (repeats > 0) {
                return state_->kernel().reduce_repeated(held, repeats, wanted);
            }
        }
        return state_->kernel().reduce(held, wanted);
    }

    // The kernel, which may be a user's, has not computed what the dtype has.
    [[nodiscard]] lookup_failure not_computed(const std::string& what, dtype type) const {
        return {.why = absence::not_computed,
                .note = "the kernel " + std::string{state_->kernel().name()} + " did not compute the " + what +
                        " of tensor " + name_ + ", which holds " + std::string{name_of(type)}};
    }

    [[nodiscard]] place look_in(std::shared_ptr<const catalog> from, step_number step, mode in) const {
        place at;
        const auto global = from->global_step(in, step);
        const auto id = from->names->find(name_);
        if (global && id) {
            at.id = *id;
            at.files = from->files_with(*id, *global);
        }
        at.from = std::move(from);
        return at;
    }
    // The record's bytes and what they decode to; `out` borrows from the bytes.  `repeats`: null, or those left out.
    [[nodiscard]] lookup<byte_buffer> read_record(const located& at, const layout::entry& entry, decoded_tensor& out,
                                                  std::size_t* repeats = nullptr) const {
        auto bytes = state_->read_event(*at.from, *at.held, entry.record);
        if (bytes) {
            if (auto damage = decode(at, entry, name_, bytes->view(), out, repeats)) {
                return *std::move(damage);
            }
        }
        return bytes;
    }
    [[nodiscard]] lookup<double> decode_saved(const located& at, const layout::entry& entry, reduction_key key,
                                              byte_view bytes) const {
        decoded_tensor decoded;
        if (auto damage = decode(at, entry, reduction_tensor_name(name_, key), bytes, decoded)) {
            return *std::move(damage);
        }
        // A saved reduction is one number of its own dtype; any of its reductions is that number.
        const auto number = state_->kernel().reduce(decoded.view(), reduction::sum);
        if (decoded.view().count() == 1 && number.ok() && !number->computed.contains(reduction::sum) &&
            !is_complex(decoded.type)) {
            return not_computed("sum, by which the saved " + key.name() + " is read,", decoded.type);
        }
        if (decoded.view().count() != 1 || !number.ok() || !number->computed.contains(reduction::sum)) {
            return lookup_failure{.why = absence::wrong_dtype,
                                  .note = "the saved " + key.name() + " of tensor " + name_ + " is no single number"};
        }
        return (*number)(reduction::sum);
    }
    [[nodiscard]] status decode_record(byte_view bytes, std::string_view recorded, decoded_tensor& out,
                                       [[maybe_unused]] std::size_t* repeats) const {
        if constexpr (repeating_decoder<typename State::decoder_type>) {
            if (repeats != nullptr) {
                record::payload_check check;
                const status outcome = decode_named(state_->decoder(), bytes, recorded, out, check, *repeats);
                return outcome == status::ok && !check.holds() ? status::bad_payload_checksum : outcome;
            }
        }
        return decode_named(state_->decoder(), bytes, recorded, out);
    }
    // Why not, where it cannot be.
    [[nodiscard]] std::optional<lookup_failure> decode(const located& at, const layout::entry& entry,
                                                       std::string_view recorded, byte_view bytes, decoded_tensor& out,
                                                       std::size_t* repeats = nullptr) const {
        status outcome = status::ok;
        try {
            outcome = decode_record(bytes, recorded, out, repeats);
        } catch (const std::exception&) {
            return failure_at_hand(State::event_key(*at.from, *at.held), entry.record.offset);
        }
        if (outcome == status::ok) {
            return std::nullopt;
        }
        return lookup_failure{.why = absence::damaged,
                              .damage = outcome,
                              .offset = entry.record.offset,
                              .where = State::event_key(*at.from, *at.held)};
    }

    [[nodiscard]] lookup_failure no_values(const located& at) const {
        return {.why = absence::tensor_not_saved,
                .has_reductions = !at.from->layout_of(*at.held).saved_reductions(at.id).empty()};
    }

    std::shared_ptr<const State> state_;
    std::string name_;
};

}  // namespace v1
}  // namespace smdebug
