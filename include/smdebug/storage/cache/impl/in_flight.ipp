// The bodies of <smdebug/storage/cache/in_flight.hpp>.
#pragma once

#include <smdebug/storage/cache/in_flight.hpp>

#include <algorithm>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE in_flight::pinned in_flight::pin(std::string_view key, byte_range asked) {
    const std::lock_guard lock{guard_};
    if (handle same = first(key, [&](const part& one) {
            return !one.listed_ && one.asked_ == asked && (!one.has_ended_ || one.arrived_);
        })) {
        return {.what = std::move(same)};
    }
    pinned made{.what = std::make_shared<part>(key, asked), .fresh = true};
    add(made.what);
    return made;
}

SMDEBUG_INLINE void in_flight::put(const std::weak_ptr<part>& what, std::optional<byte_buffer> bytes,
                                   object_version version) {
    const std::lock_guard lock{guard_};
    const handle one = what.lock();  // not beyond the lock: nothing else may keep it
    if (!one) {
        return;
    }
    one->has_ended_ = true;
    if (bytes && first(one->key_, [&](const part& other) {
            return !other.listed_ && other.arrived_ && other.arrived_->version.differs_from(version);
        })) {
        std::erase_if(by_key_.find(one->key_)->second, [](const std::weak_ptr<part>& each) {
            const handle other = each.lock();
            return !other || !other->listed_;  // readers fetch the pinned parts again, together
        });
    } else if (bytes) {
        one->arrived_ = versioned_part{*std::move(bytes), std::move(version)};
    }
    ended_.notify_all();
}

SMDEBUG_INLINE std::optional<versioned_part> in_flight::find(std::string_view key, byte_range where) const {
    std::unique_lock lock{guard_};
    while (const handle one = covering(key, where)) {
        if (one->has_ended_) {
            return versioned_part{one->arrived_->bytes.slice({where.offset - one->asked_.offset, where.length}),
                                  one->arrived_->version};
        }
        ended_.wait(lock, [&] { return one->has_ended_; });
    }
    return std::nullopt;
}

SMDEBUG_INLINE bool in_flight::covers(std::string_view key, byte_range where) const {
    const std::lock_guard lock{guard_};
    return covering(key, where) != nullptr;
}

SMDEBUG_INLINE std::optional<versioned_part> in_flight::get(std::string_view key, std::string_view listed, by who,
                                                            function_ref<versioned_part()> fetch,
                                                            function_ref<void(const versioned_part&)> keep) {
    const auto mine = std::make_shared<part>(key, whole_object, std::string{listed});
    std::unique_lock lock{guard_};
    while (const handle other = whole(key, listed)) {
        if (who == by::prefetch) {
            return std::nullopt;
        }
        ended_.wait(lock, [&] { return other->has_ended_; });
        if (other->arrived_) {
            return other->arrived_;
        }
        if (other->failure_) {
            std::rethrow_exception(other->failure_);
        }
    }
    add(mine);
    lock.unlock();
    std::optional<versioned_part> arrived;
    std::exception_ptr failure;
    try {
        arrived = fetch();
    } catch (...) {
        failure = std::current_exception();
    }
    lock.lock();
    mine->arrived_ = arrived;
    mine->failure_ = who == by::reader ? failure : nullptr;
    try {
        if (arrived && whole(key, listed) == mine) {  // not forgotten
            keep(*arrived);
        }
    } catch (...) {
        // No memory to cache it; the read itself succeeds.
    }
    mine->has_ended_ = true;
    ended_.notify_all();
    if (failure) {
        std::rethrow_exception(failure);
    }
    return arrived;
}

SMDEBUG_INLINE std::optional<versioned_part> in_flight::wait(std::string_view key, std::string_view listed) const {
    std::unique_lock lock{guard_};
    const handle other = whole(key, listed);
    if (!other) {
        return std::nullopt;
    }
    ended_.wait(lock, [&] { return other->has_ended_; });
    return other->arrived_;
}

SMDEBUG_INLINE bool in_flight::is_under_way(std::string_view key, std::string_view listed) const {
    const std::lock_guard lock{guard_};
    return whole(key, listed) != nullptr;
}

