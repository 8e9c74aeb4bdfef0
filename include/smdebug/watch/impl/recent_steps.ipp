// The bodies of <smdebug/watch/recent_steps.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/shared/step_cache.hpp>
#include <smdebug/trial/trial_access.hpp>
#include <smdebug/watch/recent_steps.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

namespace smdebug::inline v1::detail {

// Free memory.  The largest piece is reused first, and kept longest.
struct step_memory::heap {
    explicit heap(std::size_t number) : most(number) { pieces.reserve(number + 1); }

    [[nodiscard]] piece take();
    void give_back(piece used) noexcept;

    const std::size_t most;
    std::mutex guard;
    std::vector<piece> pieces;  // by capacity
};

struct step_memory::state {
    explicit state(std::size_t spare) : unused(std::make_shared<heap>(spare)) {}

    void put(std::string_view key, byte_buffer bytes);

    mutable std::shared_mutex guard;
    std::map<std::string, byte_buffer, std::less<>> objects;
    std::shared_ptr<heap> unused;
};

SMDEBUG_INLINE step_memory::step_memory(std::size_t spare) : state_(std::make_shared<state>(spare)) {}

SMDEBUG_INLINE void step_memory::write(std::string_view key, byte_view bytes) {
    state_->put(key, byte_buffer::take(std::vector<std::byte>(bytes.begin(), bytes.end())));
}

SMDEBUG_INLINE byte_buffer step_memory::read(std::string_view key, byte_range where) const {
    const std::shared_lock lock{state_->guard};
    const auto found = state_->objects.find(key);
    if (found == state_->objects.end()) {
        throw not_found("there is no object " + std::string{key} + " among the last steps of the hook",
                        {.where = std::string{key}});
    }
    return found->second.slice(where);
}

SMDEBUG_INLINE std::vector<std::string> step_memory::list(std::string_view prefix, std::string_view after) const {
    const std::shared_lock lock{state_->guard};
    return detail::listed_keys(state_->objects, prefix, after);
}

SMDEBUG_INLINE std::optional<std::uint64_t> step_memory::size(std::string_view key) const {
    const std::shared_lock lock{state_->guard};
    const auto found = state_->objects.find(key);
    return found == state_->objects.end() ? std::nullopt : std::optional<std::uint64_t>{found->second.size()};
}

SMDEBUG_INLINE bool step_memory::remove(std::string_view key, durability /*none is more than another*/) {
    byte_buffer last;  // freed after the lock is released
    const std::unique_lock lock{state_->guard};
    const auto found = state_->objects.find(key);
    if (found == state_->objects.end()) {
        return false;
    }
    last = std::move(found->second);
    state_->objects.erase(found);
    return true;
}

SMDEBUG_INLINE std::size_t step_memory::objects() const {
    const std::shared_lock lock{state_->guard};
    return state_->objects.size();
}

SMDEBUG_INLINE std::size_t step_memory::spare() const {
    const std::lock_guard lock{state_->unused->guard};
    return state_->unused->pieces.size();
}

SMDEBUG_INLINE step_memory::piece step_memory::heap::take() {
    const std::lock_guard lock{guard};
    if (pieces.empty()) {
        return {};
    }
    piece largest = std::move(pieces.back());
    pieces.pop_back();
    return largest;
}

SMDEBUG_INLINE void step_memory::heap::give_back(piece used) noexcept {
    used.clear();
    const std::lock_guard lock{guard};
    const auto smaller = [](const piece& a, const piece& b) { return a.capacity() < b.capacity(); };
    const auto place = std::upper_bound(pieces.begin(), pieces.end(), used, smaller);
    pieces.insert(place, std::move(used));  // the capacity suffices: it cannot fail
    if (pieces.size() > most) {
        pieces.erase(pieces.begin());
    }
}

SMDEBUG_INLINE void step_memory::state::put(std::string_view key, byte_buffer bytes) {
    const std::unique_lock lock{guard};
    std::swap(objects.try_emplace(std::string{key}).first->second, bytes);
}

SMDEBUG_INLINE byte_buffer step_memory::lend(piece bytes, const std::shared_ptr<heap>& from) {
    const auto give_back = [home = std::weak_ptr<heap>{from}](piece* lent) {
        const std::unique_ptr<piece> mine{lent};
        if (const auto there = home.lock()) {
            there->give_back(std::move(*mine));
        }
    };
    auto lent_piece = std::make_unique<piece>(std::move(bytes));
    const std::shared_ptr<const piece> owner{lent_piece.release(), give_back};
    return byte_buffer{owner, *owner};
}

class step_memory::output final : public object_output {
public:
    output(std::shared_ptr<state> place, std::string_view key)
        : state_(std::move(place)), key_(key), recycles_(key.starts_with(locations::events_folder)) {
        if (recycles_) {
            bytes_ = state_->unused->take();
        }
    }

