// The bodies of <smdebug/trial/read/event_puller.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/abilities.hpp>
#include <smdebug/storage/read_each.hpp>
#include <smdebug/trial/read/event_puller.hpp>

#include <algorithm>
#include <exception>
#include <new>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE event_puller::event_puller(const trial_state& state, const catalog& from,
                                          std::vector<const catalog::file*> files)
    : state_(state),
      from_(from),
      files_(std::move(files)),
      reads_many_(state.store().abilities().batches_ranges),
      bound_(state.decoder(), state.options().limits.record),
      decoder_(state) {}

SMDEBUG_INLINE std::uint64_t event_puller::end_of(const catalog::file& file) {
    if (ends_.size() <= file.layout) {
        ends_.resize(std::size_t{file.layout} + 1);
    }
    std::uint64_t& end = ends_[file.layout];
    if (end == 0) {
        const layout& entries = from_.layout_of(file);
        for (std::size_t i = 0; i < entries.size(); ++i) {
            end = std::max(end, behind(entries[i].record));
        }
    }
    return end;
}

SMDEBUG_INLINE bool event_puller::is_small(const catalog::file& file) {
    return end_of(file) <= (reads_many_ ? many_at_once : limits.opened_from);
}

SMDEBUG_INLINE const lookup_error* event_puller::fail(lookup_error failure) {
    failure_ = std::move(failure);
    return &*failure_;
}

SMDEBUG_INLINE const lookup_error* event_puller::open(std::size_t place) {
    const catalog::file& file = *files_[place];
    opened_.reset();
    pieces_.reset();
    object_.reset();
    whole_ = {};
    key_ = trial_state::event_key(from_, file);
    if (end_of(file) == 0) {
        return nullptr;  // saved shapes at most, which are in the index file
    }
    if (key_.empty()) {
        return fail(trial_state::names_no_event_file(from_, file));
    }
    if (!is_small(file)) {
        read_ahead(place);
        return open_large(file);
    }
    if (place < first_small_ || place - first_small_ >= small_.size()) {
        read_small(place);
    }
    small_file& there = small_[place - first_small_];
    if (there.is_too_large) {
        return open_large(file);
    }
    if (there.failure) {
        return fail(*there.failure);
    }
    whole_ = there.bytes;
    return nullptr;
}

SMDEBUG_INLINE void event_puller::read_small(std::size_t place) {
    std::uint64_t left = reads_many_ ? many_at_once : small_at_once;
    std::vector<std::string> keys;
    std::vector<std::size_t> places;
    std::size_t end = place;
    for (; end < files_.size() && end - place < most_files && is_small(*files_[end]); ++end) {
        const std::uint64_t size = end_of(*files_[end]);
        if (end > place && size > left) {
            break;
        }
        left -= std::min(left, size);
        std::string key = trial_state::event_key(from_, *files_[end]);
        if (size > 0 && !key.empty()) {
            keys.push_back(std::move(key));
            places.push_back(end - place);
        }
    }
    small_.clear();
    small_.resize(end - place);
    first_small_ = place;
    read_each_past_errors(
        state_.store(), keys,
        [&](std::size_t i, std::optional<byte_view> bytes) {
            small_file& there = small_[places[i]];
            if (bytes) {
                there.bytes.assign(bytes->begin(), bytes->end());
            } else {
                there.failure = lookup_error{.why = absence::event_file_missing, .where = keys[i]};
            }
        },
        [&](std::size_t i, const error& failed) {
            small_file& there = small_[places[i]];
            there.is_too_large = dynamic_cast<const unsupported*>(&failed) != nullptr;
            there.failure =
                lookup_error{.why = absence::damaged, .where = keys[i], .note = std::string{failed.message()}};
        });
}

SMDEBUG_INLINE const lookup_error* event_puller::open_large(const catalog::file& file) {
    try {
        object_ = state_.store().open(key_);
    } catch (const error&) {
        object_ = nullptr;  // reading will tell
    }
    if (object_ != nullptr) {
        opened_.emplace(*object_, buffer_, static_cast<std::size_t>(limits.hot_piece));
        return nullptr;
    }
    pieces_.emplace(state_.store(), key_, limits.large_piece, bound_);
    try {
        static_cast<void>(pieces_->at(from_.layout_of(file)[0].record));  // kept, so it is not read twice
    } catch (const not_found&) {
        return fail({.why = absence::event_file_missing, .where = key_});
    } catch (const error&) {
        // What cannot be read is told record by record.
    } catch (const std::bad_alloc&) {
    }
    return nullptr;
}

SMDEBUG_INLINE void event_puller::read_ahead(std::size_t place) {
    if (!state_.store().abilities().reads_ahead) {
        return;
    }
    constexpr std::size_t files_ahead = 4;
    for (next_ahead_ = std::max(next_ahead_, place + 1);
         next_ahead_ < files_.size() && next_ahead_ <= place + files_ahead; ++next_ahead_) {
        if (!is_small(*files_[next_ahead_])) {
            static_cast<void>(state_.store().read_ahead(trial_state::event_key(from_, *files_[next_ahead_])));
        }
    }
}

SMDEBUG_INLINE byte_view event_puller::at(byte_range record) {
    if (opened_) {
        return opened_->at(bound_(state_.store(), key_, record));
    }
    return pieces_ ? pieces_->at(record) : whole_event_file{whole_}.at(record);
}

SMDEBUG_INLINE std::optional<lookup_error> event_puller::values(const layout::entry& entry, std::string_view name,
                                                                pulled_values& out) {
    out.check = {};
    out.repeats = 0;
    const auto bytes = [this](byte_range record) { return at(record); };
    const auto key = [this] { return key_; };
    return decoder_.decode(entry, name, key, bytes, out.tensor, {.check = &out.check, .repeats = &out.repeats});
}

SMDEBUG_INLINE std::optional<lookup_error> event_puller::saved(const layout::entry& entry, std::string_view tensor,
                                                               reduction_key which, double& number) {
    const auto bytes = [this](byte_range record) { return at(record); };
    const auto key = [this] { return key_; };
    return decoder_.decode_saved(entry, tensor, which, key, bytes, number);
}

SMDEBUG_INLINE value_stream* event_puller::stream(const layout::entry& entry, std::string_view name) {
    const decoder_plan* const plan = state_.decoder().abilities().plan;
    if (plan != nullptr && opened_ && entry.record.length >= limits.stream_from) {
        try {
            return stream_.begin(*plan, *opened_, entry.record, name) ? &stream_ : nullptr;
        } catch (const std::exception&) {
            return nullptr;  // decoding it will tell
        }
    }
    return nullptr;
}

SMDEBUG_INLINE lookup_error event_puller::damaged(const layout::entry& entry, status damage) const {
    return {.why = absence::damaged, .damage = damage, .offset = entry.record.offset, .where = key_};
}

SMDEBUG_INLINE lookup_error event_puller::failed(const layout::entry& entry) const {
    return failure_at_hand(key_, entry.record.offset);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
