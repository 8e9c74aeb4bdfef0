// The bodies of <smdebug/storage/range_plan.hpp>.
#pragma once

#include <smdebug/storage/range_plan.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE range_plan::range_plan(std::span<const object_range> wanted, range_merging how) : how_(how) {
    how_.largest_request = std::max<std::uint64_t>(how_.largest_request, 1);
    places_.reserve(wanted.size());
    for (const object_range& next : wanted) {
        add(next);
    }
}

SMDEBUG_INLINE void range_plan::add(const object_range& next) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t begin = next.where.offset;
    const std::uint64_t end = begin + std::min(next.where.length, most - begin);
    bool open = !requests_.empty() && requests_.back().key == next.key;
    if (begin == end) {
        if (!open) {
            requests_.push_back({next.key, {begin, 0}});
        }
        const std::size_t beside = open ? places_.back().first : requests_.size() - 1;
        places_.push_back({{begin, 0}, beside, beside});
        return;
    }
    if (open && requests_.back().where.length == 0) {
        requests_.pop_back();  // the empty ones before join this request
        open = false;
    }
    const bool endless = (end - begin) / how_.largest_request >= most_cuts;
    std::uint64_t from = begin;  // the first byte that no request covers yet
    std::size_t first = requests_.size();
    if (open && !endless && begin >= ascending_) {
        byte_range& before = requests_.back().where;
        const std::uint64_t have = end_of(before);
        const bool near = begin <= have || begin - have <= how_.gap;
        if (near && end > have && end - before.offset <= how_.largest_request) {
            before.length = end - before.offset;
        }
        from = std::clamp(end_of(before), begin, end);
        while (from > begin && (first == requests_.size() || requests_[first].where.offset > begin)) {
            --first;
        }
    }
    for (; from < end; from = end_of(requests_.back().where)) {
        const std::uint64_t piece = endless ? end - from : std::min(end - from, how_.largest_request);
        requests_.push_back({next.key, {from, piece}});
    }
    std::size_t last = first;
    while (end_of(requests_[last].where) < end) {
        ++last;
    }
    places_.push_back({{begin, end - begin}, first, last});
    ascending_ = endless ? most : begin;
}

SMDEBUG_INLINE range_joiner::progress range_joiner::add(const byte_buffer& part, byte_range asked,
                                                        const object_version& version) {
    if (!version_.merge(version) || !fits(part.size(), asked)) {
        return progress::replaced;
    }
    const std::uint64_t begin = std::max(rest().offset, asked.offset);
    const std::uint64_t end = std::min(wanted_.offset + wanted_.length, asked.offset + asked.length);
    const std::uint64_t length = end > begin ? end - begin : 0;
    const byte_buffer next = part.slice({begin - asked.offset, length});
    const bool is_last = size_ + length == wanted_.length || next.size() < length;
    if (copied_ == nullptr && is_last) {
        bytes_ = next;
        return progress::complete;
    }
    if (copied_ == nullptr) {
        copied_ = std::make_shared_for_overwrite<std::byte[]>(std::size_t{wanted_.length});
    }
    if (!next.empty()) {
        std::memcpy(copied_.get() + size_, next.data(), next.size());
        size_ += next.size();
    }
    if (is_last) {
        bytes_ = byte_buffer{copied_, byte_view{copied_.get(), std::size_t{size_}}};
    }
    return is_last ? progress::complete : progress::partial;
}

SMDEBUG_INLINE bool range_joiner::fits(std::uint64_t length, byte_range asked) const noexcept {
    const std::uint64_t size = version_.size.value_or(0);
    const std::uint64_t left = size > asked.offset ? size - asked.offset : 0;
    return !version_.size || length == std::min(asked.length, left);
}

SMDEBUG_INLINE void range_assembly::give(std::size_t request, std::optional<byte_buffer> bytes,
                                         const object_version& version) {
    if (answered(request)) {
        return;
    }
    const byte_range asked = plan_->requests()[request].where;
    const bool is_short = !bytes || bytes->size() < asked.length;
    const std::uint64_t object_end = bytes ? asked.offset + bytes->size() : 0;
    put(request, std::move(bytes), version);
    if (is_short) {
        answer_beyond(request, object_end);
    }
    hand_over();
}

SMDEBUG_INLINE void range_assembly::fail(std::size_t request, std::exception_ptr why) {
    if (!answered(request)) {
        answers_[request].state = arrival::failed;
        answers_[request].why = std::move(why);
        hand_over();
    }
}

SMDEBUG_INLINE void range_assembly::put(std::size_t request, std::optional<byte_buffer> bytes,
                                        const object_version& version) {
    answers_[request].version = version;
    answers_[request].state = bytes ? arrival::there : arrival::missing;
    answers_[request].bytes = std::move(bytes).value_or(byte_buffer{});
}

SMDEBUG_INLINE void range_assembly::answer_beyond(std::size_t request, std::uint64_t object_end) {
    const auto requests = plan_->requests();
    const bool missing = answers_[request].state == arrival::missing;
    for (std::size_t i = request + 1; i < requests.size() && requests[i].key == requests[request].key; ++i) {
        if (answered(i) || requests[i].where.offset < object_end) {
            return;
        }
        put(i, missing ? std::nullopt : std::optional{byte_buffer{}}, answers_[request].version);
    }
}

SMDEBUG_INLINE void range_assembly::hand_over() {
    const auto wanted = plan_->wanted();
    while (next_ < wanted.size()) {
        // From this range on, nothing before `keep` is needed.
        const std::size_t keep = next_ + 1 < wanted.size() ? wanted[next_ + 1].first : answers_.size();
        if (!gather(wanted[next_], keep)) {
            return;
        }
        asked_again_ = 0;
        std::optional<range_joiner> whole = std::exchange(joined_, std::nullopt);
        const object_version version = whole ? whole->version() : object_version{};
        if (!sink_(next_++, whole ? std::optional{std::move(*whole).take()} : std::nullopt, version)) {
            next_ = wanted.size();  // no more is wanted
            at_ = answers_.size();
            return;
        }
        for (; at_ < keep && at_ < answers_.size(); ++at_) {
            answers_[at_].bytes = {};
        }
        at_ = keep;
    }
}

SMDEBUG_INLINE bool range_assembly::gather(const range_plan::place& wanted, std::size_t keep) {
    for (;; ++at_) {
        answer& from = answers_[at_];
        if (from.state == arrival::awaited) {
            return false;
        }
        if (from.state == arrival::failed) {
            std::rethrow_exception(from.why);
        }
        if (from.state == arrival::missing) {
            joined_.reset();
            return true;
        }
        if (!joined_) {
            joined_.emplace(wanted.where);
        }
        const auto progress = joined_->add(from.bytes, plan_->requests()[at_].where, from.version);
        if (progress == range_joiner::progress::replaced) {
            start_again(wanted);
            return false;
        }
        if (at_ < keep) {
            from.bytes = {};
        }
        if (progress == range_joiner::progress::complete) {
            return true;
        }
    }
}

SMDEBUG_INLINE void range_assembly::start_again(const range_plan::place& wanted) {
    if (++asked_again_ == most_versions) {
        throw_replaced(place_ + std::string{plan_->requests()[wanted.first].key});
    }
    for (std::size_t i = wanted.first; i <= wanted.last; ++i) {
        answers_[i] = {};
    }
    at_ = wanted.first;
    joined_.reset();
    again_ = std::min(again_.value_or(at_), at_);
}

}  // namespace smdebug::inline v1::detail
