// The bodies of <smdebug/hook/background_sink.hpp>.
#pragma once

#include <smdebug/hook/background_sink.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE chunk_pool::chunk& chunk_pool::chunk::operator=(chunk&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(begin_, other.begin_);
    std::swap(used_, other.used_);
    return *this;
}

SMDEBUG_INLINE chunk_pool::chunk::~chunk() {
    if (pool_ != nullptr) {
        pool_->take_back(begin_);
    }
}

SMDEBUG_INLINE byte_view chunk_pool::chunk::fill(byte_view bytes) noexcept {
    const std::size_t count = std::min(bytes.size(), room());
    if (count != 0) {
        std::memcpy(begin_ + used_, bytes.data(), count);
    }
    used_ += count;
    return bytes.subspan(count);
}

SMDEBUG_INLINE chunk_pool::chunk_pool(std::size_t bytes)
    : count_(std::max<std::size_t>(2, (bytes + chunk_bytes - 1) / chunk_bytes)) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(count_ * chunk_bytes);
    // The training should not pay for the pages' first use.
    std::memset(memory_.get(), 0, count_ * chunk_bytes);
    free_.reserve(count_);
    for (std::size_t i = count_; i > 0; --i) {
        free_.push_back(memory_.get() + (i - 1) * chunk_bytes);
    }
}

SMDEBUG_INLINE chunk_pool::chunk chunk_pool::take() {
    std::unique_lock lock{guard_};
    given_back_.wait(lock, [&] { return !free_.empty(); });
    std::byte* const begin = free_.back();
    free_.pop_back();
    return chunk{*this, begin};
}

SMDEBUG_INLINE std::size_t chunk_pool::free_bytes() const {
    const std::scoped_lock lock{guard_};
    return free_.size() * chunk_bytes;
}

SMDEBUG_INLINE void chunk_pool::take_back(std::byte* begin) noexcept {
    {
        const std::scoped_lock lock{guard_};
        free_.push_back(begin);  // never grows: reserved
    }
    given_back_.notify_one();
}

SMDEBUG_INLINE exit_entry::exit_entry(void* object, void (*finish)(void*) noexcept)
    : object_(object), home_(&list_of_this_process()) {
    const std::scoped_lock lock{home_->guard};
    home_->entries.push_back({object, finish});
    // Registered each time: handlers are called in reverse order, and this one must precede those of the libraries that
    // the work needs (OpenSSL's), which may have been loaded since.
    static_cast<void>(std::atexit([] { finish_all(); }));
}

SMDEBUG_INLINE exit_entry::~exit_entry() {
    const std::scoped_lock lock{home_->guard};
    std::erase_if(home_->entries, [&](const entry& one) { return one.object == object_; });
}

SMDEBUG_INLINE std::atomic<exit_entry::list*>& exit_entry::newest() noexcept {
    static std::atomic<list*> one{nullptr};
    return one;
}

SMDEBUG_INLINE exit_entry::list& exit_entry::list_of_this_process() {
    list* latest = newest().load();
    while (latest == nullptr || latest->process != posix::process_number()) {
        auto* const made = new list{.before = latest};
        if (newest().compare_exchange_strong(latest, made)) {
            return *made;
        }
        delete made;
    }
    return *latest;
}

SMDEBUG_INLINE void exit_entry::finish_all() noexcept {
    list* const latest = newest().load();
    if (latest != nullptr && latest->process == posix::process_number()) {
        const std::scoped_lock lock{latest->guard};
        for (const entry& one : latest->entries) {
            one.finish(one.object);
        }
        latest->entries.clear();
    }
}

SMDEBUG_INLINE background_sink::background_sink(any_storage store, durability how, background_options options)
    : pool_(options.pool_bytes),
      when_full_(options.when_full),
      most_pending_(pool_.bytes() / chunk_pool::chunk_bytes / 4),
      target_(std::move(store), how),
      worker_([this] { work(); }) {
    pending_.reserve(most_pending_ + 8);
    at_exit_.emplace(this, [](void* sink) noexcept { static_cast<background_sink*>(sink)->finish_sent(); });
}

SMDEBUG_INLINE background_sink::~background_sink() {
    at_exit_.reset();
    abandon();  // a step that was not finished
    pending_.push_back({.what = order::kind::stop});
    send();
    worker_.join();
}

SMDEBUG_INLINE bool background_sink::has_room(std::uint64_t bytes) {
    if (when_full_ == full_pool::wait) {
        return true;
    }
    const std::size_t begun = filling_ ? filling_->room() : 0;
    const bool has = bytes <= begun + pool_.free_bytes() && text_bytes() <= pool_.bytes();
    if (!has && !pending_.empty()) {
        send();  // pending orders occupy the room
    }
    return has;
}

SMDEBUG_INLINE void background_sink::begin(const std::string& key, std::uint64_t step) {
    abandon();
    pending_.push_back({.what = order::kind::begin, .key = key, .step = step});
    is_begun_ = false;
}

SMDEBUG_INLINE void background_sink::append(std::span<const byte_view> pieces) {
    for (byte_view piece : pieces) {
        while (!piece.empty()) {
            if (!filling_) {
                if (pool_.free_bytes() == 0) {
                    send();  // pending orders hold the chunks it waits for
                }
                filling_.emplace(pool_.take());
            }
            piece = filling_->fill(piece);
            if (filling_->room() == 0) {
                append_filled();
                if (pending_.size() > most_pending_) {
                    send();
                }
            }
        }
    }
}

