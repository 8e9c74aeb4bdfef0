// Where a step's files go: immediately, on the caller's thread (here), or later, on another one (background_sink.hpp).
// The order of appearance keeps a run safe: a step's index only after its events.
#pragma once

#include <smdebug/core/abstract.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// A file that could not be written, or removed, and why.
struct lost_write {
    std::string key;
    std::exception_ptr why;
    bool takes_step = false;  ///< it cost a step that had been handed over whole, and so was counted as written
    bool stays = false;       ///< it was to be removed
    std::uint64_t step = 0;   ///< the order number of the step that it belongs to; 0 if to none
};

/// Elements that are still on their way into this process's memory, from another device: their place is known, their
/// values are not.
struct late_elements {
    std::shared_ptr<const void> owner;  ///< keeps the place
    std::function<void()> wait;         ///< returns when they have arrived; throws if they cannot; on any thread
};

/// Takes the files of steps, one step after the other: begin(event file), append..., finish(index file).  `step` is the
/// order number that the caller gives a step: it ascends from 1, also where a step is written again.
/// Every function but remove() may throw what the storage throws; the current step is lost then, and abandon() or
/// begin() starts afresh.
class file_sink : public smdebug::detail::abstract {
public:
    /// Whether `bytes` more are accepted; if not, nothing may be appended.  Only a dropping sink returns false.
    [[nodiscard]] virtual bool has_room(std::uint64_t bytes) = 0;
    /// Begins an event file.
    virtual void begin(const std::string& key, std::uint64_t step) = 0;
    /// Appends to it.  The pieces are borrowed for the call only.
    virtual void append(std::span<const byte_view> pieces) = 0;
    /// Appends `before`, borrowed for the call, and then `elements`, which lie in late.owner.
    virtual void append_late(byte_view before, byte_view elements, const late_elements& late) {
        late.wait();
        const std::array pieces{before, elements};
        append(pieces);
    }
    /// Makes the event file visible, if one was begun, then the index file.  `replaces`: an index of an older step with
    /// the same number may exist and must not be visible beside the new events: it is removed first, if the storage can
    /// remove.
    virtual void finish(const std::string& index_key, std::string_view index_text, bool replaces,
                        std::uint64_t step) = 0;
    /// Discards the event file that was begun.
    virtual void abandon() noexcept = 0;
    /// Makes any other small file visible, after everything handed over before.
    virtual void put(const std::string& key, std::string_view text) = 0;
    /// Removes a file, if the storage can, after everything handed over before.  Does nothing if the step handed over
    /// last is lost, or the removal before this one failed: what is older then stays whole.  A failure costs no step;
    /// lost() has it.
    virtual void remove(const std::string& key) = 0;
    /// Waits until everything handed over is written or lost.
    virtual void drain() = 0;
    /// Up to this step everything handed over is written or lost.
    [[nodiscard]] virtual std::uint64_t finished() const noexcept { return std::numeric_limits<std::uint64_t>::max(); }
    /// What was lost since the last call and not reported by an exception.  takes_step is false: the caller sets it, as
    /// only the caller knows which steps were handed over whole.
    [[nodiscard]] virtual std::vector<lost_write> lost() = 0;
};

/// Discards everything: for dry runs.
class null_sink final : public file_sink {
public:
    [[nodiscard]] bool has_room(std::uint64_t /*bytes*/) override { return true; }
    void begin(const std::string& /*key*/, std::uint64_t /*step*/) override {}
    void append(std::span<const byte_view> /*pieces*/) override {}
    void append_late(byte_view /*before*/, byte_view /*elements*/, const late_elements& /*late*/) override {}
    void finish(const std::string& /*index_key*/, std::string_view /*index_text*/, bool /*replaces*/,
                std::uint64_t /*step*/) override {}
    void abandon() noexcept override {}
    void put(const std::string& /*key*/, std::string_view /*text*/) override {}
    void remove(const std::string& /*key*/) override {}
    void drain() override {}
    [[nodiscard]] std::vector<lost_write> lost() override { return {}; }
};

/// Writes on the caller's thread, from the caller's memory.
class direct_sink final : public file_sink {
public:
    direct_sink(any_storage store, durability how) : store_(std::move(store)), how_(how) {}

    [[nodiscard]] bool has_room(std::uint64_t /*bytes*/) override { return true; }
    inline void begin(const std::string& key, std::uint64_t step) override;
    void append(std::span<const byte_view> pieces) override { output_->append(pieces); }
    inline void finish(const std::string& index_key, std::string_view index_text, bool replaces,
                       std::uint64_t step) override;
    void abandon() noexcept override { output_.reset(); }
    void put(const std::string& key, std::string_view text) override { put_whole(store_, key, as_bytes(text), how_); }
    inline void remove(const std::string& key) override;
    void drain() override {}
    [[nodiscard]] std::vector<lost_write> lost() override { return std::exchange(stay_, {}); }

private:
    // Throws what the storage throws.
    inline void take_away(const std::string& key);

    any_storage store_;
    durability how_;
    std::unique_ptr<object_output> output_;
    std::vector<lost_write> stay_;  // what could not be removed since the last lost()
    bool last_stays_ = false;       // a removal since the last step failed
};

inline void direct_sink::begin(const std::string& key, std::uint64_t /*step*/) {
    abandon();
    output_ = store_.create(key);
}

inline void direct_sink::finish(const std::string& index_key, std::string_view index_text, bool replaces,
                                std::uint64_t /*step*/) {
    last_stays_ = false;
    if (replaces) {
        take_away(index_key);
    }
    if (output_) {
        output_->commit(how_);
        output_.reset();
    }
    put(index_key, index_text);
}

inline void direct_sink::remove(const std::string& key) {
    if (last_stays_) {
        return;
    }
    try {
        take_away(key);
    } catch (...) {
        last_stays_ = true;
        stay_.push_back({.key = key, .why = std::current_exception(), .stays = true});
    }
}

inline void direct_sink::take_away(const std::string& key) {
    if (store_.abilities().removes) {
        store_.remove(key, how_);  // on disk: else it might reappear, beside new events
    }
}

}  // namespace smdebug::inline v1::detail
