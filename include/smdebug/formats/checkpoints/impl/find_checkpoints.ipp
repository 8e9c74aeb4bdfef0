// The bodies of <smdebug/formats/checkpoints/find_checkpoints.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/formats/checkpoints/find_checkpoints.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace smdebug::inline v1::formats::detail {

SMDEBUG_INLINE checkpoint_kind kind_of(std::string_view key) noexcept {
    struct row {
        std::string_view ending;
        checkpoint_kind kind;
    };
    if (is_resource_fork(key)) {
        return checkpoint_kind::none;
    }
    const std::size_t index = key.rfind(safetensors_index_mark);
    if (index != std::string_view::npos && key.ends_with(".json") && key.find('/', index) == std::string_view::npos) {
        return checkpoint_kind::safetensors_index;
    }
    constexpr std::array rows{
        row{".safetensors", checkpoint_kind::safetensors},
        row{".npz", checkpoint_kind::npz},
        row{".npy", checkpoint_kind::npy},
        row{".pt", checkpoint_kind::pickle},
        row{".pth", checkpoint_kind::pickle},
        row{".bin", checkpoint_kind::pickle},
        row{".ckpt", checkpoint_kind::pickle},
        row{".pkl", checkpoint_kind::pickle},
    };
    for (const row& each : rows) {
        if (key.ends_with(each.ending)) {
            return each.kind;
        }
    }
    return checkpoint_kind::none;
}

SMDEBUG_INLINE std::string checkpoint_of(std::string_view key) {
    const std::size_t ending = key.rfind(".safetensors");
    if (ending == std::string_view::npos) {
        return std::string{key};
    }
    const std::string_view stem = key.substr(0, ending);
    if (kind_of(key) == checkpoint_kind::safetensors_index) {
        // ".index.json" has no variant, ".index.fp16.json" has the variant ".fp16".
        const std::size_t variant = ending + safetensors_index_mark.size() - 1;
        return std::string{stem}.append(key.substr(variant, key.rfind('.') - variant));
    }
    const std::optional<shard_name> shard = shard_of(stem);
    return shard ? std::string{shard->before}.append(shard->behind) : std::string{stem};
}

/// Whether a file lies in a folder that is renamed once it is complete.
[[nodiscard]] inline bool is_in_unfinished_folder(std::string_view key) noexcept {
    constexpr std::string_view prefix = "tmp-checkpoint-";
    for (std::size_t at = key.find(prefix); at != std::string_view::npos; at = key.find(prefix, at + 1)) {
        if ((at == 0 || key[at - 1] == '/') && key.find('/', at) != std::string_view::npos) {
            return true;
        }
    }
    return false;
}

/// Sorts keys into steps.
class checkpoint_sorter {
public:
    checkpoint_sorter(const std::string& place, const checkpoint_search& how)
        : place_(place), finished_alone_(how.finished_alone) {
        if (!how.step_regex.empty()) {
            pattern_.emplace(how.step_regex);
        }
    }

    void add(const std::string& key) {
        const checkpoint_kind kind =
            finished_alone_ && is_in_unfinished_folder(key) ? checkpoint_kind::none : kind_of(key);
        if (kind == checkpoint_kind::pickle) {
            pickled_.push_back(key);
        } else if (kind != checkpoint_kind::none) {
            const std::optional<named_step> named = pattern_ ? (*pattern_)(key) : step_of_name(key);
            named ? add_to_step(*named, key) : without_step_.push_back(key);
        }
    }

    [[nodiscard]] found_checkpoints finish() && {
        found_checkpoints all;
        if (steps_.empty() && !without_step_.empty()) {
            take_only_one();
        }
        if (steps_.empty() && !pickled_.empty()) {
            refuse_pickled();
        }
        for (auto& [number, found] : steps_) {
            all.steps.push_back(std::move(found.step));
        }
        for (std::string& key : without_step_) {
            all.not_read.push_back({std::move(key), "its name says no step, and others do", problem_kind::left_out});
        }
        for (std::string& key : pickled_) {
            all.not_read.push_back(
                {std::move(key), "it is pickled by Python: a program, which is not run", problem_kind::unsupported});
        }
        std::sort(all.not_read.begin(), all.not_read.end(),
                  [](const left_out& a, const left_out& b) { return a.name < b.name; });
        return all;
    }

private:
    struct found_step {
        checkpoint_step step;
        bool is_folder = false;  // the number is in the folder's name, not in the files'

