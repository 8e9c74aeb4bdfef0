// The bodies of <smdebug/trial/shared/steps_ahead.hpp>.
#pragma once

#include <smdebug/trial/shared/steps_ahead.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <system_error>
#include <utility>

namespace smdebug::inline v1::detail {

/// The questions that compare two saves, or all others.
[[nodiscard]] inline questions_by_tensor some_of(const questions_by_tensor& asked, bool comparing) {
    questions_by_tensor some;
    for (const auto& [name, one] : asked) {
        tensor_questions about = comparing ? tensor_questions{.of = one.of} : one;
        about.measures.clear();
        std::copy_if(one.measures.begin(), one.measures.end(), std::back_inserter(about.measures),
                     [&](const any_measure* each) { return each->compares() == comparing; });
        if (about.reductions || about.values || !about.measures.empty()) {
            some.emplace(name, std::move(about));
        }
    }
    return some;
}

SMDEBUG_INLINE steps_ahead::steps_ahead(std::vector<step_number> steps, std::size_t at_once, unsigned threads,
                                        std::vector<thread_permit> permits, questions_by_tensor asked, scan work)
    : steps_(std::move(steps)),
      at_once_(at_once),
      permits_(std::move(permits)),
      asked_(std::make_shared<const questions_by_tensor>(std::move(asked))),
      work_(std::move(work)) {
    const bool apart = threads > 1 && !some_of(**asked_.lock(), true).empty();
    try {
        begin(threads, apart);
    } catch (const std::system_error&) {
        scans_.clear();
        begin(0, false);
    }
}

SMDEBUG_INLINE void steps_ahead::begin(unsigned threads, bool apart) {
    if (apart) {
        scans_.push_back(std::make_unique<pass>(*this, 1, part::comparing));
        --threads;
    }
    scans_.push_back(std::make_unique<pass>(*this, threads, apart || threads > 1 ? part::others : part::all));
}

SMDEBUG_INLINE steps_ahead::pass::pass(steps_ahead& of, unsigned threads, part which)
    : pool(
          threads, {},
          [this, &of]() -> std::optional<task> {
              if (next == of.steps_.size()) {
                  return std::nullopt;
              }
              const group_of_steps some = of.group(std::exchange(next, of.group(next).end));
              return task{some, *of.asked_.lock()};
          },
          [&of, which](std::size_t, const task& now, std::vector<known_save>& found) {
              const step_range range{of.steps_[now.steps.begin], of.steps_[now.steps.end - 1] + 1};
              try {
                  if (which == part::all) {
                      of.work_(range, *now.asked, true, found);
                  } else {
                      of.work_(range, some_of(*now.asked, which == part::comparing), which == part::comparing, found);
                  }
              } catch (const std::exception&) {  // thrown again when the step is read
                  found.clear();
              }
          }) {}

SMDEBUG_INLINE void steps_ahead::ask(questions_by_tensor asked) {
    auto newest = std::make_shared<const questions_by_tensor>(std::move(asked));
    std::swap(*asked_.lock(), newest);
}

SMDEBUG_INLINE steps_ahead::group_of_steps steps_ahead::group(std::size_t begin) const noexcept {
    return {begin, std::min(begin + at_once_, steps_.size())};
}

SMDEBUG_INLINE bool steps_ahead::reaches(step_number step) const noexcept {
    const std::size_t last = taken_ + at_once_ * scans_.back()->pool.parts();
    return last >= steps_.size() || step <= steps_[last];
}

SMDEBUG_INLINE std::optional<step_number> steps_ahead::stop() {
    std::size_t begun = 0;
    for (auto& each : scans_) {
        each->pool.stop();
        begun = std::max(begun, each->next);
    }
    return begun > 0 ? std::optional{steps_[begun - 1]} : std::nullopt;
}

}  // namespace smdebug::inline v1::detail
