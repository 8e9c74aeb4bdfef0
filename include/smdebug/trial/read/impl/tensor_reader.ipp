// The bodies of <smdebug/trial/read/tensor_reader.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/trial/read/entry_decoder.hpp>
#include <smdebug/trial/read/event_source.hpp>
#include <smdebug/trial/read/reading_plan.hpp>
#include <smdebug/trial/read/record_batch.hpp>
#include <smdebug/trial/read/tensor_reader.hpp>
#include <smdebug/trial/read/trial_state.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE std::optional<name_id> tensor_reader::id_in(const catalog& from) const noexcept {
    const name_id known = id_.load(std::memory_order_relaxed);
    if (known < from.names->size()) {
        return known;
    }
    const std::optional<name_id> found = from.names->find(name_);
    if (found) {
        id_.store(*found, std::memory_order_relaxed);
    }
    return found;
}

SMDEBUG_INLINE tensor_reader::place tensor_reader::find_files(step_number step, mode in) const {
    place where = find_files_in(state_->current(), step, in);
    if (where.files.empty()) {
        where = find_files_in(state_->fresh(), step, in);
    }
    return where;
}

SMDEBUG_INLINE lookup<tensor_reader::located> tensor_reader::locate(step_number step, mode in,
                                                                    const std::optional<std::string>& worker) const {
    place where = find_files(step, in);
    if (where.files.empty()) {
        switch (where.from->state_of(in, step)) {
            case step_state::available:
                return lookup_failure_kind::tensor_not_saved;
            case step_state::unavailable:
                return lookup_failure_kind::step_not_saved;
            case step_state::not_yet_available:
                return lookup_failure_kind::step_not_yet_available;
        }
    }
    const auto wanted = std::find_if(where.files.begin(), where.files.end(), [&](const catalog::file* file) {
        return !worker || where.from->workers[file->worker] == *worker;
    });
    if (wanted == where.files.end()) {
        const auto& all = where.from->workers;
        const bool is_known = std::find(all.begin(), all.end(), *worker) != all.end();
        return lookup_error{.why = lookup_failure_kind::no_such_worker,
                            .where = *worker,
                            .note = is_known ? " has not saved it at this step." : "." + near_or_all(*worker, all)};
    }
    return located{std::move(where.from), where.id, *wanted};
}

template <class Read>
std::invoke_result_t<Read&, const tensor_reader::located&> tensor_reader::read_newest(const located& where,
                                                                                      Read&& read) const {
    auto got = read(where);
    if (got || got.error().why != lookup_failure_kind::damaged || where.from->loaded_all_steps ||
        !where.from->has_index) {
        return got;
    }
    const std::string& worker = where.from->workers[where.file->worker];
    const place now = find_files_in(state_->rechecked(), where.file->step, mode::global);
    const auto again = std::find_if(now.files.begin(), now.files.end(), [&](const catalog::file* file) {
        return now.from->workers[file->worker] == worker;
    });
    if (now.from != where.from && again != now.files.end()) {
        got = read(located{now.from, now.id, *again});
    }
    const std::string key = trial_state::event_key(*where.from, *where.file);
    if (!got && got.error().why == lookup_failure_kind::damaged &&
        state_->store().modified(key) > state_->store().modified(locations::index_key(where.file->step, worker))) {
        return lookup_error{.why = lookup_failure_kind::event_file_missing, .where = key};
    }
    return got;
}

SMDEBUG_INLINE lookup<tensor_value> tensor_reader::read_values(const located& where) const {
    return read_newest(where, [this](const located& at) -> lookup<tensor_value> {
        const auto entry = at.from->values_of(*at.file, at.id);
        if (!entry) {
            return no_values(at);
        }
        decoded_tensor decoded;
        auto bytes = read_record(at, *entry, decoded);
        if (!bytes) {
            return bytes.error();
        }
        return tensor_value{std::move(decoded), std::move(*bytes)};
    });
}

SMDEBUG_INLINE lookup<shape_type> tensor_reader::read_shape(const located& where) const {
    const auto entry = where.from->values_of(*where.file, where.id);
    if (!entry) {
        return no_values(where);
    }
    if (entry->form != nullptr && entry->form->type != dtype::invalid) {
        return entry->form->shape;
    }
    return read_newest(where, [this](const located& at) -> lookup<shape_type> {
        const auto values = at.from->values_of(*at.file, at.id);
        if (!values) {
            return no_values(at);
        }
        decoded_tensor decoded;
        std::size_t repeats = 0;
        const auto bytes = read_record(at, *values, decoded, &repeats);
        if (!bytes) {
            return bytes.error();
        }
        return std::move(decoded.shape);
    });
}

