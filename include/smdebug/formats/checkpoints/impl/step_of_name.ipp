// The bodies of <smdebug/formats/checkpoints/step_of_name.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/formats/checkpoints/step_of_name.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

[[nodiscard]] constexpr bool is_digit(char one) noexcept { return one >= '0' && one <= '9'; }

/// The number that all of `digits` make.
[[nodiscard]] inline std::optional<step_number> whole_number(std::string_view digits) noexcept {
    step_number number = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool is_whole = code == std::errc{} && end == digits.data() + digits.size() && is_digit(digits.front());
    return is_whole ? std::optional{number} : std::nullopt;
}

SMDEBUG_INLINE std::optional<shard_name> shard_of(std::string_view stem) noexcept {
    constexpr std::string_view of = "-of-";
    constexpr std::string_view digits = "0123456789";
    const std::size_t place = stem.rfind(of);
    if (place == std::string_view::npos || place == 0) {
        return std::nullopt;
    }
    const std::size_t count = place + of.size();
    const std::size_t end = std::min(stem.find_first_not_of(digits, count), stem.size());
    const std::size_t dash = stem.find_last_not_of(digits, place - 1);
    const shard_name made{.before = stem.substr(0, dash == std::string_view::npos ? 0 : dash),
                          .number = stem.substr(dash + 1, place - dash - 1),
                          .count = stem.substr(count, end - count),
                          .behind = stem.substr(end)};
    const bool is_shard = dash != std::string_view::npos && stem[dash] == '-' && !made.number.empty() &&
                          !made.count.empty() && (made.behind.empty() || made.behind.front() == '.') &&
                          made.behind.find('/') == std::string_view::npos;
    return is_shard ? std::optional{made} : std::nullopt;
}

SMDEBUG_INLINE std::string_view without_shard(std::string_view stem) noexcept {
    const std::optional<shard_name> shard = shard_of(stem);
    return shard && shard->behind.empty() ? shard->before : stem;
}

/// One name of a path, in small letters, and the ranks of its numbers.
class name_ranks {
public:
    static constexpr unsigned none = 9;

    name_ranks(std::string_view name, bool is_file) : name_(name), is_file_(is_file) {
        std::transform(name_.begin(), name_.end(), name_.begin(),
                       [](char one) { return one >= 'A' && one <= 'Z' ? static_cast<char>(one - 'A' + 'a') : one; });
        if (is_file_) {
            stem_ = name_.find(".safetensors");
            stem_ = stem_ == std::string::npos ? name_.rfind('.') : stem_;
            stem_ = without_shard(std::string_view{name_}.substr(0, stem_)).size();
        }
    }

    /// The rank of the number from `begin` to `end`; see step_of_name.
    [[nodiscard]] unsigned of(std::size_t begin, std::size_t end) const {
        struct word {
            std::string_view text;
            unsigned rank;
        };
        constexpr std::array words{word{"step", 0},       word{"steps", 0},     word{"iter", 2},
                                   word{"iters", 2},      word{"iteration", 2}, word{"iterations", 2},
                                   word{"checkpoint", 3}, word{"ckpt", 3},      word{"epoch", 4}};
        const std::string_view before = without_separators(std::string_view{name_}.substr(0, begin));
        for (const word& each : words) {
            if (before.ends_with(each.text)) {
                return each.rank;
            }
        }
        std::string_view behind = std::string_view{name_}.substr(end);
        behind.remove_prefix(std::min(behind.find_first_not_of(separators), behind.size()));
        if (behind.starts_with("step")) {
            return 1;
        }
        const bool is_alone =
            begin == 0 || name_[begin - 1] == '_' || name_[begin - 1] == '-' || name_[begin - 1] == '=';
        const bool at_end = is_file_ ? end == stem_ : begin == 0 && end == name_.size();
        return is_alone && at_end ? 5 : none;
    }

    /// Whether the number is one of a shard's two.
    [[nodiscard]] bool is_of_shard(std::size_t begin, std::size_t end) const {
        constexpr std::string_view of = "-of-";
        const std::string_view name = name_;
        return (name.substr(end).starts_with(of) && end + of.size() < name.size() && is_digit(name[end + of.size()])) ||
               (name.substr(0, begin).ends_with(of) && begin > of.size() && is_digit(name[begin - of.size() - 1]));
    }

private:
    static constexpr std::string_view separators = "=_-. :";

    [[nodiscard]] static std::string_view without_separators(std::string_view text) {
        return text.substr(0, text.find_last_not_of(separators) + 1);
    }

    std::string name_;
    bool is_file_;
    std::size_t stem_ = std::string::npos;  // where a file's extension begins, or the numbers of a shard
};

SMDEBUG_INLINE std::optional<named_step> step_of_name(std::string_view path) {
    std::optional<named_step> best;
    unsigned best_rank = name_ranks::none;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const name_ranks ranks{path.substr(begin, end - begin), end == path.size()};
        for (std::size_t at = begin; at < end;) {
            if (!is_digit(path[at])) {
                ++at;
                continue;
            }
            const auto is_no_digit = [](char one) { return !is_digit(one); };
            const auto run_end = std::find_if(path.begin() + static_cast<std::ptrdiff_t>(at), path.end(), is_no_digit);
            const auto behind = static_cast<std::size_t>(run_end - path.begin());
            const unsigned rank = ranks.of(at - begin, behind - begin);
            const std::optional<step_number> number = whole_number(path.substr(at, behind - at));
            if (number && rank <= best_rank && rank != name_ranks::none &&
                !ranks.is_of_shard(at - begin, behind - begin)) {
                best = named_step{*number, behind};
                best_rank = rank;
            }
            at = behind;
        }
        begin = end + 1;
    }
    return best;
}

SMDEBUG_INLINE step_pattern::step_pattern(std::string_view pattern) : pattern_(pattern) {
    if (pattern_.groups() != 1) {
        throw value_error("the pattern \"" + std::string{pattern} + "\" has " + std::to_string(pattern_.groups()) +
                          " groups; it needs one, around the step's number, as in step-([0-9]+)");
    }
}

SMDEBUG_INLINE std::optional<named_step> step_pattern::operator()(std::string_view path) const {
    const std::optional<std::string_view> found = pattern_.first_group(path);
    if (!found) {
        return std::nullopt;
    }
    const std::optional<step_number> number = found->empty() ? std::nullopt : whole_number(*found);
    if (!number) {
        throw value_error("the pattern \"" + pattern_.pattern() + "\" takes \"" + std::string{*found} + "\" out of " +
                              std::string{path} + ", which is no step's number",
                          {.where = std::string{path}});
    }
    return named_step{*number, static_cast<std::size_t>(found->data() - path.data()) + found->size()};
}

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug
