// The bodies of <smdebug/formats/checkpoints/find_checkpoints.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/text_number.hpp>
#include <smdebug/formats/checkpoints/find_checkpoints.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

namespace smdebug::inline v1::formats::detail {

inline constexpr std::string_view safetensors_index_mark = ".safetensors.index.";
inline constexpr std::string_view bin_index_mark = ".bin.index.";

/// What separates the name of a checkpoint from that of its variant, which ".json" follows, in the name of an index.
struct index_mark {
    std::string_view text = {};
    std::size_t place = 0;
};
[[nodiscard]] inline std::optional<index_mark> index_mark_in(std::string_view key) noexcept {
    for (const std::string_view text : {safetensors_index_mark, bin_index_mark}) {
        const std::size_t place = key.rfind(text);
        if (place != std::string_view::npos && key.ends_with(".json") &&
            key.find('/', place) == std::string_view::npos) {
            return index_mark{text, place};
        }
    }
    return std::nullopt;
}

SMDEBUG_INLINE checkpoint_kind kind_of(std::string_view key) noexcept {
    if (is_resource_fork(key)) {
        return checkpoint_kind::none;
    }
    if (index_mark_in(key)) {
        return checkpoint_kind::index;
    }
    if (const std::string_view ending = smdebug::detail::data_ending_of(key); !ending.empty()) {
        return ending == ".safetensors" ? checkpoint_kind::safetensors
               : ending == ".npz"       ? checkpoint_kind::npz
               : ending == ".npy"       ? checkpoint_kind::npy
                                        : checkpoint_kind::torch;
    }
    if (key == ".metadata" || key.ends_with("/.metadata")) {
        return checkpoint_kind::distributed;
    }
    const auto form = smdebug::detail::other_form_of(key);
    return form && form->is == smdebug::detail::other_form::kind::pickled ? checkpoint_kind::pickle
                                                                          : checkpoint_kind::none;
}

SMDEBUG_INLINE std::string checkpoint_of(std::string_view key) {
    if (const std::optional<index_mark> mark = index_mark_in(key)) {
        // ".index.json" has no variant, ".index.fp16.json" has the variant ".fp16".
        const std::size_t variant = mark->place + mark->text.size() - 1;
        std::string name{key.substr(0, mark->place)};
        name.append(key.substr(variant, key.rfind('.') - variant));
        return mark->text == bin_index_mark ? name + ".bin" : name;
    }
    const bool is_bin = key.ends_with(".bin");
    const std::size_t ending = is_bin ? key.size() - 4 : key.rfind(".safetensors");
    if (ending == std::string_view::npos) {
        return std::string{key};
    }
    const std::string_view stem = key.substr(0, ending);
    const std::optional<shard_name> shard = shard_of(stem);
    std::string name{stem};
    if (shard) {
        name = std::string{shard->before}.append(shard->behind);
    }
    return is_bin ? name + ".bin" : name;
}

SMDEBUG_INLINE std::string_view named_by(std::string_view key) noexcept {
    constexpr std::string_view metadata = "/.metadata";
    return key.ends_with(metadata) ? key.substr(0, key.size() - metadata.size()) : key;
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

[[nodiscard]] constexpr bool is_digit(char one) noexcept { return one >= '0' && one <= '9'; }

/// The number that the digits form.
[[nodiscard]] inline std::optional<step_number> whole_number(std::string_view digits) noexcept {
    return digits.starts_with('-') ? std::nullopt : smdebug::detail::number_of_text<step_number>(digits);
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

/// A number in a path.
struct written_number {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::optional<step_number> whole = {};  // nothing for a fraction, negative, too large, or of another unit
    unsigned rank = 9;                      // see step_of_name(); 9 without one
    bool is_part = false;                   // of a shard, a layer, a rank, ...
    bool is_weak = false;                   // a step's only if it differs
    std::uint64_t slot = 0;                 // see named_step
    std::size_t depth = 0;                  // how many folders stand before it
};

/// One name of a path, in lower case.
class name_reader {
public:
    name_reader(std::string_view name, bool is_file)
        : text(smdebug::detail::in_small_letters(name)), stem_(name.size()), is_file_(is_file) {
        if (is_file_) {
            stem_ = text.find(".safetensors");
            stem_ = stem_ == std::string::npos ? text.rfind('.') : stem_;
            stem_ = without_shard(std::string_view{text}.substr(0, stem_)).size();
        }
    }

    /// The number whose first digit is at `begin`.
    [[nodiscard]] written_number number_at(std::size_t begin) const {
        written_number one{.begin = begin, .end = digits_end(begin)};
        std::string digits = text.substr(begin, one.end - begin);
        bool is_whole = at(begin - 1) != '-' || (begin > 1 && !has(begin - 2, separators));  // not "=-1"
        set_rank(one);
        for (bool goes_on = true; goes_on;) {
            const char mark = at(one.end);
            const bool is_unit = is_letter(one.end) && !is_letter(one.end + 1);
            const std::size_t from = one.end + (mark == 'e' && has(one.end + 1, "+-") ? 2 : 1);
            const std::size_t end = digits_end(from);
            goes_on = end > from &&
                      (mark == '.' || mark == ',' || (mark == '_' && one.rank < 5 && end == from + 3) || is_unit);
            if (goes_on && mark == ',' && end == from + 3) {
                digits.append(text, from, 3);
            } else if (goes_on && mark == 'e' && end < from + 3 && at(from - 1) != '-') {
                digits.append(static_cast<std::size_t>(*whole_number(text.substr(from, end - from))), '0');
            } else if (!goes_on && (mark == 'k' || mark == 'm') && is_unit) {
                digits.append(mark == 'k' ? 3 : 6, '0');
            } else {
                is_whole = is_whole && !goes_on && !is_unit;  // "0.5", "1_000", "7b"
            }
            one.end = goes_on ? end : one.end + (is_unit ? 1 : 0);
        }
        one.whole = is_whole ? whole_number(digits) : std::nullopt;
        if (one.rank == 9 && !one.is_part) {
            set_rank_alone(one, one.end == begin + digits.size());
        }
        return one;
    }

    std::string text;

private:
    static constexpr std::string_view separators = "=_-. :";
    [[nodiscard]] char at(std::size_t place) const { return place < text.size() ? text[place] : '\0'; }
    [[nodiscard]] bool has(std::size_t place, std::string_view some) const {
        return place < text.size() && some.find(text[place]) != std::string_view::npos;
    }
    [[nodiscard]] bool is_letter(std::size_t place) const { return at(place) >= 'a' && at(place) <= 'z'; }
    [[nodiscard]] std::size_t digits_end(std::size_t begin) const {
        return std::min(text.find_first_not_of("0123456789", begin), text.size());
    }

    // By the word before the number.
    void set_rank(written_number& one) const {
        constexpr std::pair<std::string_view, unsigned> words[] = {
            {"step", 0},       {"steps", 0},      {"iter", 2},      {"iters", 2},        {"iteration", 2},
            {"iterations", 2}, {"checkpoint", 3}, {"ckpt", 3},      {"epoch", 4},        {"layer", 9},
            {"block", 9},      {"rank", 9},       {"shard", 9},     {"part", 9},         {"-of", 9},
            {"expert", 9},     {"worker", 9},     {"rng_state", 9}, {"random_states", 9}};
        std::string_view before = std::string_view{text}.substr(0, one.begin);
        before = before.substr(0, before.find_last_not_of(separators) + 1);
        const auto word = std::find_if(std::begin(words), std::end(words),
                                       [&](const auto& each) { return before.ends_with(each.first); });
        const bool is_of_shard = text.compare(one.end, 4, "-of-") == 0 && digits_end(one.end + 4) > one.end + 4;
        one.rank = word == std::end(words) || is_of_shard ? 9 : word->second;
        one.is_part = is_of_shard || (word != std::end(words) && one.rank == 9);
    }
    // Without a word before it.
    void set_rank_alone(written_number& one, bool is_plain) const {
        const std::size_t word = std::min(text.find_first_not_of(separators, one.end), text.size());
        const std::size_t behind = text.find_first_not_of(separators, text.find_first_of(separators, word));
        const bool is_alone = is_plain && (one.begin == 0 || has(one.begin - 1, "_-="));
        if (text.compare(word, 4, "step") == 0 && !has(behind, "0123456789")) {  // not seed0_step_500
            one.rank = 1;
        } else if (is_alone && one.end == stem_ && (is_file_ || one.begin == 0)) {
            one.rank = 5;
        } else if (is_alone && is_file_ && has(one.end, "_-=") && one.end < stem_) {
            one.rank = 6;
            one.is_weak = text[one.begin] != '0' || one.end < one.begin + 4;
        }
    }

    std::size_t stem_;  // where a file's extension begins, or the numbers of a shard
    bool is_file_;
};

[[nodiscard]] inline std::vector<written_number> numbers_in(std::string_view path) {
    std::vector<written_number> all;
    std::uint64_t slot = 14695981039346656037U;  // FNV-1a of what stands before, without numbers
    const auto pass = [&](char one) { slot = (slot ^ static_cast<unsigned char>(one)) * 1099511628211U; };
    const bool is_whole_model = path.ends_with(".npz") || path.find(".safetensors") != std::string_view::npos ||
                                kind_of(path) == checkpoint_kind::torch;
    bool is_in_step = false;
    std::size_t depth = 0;
    for (std::size_t begin = 0; begin <= path.size(); ++depth) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const name_reader name{path.substr(begin, end - begin), end == path.size()};
        for (std::size_t at = 0; at < name.text.size();) {
            if (!is_digit(name.text[at])) {
                pass(name.text[at++]);
                continue;
            }
            written_number one = name.number_at(at);
            at = one.end;
            one.begin += begin;
            one.end += begin;
            one.slot = slot;
            one.depth = depth;
            pass('#');
            if (one.rank > 4 && is_in_step && !is_whole_model && end == path.size()) {  // of an array
                one.rank = 9;
                one.is_part = true;
            }
            is_in_step = is_in_step || (one.whole && one.rank <= 4);
            all.push_back(one);
        }
        pass('/');
        begin = end + 1;
    }
    return all;
}

/// Decides which number is the step in each path of a set.
class step_names {
public:
    explicit step_names(std::span<const std::string> paths) {
        for (const std::string& path : paths) {
            for (const written_number& each : numbers_in(path)) {
                if (each.whole && each.rank != 9) {
                    values_[each.slot].insert(*each.whole);
                }
            }
        }
        for (const std::string& path : paths) {
            const std::vector<written_number> numbers = numbers_in(path);
            const written_number* const best = best_of(numbers);
            const checkpoint_kind kind = kind_of(path);
            if (best != nullptr && differs(*best) && kind != checkpoint_kind::none && kind != checkpoint_kind::pickle) {
                for (const written_number& each : numbers) {
                    if (!differs(each)) {
                        others_.insert(each.slot);
                    }
                }
            }
        }
    }

    [[nodiscard]] std::optional<named_step> operator()(std::string_view path) const {
        const std::vector<written_number> numbers = numbers_in(path);
        const written_number* const best = best_of(numbers);
        return best == nullptr ? std::nullopt
                               : std::optional{named_step{*best->whole, best->end, best->rank, best->slot}};
    }

private:
    [[nodiscard]] bool differs(const written_number& one) const {
        const auto values = values_.find(one.slot);
        return values != values_.end() && values->second.size() > 1;
    }
    [[nodiscard]] const written_number* best_of(std::span<const written_number> numbers) const {
        const auto order = [&](const written_number& one) {
            const unsigned group = std::max(one.rank, 3U);
            return std::tuple{differs(one), 9 - group, group == 3 ? one.depth : 0, 9 - one.rank, one.begin};
        };
        const written_number* best = nullptr;
        for (const written_number& each : numbers) {
            const bool may_be =
                each.whole && each.rank != 9 && !others_.contains(each.slot) && (!each.is_weak || differs(each));
            best = may_be && (best == nullptr || order(*best) < order(each)) ? &each : best;
        }
        return best;
    }

    std::map<std::uint64_t, std::set<step_number>> values_;  // by slot
    std::set<std::uint64_t> others_;                         // slots of what does not differ, beside what does
};

SMDEBUG_INLINE std::optional<named_step> step_of_name(std::string_view path) { return step_names{{}}(path); }

/// Sorts keys into steps.
class checkpoint_sorter {
public:
    checkpoint_sorter(const std::string& place, const checkpoint_search& how, step_names names)
        : place_(place), how_(how), names_(std::move(names)) {
        if (!how.step_regex.empty()) {
            pattern_.emplace(how.step_regex);
        }
    }

    void add(const std::string& key) {
        const checkpoint_kind kind = kind_of(key);
        if (how_.finished_alone && is_in_unfinished_folder(key)) {
            return;
        }
        if (kind == checkpoint_kind::pickle || kind == checkpoint_kind::none) {
            others_.push_back(key);
        } else {
            const std::optional<named_step> named = step_of(whole_of(key));
            named ? add_to_step(*named, whole_of(key), key) : without_step_.push_back(key);
        }
    }

    [[nodiscard]] found_checkpoints finish() && {
        found_checkpoints all;
        if (steps_.empty() && !without_step_.empty()) {
            take_only_one();
        }
        if (steps_.empty()) {
            refuse_others();
        }
        name_files();
        for (auto& [number, found] : steps_) {
            all.steps.push_back(found.step);
        }
        for (std::string& key : without_step_) {
            all.not_read.push_back({std::move(key), "its name says no step, and others do", problem_kind::left_out});
        }
        name_others(all.not_read);
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

    [[nodiscard]] std::optional<named_step> step_of(const std::string& key) const {
        return pattern_ ? (*pattern_)(key) : names_(key);
    }
    // The index that names a file, or the file.
    [[nodiscard]] const std::string& whole_of(const std::string& key) const {
        const auto index = how_.index_of.find(key);
        return index != how_.index_of.end() ? index->second : key;
    }

    void add_to_step(const named_step& named, const std::string& whole, const std::string& key) {
        const std::size_t behind = whole.find('/', named.end);
        const bool is_folder = behind != std::string::npos;
        const std::size_t end = is_folder ? behind : whole.rfind('/');
        found_step made{{named.step, end == std::string::npos ? "" : whole.substr(0, end + 1)}, is_folder};
        found_step& found = steps_.try_emplace(named.step, made).first->second;
        if (!found.holds(made)) {
            if (!made.holds(found)) {
                refuse_twice(named.step, found.step.files.front(), key);
            }
            made.step.files = std::move(found.step.files);
            found = std::move(made);
        }
        found.step.files.push_back(key);
        slots_.insert(named.slot);
    }

    // Names files.  Two that differ only in another number are refused (seed0_step_1, seed1_step_1), and so are numbers
    // that say opposite orders (epoch_0_iter_9, epoch_1_iter_3).
    void name_files() {
        std::map<std::string, std::pair<std::vector<step_number>, std::string>> last;  // by name and ending
        for (auto& [number, found] : steps_) {
            std::set<std::string> here;
            for (const std::string& key : found.step.files) {
                const std::size_t stem = std::min(key.rfind('.'), key.size());
                found.step.names.push_back(name_in(found.step.folder, key));
                const std::string name = found.step.names.back() + key.substr(stem);
                const std::optional<named_step> named = step_of(whole_of(key));
                std::vector<step_number> numbers;
                for (const written_number& each : numbers_in(whole_of(key))) {
                    if (named && each.whole && each.rank <= (named->rank <= 4 ? 4U : 6U)) {
                        numbers.push_back(*each.whole);
                    }
                }
                auto& [before, other] = last.try_emplace(name, numbers, key).first->second;
                if (!here.insert(name).second && checkpoint_of(key) != checkpoint_of(other)) {
                    refuse_twice(number, other, key);
                }
                if (!pattern_ && numbers < before) {
                    throw value_error("two numbers in names in " + place_ + " differ, and say opposite orders of " +
                                          other + " and " + key + what_to_do(),
                                      {.where = place_});
                }
                before = std::move(numbers);
                other = key;
            }
        }
    }

    [[noreturn]] void refuse_twice(step_number step, const std::string& one, const std::string& other) const {
        throw value_error("step " + std::to_string(step) + " is in " + place_ + " twice: as " + one + " and as " +
                              other + "; name the folder of one of the two" + what_to_do(),
                          {.where = place_});
    }

    [[nodiscard]] std::string what_to_do() const {
        return pattern_ ? std::string{}
                        : ", or say by --step-regex where a path has its step, as in --step-regex 'run-([0-9]+)'";
    }

    [[nodiscard]] std::string name_in(const std::string& folder, const std::string& key) const {
        const named_step named = step_of(key).value_or(named_step{});  // whose end is 0
        const std::size_t last = key.rfind('/') + 1;                   // npos + 1 is 0
        const std::size_t stem = std::min(key.rfind('.'), key.size());
        std::string name;
        std::size_t at = folder.size();
        const auto append = [&](std::size_t end) {
            at = name.empty() || name.ends_with('/') ? std::min(key.find_first_not_of("=_-. :/", at), end) : at;
            name.append(key, at, end - at);
        };
        for (const written_number& each : numbers_in(key)) {
            const bool is_beside =
                !pattern_ && !key.ends_with(".npy") && named.end > last && each.begin >= last && !each.is_part;
            if (each.begin >= at && each.end <= stem && (each.end == named.end || each.rank <= 4 || is_beside)) {
                append(each.begin);
                name.resize(name.find_last_not_of("=_-. :") + 1);  // npos + 1 is 0
                at = each.end;
            }
        }
        append(stem);
        name.resize(name.size() - (name.ends_with('/') ? 1 : 0));  // of a folder, by its .metadata
        const std::optional<shard_name> shard = shard_of(name);
        name = shard ? std::string{shard->before}.append(shard->behind) : name;
        return name.empty() ? "array" : name;
    }

    // Whether a file is usually saved beside a model: a part of its checkpoint.
    [[nodiscard]] static bool is_beside_model(std::string_view key) noexcept {
        constexpr std::string_view names[] = {"optim",     "scheduler",    "scaler",
                                              "rng_state", "random_state", "training_args"};
        const checkpoint_kind kind = kind_of(key);
        key = named_by(key);
        const std::string_view name = key.substr(key.rfind('/') + 1);  // npos + 1 is 0
        return (kind == checkpoint_kind::torch || kind == checkpoint_kind::distributed) &&
               std::any_of(std::begin(names), std::end(names),
                           [&](std::string_view each) { return name.starts_with(each); });
    }

    // Files without a number in their names: one checkpoint, or files of PyTorch that say their steps inside.
    void take_only_one() {
        std::map<std::string, std::vector<std::string>> wholes;  // by checkpoint_of
        std::vector<std::string> beside;
        const bool has_other_form = std::any_of(without_step_.begin(), without_step_.end(), [](const std::string& key) {
            const checkpoint_kind kind = kind_of(key);
            return kind != checkpoint_kind::torch && kind != checkpoint_kind::index;
        });
        const std::size_t count = without_step_.size();
        for (std::string& key : std::exchange(without_step_, {})) {
            const std::string& whole = whole_of(key);
            const bool is_torch = kind_of(key) == checkpoint_kind::torch || checkpoint_of(whole).ends_with(".bin");
            (is_beside_model(key)         ? beside
             : is_torch && has_other_form ? without_step_
                                          : wholes[checkpoint_of(whole)])
                .push_back(std::move(key));
        }
        for (std::string& key : wholes.empty() ? std::exchange(beside, {}) : std::vector<std::string>{}) {
            wholes[checkpoint_of(key)].push_back(std::move(key));
        }
        for (auto& [name, files] : wholes) {
            const std::optional<step_number> said = kind_of(files.front()) == checkpoint_kind::torch && how_.step_inside
                                                        ? how_.step_inside(files.front())
                                                        : std::nullopt;
            const std::string_view whole = named_by(whole_of(files.front()));
            found_step made{{said.value_or(0), std::string{whole.substr(0, whole.rfind('/') + 1)}, files}};
            if ((!said && wholes.size() > 1) || !steps_.try_emplace(made.step.step, std::move(made)).second) {
                const std::string& other =
                    (name == wholes.begin()->first ? *wholes.rbegin() : *wholes.begin()).second.front();
                throw value_error(place_ + " has " + std::to_string(count) +
                                      " files of checkpoints whose names say no step, such as " +
                                      std::min(files.front(), other) + " and " + std::max(files.front(), other) +
                                      ": name one of them, give them names as step_500.npz" + what_to_do(),
                                  {.where = place_});
            }
        }
        checkpoint_step& only = steps_.begin()->second.step;
        for (std::string& key : beside) {
            const bool belongs = steps_.size() == 1 && key.starts_with(only.folder);
            (belongs ? only.files : without_step_).push_back(std::move(key));
        }
        std::sort(only.files.begin(), only.files.end());
    }

    // Names pickles, steps in forms that are not read, and steps without a checkpoint.
    void name_others(std::vector<left_out>& not_read) const {
        using kind = smdebug::detail::other_form::kind;
        std::set<std::pair<step_number, std::string_view>> told;  // with the form
        std::set<step_number> known;
        for (const bool is_known : {true, false}) {
            for (const std::string& key : others_) {
                auto form = smdebug::detail::other_form_of(key);
                const std::optional<named_step> named = form.has_value() == is_known ? step_if_any(key) : std::nullopt;
                const bool is_read = named && (steps_.contains(named->step) || known.contains(named->step));
                if (is_known && form && form->is == kind::pickled) {
                    not_read.push_back({key, "it is " + std::string{form->what}, problem_kind::unsupported});
                } else if (named && (form ? form->is != kind::unfinished || !is_read : !is_read)) {
                    form = form ? form : form_by_name(key, *named);
                    if (form && told.emplace(named->step, form->what).second) {
                        std::string why = "step " + std::to_string(named->step) + " has " + std::string{form->what};
                        why += form->how.empty() ? "" : ", which is not read: convert it by " + std::string{form->how};
                        not_read.push_back({key, std::move(why), problem_kind::unsupported});
                    }
                }
                if (is_known && named) {
                    known.insert(named->step);
                }
            }
        }
    }

    // The form of a step whose file has no known one: nothing if it is no checkpoint's.
    [[nodiscard]] std::optional<smdebug::detail::other_form> form_by_name(const std::string& key,
                                                                          const named_step& named) const {
        if (key.find('/', named.end) != std::string::npos) {
            const smdebug::detail::other_form none{.what = "no checkpoint: its folder has no file of one"};
            return slots_.contains(named.slot) ? std::optional{none} : std::nullopt;
        }
        const smdebug::detail::other_form flax{.what = "a file without an ending, as Flax writes it",
                                               .how = "flax.training.checkpoints.restore_checkpoint, and numpy.savez"};
        const bool is_flax = named.rank <= 3 && key.find('.', key.rfind('/') + 1) == std::string::npos;
        return is_flax ? std::optional{flax} : std::nullopt;
    }

    [[nodiscard]] std::optional<named_step> step_if_any(const std::string& key) const {
        try {
            return step_of(key);
        } catch (const value_error&) {
            return std::nullopt;  // the pattern is meant for other files
        }
    }

    void refuse_others() const {
        std::map<std::string_view, std::string> said;  // by form; pickles lie beside others
        for (const std::string& key : others_) {
            const auto form = smdebug::detail::other_form_of(key);
            // Beside a training that is followed, a checkpoint that is read may still come.
            if (form && (!how_.finished_alone || form->is == smdebug::detail::other_form::kind::pickled)) {
                said.try_emplace(form->what, key + " is " + std::string{form->what} + ": convert it in Python by " +
                                                 std::string{form->how});
            }
        }
        if (!said.empty()) {
            std::string all = place_ + " has no checkpoint that is read (.safetensors, .pt, .bin, .npz, .npy)";
            for (const auto& [what, one] : said) {
                all += "; " + one;
            }
            throw unsupported(all, {.where = place_});
        }
    }

    const std::string& place_;
    const checkpoint_search& how_;
    step_names names_;
    std::optional<step_pattern> pattern_;
    std::map<step_number, found_step> steps_;
    std::set<std::uint64_t> slots_;  // of these steps
    std::vector<std::string> without_step_;
    std::vector<std::string> others_;  // of other kinds
};

SMDEBUG_INLINE found_checkpoints group_checkpoints(const std::string& place, std::span<const std::string> keys,
                                                   const checkpoint_search& how) {
    std::vector<std::string> some;
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(some), [&](const std::string& key) {
        return !how.index_of.contains(key) &&
               (kind_of(key) != checkpoint_kind::none || smdebug::detail::other_form_of(key));
    });
    checkpoint_sorter sorter{place, how, step_names{some}};
    for (const std::string& key : keys) {
        sorter.add(key);
    }
    return std::move(sorter).finish();
}

/// Looks at the files of a storage beyond their names.
class checkpoint_lister {
public:
    explicit checkpoint_lister(const any_storage& store) : store_(store) {
        const local_storage* const here = store.target<local_storage>();
        root_ = here != nullptr ? here->name() + "/" : std::string{};
    }

    [[nodiscard]] found_checkpoints find(checkpoint_search how) {
        std::vector<std::string> keys = store_.list("", "");
        std::vector<left_out> dangling;
        const std::set<std::string> all{keys.begin(), keys.end()};
        std::set<std::string> unfinished;  // folders
        std::erase_if(keys, [&](const std::string& key) {
            const std::string_view name = std::string_view{key}.substr(key.rfind('/') + 1);  // npos + 1 is 0
            if (name.find('.') == std::string_view::npos && step_of_name(std::string{name} + "/") &&
                !store_.size(key)) {
                dangling.push_back({key, "it is a link to a folder that is not there"});
                return true;
            }
            if (key.ends_with(".distcp")) {                                    // read by its .metadata
                const std::string folder = key.substr(0, key.rfind('/') + 1);  // npos + 1 is 0
                if (!all.contains(folder + ".metadata") && unfinished.insert(folder).second) {
                    dangling.push_back({key,
                                        "its folder has no .metadata, which is written last: this distributed "
                                        "checkpoint is not whole"});
                }
                return true;
            }
            return is_link_to_one_of(all, key);
        });
        for (const std::string& key : keys) {
            if (kind_of(key) == checkpoint_kind::index) {
                for (const std::string& file : files_of(key)) {
                    how.index_of.emplace(key.substr(0, key.rfind('/') + 1) + file, key);  // npos + 1 is 0
                }
            }
        }
        found_checkpoints found = group_checkpoints(store_.name(), keys, how);
        if (add_empty_folders(found, keys, unfinished, how.finished_alone)) {
            found = group_checkpoints(store_.name(), keys, how);
        }
        std::erase_if(found.not_read, [&](const left_out& one) {  // the last adapters, beside 0000500_adapters
            return std::any_of(found.steps.begin(), found.steps.end(), [&](const checkpoint_step& step) {
                return one.name == step.folder + step.names.front() + ".safetensors" &&
                       has_bytes_of(one.name, step.files.front());
            });
        });
        std::move(dangling.begin(), dangling.end(), std::back_inserter(found.not_read));
        return found;
    }

private:
    static constexpr std::uint64_t most_compared = std::uint64_t{64} << 20U;

    [[nodiscard]] bool is_link_to_one_of(const std::set<std::string>& keys, const std::string& key) const {
        std::error_code failed;
        if (root_.empty() || kind_of(key) == checkpoint_kind::none ||
            !std::filesystem::is_symlink(root_ + key, failed)) {
            return false;
        }
        const std::string root = std::filesystem::canonical(root_, failed).string() + "/";
        const std::string target = std::filesystem::canonical(root_ + key, failed).string();
        return !failed && target.starts_with(root) && keys.contains(target.substr(root.size()));
    }

    [[nodiscard]] std::vector<std::string> files_of(const std::string& index) const {
        try {
            const std::uint64_t most = std::min(store_.size(index).value_or(0), most_header_bytes + 1);
            return parse_safetensors_index(index, store_.read(index, {0, most}).view()).files();
        } catch (const error&) {
            return {};  // read_checkpoint() reports it
        }
    }

    [[nodiscard]] bool has_bytes_of(const std::string& one, const std::string& other) const {
        const std::uint64_t size = store_.size(one).value_or(UINT64_MAX);
        bool is_same = size <= most_compared && store_.size(other) == size;
        std::uint64_t piece = std::uint64_t{64} << 10U;  // most differ at once
        for (std::uint64_t at = 0; is_same && at < size; at += std::exchange(piece, most_compared)) {
            is_same = std::ranges::equal(store_.read(one, {at, piece}).view(), store_.read(other, {at, piece}).view());
        }
        return is_same;
    }

    // Folders of steps without any file, which no storage lists.
    [[nodiscard]] bool add_empty_folders(const found_checkpoints& found, std::vector<std::string>& keys,
                                         const std::set<std::string>& unfinished, bool is_followed) const {
        std::set<std::string> parents;
        for (const checkpoint_step& step : found.steps) {
            parents.insert(step.folder.substr(0, step.folder.find_last_of('/', step.folder.size() - 2) + 1));
        }
        std::vector<std::string> empty;
        for (const std::string& parent : parents) {
            std::error_code failed;
            for (std::filesystem::directory_iterator at{root_ + parent, failed}, end;
                 !root_.empty() && !failed && at != end; at.increment(failed)) {
                std::error_code none;
                const std::string key = parent + at->path().filename().string() + "/";
                const auto first = std::lower_bound(keys.begin(), keys.end(), key);
                const auto known = unfinished.lower_bound(key);
                const bool is_named = known != unfinished.end() && known->starts_with(key);
                if ((first == keys.end() || !first->starts_with(key)) && !is_named && at->is_directory(none) &&
                    !at->is_symlink(none) &&
                    (!is_followed || std::filesystem::file_time_type::clock::now() - at->last_write_time(none) >
                                         std::chrono::seconds{10})) {
                    empty.push_back(key);
                }
            }
        }
        keys.insert(keys.end(), empty.begin(), empty.end());
        std::sort(keys.begin(), keys.end());
        return !empty.empty();
    }

    const any_storage& store_;
    std::string root_;  // of a folder of this machine; empty for another storage
};

SMDEBUG_INLINE found_checkpoints find_checkpoints(const any_storage& store, const checkpoint_search& how) {
    return checkpoint_lister{store}.find(how);
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
    const std::optional<step_number> number = whole_number(*found);
    if (!number) {
        throw value_error("the pattern \"" + pattern_.pattern() + "\" takes \"" + std::string{*found} + "\" out of " +
                              std::string{path} + ", which is not a step's number",
                          {.where = std::string{path}});
    }
    return named_step{*number, static_cast<std::size_t>(found->data() - path.data()) + found->size()};
}

}  // namespace smdebug::inline v1::formats::detail