SMDEBUG_INLINE lookup<double> tensor_reader::read_saved(const located& where, const layout::entry& entry,
                                                        reduction_key key) const {
    return read_newest(where, [&](const located& at) -> lookup<double> {
        const auto saved = at.file == where.file ? std::optional{entry} : at.from->reduction_of(*at.file, at.id, key);
        if (!saved) {
            return lookup_failure_kind::tensor_not_saved;
        }
        const auto bytes = state_->read_event(*at.from, *at.file, *saved);
        return bytes ? decode_saved(at, *saved, key, bytes->view()) : bytes.error();
    });
}

SMDEBUG_INLINE lookup<std::map<reduction_key, double>> tensor_reader::read_saved(const located& where) const {
    return read_newest(where, [this](const located& at) { return read_saved_now(at); });
}

SMDEBUG_INLINE lookup<std::map<reduction_key, double>> tensor_reader::read_saved_now(const located& where) const {
    std::vector<std::pair<reduction_key, layout::entry>> wanted;
    each_saved(*where.from, *where.file, where.id, reduction_set::all(),
               [&](reduction_key key, const layout::entry& entry) { wanted.emplace_back(key, entry); });
    std::map<reduction_key, double> numbers;
    if (wanted.empty() || !wanted.front().second.is_in_object()) {
        for (const auto& [which, entry] : wanted) {
            if (const auto number = decode_saved(where, entry, which, {})) {
                numbers.emplace(which, *number);
            }
        }
        return numbers;
    }
    // The file may still be coming: wait for it once.
    if (const auto first = state_->read_event(*where.from, *where.file, wanted.front().second); !first) {
        return first.error();
    }
    record_batch batch;
    collected_event_file source;
    const std::string key = trial_state::event_key(*where.from, *where.file);
    std::vector<byte_range> records;
    for (const auto& [which, entry] : wanted) {
        try {
            records.push_back(state_->part_to_read(key, entry));
        } catch (const std::exception&) {
            return failure_from_current_exception(key, entry.record.offset);
        }
    }
    batch.add(key, records);
    batch.read(state_->store(), [&](std::size_t, collected_event_file& read) { source = std::move(read); });
    for (const auto& [which, entry] : wanted) {
        try {
            auto number = decode_saved(where, entry, which, source.at(entry.record));
            if (!number) {
                return number.error();
            }
            numbers.emplace(which, *number);
        } catch (const not_found&) {
            return lookup_error{.why = lookup_failure_kind::event_file_missing, .where = key};
        } catch (const std::exception&) {
            return failure_from_current_exception(key, entry.record.offset);
        }
    }
    return numbers;
}

SMDEBUG_INLINE lookup<reduction_values> tensor_reader::reduce(const located& where, reduction_set wanted,
                                                              dtype* type) const {
    return read_newest(where, [&](const located& at) { return reduce_now(at, wanted, type); });
}

SMDEBUG_INLINE lookup<reduction_values> tensor_reader::reduce_now(const located& where, reduction_set wanted,
                                                                  dtype* type) const {
    const auto entry = where.from->values_of(*where.file, where.id);
    if (!entry) {
        return no_values(where);
    }
    if (std::optional<early_reductions> known = state_->reduced_early(*where.from, *where.file, entry->record, name_)) {
        if (type != nullptr) {
            *type = known->type;
        }
        return std::move(known->reductions);
    }
    if (auto streamed = reduce_in_pieces(where, *entry, wanted)) {
        if (type != nullptr) {
            *type = entry->form->type;
        }
        return *std::move(streamed);
    }
    decoded_tensor decoded;
    std::size_t repeats = 0;
    const auto bytes = read_record(where, *entry, decoded, state_->kernel().abilities().repeats ? &repeats : nullptr);
    if (!bytes) {
        return bytes.error();
    }
    if (type != nullptr) {
        *type = decoded.type;
    }
    auto values = repeats > 0 ? state_->kernel().reduce_repeated(decoded.view(), repeats, wanted)
                              : state_->kernel().reduce(decoded.view(), wanted);
    if (!values.ok() && is_numeric(decoded.type)) {
        return entry_decoder{*state_}.not_computed("reductions", name_, decoded.type);
    }
    if (!values.ok()) {
        return lookup_error{
            .why = lookup_failure_kind::wrong_dtype,
            .note = "tensor " + name_ + " holds " + std::string{name_of(decoded.type)} + ", which has no reductions"};
    }
    return *std::move(values);
}

