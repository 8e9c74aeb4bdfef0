// The bodies of <smdebug/trial/read/first_values.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/abilities.hpp>
#include <smdebug/trial/read/first_values.hpp>

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace smdebug {
inline namespace v1 {
namespace detail {

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
    if (abilities_of(state_.store()).batches_ranges) {  // far away: each question takes its time
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
        return false;  // the error comes again when the file is read
    }
}

SMDEBUG_INLINE void first_values::list_files() {
    try {
        std::unordered_set<std::string> there;
        for (std::string& key : state_.store().list(locations::events_folder, "")) {
            there.insert(std::move(key));
        }
        for (std::size_t place = failed_from_; place < files_.size(); ++place) {
            const std::string key = trial_state::event_key(from_, *files_[place]);
            if (key.starts_with(locations::events_folder) && !there.contains(key)) {
                note_missing(place);
            }
        }
    } catch (const std::exception&) {
        // Then they are asked for one by one.
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
