// The bodies of <smdebug/trial/read/first_values.hpp> that are templates.
#pragma once

#include <smdebug/trial/read/first_values.hpp>

#include <algorithm>
#include <tuple>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <class State>
first_values<State>::first_values(const State& state, const detail::catalog& from)
    : state_(state),
      from_(from),
      bound_(state.decoder(), state.options().limits.record),
      files_(from.files_in({})),
      tensors_(from.names->size()) {
    from.name_lists.for_each([&](const auto& list) {
        for (const detail::recorded_item& item : list->items()) {
            if (tensor& held = tensors_[item.name]; item.kind == 0 && !held.is_open) {
                held.is_open = true;
                ++open_;
            }
        }
    });
}

template <class State>
void first_values<State>::give_up_the_others() {
    for (tensor& held : tensors_) {
        if (held.is_open && held.round != round_) {
            held.is_open = false;
            --open_;
        }
    }
}

template <class State>
void first_values<State>::cut_into_pieces(std::deque<std::string>& keys, std::vector<piece>& pieces,
                                          std::vector<object_range>& ranges) {
    std::sort(wanted_.begin(), wanted_.end(), [](const wanted_record& a, const wanted_record& b) {
        return std::tuple{a.file, a.where.offset} < std::tuple{b.file, b.where.offset};
    });
    std::optional<std::uint32_t> file;
    std::size_t kept = 0;
    for (wanted_record record : wanted_) {
        const bool is_new = file != record.file;
        if (is_new) {
            file = record.file;
            keys.push_back(State::event_key(from_, *files_[record.file]));
        }
        if (keys.back().empty() || !cut(keys.back(), record.where)) {
            pass_over(record);
            continue;
        }
        if (is_new || ranges.empty() || ranges.back().key.data() != keys.back().data() ||
            !extend(pieces.back().where, record.where)) {
            pieces.push_back({.begin = kept, .end = kept, .where = record.where});
            ranges.push_back({.key = keys.back(), .where = record.where});
        }
        ranges.back().where = pieces.back().where;
        wanted_[kept++] = record;
        pieces.back().end = kept;
    }
    wanted_.resize(kept);
}

template <class State>
bool first_values<State>::cut(const std::string& key, byte_range& record) const {
    try {
        record = bound_(state_.store(), key, record);
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

template <class State>
bool first_values<State>::extend(byte_range& piece_, byte_range record) noexcept {
    const std::uint64_t before = record.offset - piece_.offset;
    if (before > largest_piece || record.length > largest_piece - before ||
        (before > piece_.length && before - piece_.length > gap)) {
        return false;
    }
    piece_.length = std::max(piece_.length, before + record.length);
    return true;
}

template <class State>
void first_values<State>::pass_over(const wanted_record& record) {
    tensors_[record.name].next = record.file + 1;
    failed_from_ = std::min<std::size_t>(failed_from_, record.file + std::size_t{1});
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
