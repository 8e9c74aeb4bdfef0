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
#include <tuple>
#include <unordered_set>

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
    const place now = find_files_in(state_->in_doubt(), where.file->step, mode::global);
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
    const layout& entries = where.from->layout_of(*where.file);
    const reduction_set saved = entries.saved_reductions(where.id);
    std::vector<std::pair<reduction_key, layout::entry>> wanted;
    for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
        if (const reduction_key key = reduction_key::from_index(i); saved.contains(key)) {
            wanted.emplace_back(key, *where.from->reduction_of(*where.file, where.id, key));
        }
    }
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
    if (std::optional<passed_tensor> known = state_->passed(*where.from, *where.file, entry->record, name_)) {
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
        if (auto failed = entry_decoder{*state_}.decode(
                entry, name_, file, [&](const layout::entry&) { return bytes->view(); }, out, {.repeats = repeats})) {
            return *std::move(failed);
        }
    }
    return bytes;
}

SMDEBUG_INLINE lookup<double> tensor_reader::decode_saved(const located& where, const layout::entry& entry,
                                                          reduction_key key, byte_view bytes) const {
    double number = 0;
    const auto file = [&] { return trial_state::event_key(*where.from, *where.file); };
    if (auto failed = entry_decoder{*state_}.decode_saved(
            entry, name_, key, file, [&](const layout::entry&) { return bytes; }, number)) {
        return *std::move(failed);
    }
    return number;
}

SMDEBUG_INLINE lookup_error tensor_reader::no_values(const located& where) const {
    return {.why = lookup_failure_kind::tensor_not_saved,
            .has_reductions = !where.from->layout_of(*where.file).saved_reductions(where.id).empty()};
}

SMDEBUG_INLINE first_values::first_values(const trial_state& state, const catalog& from)
    : state_(state),
      from_(from),
      decoder_(state),
      files_(from.files_in({})),
      missing_(files_.size(), false),
      tensors_(from.names->size()) {
    from.name_lists.for_each([&](const auto& list) {
        for (const recorded_item& item : list->items()) {
            if (tensor& wanted = tensors_[item.name]; item.kind == 0 && !wanted.is_open) {
                wanted.is_open = true;
                ++open_;
            }
        }
    });
}

SMDEBUG_INLINE void first_values::give_up_the_others() {
    for (tensor& wanted : tensors_) {
        if (wanted.is_open && wanted.round != round_) {
            wanted.is_open = false;
            --open_;
            ++unread_;
        }
    }
}

SMDEBUG_INLINE void first_values::cut_into_pieces(std::deque<std::string>& keys, std::vector<piece>& pieces,
                                                  std::vector<object_range>& ranges) {
    std::sort(wanted_.begin(), wanted_.end(), [](const wanted_record& a, const wanted_record& b) {
        return std::tuple{a.file, a.entry.record.offset} < std::tuple{b.file, b.entry.record.offset};
    });
    std::optional<std::uint32_t> file;
    std::size_t kept = 0;
    for (wanted_record record : wanted_) {
        const bool is_new = file != record.file;
        if (is_new) {
            file = record.file;
            keys.push_back(trial_state::event_key(from_, *files_[record.file]));
        }
        if (keys.back().empty() || missing_[record.file] || !cut(keys.back(), record)) {
            pass_over(record);
            continue;
        }
        if (is_new || ranges.empty() || ranges.back().key.data() != keys.back().data() ||
            !extend(pieces.back().where, record.entry.record)) {
            pieces.push_back({.begin = kept, .end = kept, .where = record.entry.record});
            ranges.push_back({.key = keys.back(), .where = record.entry.record});
        }
        ranges.back().where = pieces.back().where;
        wanted_[kept++] = record;
        pieces.back().end = kept;
    }
    wanted_.resize(kept);
}

SMDEBUG_INLINE bool first_values::cut(const std::string& key, wanted_record& record) {
    try {
        record.entry.record = state_.part_to_read(key, record.entry);
        return true;
    } catch (const not_found&) {
        note_missing(record.file);
    } catch (const std::exception&) {
        // Another tensor may be readable.
    }
    return false;
}

SMDEBUG_INLINE bool first_values::extend(byte_range& piece_, byte_range record) noexcept {
    const std::uint64_t before = record.offset - piece_.offset;
    if (before > largest_piece || record.length > largest_piece - before ||
        (before > piece_.length && before - piece_.length > gap)) {
        return false;
    }
    piece_.length = std::max(piece_.length, before + record.length);
    return true;
}

SMDEBUG_INLINE void first_values::pass_over(const wanted_record& record) {
    tensors_[record.entry.what.name].next = record.file + 1;
    failed_from_ = std::min<std::size_t>(failed_from_, record.file + std::size_t{1});
}

SMDEBUG_INLINE void first_values::note_missing(std::size_t place) {
    if (!missing_[place]) {
        missing_[place] = true;
        if (missing_count_++ == 0) {
            first_missing_ = trial_state::event_key(from_, *files_[place]);
        }
    }
}

SMDEBUG_INLINE void first_values::pass_over_missing() {
    if (is_remote()) {
        if (missing_count_ >= worth_a_listing && !is_listed_) {
            is_listed_ = true;
            list_files();
        }
        return;
    }
    for (std::size_t place = failed_from_; place < files_.size(); ++place) {
        if (!missing_[place]) {
            if (!is_missing(trial_state::event_key(from_, *files_[place]))) {
                return;
            }
            note_missing(place);
        }
    }
}

SMDEBUG_INLINE bool first_values::is_missing(const std::string& key) const {
    try {
        return !key.empty() && !state_.store().size(key);
    } catch (const std::exception&) {
        return false;  // reading the file throws the error again
    }
}

SMDEBUG_INLINE void first_values::list_files() {
    try {
        std::unordered_set<std::string> there;
        for (std::string& key : state_.store().list(locations::events_folder, "")) {
            there.insert(std::move(key));
        }
        for (std::size_t place = 0; place < files_.size(); ++place) {
            const std::string key = trial_state::event_key(from_, *files_[place]);
            if (key.starts_with(locations::events_folder) && !there.contains(key) && (is_remote() || is_missing(key))) {
                note_missing(place);
            }
        }
    } catch (const std::exception&) {
        // Then they are queried one by one.
    }
}

}  // namespace smdebug::inline v1::detail
