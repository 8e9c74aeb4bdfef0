// The bodies of <smdebug/formats/checkpoints/checkpoint_source.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/formats/checkpoints/checkpoint_source.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

[[nodiscard]] inline bool is_floating(dtype type) noexcept {
    constexpr dtype kinds[] = {dtype::float16,       dtype::bfloat16,    dtype::float32,   dtype::float64,
                               dtype::float8_e4m3fn, dtype::float8_e5m2, dtype::complex64, dtype::complex128};
    return std::find(std::begin(kinds), std::end(kinds), type) != std::end(kinds);
}

/// The collection of a tensor; empty: none.
[[nodiscard]] inline std::string_view collection_of(std::string_view file, std::string_view tensor,
                                                    dtype type) noexcept {
    if (!is_floating(type)) {
        return {};
    }
    const std::string_view name = file.substr(file.rfind('/') + 1);  // npos + 1 is 0
    if (name.find("optim") != std::string_view::npos) {
        return "optimizer";
    }
    return tensor.find("bias") != std::string_view::npos ? "biases" : "weights";
}

}  // namespace detail
}  // namespace formats

SMDEBUG_INLINE std::optional<checkpoint_source::time_point> checkpoint_source::written(
    const formats::detail::checkpoint_step& step) const {
    std::optional<time_point> newest;
    for (const std::string& key : step.files) {
        const std::optional<time_point> one = store_.modified(key);
        newest = one && (!newest || *one > *newest) ? one : newest;
    }
    return newest;
}

SMDEBUG_INLINE bool checkpoint_source::is_younger(std::optional<time_point> written,
                                                  std::chrono::milliseconds than) const {
    const time_point now = how_.now();
    return written && *written <= now && now - *written < than;
}

SMDEBUG_INLINE void checkpoint_source::note(std::vector<problem> now, std::vector<std::string>& known,
                                            run_contents& contents) {
    for (const std::string& where : std::exchange(known, {})) {
        contents.withdraw_problem(where);
    }
    for (problem& one : now) {
        known.push_back(one.where);
        contents.note_problem(std::move(one.where), std::move(one.what), one.kind);
    }
}

SMDEBUG_INLINE bool checkpoint_source::update(run_contents& contents) {
    const formats::detail::found_checkpoints found =
        formats::detail::find_checkpoints(store_, {.step_regex = how_.step_regex});
    std::vector<problem> left_out;
    for (const formats::detail::left_out& one : found.not_read) {
        left_out.push_back({one.kind, one.name, one.why});
    }
    note(std::move(left_out), left_out_, contents);
    bool has_news = false;
    bool is_quiet = true;
    for (const formats::detail::checkpoint_step& step : found.steps) {
        const std::optional<time_point> newest = written(step);
        is_quiet = is_quiet && !is_younger(newest, how_.quiet_after);
        const auto known = known_.find(step.step);
        const bool is_as_before =
            known != known_.end() && known->second.files == step.files &&
            (!known->second.is_damaged || (known->second.written == newest && !is_younger(newest, how_.whole_after)));
        if (!is_as_before) {
            has_news = look(step, {.files = step.files, .written = newest}, contents) || has_news;
        }
    }
    is_followed_ = true;
    contents.set_ended(is_quiet);
    return has_news;
}

SMDEBUG_INLINE bool checkpoint_source::look(const formats::detail::checkpoint_step& step, known_step now,
                                            run_contents& contents) {
    namespace detail = formats::detail;
    detail::step_contents read;
    std::vector<problem> problems;
    try {
        read = detail::read_checkpoint(store_, step, how_.archive);
    } catch (const corrupt_data& damaged) {
        problems.push_back(
            {.where = step.folder.empty() ? step.files.front() : step.folder, .what = std::string{damaged.message()}});
    }
    for (detail::left_out& one : read.not_read) {
        problems.push_back({one.kind, one.name + ", step " + std::to_string(step.step), std::move(one.why)});
    }
    now.is_damaged = std::any_of(problems.begin(), problems.end(),
                                 [](const problem& one) { return one.kind == problem_kind::damaged; });
    if (is_followed_ && now.is_damaged && is_younger(now.written, how_.whole_after)) {
        return false;  // it is being written
    }
    const auto known = known_.find(step.step);
    const run_contents::place where{.step = step.step, .mode = mode::train, .mode_step = step.step};
    if (known != known_.end()) {
        now.problems = std::move(known->second.problems);
        now.shown = std::move(known->second.shown);
    }
    const bool has_news = add(where, read, now.shown, contents);
    note(std::move(problems), now.problems, contents);
    known_.insert_or_assign(step.step, std::move(now));
    return has_news;
}

SMDEBUG_INLINE bool checkpoint_source::add(const run_contents::place& where, const formats::detail::step_contents& read,
                                           std::vector<std::uint32_t>& shown, run_contents& contents) {
    // In the order in which they lie in their files, so that a scan reads those from front to back.
    std::vector<const formats::detail::checkpoint_tensor*> tensors;
    tensors.reserve(read.tensors.size());
    for (const formats::detail::checkpoint_tensor& tensor : read.tensors) {
        tensors.push_back(&tensor);
    }
    std::stable_sort(tensors.begin(), tensors.end(), [](const auto* a, const auto* b) {
        return std::pair{a->file, a->is.where.offset} < std::pair{b->file, b->is.where.offset};
    });
    std::vector<std::uint32_t> before = shown;
    std::sort(before.begin(), before.end());
    for (const formats::detail::checkpoint_tensor* const tensor : tensors) {
        const formats::detail::checkpoint_file& file = read.files[tensor->file];
        const formats::detail::stored_tensor& is = tensor->is;
        const std::uint32_t name = names_.number_of(is.name);
        if (std::binary_search(before.begin(), before.end(), name)) {
            continue;
        }
        shown.push_back(name);
        if (file.npz != nullptr) {
            npz_->insert(file.key, file.npz);
        }
        contents.add_elements(
            where, is.name,
            {.type = is.type, .shape = is.shape, .big_endian = is.big_endian, .columns_first = is.columns_first},
            contents.object(file.key), is.where);
        const std::string_view group = formats::detail::collection_of(file.key, is.name, is.type);
        if (!group.empty()) {
            contents.add_to_collection(group, is.name);
        }
    }
    return shown.size() > before.size();
}

}  // namespace v1
}  // namespace smdebug
