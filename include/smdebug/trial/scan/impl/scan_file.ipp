// The bodies of <smdebug/trial/scan/scan_file.hpp>.
#pragma once

#include <smdebug/trial/scan/scan_file.hpp>

#include <exception>
#include <utility>

namespace smdebug {
inline namespace v1 {

namespace detail {

SMDEBUG_INLINE file_scanner::file_scanner(const trial_state& state, const catalog& from, reduction_set saved,
                                          const std::vector<bool>* wanted, bool defer_checks, bool keep_repeats,
                                          std::uint64_t stream_from, const std::vector<bool>* values_of)
    : decoder_(state),
      from_(&from),
      asked_(saved),
      wanted_(wanted),
      defer_checks_(defer_checks),
      keep_repeats_(keep_repeats),
      stream_from_(stream_from),
      values_of_(values_of),
      state_(&state) {}

SMDEBUG_INLINE void file_scanner::begin_file(const catalog::file& event_file, const std::string& key, bool is_there,
                                             const std::string* why_not) {
    key_ = &key;
    out_.event_file = key;
    out_.step = event_file.step;
    out_.mode_step = event_file.mode_step;
    out_.shown_step = from_->shown_step(event_file);
    out_.mode = event_file.mode;
    out_.worker = from_->workers[event_file.worker];
    out_.file_failed = !is_there;
    file_failure_.reset();
    if (key.empty()) {
        file_failure_ = trial_state::names_no_event_file(*from_, event_file);
    } else if (why_not != nullptr) {
        file_failure_ = lookup_error{.why = absence::damaged, .where = key, .note = *why_not};
    } else if (!is_there) {
        file_failure_ = lookup_error{.why = absence::event_file_missing, .where = key};
    }
}

SMDEBUG_INLINE void file_scanner::begin_tensor(const layout& entries, name_id name) {
    out_.name = (*from_->names)[name];
    out_.values = nullptr;
    out_.passed = nullptr;
    out_.stream = nullptr;
    out_.check = {};
    out_.repeats = 0;
    out_.offset = 0;
    out_.failure = nullptr;
    out_.saved = {};
    out_.saved_failures.clear();
    const auto* shape = entries.shape(name);
    out_.saved_shape = shape != nullptr ? &shape->extents : nullptr;
}

SMDEBUG_INLINE void file_scanner::scan_records(const catalog::file& event_file, const std::string& key,
                                               const record_bytes* bytes, opened_event_file* opened,
                                               const std::string* why_not, tensor_visit visit) {
    begin_file(event_file, key, bytes != nullptr, why_not);
    const layout& entries = from_->layout_of(event_file);
    for (std::size_t place = 0; place < entries.size(); ++place) {
        const layout::entry entry = entries[place];
        const name_id name = entry.what.name;
        if (is_wanted(name) && entries.names().leads(place)) {
            begin_tensor(entries, name);
            // Before the values: reading a saved reduction may invalidate bytes that the source gave before.
            if (!entries.names().values_alone()) {
                read_saved(entries, name, bytes);
            }
            read_values(entry.what.kind == 0 ? &entry : nullptr, bytes, opened);
            visit(out_);
        }
    }
    for (const layout::shape_entry& shape : entries.shapes()) {
        const bool alone = !entries.values(shape.name) && entries.saved_reductions(shape.name).empty();
        if (alone && is_wanted(shape.name) && entries.shape(shape.name) == &shape) {
            begin_tensor(entries, shape.name);
            out_.file_failed = false;  // a shape alone needs nothing of the event file
            visit(out_);
        }
    }
}

SMDEBUG_INLINE void file_scanner::each_record(const catalog::file& event_file, function_ref<void(byte_range)> take,
                                              function_ref<void()> ended) const {
    const layout& entries = from_->layout_of(event_file);
    for (std::size_t place = 0; place < entries.size(); ++place) {
        const layout::entry entry = entries[place];
        if (is_wanted(entry.what.name) && entries.names().leads(place)) {
            if (!entries.names().values_alone()) {
                each_saved(entries, entry.what.name,
                           [&](reduction_key, const layout::entry& saved) { take(saved.record); });
            }
            if (entry.what.kind == 0) {
                take(entry.record);
            }
            ended();
        }
    }
}

SMDEBUG_INLINE void file_scanner::read_values(const layout::entry* entry, const record_bytes* bytes,
                                              opened_event_file* opened) {
    if (bytes == nullptr) {
        out_.failure = &*file_failure_;
    } else if (entry != nullptr) {
        out_.offset = entry->record.offset;
        const left_to_caller left{.check = defer_checks_ ? &out_.check : nullptr,
                                  .repeats = keep_repeats_ ? &out_.repeats : nullptr};
        if (pass(*entry, opened) || stream(*entry, opened)) {
            return;
        }
        if (auto failed = decoder_.decode(*entry, out_.name, key_of_file(), *bytes, values_, left)) {
            failure_ = *std::move(failed);
            out_.failure = &failure_;
        } else {
            out_.values = &values_;
        }
    }
}

SMDEBUG_INLINE bool file_scanner::pass(const layout::entry& entry, opened_event_file* opened) {
    if (opened != nullptr && needs_no_values(entry) && takes_passed(state_->decoder(), state_->kernel())) {
        out_.passed = opened->passed(entry.record, out_.name);
    }
    return out_.passed != nullptr;
}

SMDEBUG_INLINE bool file_scanner::stream(const layout::entry& entry, opened_event_file* opened) {
    if (opened == nullptr || !needs_no_values(entry) || entry.record.length < stream_from_ || !can_stream(*state_)) {
        return false;
    }
    try {
        if (stream_.begin(*state_->decoder().abilities().plan, *opened, entry.record, out_.name)) {
            out_.stream = &stream_;
            return true;
        }
    } catch (const std::exception&) {
        return false;  // decoding it will tell
    }
    return false;
}

SMDEBUG_INLINE void file_scanner::each_saved(const layout& entries, name_id name,
                                             function_ref<void(reduction_key, const layout::entry&)> one) const {
    const reduction_set there = entries.saved_reductions(name) & asked_;
    for (std::size_t i = 0; !there.empty() && i < 2 * reduction_count; ++i) {
        const reduction_key key = reduction_key::from_index(i);
        if (there.contains(key)) {
            one(key, *entries.reduction(name, key));
        }
    }
}

SMDEBUG_INLINE void file_scanner::read_saved(const layout& entries, name_id name, const record_bytes* bytes) {
    if (bytes == nullptr) {
        return;
    }
    each_saved(entries, name, [&](reduction_key key, const layout::entry& entry) {
        if (auto failed =
                decoder_.decode_saved(entry, out_.name, key, key_of_file(), *bytes, out_.saved_value[key.index()])) {
            out_.saved_failures.push_back({key, *std::move(failed)});
        } else {
            out_.saved = out_.saved | reduction_set{key};
        }
    });
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