SMDEBUG_INLINE std::optional<lookup<reduction_values>> tensor_reader::reduce_in_pieces(const located& where,
                                                                                       const layout::entry& entry,
                                                                                       reduction_set wanted) const {
    constexpr reading_limits limits{};
    if (entry.stored_as() != storage_form::elements || entry.record.length < limits.stream_from ||
        !state_->kernel().abilities().feeds) {
        return std::nullopt;
    }
    const std::string key = trial_state::event_key(*where.from, *where.file);
    try {
        const std::unique_ptr<opened_object> object = open_or_range(state_->store(), key);
        if (object == nullptr) {
            return lookup_error{.why = lookup_failure_kind::event_file_missing, .where = key};
        }
        piece_buffer buffer;
        opened_event_file file{*object, buffer, static_cast<std::size_t>(limits.hot_piece)};
        value_stream stream;
        reduction_values found;
        if (!stream.begin_elements(*entry.form, file, entry.record)) {
            return std::nullopt;
        }
        if (const status read = stream.reduce(state_->kernel(), wanted, found); read != status::ok) {
            return lookup_error{
                .why = lookup_failure_kind::damaged, .damage = read, .offset = entry.record.offset, .where = key};
        }
        return found;
    } catch (const std::exception&) {
        return failure_from_current_exception(key, entry.record.offset);
    }
}

SMDEBUG_INLINE lookup<double> tensor_reader::compute(const located& where, reduction_key key) const {
    dtype type = dtype::invalid;
    const auto values = reduce(where, key, &type);
    if (!values) {
        return values.error();
    }
    if (!values->computed.contains(key) &&
        (!is_complex(type) || key.abs || key.what == reduction::l1 || key.what == reduction::l2)) {
        return entry_decoder{*state_}.not_computed(key.name(), name_, type);
    }
    if (!values->computed.contains(key)) {
        return lookup_error{
            .why = lookup_failure_kind::wrong_dtype,
            .note = "tensor " + name_ + " is complex, which has no " + key.name() + ": only the abs forms, l1 and l2"};
    }
    return (*values)(key.what, key.abs);
}

SMDEBUG_INLINE tensor_reader::place tensor_reader::find_files_in(std::shared_ptr<const catalog> from, step_number step,
                                                                 mode in) const {
    place where;
    const auto global = from->global_step(in, step);
    const auto id = id_in(*from);
    if (global && id) {
        where.id = *id;
        where.files = from->files_with(*id, *global);
    }
    where.from = std::move(from);
    return where;
}

SMDEBUG_INLINE lookup<byte_buffer> tensor_reader::read_record(const located& where, const layout::entry& entry,
                                                              decoded_tensor& out, std::size_t* repeats) const {
    auto bytes = state_->read_event(*where.from, *where.file, entry);
    if (bytes) {
        const auto file = [&] { return trial_state::event_key(*where.from, *where.file); };
        if (auto failed = entry_decoder{*state_}.decode(entry, name_, file, bytes->view(), out, {.repeats = repeats})) {
            return *std::move(failed);
        }
    }
    return bytes;
}

SMDEBUG_INLINE lookup<double> tensor_reader::decode_saved(const located& where, const layout::entry& entry,
                                                          reduction_key key, byte_view bytes) const {
    double number = 0;
    const auto file = [&] { return trial_state::event_key(*where.from, *where.file); };
    if (auto failed = entry_decoder{*state_}.decode_saved(entry, name_, key, file, bytes, number)) {
        return *std::move(failed);
    }
    return number;
}

SMDEBUG_INLINE lookup_error tensor_reader::no_values(const located& where) const {
    return {.why = lookup_failure_kind::tensor_not_saved,
            .has_reductions = !where.from->layout_of(*where.file).saved_reductions(where.id).empty()};
}

}  // namespace smdebug::inline v1::detail
