// The bodies of <smdebug/storage/range_plan.hpp>.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/range_plan.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

namespace smdebug {
inline namespace v1 {
namespace detail {

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
        requests_.pop_back();  // the empty ones before come with this one
        open = false;
    }
    const bool endless = (end - begin) / how_.largest_request >= most_cuts;
    std::uint64_t from = begin;  // what no request holds yet
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
        // Behind this range, what lies before `keep` is needed no more.
        const std::size_t keep = next_ + 1 < wanted.size() ? wanted[next_ + 1].first : answers_.size();
        if (!gather(wanted[next_], keep)) {
            return;
        }
        asked_again_ = 0;
        sink_(next_++, std::exchange(whole_, std::nullopt), std::as_const(version_));
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
            whole_.reset();
            version_ = {};
            break;
        }
        const byte_range held = plan_->requests()[at_].where;
        if (at_ == wanted.first) {
            version_ = from.version;
        } else if (is_of_another(from, held)) {
            start_again(wanted);
            return false;
        }
        const std::uint64_t begin = std::max(wanted.where.offset, held.offset);
        const std::uint64_t end = std::min(wanted.where.offset + wanted.where.length, held.offset + held.length);
        const std::uint64_t length = end > begin ? end - begin : 0;
        const byte_buffer part = from.bytes.slice({begin - held.offset, length});
        if (at_ < keep) {
            from.bytes = {};
        }
        const bool ends = at_ == wanted.last || part.size() < length;
        if (joined_ == nullptr && ends) {
            whole_ = part;
            return true;
        }
        if (joined_ == nullptr) {
            joined_ = std::make_shared_for_overwrite<std::byte[]>(static_cast<std::size_t>(wanted.where.length));
        }
        if (!part.empty()) {
            std::memcpy(joined_.get() + joined_size_, part.data(), part.size());
            joined_size_ += part.size();
        }
        if (ends) {
            whole_.emplace(joined_, byte_view{joined_.get(), joined_size_});
            break;
        }
    }
    joined_.reset();
    joined_size_ = 0;
    return true;
}

SMDEBUG_INLINE bool range_assembly::is_of_another(const answer& from, byte_range asked) const noexcept {
    const std::uint64_t size = version_.size.value_or(0);
    const std::uint64_t left = size > asked.offset ? size - asked.offset : 0;
    return from.version.differs_from(version_) || (version_.size && from.bytes.size() != std::min(asked.length, left));
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
    joined_size_ = 0;
    again_ = std::min(again_.value_or(at_), at_);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