        // Whether the files of a step so far lie in the same folder as this one, or beside it.
        [[nodiscard]] bool holds(const found_step& other) const {
            return is_folder ? other.step.folder.starts_with(step.folder)
                             : !other.is_folder && other.step.folder == step.folder;
        }
    };

    void add_to_step(const named_step& named, const std::string& key) {
        const std::size_t behind = key.find('/', named.end);
        const bool is_folder = behind != std::string::npos;
        const std::size_t end = is_folder ? behind : key.rfind('/');
        found_step made{{named.step, end == std::string::npos ? "" : key.substr(0, end + 1), {}}, is_folder};
        found_step& found = steps_.try_emplace(named.step, made).first->second;
        if (!found.holds(made)) {
            if (!made.holds(found)) {
                throw value_error("step " + std::to_string(named.step) + " is in " + place_ + " twice: as " +
                                      found.step.files.front() + " and as " + key +
                                      "; name the folder of one of the two" + what_to_do(),
                                  {.where = place_});
            }
            made.step.files = std::move(found.step.files);
            found = std::move(made);
        }
        found.step.files.push_back(key);
    }

    [[nodiscard]] std::string what_to_do() const {
        return pattern_ ? std::string{}
                        : ", or say by --step-regex where a path has its step, as in --step-regex 'run-([0-9]+)'";
    }

    // Files without a number: the files of one checkpoint are step 0.
    void take_only_one() {
        const std::string first = checkpoint_of(without_step_.front());
        const auto other = std::find_if(without_step_.begin(), without_step_.end(),
                                        [&](const std::string& key) { return checkpoint_of(key) != first; });
        if (other != without_step_.end()) {
            throw value_error(place_ + " has " + std::to_string(without_step_.size()) +
                                  " files of checkpoints whose names say no step, such as " + without_step_.front() +
                                  " and " + *other + ": name one of them, give them names as step_500.npz" +
                                  what_to_do(),
                              {.where = place_});
        }
        const std::size_t end = without_step_.front().rfind('/');
        std::string folder = end == std::string::npos ? "" : without_step_.front().substr(0, end + 1);
        steps_.emplace(0, found_step{{0, std::move(folder), std::exchange(without_step_, {})}, false});
    }

    [[noreturn]] void refuse_pickled() const {
        throw unsupported(place_ + " has checkpoints pickled by Python alone, such as " + pickled_.front() +
                              ": they are programs, and not run here. Convert each in Python: " +
                              "safetensors.torch.save_file(torch.load(\"x.pt\", weights_only=True), " +
                              "\"x.safetensors\"), where the file holds a dictionary of tensors",
                          {.where = place_});
    }

    const std::string& place_;
    bool finished_alone_;
    std::optional<step_pattern> pattern_;
    std::map<step_number, found_step> steps_;
    std::vector<std::string> without_step_;
    std::vector<std::string> pickled_;
};

SMDEBUG_INLINE found_checkpoints group_checkpoints(const std::string& place, std::span<const std::string> keys,
                                                   const checkpoint_search& how) {
    checkpoint_sorter sorter{place, how};
    for (const std::string& key : keys) {
        sorter.add(key);
    }
    return std::move(sorter).finish();
}

SMDEBUG_INLINE found_checkpoints find_checkpoints(const any_storage& store, const checkpoint_search& how) {
    const std::vector<std::string> keys = store.list("", "");
    found_checkpoints found = group_checkpoints(store.name(), keys, how);
    for (const std::string& key : keys) {
        const std::string_view name = std::string_view{key}.substr(key.rfind('/') + 1);  // npos + 1 is 0
        const bool is_as_a_folder = name.find('.') == std::string_view::npos && step_of_name(std::string{name} + "/");
        if (is_as_a_folder && !store.size(key)) {
            found.not_read.push_back({key, "it is a link to a folder that is not there"});
        }
    }
    return found;
}

[[nodiscard]] constexpr bool is_digit(char one) noexcept { return one >= '0' && one <= '9'; }

/// The number that the digits form.
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

/// One name of a path, in lower case, and the ranks of its numbers.
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
                              std::string{path} + ", which is not a step's number",
                          {.where = std::string{path}});
    }
    return named_step{*number, static_cast<std::size_t>(found->data() - path.data()) + found->size()};
}

}  // namespace smdebug::inline v1::formats::detail
