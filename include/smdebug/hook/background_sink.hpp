// Writes steps on a thread of its own: the training thread pays for a copy into a bounded pool.
// The orders are carried out one after the other, so that files appear in the order of a direct_sink.
// Used by: hook (basic_hook).
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/hook/chunk_pool.hpp>
#include <smdebug/hook/exit_list.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/storage/concepts.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A file_sink that copies what it is given and writes it behind the caller's back.  When the pool is full, append()
/// waits; or, with full_pool::drop, has_room() says no.
/// What goes wrong is told by lost(); the thread goes on with the next step.
/// Borrows: the storage, whose create() and outputs are used on the other thread alone.
/// Threads: one caller at a time.      Ends: the destructor carries out what was handed over, and so does the end of
/// the program by exit(), which destroys no local objects; a step that is not finished is lost then.
template <writable_storage Storage>
class background_sink final : public file_sink {
public:
    background_sink(Storage& store, durability how, background_options options)
        : pool_(options.pool_bytes),
          when_full_(options.when_full),
          most_held_(pool_.bytes() / chunk_pool::chunk_bytes / 4),
          target_(store, how),
          worker_([this] { work(); }) {
        held_.reserve(most_held_ + 8);
        at_exit_.emplace(this, [](void* sink) noexcept { static_cast<background_sink*>(sink)->finish_given(); });
    }

    background_sink(const background_sink&) = delete;
    background_sink& operator=(const background_sink&) = delete;
    ~background_sink() override {
        at_exit_.reset();
        abandon();  // a step that was not finished
        held_.push_back(stop{});
        send();
        worker_.join();
    }

    [[nodiscard]] bool has_room(std::uint64_t bytes) override {
        if (when_full_ == full_pool::wait) {
            return true;
        }
        const std::size_t begun = filling_ ? filling_->room() : 0;
        const bool has = bytes <= begun + pool_.free_bytes() && text_bytes() <= pool_.bytes();
        if (!has && !held_.empty()) {
            send();  // what is held is what there is no room for
        }
        return has;
    }

    void begin(const std::string& key) override {
        abandon();
        held_.push_back(begin_file{key});
        is_known_ = false;
    }

    void append(std::span<const byte_view> pieces) override {
        for (byte_view piece : pieces) {
            while (!piece.empty()) {
                if (!filling_) {
                    if (pool_.free_bytes() == 0) {
                        send();  // what is held is what is waited for
                    }
                    filling_.emplace(pool_.take());
                }
                piece = filling_->fill(piece);
                if (filling_->room() == 0) {
                    held_.push_back(append_chunk{*std::exchange(filling_, std::nullopt)});
                    if (held_.size() > most_held_) {
                        send();
                    }
                }
            }
        }
    }

    void finish(const std::string& index_key, std::string_view index_text, bool replaces) override {
        if (filling_) {
            held_.push_back(append_chunk{*std::exchange(filling_, std::nullopt)});
        }
        held_.push_back(finish_step{index_key, std::string{index_text}, replaces});
        send();
        is_known_ = false;
    }

    void abandon() noexcept override {
        filling_.reset();
        held_.clear();
        if (std::exchange(is_known_, false)) {
            try {
                held_.push_back(abandon_file{});
                send();
            } catch (...) {
                // No memory for that: the next begin, or the end, does the same.
            }
        }
    }

    void put(const std::string& key, std::string_view text) override {
        held_.push_back(put_file{key, std::string{text}});
        send();
    }

    void remove(const std::string& key) override {
        held_.push_back(remove_file{key});
        send();
    }

    void drain() override {
        std::unique_lock lock{guard_};
        done_.wait(lock, [&] { return orders_.empty() && !busy_; });
    }

    [[nodiscard]] std::vector<lost_write> lost() override {
        const std::scoped_lock lock{guard_};
        return std::exchange(lost_, {});
    }

private:
    struct begin_file {
        std::string key;
    };
    struct append_chunk {
        chunk_pool::chunk bytes;
    };
    struct finish_step {
        std::string index_key;
        std::string index_text;
        bool replaces = false;
    };
    struct abandon_file {};
    struct put_file {
        std::string key;
        std::string text;
    };
    struct remove_file {
        std::string key;
    };
    struct stop {};
    using order = std::variant<begin_file, append_chunk, finish_step, abandon_file, put_file, remove_file, stop>;

