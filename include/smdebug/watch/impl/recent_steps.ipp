// The bodies of <smdebug/watch/recent_steps.hpp>.
#pragma once

#include <smdebug/hook/any_clock.hpp>
#include <smdebug/hook/wall_clock.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/trial/shared/step_cache.hpp>
#include <smdebug/trial/sharing_options.hpp>
#include <smdebug/watch/recent_steps.hpp>

#include <chrono>
#include <string>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE recent_steps::recent_steps(const hook_options& watched, const watch_options& how,
                                          const any_kernel& kernel)
    : keep_(how.keep_steps),
      spare_(how.keep_steps / 4),
      memory_(spare_ + 1),
      kernel_(kernel),
      writer_(any_storage{memory_}, options_for(watched, how), kernel, any_clock{system_wall_clock{}}) {
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
    const hook_step& now = writer_.now();
    if (begun_ && now.step != step.step) {
        write_out();
    }
    writer_.set_mode(step.mode);
    if (now.step != step.step || now.mode_step != step.mode_step) {
        writer_.set_step(step.step, step.mode_step);
    }
}

SMDEBUG_INLINE void recent_steps::take(std::string_view name, const tensor_view& tensor,
                                       std::span<const std::string_view> into) {
    if (name.starts_with("scalar/") && tensor.count() == 1) {
        writer_.take_scalar(std::string{name}, tensor);
        note_first();
    } else if (writer_.take(name, tensor, into)) {
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
                         .mark_end_of_job = false};
    for (collection& group : options.collections) {
        group.save_config.reset();
        group.reduction_config.reset();
    }
    return options;
}

SMDEBUG_INLINE void recent_steps::note_first() {
    if (!std::exchange(begun_, true)) {
        first_ = writer_.now();
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
    writer_.forget(step);
    reopen_ = std::erase(kept_, step) > 0 || reopen_;
}

SMDEBUG_INLINE void recent_steps::make_room_for(step_number step) {
    reopen_ = std::erase(kept_, step) > 0 || reopen_;  // its files are the new ones already
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
        reopen_ = true;  // should the opening fail
        trial opened{memory_, reading_, event_decoder<>{}, kernel_};
        // Values lie in memory already: only what is computed of them is kept.
        const sharing_options sharing{.value_bytes = 0, .look_ahead = false, .file_bytes = 0};
        opened.share_with_rules(view_for_rules(opened.state(), &sharing));
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
    trial_->begin_rules(kept_.back());
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