    void append(std::span<const byte_view> pieces) override { smdebug::detail::gather(bytes_, pieces); }
    void commit(durability /*none is more than another*/) override {
        if (!recycles_) {
            state_->put(key_, byte_buffer::take(std::exchange(bytes_, {})));
            return;
        }
        piece whole = std::exchange(bytes_, {});
        if (whole.size() < whole.capacity() / 4) {  // a small step must not keep the memory of a large one
            piece fitting{whole.begin(), whole.end()};
            state_->unused->give_back(std::exchange(whole, std::move(fitting)));
        }
        state_->put(key_, lend(std::move(whole), state_->unused));
    }

private:
    std::shared_ptr<state> state_;
    std::string key_;
    bool recycles_;  // other files are small
    piece bytes_;
};

SMDEBUG_INLINE std::unique_ptr<object_output> step_memory::create(std::string_view key) {
    return std::make_unique<output>(state_, key);
}

SMDEBUG_INLINE recent_steps::recent_steps(const hook_options& watched, const watch_options& how,
                                          const any_kernel& kernel)
    : keep_(how.keep_steps),
      spare_(how.keep_steps / 4),
      memory_(spare_ + 1),
      kernel_(kernel),
      writer_(memory_, options_for(watched, how), kernel),
      door_(writer_) {
    std::stop_source never;
    static_cast<void>(never.request_stop());
    reading_ = {.name = std::string{locations::base_name(watched.out_dir)},
                .incomplete_step_wait_window = 1000,
                .missing_event_file_retry_limit = 0,
                .stop = never.get_token(),
                .training_end_delay_refresh = std::chrono::milliseconds{0}};
    if (reading_.name.empty()) {
        reading_.name = "watch";
    }
}

SMDEBUG_INLINE void recent_steps::begin(const hook_step& step) {
    if (begun_ && writer_.step() != step.step) {
        write_out();
    }
    writer_.set_mode(step.mode);
    if (writer_.step() != step.step || writer_.mode_step() != step.mode_step) {
        door_.set_step(step.step, step.mode_step);
    }
}

SMDEBUG_INLINE void recent_steps::take(std::string_view name, const tensor_view& tensor,
                                       std::span<const std::string_view> into) {
    if (name.starts_with("scalar/") && tensor.count() == 1) {
        door_.save_scalar(name, tensor);
        note_first();
    } else if (door_.save(name, tensor, into)) {
        note_first();
    }
}

SMDEBUG_INLINE std::optional<hook_step> recent_steps::end(step_number step) {
    if (begun_ && first_.step == step) {
        write_out();
    }
    const auto written = std::exchange(written_, std::nullopt);
    if (written && written->step != step) {
        remove(written->step);
    }
    if (!written || written->step != step) {
        return std::nullopt;
    }
    make_room_for(step);
    kept_.push_back(step);
    look();
    return written;
}

SMDEBUG_INLINE hook_options recent_steps::options_for(const hook_options& watched, const watch_options& how) {
    hook_options options{.save_config = {.save_interval = 1},
                         .reduction_config = how.reduction_config,
                         .collections = watched.collections,
                         .include_collections = {"all"},
                         .include_regex = watched.include_regex,
                         .save_all = true,
                         .loss_regex = watched.loss_regex,
                         .include_workers = include_workers::all,
                         .worker = watched.worker,
                         .on_note = [](const std::string& /*note*/) {},  // the watched hook's are enough
                         .mark_end_of_job = false};
    for (collection& group : options.collections) {
        group.save_config.reset();
        group.reduction_config.reset();
    }
    return options;
}

SMDEBUG_INLINE void recent_steps::note_first() {
    if (!std::exchange(begun_, true)) {
        first_ = {writer_.step(), writer_.current_mode(), writer_.mode_step()};
    }
}

SMDEBUG_INLINE void recent_steps::write_out() {
    begun_ = false;
    if (const auto forgotten = std::exchange(written_, std::nullopt)) {
        remove(forgotten->step);
    }
    writer_.end_step();
    written_ = first_;
}

SMDEBUG_INLINE void recent_steps::remove(step_number step) {
    const std::string& worker = writer_.options().worker;
    memory_.remove(locations::index_key(step, worker));
    memory_.remove(locations::event_key(step, worker));
    door_.forget(step);
    reopen_ = std::erase(kept_, step) > 0 || reopen_;
}

SMDEBUG_INLINE void recent_steps::make_room_for(step_number step) {
    reopen_ = std::erase(kept_, step) > 0 || reopen_;  // its files have been replaced already
    while (!kept_.empty() && kept_.back() > step) {
        remove(kept_.back());
    }
    if (kept_.size() >= keep_ + spare_) {
        while (kept_.size() >= keep_) {
            remove(kept_.front());
        }
    }
}

SMDEBUG_INLINE void recent_steps::look() {
    byte_buffer collections = memory_.read(locations::collections_key(writer_.options().worker));
    if (!trial_ || reopen_ || collections.owner() != collections_.owner()) {
        reopen_ = true;  // in case the opening fails
        trial opened{memory_, reading_, event_decoder<>{}, kernel_};
        // Values are in memory already: only results computed from them are cached.
        const sharing_options sharing{.value_bytes = 0, .look_ahead = false, .file_bytes = 0};
        trial_access::share_with_rules(opened, view_for_rules(state_of(opened), &sharing));
        if (trial_) {
            *trial_ = std::move(opened);
        } else {
            trial_.emplace(std::move(opened));
        }
        collections_ = std::move(collections);
        reopen_ = false;
    } else {
        trial_->refresh();
    }
    trial_access::begin_rules(*trial_, kept_.back());
}

}  // namespace smdebug::inline v1::detail
