// What a scan hands over for each tensor: what one worker saved of it at one step, or why that cannot be read.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/lookup.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Which tensor it is, of which worker and step.  The texts are borrowed, for the call only.
struct tensor_place {
    step_number step = 0;  ///< global
    step_number mode_step = 0;
    step_number shown_step = 0;  ///< see basic_trial::shown_step()
    smdebug::mode mode = smdebug::mode::global;
    std::string_view worker = {};
    std::string_view name = {};

    /// The mode in which shown_step counts.
    [[nodiscard]] smdebug::mode shown_mode() const noexcept {
        return shown_step == step ? smdebug::mode::global : mode;
    }
};

namespace detail {

class value_stream;
struct passed_tensor;

/// A saved reduction that cannot be read.
struct scan_failure {
    reduction_key key;
    lookup_error why;
};

/// Values in memory.
struct scanned_values {
    const decoded_tensor* tensor = nullptr;
    record::payload_check check = {};  ///< what is left to check: the values count where it holds()
    std::size_t repeats = 0;           ///< elements that follow the last one, which they equal: 0 unless kept apart
};

/// Why saved values, or all of the event file, cannot be read.
struct unread_values {
    const lookup_error* why = nullptr;
    bool whole_file = false;
};

/// What one worker saved of one tensor at one step.  Everything is borrowed, for the call only.
struct scanned_tensor : tensor_place {
    /// The values: none were saved; in memory; reduced already, or left in the file, where that was asked for, both for
    /// reduced() alone; or not readable.
    std::variant<std::monostate, scanned_values, const passed_tensor*, value_stream*, unread_values> content;
    std::string_view event_file;  ///< its key
    std::uint64_t offset = 0;     ///< of the values' record in it
    /// Whether it is on the thread that walks the run, and nobody waits for its file, nor measures how long it is visited:
    /// what is made of the tensor need not be kept until the file is done.
    bool at_once = false;
    const shape_type* saved_shape = nullptr;                ///< null: none was saved
    reduction_set saved;                                    ///< the reductions that were saved, asked for, and read
    std::array<double, 2 * reduction_count> saved_value{};  ///< by reduction_key::index(), those in `saved`
    std::vector<scan_failure> saved_failures;               ///< those that were asked for and cannot be read

    /// The values in memory; null: there are none.
    [[nodiscard]] const decoded_tensor* values() const noexcept {
        const auto* const there = std::get_if<scanned_values>(&content);
        return there != nullptr ? there->tensor : nullptr;
    }
    /// Elements that follow the last of values(): see scan_options::keep_repeats.
    [[nodiscard]] std::size_t repeats() const noexcept {
        const auto* const there = std::get_if<scanned_values>(&content);
        return there != nullptr ? there->repeats : 0;
    }
    /// Why saved values, or the whole file, cannot be read; null: they can, or there are none.
    [[nodiscard]] const lookup_error* failure() const noexcept {
        const auto* const unread = std::get_if<unread_values>(&content);
        return unread != nullptr ? unread->why : nullptr;
    }
    /// Whether failure() is that of the whole file.
    [[nodiscard]] bool file_failed() const noexcept {
        const auto* const unread = std::get_if<unread_values>(&content);
        return unread != nullptr && unread->whole_file;
    }

    /// The values' shape, else the saved one; null when neither is there.
    [[nodiscard]] const shape_type* shape() const noexcept;

    /// What is wrong with the record of the values.
    [[nodiscard]] lookup_error damaged(status damage) const {
        return {.why = absence::damaged, .damage = damage, .offset = offset, .where = std::string{event_file}};
    }
    /// The same while an exception is handled, which came of reading the record.
    [[nodiscard]] lookup_error failed() const { return failure_at_hand(std::string{event_file}, offset); }
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/scanned_tensor.ipp>
#endif
