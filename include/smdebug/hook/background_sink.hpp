// Writes steps on a thread of its own: the training thread pays for a copy into a bounded pool.
// The orders are carried out one after the other, so that files appear in the order of a direct_sink.
// Used by: hook (basic_hook).
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/hook/chunk_pool.hpp>
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
/// Threads: one caller at a time.      Ends: the destructor carries out what was handed over.
template <writable_storage Storage>
class background_sink final : public file_sink {
public:
    background_sink(Storage& store, durability how, background_options options)
        : pool_(options.pool_bytes), when_full_(options.when_full), target_(store, how), worker_([this] { work(); }) {
        held_.reserve(8);
    }

    background_sink(const background_sink&) = delete;
    background_sink& operator=(const background_sink&) = delete;
    ~background_sink() override {
        filling_.reset();  // a step that was not finished
        give(stop{});
        worker_.join();
    }

    [[nodiscard]] bool has_room(std::uint64_t bytes) override {
        const std::size_t begun = filling_ ? filling_->room() : 0;
        return when_full_ == full_pool::wait || bytes <= begun + pool_.free_bytes();
    }

    void begin(const std::string& key) override {
        filling_.reset();
        hold(begin_file{key});
    }

    void append(std::span<const byte_view> pieces) override {
        for (byte_view piece : pieces) {
            while (!piece.empty()) {
                if (!filling_) {
                    filling_.emplace(pool_.take());
                }
                piece = filling_->fill(piece);
                if (filling_->room() == 0) {
                    give(append_chunk{*std::exchange(filling_, std::nullopt)});
                }
            }
        }
    }

    void finish(const std::string& index_key, std::string_view index_text) override {
        if (filling_) {
            hold(append_chunk{*std::exchange(filling_, std::nullopt)});
        }
        give(finish_step{index_key, std::string{index_text}});
    }

    void abandon() noexcept override {
        filling_.reset();
        if (!held_.empty() && std::holds_alternative<begin_file>(held_.back())) {
            held_.pop_back();  // the other thread has not heard of it
        } else {
            hold(abandon_file{});  // no allocation: there is room for a few, and no more than two are ever held
        }
    }

    void put(const std::string& key, std::string_view text) override { give(put_file{key, std::string{text}}); }

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
    };
    struct abandon_file {};
    struct put_file {
        std::string key;
        std::string text;
    };
    struct stop {};
    using order = std::variant<begin_file, append_chunk, finish_step, abandon_file, put_file, stop>;

    // Orders are given together with the next that is worth waking the thread for.
    void give(order last) {
        {
            const std::scoped_lock lock{guard_};
            for (order& before : held_) {
                orders_.push_back(std::move(before));
            }
            orders_.push_back(std::move(last));
        }
        held_.clear();
        given_.notify_one();
    }
    void hold(order next) { held_.push_back(std::move(next)); }

    void work() {
        for (;;) {
            std::optional<order> next;
            {
                std::unique_lock lock{guard_};
                busy_ = false;
                if (orders_.empty()) {
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
        attempt(what.index_key, [&] { target_.finish(what.index_key, what.index_text); });
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
    std::optional<chunk_pool::chunk> filling_;  // the caller's, as is held_
    std::vector<order> held_;

    std::mutex guard_;  // of what follows, up to lost_
    std::condition_variable given_;
    std::condition_variable done_;
    std::deque<order> orders_;
    bool busy_ = true;
    std::vector<lost_write> lost_;

    direct_sink<Storage> target_;  // the thread's, as are broken_ and event_key_
    bool broken_ = false;
    std::string event_key_;
    std::thread worker_;  // last: it uses all of the above
};

}  // namespace v1
}  // namespace smdebug
