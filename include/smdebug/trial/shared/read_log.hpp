// Logs rules' look-ups in a run, and those that could not be read: a rule without data is not one without findings.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/text_hash.hpp>
#include <smdebug/trial/lookup.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A step by its global number, and by that in its mode.
struct named_step {
    step_number step = -1;
    smdebug::mode mode = mode::global;
    step_number mode_step = -1;
};

/// A tensor of a step and worker, by numbers; those of different ones differ (but for one in 2^64).
/// Of the step at hand there are two, as it may be asked for by its number in its mode, too; else they are the same.
struct record_key {
    std::uint64_t key = 0;
    std::uint64_t other = 0;
    [[nodiscard]] friend bool operator==(const record_key&, const record_key&) = default;
    [[nodiscard]] friend auto operator<=>(const record_key&, const record_key&) = default;
};

[[nodiscard]] std::uint64_t mixed(std::uint64_t seed, std::uint64_t with) noexcept;
[[nodiscard]] inline std::uint64_t hash_of(std::string_view text) noexcept { return text_hash{}(text); }

/// What was asked for during one call of a rule.  A tensor counts once, however often it was asked for, and does not
/// where it was not saved.  Of other steps than the current one only what could not be read counts: the rest counts at
/// its own step.
/// Threads: a call of a rule may ask on several; begin() and end() not beside them.
class read_log {
public:
    struct entries {
        std::vector<record_key> read = {};  ///< of the step at hand
        std::vector<record_key> lost = {};
        std::string first_lost = {};  ///< why, in words
        bool has_selected = false;    ///< the handle of a tensor was taken, whether it was read or not
    };

    void begin(const named_step& step);

    /// The handle of a tensor was taken.
    void was_selected() noexcept {
        if (!has_selected_.load(std::memory_order_relaxed)) {  // rules take very many
            has_selected_.store(true, std::memory_order_relaxed);
        }
    }
    /// It was read, or its dtype does not have what was asked for.
    void was_read(std::string_view tensor, step_number step, mode in, const std::optional<std::string>& worker) {
        was_read(hash_of(tensor), step, in, worker);
    }
    /// The same by hash_of(tensor).
    void was_read(std::uint64_t tensor, step_number step, mode in, const std::optional<std::string>& worker);
    /// It could not be read; describe() says why.
    template <class Describe>
    void was_lost(std::string_view tensor, step_number step, mode in, const std::optional<std::string>& worker,
                  Describe&& describe) {
        const record_key key = key_of(hash_of(tensor), step, in, worker);
        const std::lock_guard lock{guard_};
        if (now_.lost.empty()) {
            now_.first_lost = describe();
        }
        now_.lost.push_back(key);
    }
    /// Logs the outcome of a look-up.
    void was_looked_up(const lookup_error& failure, const std::string& tensor, step_number step, mode in,
                       const std::optional<std::string>& worker);

    /// Each tensor once; what could not be read is not among what was.
    [[nodiscard]] entries end();

private:
    [[nodiscard]] bool is_at_hand(step_number step, mode in) const noexcept {
        return in == mode::global ? step == current_.step : in == current_.mode && step == current_.mode_step;
    }
    [[nodiscard]] record_key key_of(std::uint64_t tensor, step_number step, mode in,
                                    const std::optional<std::string>& worker) const;

    named_step current_;
    std::atomic<bool> has_selected_ = false;
    std::mutex guard_;
    entries now_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/shared/impl/read_log.ipp>
#endif