    // Waits for what has been given so far: whoever trains may go on while the program ends.
    void finish_given() noexcept {
        if (std::this_thread::get_id() == worker_.get_id()) {
            return;  // it is this thread that ends the program
        }
        std::unique_lock lock{guard_};
        const std::uint64_t given = given_count_;
        done_.wait(lock, [&] { return done_count_ >= given || (orders_.empty() && !busy_); });
    }

    // Gives the other thread what is held.  Waking it costs some microseconds: it is done once a step, or when a good
    // part of the pool is full.
    void send() {
        std::size_t bytes = 0;
        for (const order& next : held_) {
            bytes += bytes_of_text(next);
        }
        {
            std::unique_lock lock{guard_};
            if (when_full_ == full_pool::wait && bytes != 0) {  // small files count, too
                done_.wait(lock, [&] { return text_bytes_ == 0 || text_bytes_ + bytes <= pool_.bytes(); });
            }
            text_bytes_ += bytes;
            given_count_ += held_.size();
            for (order& next : held_) {
                orders_.push_back(std::move(next));
            }
        }
        held_.clear();
        is_known_ = true;
        given_.notify_one();
    }

    [[nodiscard]] static std::size_t bytes_of_text(const order& what) noexcept {
        if (const auto* const step = std::get_if<finish_step>(&what)) {
            return step->index_text.size();
        }
        const auto* const file = std::get_if<put_file>(&what);
        return file == nullptr ? 0 : file->text.size();
    }
    [[nodiscard]] std::size_t text_bytes() {
        const std::scoped_lock lock{guard_};
        return text_bytes_;
    }

    void work() {
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
                given_.wait(lock, [&] { return !orders_.empty(); });
                next.emplace(std::move(orders_.front()));
                orders_.pop_front();
                busy_ = true;
            }
            if (std::holds_alternative<stop>(*next)) {
                return;
            }
            bytes_done = bytes_of_text(*next);
            std::visit([this](auto& what) { this->carry_out(what); }, *next);
        }
    }

    void carry_out(begin_file& what) {
        broken_ = false;
        event_key_ = what.key;
        attempt(what.key, [&] { target_.begin(what.key); });
    }
    void carry_out(append_chunk& what) {
        const byte_view bytes = what.bytes.view();
        attempt(event_key_, [&] { target_.append({&bytes, 1}); });
    }
    void carry_out(finish_step& what) {
        attempt(what.index_key, [&] { target_.finish(what.index_key, what.index_text, what.replaces); });
        broken_ = false;
    }
    void carry_out(abandon_file& /*what*/) {
        target_.abandon();
        broken_ = false;
    }
    void carry_out(put_file& what) {
        try {
            target_.put(what.key, what.text);
        } catch (...) {
            note(what.key);
        }
    }
    void carry_out(remove_file& what) {
        try {
            target_.remove(what.key);
        } catch (...) {
            note(what.key);
        }
    }
    void carry_out(stop& /*what*/) noexcept {}

    // Of a step that is lost nothing more is tried, above all not its index.
    template <class Doing>
    void attempt(const std::string& key, Doing&& doing) {
        if (broken_) {
            return;
        }
        try {
            doing();
        } catch (...) {
            broken_ = true;
            target_.abandon();
            note(key);
        }
    }

    void note(const std::string& key) {
        const std::scoped_lock lock{guard_};
        lost_.push_back({key, std::current_exception()});
    }

    chunk_pool pool_;
    full_pool when_full_;
    std::optional<chunk_pool::chunk> filling_;  // the caller's, as are the next three
    std::vector<order> held_;                   // not given yet
    std::size_t most_held_;
    bool is_known_ = false;  // whether the other thread has heard of the step at hand

    std::mutex guard_;  // of what follows, up to lost_
    std::condition_variable given_;
    std::condition_variable done_;
    std::deque<order> orders_;
    std::size_t text_bytes_ = 0;     // of the small files in them
    std::uint64_t given_count_ = 0;  // orders since the beginning
    std::uint64_t done_count_ = 0;
    bool busy_ = true;
    std::vector<lost_write> lost_;

    direct_sink<Storage> target_;  // the thread's, as are broken_ and event_key_
    bool broken_ = false;
    std::string event_key_;
    std::thread worker_;  // it uses all of the above
    std::optional<exit_entry> at_exit_;
};

}  // namespace v1
}  // namespace smdebug
