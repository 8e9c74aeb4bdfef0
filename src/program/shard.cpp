#include <program/shard.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/core/text_number.hpp>

#include <cstdlib>

namespace smdebug::inline v1 {
namespace detail {

/// FNV-1a, and MurmurHash3's last step, as only the lowest bits are used.  Never change it: runs would move between
/// shards.
[[nodiscard]] std::uint64_t path_hash(std::string_view path) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char byte : path) {
        hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
    }
    hash = (hash ^ (hash >> 33U)) * 0xff51afd7ed558ccdU;
    hash = (hash ^ (hash >> 33U)) * 0xc4ceb9fe1a85ec53U;
    return hash ^ (hash >> 33U);
}

/// A variable's number.
[[nodiscard]] std::uint64_t array_number(function_ref<std::optional<std::string>(const char*)> variable,
                                         const char* name) {
    const std::optional<std::string> text = variable(name);
    if (!text) {
        throw value_error(std::string{"this is a job of an array, but "} + name +
                          " is not set: say which part it is to do, as in --shard 1/4");
    }
    const std::optional<std::uint64_t> number = number_of_text<std::uint64_t>(*text);
    if (!number) {
        throw value_error(std::string{name} + " is no number: '" + *text + "'");
    }
    return *number;
}

}  // namespace detail

bool run_shard::has(std::string_view path) const noexcept {
    while (path.size() > 1 && path.back() == '/') {
        path.remove_suffix(1);
    }
    return count < 2 || detail::path_hash(path) % count == index - 1;
}

run_shard parse_shard(std::string_view text) {
    if (text == "array") {
        const std::optional<run_shard> shard = shard_of_array();
        if (!shard) {
            throw value_error(
                "a shard 'array' is for a job of an array of Slurm or AWS Batch; neither "
                "SLURM_ARRAY_TASK_ID nor AWS_BATCH_JOB_ARRAY_INDEX is set");
        }
        return *shard;
    }
    const std::size_t slash = text.find('/');
    const auto index = detail::number_of_text<std::uint64_t>(text.substr(0, slash));
    const auto count = detail::number_of_text<std::uint64_t>(slash == text.npos ? "" : text.substr(slash + 1));
    if (!index || !count) {
        throw value_error("a shard is written I/N, as in 1/4 to 4/4, or array; not '" + std::string{text} + "'");
    }
    if (*index < 1 || *index > *count) {
        throw value_error("shards are counted from 1: of N the first is 1/N, the last N/N; there is no " +
                          std::string{text});
    }
    return {.index = *index, .count = *count};
}

std::optional<run_shard> shard_of_array(function_ref<std::optional<std::string>(const char*)> variable) {
    if (variable("SLURM_ARRAY_TASK_ID")) {
        const std::uint64_t id = detail::array_number(variable, "SLURM_ARRAY_TASK_ID");
        const std::uint64_t count = detail::array_number(variable, "SLURM_ARRAY_TASK_COUNT");
        const std::uint64_t first = detail::array_number(variable, "SLURM_ARRAY_TASK_MIN");
        std::uint64_t step = 1;
        if (count > 1 && variable("SLURM_ARRAY_TASK_STEP")) {
            step = detail::array_number(variable, "SLURM_ARRAY_TASK_STEP");
        }
        // In 1,2,7 the last would be the seventh of three, or, by a larger step, lie between two.
        if (step == 0 || id < first || (id - first) % step != 0 || (id - first) / step >= count) {
            throw value_error("the array of jobs has gaps: its " + std::to_string(count) + " numbers begin with " +
                              std::to_string(first) + ", and this is " + std::to_string(id) +
                              ": say which part it is to do, as in --shard 1/4");
        }
        return run_shard{.index = (id - first) / step + 1, .count = count};
    }
    if (variable("AWS_BATCH_JOB_ARRAY_INDEX")) {
        const std::uint64_t index = detail::array_number(variable, "AWS_BATCH_JOB_ARRAY_INDEX");
        const std::uint64_t count = detail::array_number(variable, "AWS_BATCH_JOB_ARRAY_SIZE");
        if (index >= count) {
            throw value_error("AWS_BATCH_JOB_ARRAY_INDEX counts from 0: there is no " + std::to_string(index) + " of " +
                              std::to_string(count));
        }
        return run_shard{.index = index + 1, .count = count};
    }
    return std::nullopt;
}

std::optional<run_shard> shard_of_array() {
    const auto own = [](const char* name) -> std::optional<std::string> {
        const char* const text = std::getenv(name);
        return text == nullptr ? std::nullopt : std::optional<std::string>{text};
    };
    return shard_of_array(own);
}

}  // namespace smdebug::inline v1
