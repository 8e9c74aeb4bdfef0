// The bodies of <smdebug/trial/read/event_reader.hpp>.
#pragma once

#include <smdebug/trial/read/event_reader.hpp>
#include <smdebug/trial/read/event_source.hpp>
#include <smdebug/trial/read/reading_plan.hpp>

#include <exception>
#include <string>
#include <utility>
#include <variant>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE event_reader::event_reader(const trial_state& state, const catalog& from, const selected_tensors& which,
                                          reduction_set saved, const reading_config& config)
    : state_(state),
      from_(from),
      which_(which),
      saved_(saved),
      config_(config),
      takes_early_reductions_(takes_early_reductions(state.decoder(), state.kernel())),
      can_stream_(event_files::can_stream(state)),
      files_(state, from, which, saved, config),
      decoder_(state) {}

SMDEBUG_INLINE void event_reader::begin_file(const event_file& file) {
    const catalog::file& index = *file.index;
    index_ = &index;
    entries_ = &from_.layout_of(index);
    source_ = file.source;
    out_.event_file = file.key;
    opened_ = takes_early_reductions_ && source_ != nullptr ? source_->opened() : nullptr;
    out_.step = index.step;
    out_.mode_step = index.mode_step;
    out_.shown_step = from_.shown_step(index);
    out_.mode = index.mode;
    out_.worker = from_.workers[index.worker];
    file_failure_.reset();
    if (source_ != nullptr) {
        return;
    }
    if (file.key.empty()) {
        file_failure_ = trial_state::names_no_event_file(from_, index);
    } else if (file.why_not != nullptr) {
        file_failure_ = lookup_error{.why = lookup_failure_kind::damaged, .where = file.key, .note = *file.why_not};
    } else {
        file_failure_ = lookup_error{.why = lookup_failure_kind::event_file_missing, .where = file.key};
    }
}

SMDEBUG_INLINE void event_reader::begin_tensor(name_id name) {
    out_.name = (*from_.names)[name];
    out_.content = std::monostate{};
    out_.offset = 0;
    out_.saved = {};
    out_.saved_failures.clear();
    const auto* shape = entries_->shape(name);
    out_.saved_shape = shape != nullptr ? &shape->extents : nullptr;
}

SMDEBUG_INLINE void event_reader::read(const event_file& file, tensor_visit visit) {
    begin_file(file);
    const auto wanted = [&](name_id name) { return which_.contains(name); };
    each_tensor(from_, *index_, wanted, [&](name_id name, const layout::entry* entry) {
        begin_tensor(name);
        if (entry != nullptr && file_failure_) {  // a shape alone does not need the event file
            out_.content = unread_values{.why = &*file_failure_, .whole_file = true};
        } else if (entry != nullptr) {
            // Before the values: reading a saved reduction may invalidate bytes that the source returned before.
            read_saved(name, saved_);
            if (entry->what.kind == 0) {
                out_.offset = entry->record.offset;
                const bool reduced = needs_no_values(name) && (take_reduced_early(*entry) || take_stream(*entry));
                if (!reduced) {
                    read_values(*entry);
                }
            }
        }
        visit(out_);
    });
}

SMDEBUG_INLINE const lookup_error* event_reader::open(std::span<const catalog::file* const> files, std::size_t place) {
    begin_file(files_.open(files, place));
    return file_failure_ ? &*file_failure_ : nullptr;
}

SMDEBUG_INLINE const scanned_tensor& event_reader::tensor(name_id name, const tensor_request& wanted) {
    begin_tensor(name);
    read_saved(name, wanted.saved);
    if (wanted.values != nullptr) {
        out_.offset = wanted.values->record.offset;
        if (!wanted.stream || !take_stream(*wanted.values)) {
            read_values(*wanted.values);
        }
    }
    return out_;
}

SMDEBUG_INLINE bool event_reader::read_bytes(const layout::entry& entry, byte_view& bytes) {
    try {
        bytes = entry.is_in_object() ? source_->entry_bytes(entry) : byte_view{};
        return true;
    } catch (const std::exception&) {
        failure_ = failure_from_current_exception(std::string{out_.event_file}, entry.record.offset);
        return false;
    }
}

SMDEBUG_INLINE void event_reader::read_saved(name_id name, reduction_set asked) {
    each_saved(from_, *index_, name, asked, [&](reduction_key key, const layout::entry& entry) {
        const auto file = [this] { return std::string{out_.event_file}; };
        double& number = out_.saved_value[key.index()];
        byte_view bytes;
        if (!read_bytes(entry, bytes)) {
            out_.saved_failures.push_back({key, std::move(failure_)});
        } else if (auto failed = decoder_.decode_saved(entry, out_.name, key, file, bytes, number)) {
            out_.saved_failures.push_back({key, *std::move(failed)});
        } else {
            out_.saved = out_.saved | reduction_set{key};
        }
    });
}

SMDEBUG_INLINE void event_reader::read_values(const layout::entry& entry) {
    const auto file = [this] { return std::string{out_.event_file}; };
    byte_view bytes;
    if (!read_bytes(entry, bytes)) {
        out_.content = unread_values{.why = &failure_};
        return;
    }
    auto& read = out_.content.emplace<scanned_values>();
    const left_to_caller left{.check = config_.defer_checks ? &read.check : nullptr,
                              .repeats = config_.keep_repeats ? &read.repeats : nullptr};
    if (auto failed = decoder_.decode(entry, out_.name, file, bytes, values_, left)) {
        failure_ = *std::move(failed);
        out_.content = unread_values{.why = &failure_};
    } else {
        read.tensor = &values_;
    }
}

SMDEBUG_INLINE bool event_reader::take_reduced_early(const layout::entry& entry) {
    const bool may_be = opened_ != nullptr && entry.stored_as() == storage_form::record;
    const early_reductions* const known = may_be ? opened_->reduced_early(entry.record, out_.name) : nullptr;
    if (known != nullptr) {
        out_.content = known;
    }
    return known != nullptr;
}

SMDEBUG_INLINE bool event_reader::take_stream(const layout::entry& entry) {
    const bool can_stream = entry.stored_as() == storage_form::record ? can_stream_ : state_.kernel().abilities().feeds;
    opened_event_file* const file =
        can_stream && entry.record.length >= config_.limits.stream_from ? source_->opened() : nullptr;
    if (file == nullptr || !decoder_.stream(entry, out_.name, *file, stream_)) {
        return false;
    }
    out_.content = &stream_;
    return true;
}

}  // namespace smdebug::inline v1::detail
