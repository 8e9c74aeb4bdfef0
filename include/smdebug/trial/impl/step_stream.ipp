// The bodies of <smdebug/trial/step_stream.hpp>.
#pragma once

#include <smdebug/trial/step_stream.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <utility>

namespace smdebug::inline v1 {
namespace detail {

SMDEBUG_INLINE void kept_tensors::keep(const scanned_tensor& tensor, const step_question& asked,
                                       const any_kernel& kernel) {
    if (size_ == kept_.size()) {
        kept_.emplace_back();
    }
    reduced_tensor& kept = kept_[size_++];
    reduce_into(tensor, asked.reductions, kernel, kept);
    kept.own();
    kept.measured.clear();
    kept.value.reset();
    const decoded_tensor* const values = kept ? tensor.values() : nullptr;
    if (values == nullptr) {
        return;
    }
    for (const auto& measure : asked.measures) {
        kept.measured.push_back(measure(values->view()));
    }
    if (asked.values_up_to > 0 && values->strings.empty() && values->bytes.size() <= asked.values_up_to) {
        kept.value = copy_of(*values);
    }
}

SMDEBUG_INLINE std::span<const reduced_tensor> kept_tensors::some(std::size_t begin, std::size_t end) noexcept {
    for (std::size_t i = begin; i < end; ++i) {
        kept_[i].settle();
    }
    return std::span{kept_}.subspan(begin, end - begin);
}

SMDEBUG_INLINE void kept_tensors::move_from(kept_tensors& other, std::size_t begin, std::size_t end) {
    kept_.resize(std::max(kept_.size(), size_ + end - begin));
    for (std::size_t i = begin; i < end; ++i) {
        kept_[size_++] = std::move(other.kept_[i]);
    }
}

/// No file is held while the caller looks at a step: a part is a copy.
[[nodiscard]] inline scan_options scan_for(const step_question& asked, const any_kernel& kernel) {
    const bool reduces_only = asked.measures.empty() && asked.values_up_to == 0;
    return {.which = asked.tensors,
            .saved = asked.reductions,
            .how = asked.how,
            .reading = {.in_place = true,
                        .defer_checks = true,
                        .keep_repeats = reduces_only && kernel.abilities().repeats,
                        .stream = reduces_only}};
}

}  // namespace detail

struct step_stream::state {
    state(const std::shared_ptr<const detail::trial_state>& run, step_question question)
        : asked(std::move(question)),
          parts(run, detail::scan_for(asked, run->kernel()), {},
                [this, kernel = &run->kernel()](detail::kept_tensors& kept, const detail::scanned_tensor& tensor) {
                    kept.keep(tensor, asked, *kernel);
                }) {}

    [[nodiscard]] const visited_step* give(detail::kept_tensors& from, std::size_t begin, std::size_t end) {
        const reduced_tensor& first = from[begin];
        now = {first.step, first.mode, first.mode_step, from.some(begin, end)};
        return &now;
    }

    step_question asked;
    detail::part_stream<detail::kept_tensors> parts;
    detail::kept_tensors* part = nullptr;
    std::size_t place = 0;           // in the part: what is before it was handed out
    detail::kept_tensors assembled;  // a step of more than one part
    visited_step now;
};

SMDEBUG_INLINE step_stream::step_stream(const trial& run, step_question asked)
    : state_(std::make_unique<state>(detail::state_of(run), std::move(asked))) {}

SMDEBUG_INLINE step_stream::step_stream(step_stream&&) noexcept = default;
SMDEBUG_INLINE step_stream& step_stream::operator=(step_stream&&) noexcept = default;
SMDEBUG_INLINE step_stream::~step_stream() = default;

SMDEBUG_INLINE const step_stream::visited_step* step_stream::next() {
    state& at = *state_;
    at.assembled.clear();
    while (true) {
        if (at.part == nullptr || at.place == at.part->size()) {
            if (at.part != nullptr) {
                at.part->clear();
            }
            at.part = nullptr;  // if the next one fails
            at.place = 0;
            at.part = at.parts.next();
            if (at.part == nullptr) {
                const bool is_whole = at.assembled.size() > 0 && is_complete();
                return is_whole ? at.give(at.assembled, 0, at.assembled.size()) : nullptr;
            }
            continue;
        }
        detail::kept_tensors& from = *at.part;
        const step_number step = from[at.place].step;
        if (at.assembled.size() > 0 && at.assembled[0].step != step) {
            return at.give(at.assembled, 0, at.assembled.size());
        }
        const std::size_t begin = at.place;
        while (at.place < from.size() && from[at.place].step == step) {
            ++at.place;
        }
        const bool goes_on = at.place == from.size() && at.parts.unfinished_step() == step;
        if (!goes_on && at.assembled.size() == 0) {
            return at.give(from, begin, at.place);
        }
        at.assembled.move_from(from, begin, at.place);
        if (!goes_on) {
            return at.give(at.assembled, 0, at.assembled.size());
        }
    }
}

SMDEBUG_INLINE bool step_stream::is_complete() const { return state_->parts.is_complete(); }

}  // namespace smdebug::inline v1