SMDEBUG_INLINE void in_flight::forget(std::string_view key) {
    const std::lock_guard lock{guard_};
    if (const auto known = by_key_.find(key); known != by_key_.end()) {
        by_key_.erase(known);
    }
}

SMDEBUG_INLINE void in_flight::forget() {
    const std::lock_guard lock{guard_};
    by_key_.clear();
}

SMDEBUG_INLINE bool in_flight::covers(const part& one, byte_range where) noexcept {
    if (one.listed_ || where.length == 0 || where.offset < one.asked_.offset || (one.has_ended_ && !one.arrived_)) {
        return false;
    }
    const std::uint64_t begin = where.offset - one.asked_.offset;
    const bool inside = begin <= one.asked_.length && where.length <= one.asked_.length - begin;
    if (!one.has_ended_) {
        return inside || (one.asked_.offset == 0 && where == whole_object);  // may be the whole object: worth the wait
    }
    const bool ended = one.arrived_->bytes.size() < one.asked_.length;
    return begin < one.arrived_->bytes.size() && (inside || ended);  // not from its end on: the object may have grown
}

SMDEBUG_INLINE in_flight::handle in_flight::first(std::string_view key, function_ref<bool(const part&)> which) const {
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) {
        return nullptr;
    }
    for (const std::weak_ptr<part>& each : known->second) {
        if (handle one = each.lock(); one && which(*one)) {
            return one;
        }
    }
    return nullptr;
}

SMDEBUG_INLINE in_flight::handle in_flight::covering(std::string_view key, byte_range where) const {
    return first(key, [&](const part& one) { return covers(one, where); });
}

SMDEBUG_INLINE in_flight::handle in_flight::whole(std::string_view key, std::string_view listed) const {
    return first(key, [&](const part& one) { return one.listed_ && *one.listed_ == listed && !one.has_ended_; });
}

SMDEBUG_INLINE void in_flight::add(const handle& fresh) {
    const auto is_gone = [](const std::weak_ptr<part>& each) { return each.expired(); };
    if (by_key_.size() >= sweep_at_) {
        std::erase_if(by_key_,
                      [&](const auto& one) { return std::all_of(one.second.begin(), one.second.end(), is_gone); });
        sweep_at_ = 2 * by_key_.size() + 64;
    }
    key_parts& parts = by_key_[fresh->key_];
    std::erase_if(parts, is_gone);
    parts.push_back(fresh);
}

SMDEBUG_INLINE fetch_crew::~fetch_crew() {
    {
        const std::lock_guard lock{guard_};
        ended_ = true;
    }
    wake_.notify_all();
    for (std::thread& one : threads_) {
        one.join();
    }
}

SMDEBUG_INLINE bool fetch_crew::wish(std::string_view key) {
    const std::lock_guard lock{guard_};
    if (most_threads_ == 0 || most_wishes_ == 0) {
        return false;
    }
    if (std::find(wishes_.begin(), wishes_.end(), key) == wishes_.end()) {
        if (wishes_.size() >= most_wishes_) {
            wishes_.pop_front();
        }
        wishes_.emplace_back(key);
        if (wishes_.size() > idle_ && threads_.size() < most_threads_) {
            hire();
        }
        wake_.notify_one();
    }
    return !threads_.empty();
}

SMDEBUG_INLINE void fetch_crew::hire() {
    threads_.reserve(most_threads_);
    try {
        threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
        // No thread can be started: running threads serve the queue; without any, nothing is prefetched.
    }
}

SMDEBUG_INLINE void fetch_crew::work() {
    std::unique_lock lock{guard_};
    while (true) {
        ++idle_;
        wake_.wait(lock, [this] { return ended_ || !wishes_.empty(); });
        --idle_;
        if (ended_) {
            return;
        }
        const std::string key = std::move(wishes_.front());
        wishes_.pop_front();
        lock.unlock();
        try {
            fetch_(key);
        } catch (...) {
        }
        lock.lock();
    }
}

}  // namespace smdebug::inline v1::detail