SMDEBUG_INLINE void background_sink::append_late(byte_view before, byte_view elements, const late_elements& late) {
    append({&before, 1});
    append_filled();
    pending_.push_back({.what = order::kind::append, .elements = elements, .late = late});
}

SMDEBUG_INLINE void background_sink::finish(const std::string& index_key, std::string_view index_text, bool replaces,
                                            std::uint64_t step) {
    append_filled();
    pending_.push_back({.what = order::kind::finish,
                        .key = index_key,
                        .text = std::string{index_text},
                        .step = step,
                        .replaces = replaces});
    send();
    is_begun_ = false;
}

SMDEBUG_INLINE void background_sink::abandon() noexcept {
    filling_.reset();
    pending_.clear();
    if (std::exchange(is_begun_, false)) {
        try {
            pending_.push_back({.what = order::kind::abandon});
            send();
        } catch (...) {
            // Out of memory: the next begin, or the end, does the same.
        }
    }
}

SMDEBUG_INLINE void background_sink::put(const std::string& key, std::string_view text) {
    pending_.push_back({.what = order::kind::put, .key = key, .text = std::string{text}});
    send();
}

SMDEBUG_INLINE void background_sink::remove(const std::string& key) {
    pending_.push_back({.what = order::kind::remove, .key = key});
    send();
}

SMDEBUG_INLINE void background_sink::drain() {
    std::unique_lock lock{guard_};
    done_.wait(lock, [&] { return orders_.empty() && !busy_; });
}

SMDEBUG_INLINE std::vector<lost_write> background_sink::lost() {
    const std::scoped_lock lock{guard_};
    return std::exchange(lost_, {});
}

SMDEBUG_INLINE void background_sink::finish_sent() noexcept {
    if (std::this_thread::get_id() == worker_.get_id()) {
        return;  // this thread ends the program
    }
    std::unique_lock lock{guard_};
    const std::uint64_t sent = sent_count_;
    done_.wait(lock, [&] { return done_count_ >= sent || (orders_.empty() && !busy_); });
}

SMDEBUG_INLINE void background_sink::send() {
    std::size_t bytes = 0;
    for (const order& next : pending_) {
        bytes += next.text.size();
    }
    {
        std::unique_lock lock{guard_};
        if (when_full_ == full_pool::wait && bytes != 0) {  // small files count, too
            done_.wait(lock, [&] { return text_bytes_ == 0 || text_bytes_ + bytes <= pool_.bytes(); });
        }
        text_bytes_ += bytes;
        sent_count_ += pending_.size();
        for (order& next : pending_) {
            orders_.push_back(std::move(next));
        }
    }
    pending_.clear();
    is_begun_ = true;
    sent_.notify_one();
}

SMDEBUG_INLINE void background_sink::append_filled() {
    if (filling_) {
        pending_.push_back({.what = order::kind::append, .bytes = std::exchange(filling_, std::nullopt)});
    }
}

SMDEBUG_INLINE std::size_t background_sink::text_bytes() {
    const std::scoped_lock lock{guard_};
    return text_bytes_;
}

SMDEBUG_INLINE void background_sink::work() {
    std::size_t bytes_done = 0;
    for (std::uint64_t orders_done = 0;; ++orders_done) {
        std::optional<order> next;
        {
            std::unique_lock lock{guard_};
            busy_ = false;
            done_count_ = orders_done;
            text_bytes_ -= bytes_done;
            if (orders_.empty() || bytes_done != 0) {
                done_.notify_all();
            }
            sent_.wait(lock, [&] { return !orders_.empty(); });
            next.emplace(std::move(orders_.front()));
            orders_.pop_front();
            busy_ = true;
        }
        if (next->what == order::kind::stop) {
            return;
        }
        bytes_done = next->text.size();
        carry_out(*next);
    }
}

SMDEBUG_INLINE void background_sink::carry_out(order& one) {
    switch (one.what) {
        case order::kind::begin:
            broken_ = false;
            event_key_ = one.key;
            step_now_ = one.step;
            attempt(event_key_, [&] { target_.begin(one.key, one.step); });
            break;
        case order::kind::append:
            attempt(event_key_, [&] {
                if (!one.bytes) {
                    one.late.wait();
                }
                const byte_view bytes = one.bytes ? one.bytes->view() : one.elements;
                target_.append({&bytes, 1});
            });
            break;
        case order::kind::finish:
            step_now_ = one.step;  // a step of shapes alone was not begun
            attempt(one.key, [&] { target_.finish(one.key, one.text, one.replaces, one.step); });
            last_is_lost_ = std::exchange(broken_, false);
            finished_ = one.step;
            break;
        case order::kind::abandon:
            target_.abandon();
            broken_ = false;
            break;
        case order::kind::put:
            try {
                target_.put(one.key, one.text);
            } catch (...) {
                note(one.key, 0);
            }
            break;
        case order::kind::remove:
            if (!last_is_lost_) {
                target_.remove(one.key);
                const std::scoped_lock lock{guard_};
                std::ranges::move(target_.lost(), std::back_inserter(lost_));
            }
            break;
        case order::kind::stop:
            break;
    }
}

SMDEBUG_INLINE void background_sink::attempt(const std::string& key, function_ref<void()> doing) {
    if (broken_) {
        return;
    }
    try {
        doing();
    } catch (...) {
        broken_ = true;
        target_.abandon();
        note(key, step_now_);
    }
}

SMDEBUG_INLINE void background_sink::note(const std::string& key, std::uint64_t step) {
    const std::scoped_lock lock{guard_};
    lost_.push_back({.key = key, .why = std::current_exception(), .step = step});
}

}  // namespace smdebug::inline v1::detail
