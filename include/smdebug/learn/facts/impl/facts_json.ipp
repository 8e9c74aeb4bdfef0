// The bodies of <smdebug/learn/facts/facts_json.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/learn/facts/facts_json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::detail::learn {

inline constexpr std::string_view file_format = "smdebug learned";
inline constexpr std::uint64_t file_version = 1;

// Writing ---------------------------------------------------------------------------------------------------------

/// Writes JSON, indented by one blank a level.
class facts_writer {
public:
    explicit facts_writer(function_ref<void(std::string_view)> write) : write_(write) {}

    void open(char bracket) {
        text_ += bracket;
        ++depth_;
        is_first_ = true;
    }
    void close(char bracket) {
        --depth_;
        if (!is_first_) {
            new_line();
        }
        text_ += bracket;
        is_first_ = false;
        if (text_.size() > most_bytes) {
            flush();
        }
    }
    /// The place of the next item, on a line of its own.
    void item() {
        text_.append(is_first_ ? "" : ",");
        is_first_ = false;
        new_line();
    }
    void key(std::string_view name) {
        item();
        append_json_string(text_, name);
        text_ += ": ";
    }
    void count(std::uint64_t value) { append_json_integer(text_, value); }
    void count(std::string_view name, std::uint64_t value) {
        key(name);
        count(value);
    }
    void count(std::string_view name, const std::optional<std::uint64_t>& value) {
        if (value) {
            count(name, *value);
        }
    }
    void number(double value) {
        char digits[40] = {};
        const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
        const std::string_view written{digits, static_cast<std::size_t>(end - digits)};
        text_.append(written);
        // Readers take a text of digits alone for an integer, which has neither a negative zero nor 2^64.
        if ((value == 0 || written.size() > 15) && written.find_first_of(".e") == std::string_view::npos) {
            text_ += ".0";
        }
    }
    void number(std::string_view name, const std::optional<double>& value) {
        if (value) {
            key(name);
            number(*value);
        }
    }
    void string(std::string_view value) { append_json_string(text_, value); }
    /// Strings on one line.
    void strings(std::string_view name, const std::vector<std::string>& values) {
        key(name);
        text_ += '[';
        for (std::size_t i = 0; i < values.size(); ++i) {
            text_.append(i == 0 ? "" : ", ");
            string(values[i]);
        }
        text_ += ']';
    }
    void plain(std::string_view text) { text_.append(text); }
    void flush() {
        write_(text_);
        text_.clear();
    }

private:
    static constexpr std::size_t most_bytes = std::size_t{64} << 10U;

    void new_line() {
        text_ += '\n';
        text_.append(depth_, ' ');
    }

    function_ref<void(std::string_view)> write_;
    std::string text_;
    std::size_t depth_ = 0;
    bool is_first_ = true;
};

inline void write_extremes(facts_writer& to, std::string_view name, const extremes& some) {
    to.plain("\"");
    to.plain(name);
    to.plain("\": [");
    for (std::size_t i = 0; i < some.size(); ++i) {
        to.plain(i == 0 ? "[" : ",[");
        to.number(some[i].number);
        to.plain(",");
        to.count(std::uint64_t{some[i].run});
        to.plain("]");
    }
    to.plain("]");
}

inline void write_series(facts_writer& to, const number_series& series) {
    to.open('{');
    to.number("down", series.down);
    to.count("runs", series.runs);
    to.number("up", series.up);
    to.number("widen", series.widen);
    to.key("windows");
    to.open('[');
    for (std::size_t i = 0; i < series.windows.size(); ++i) {
        const window_facts window = series.windows[i];
        to.item();
        to.plain("{\"from\": ");
        to.count(static_cast<std::uint64_t>(first_step_of(window.window)));
        to.plain(", ");
        write_extremes(to, "high", window.high);
        to.plain(", ");
        write_extremes(to, "low", window.low);
        to.plain(", \"runs\": ");
        to.count(window.runs);
        to.plain("}");
    }
    to.close(']');
    to.close('}');
}

inline void write_shape(facts_writer& to, const shape_fact& shape) {
    to.key("shape");
    if (!shape.extents) {
        to.plain("null");
        return;
    }
    to.plain("[");
    for (std::size_t i = 0; i < shape.extents->size(); ++i) {
        to.plain(i == 0 ? "" : ", ");
        if (const auto& extent = (*shape.extents)[i]) {
            to.count(std::uint64_t{*extent});
        } else {
            to.plain("null");
        }
    }
    to.plain("]");
}

inline void write_entry(facts_writer& to, const entry_facts& entry) {
    to.open('{');
    to.count("changing", entry.changing);
    to.count("constant", entry.constant);
    if (entry.dtypes) {
        to.strings("dtype", *entry.dtypes);
    }
    to.key("every");
    to.plain("{\"saves\": ");
    to.count(static_cast<std::uint64_t>(entry.every.saves));
    to.plain(", \"steps\": ");
    to.count(static_cast<std::uint64_t>(entry.every.steps));
    to.plain("}");
    to.count("finite", entry.finite);
    to.count("nonnegative", entry.nonnegative);
    to.count("nonpositive", entry.nonpositive);
    to.key("numbers");
    to.open('{');
    for (const auto& [which, series] : entry.numbers) {
        to.key(name_of(which));
        write_series(to, series);
    }
    to.close('}');
    to.count("replicas", entry.replicas);
    to.count("runs", entry.runs);
    if (entry.shape) {
        write_shape(to, *entry.shape);
    }
    to.close('}');
}

SMDEBUG_INLINE void write_json(const all_facts& facts, function_ref<void(std::string_view)> write) {
    facts_writer to{write};
    to.open('{');
    to.key("format");
    to.string(file_format);
    to.key("modes");
    to.open('{');
    for (const mode in : modes_by_name) {
        if (const auto found = facts.modes.find(in); found != facts.modes.end()) {
            to.key(smdebug::name_of(in));
            to.plain("{\"last\": ");
            to.count(static_cast<std::uint64_t>(found->second.last));
            to.plain(", \"runs\": ");
            to.count(found->second.runs);
            to.plain("}");
        }
    }
    to.close('}');
    std::vector<std::string> reductions;
    for (std::size_t i = 0; i < number_count; ++i) {
        if (facts.reductions.contains(static_cast<number>(i))) {
            reductions.emplace_back(number_names[i]);
        }
    }
    to.strings("reductions", reductions);
    to.key("runs");
    to.open('[');
    for (const std::string& each : facts.runs) {
        to.item();
        to.string(each);
    }
    to.close(']');
    to.strings("suspects", facts.suspects);
    to.key("tensors");
    to.open('{');
    for (const auto& [name, tensor] : facts.tensors) {
        to.key(name);
        to.open('{');
        for (const mode in : modes_by_name) {
            if (const entry_facts* const entry = tensor.find(in)) {
                to.key(smdebug::name_of(in));
                write_entry(to, *entry);
            }
        }
        to.close('}');
    }
    to.close('}');
    to.key("tied");
    to.open('[');
    for (const tied_class& each : facts.tied) {
        to.item();
        to.open('{');
        to.count("saves", each.saves);
        to.strings("tensors", each.tensors);
        to.close('}');
    }
    to.close(']');
    to.count("version", file_version);
    to.close('}');
    to.plain("\n");
    to.flush();
}

// Reading ---------------------------------------------------------------------------------------------------------

[[nodiscard]] inline std::string meant_by(std::string_view name, std::span<const std::string_view> known) {
    const std::vector<std::string> names{known.begin(), known.end()};
    return did_you_mean(name, names, 3);
}

/// A value of the file with its place in it, for messages.
class facts_value {
public:
    facts_value(json::value value, const std::string& file, std::string place)
        : value_(value), file_(file), place_(std::move(place)) {}

    [[noreturn]] void refuse(const std::string& why) const {
        throw value_error(file_ + (place_.empty() ? "" : ": " + printable(place_)) + ": " + why);
    }
    [[nodiscard]] bool is_null() const { return value_.is_null(); }

    [[nodiscard]] std::string string() const {
        const auto text = value_.string();
        if (!text) {
            refuse("it must be a string");
        }
        return std::string{*text};
    }
    [[nodiscard]] double number() const {
        const auto found = value_.number();
        if (!found || !is_finite(*found)) {
            refuse("it must be a number");
        }
        return *found;
    }
    /// A margin, or a factor of margins.
    [[nodiscard]] double margin() const {
        const double found = number();
        if (found < 0) {
            refuse("it must not be negative");
        }
        return found;
    }
    [[nodiscard]] std::uint64_t count(std::uint64_t most = std::uint64_t{1} << 53U) const {
        const auto whole = value_.unsigned_integer();
        const auto real = whole ? std::optional<double>{} : value_.number();
        const bool is_whole = whole || (real && *real >= 0 && *real <= 0x1p53 && std::trunc(*real) == *real);
        const std::uint64_t found = whole ? *whole : is_whole ? static_cast<std::uint64_t>(*real) : 0;
        if (!is_whole || found > most) {
            refuse("it must be a whole number from 0 to " + std::to_string(most));
        }
        return found;
    }
    /// A mode step, or a distance of two.
    [[nodiscard]] step_number steps() const {
        return static_cast<step_number>(count(std::numeric_limits<step_number>::max()));
    }

    /// Calls visit(value) for each element of a list.
    template <class Visit>
    void for_each(Visit&& visit) const {
        std::size_t at = 0;
        const bool is_list = value_.for_each_element([&](const json::value& each) {
            visit(facts_value{each, file_, place_ + "[" + std::to_string(at++) + "]"});
            return true;
        });
        if (!is_list) {
            refuse("it must be a list");
        }
    }
    [[nodiscard]] std::vector<std::string> strings() const {
        std::vector<std::string> all;
        for_each([&](const facts_value& each) { all.push_back(each.string()); });
        return all;
    }
    /// Calls visit(name, value) for each field of an object, whose names are the user's own.
    template <class Visit>
    void for_each_name(Visit&& visit) const {
        if (const auto twice = repeated_keys(value_)) {
            refuse(*twice);
        }
        const bool is_object = value_.for_each_field([&](std::string_view name, const json::value& each) {
            visit(name, facts_value{each, file_, place_ + (place_.empty() ? "" : ".") + std::string{name}});
            return true;
        });
        if (!is_object) {
            refuse("it must be an object, {...}");
        }
    }
    /// Calls visit(name, value) for each field of an object that has these keys; those behind "?" may be missing.
    template <class Visit>
    void for_each_key(std::initializer_list<std::string_view> keys, Visit&& visit) const {
        std::vector<std::string_view> missing;
        std::vector<std::string_view> known;
        for (const std::string_view each : keys) {
            known.push_back(each.starts_with('?') ? each.substr(1) : each);
            if (!each.starts_with('?')) {
                missing.push_back(each);
            }
        }
        for_each_name([&](std::string_view name, const facts_value& each) {
            if (std::find(known.begin(), known.end(), name) == known.end()) {
                refuse("the key \"" + printable(name) + "\" is not known." + meant_by(name, known));
            }
            std::erase(missing, name);
            visit(name, each);
        });
        if (!missing.empty()) {
            refuse("the key \"" + std::string{missing.front()} + "\" is missing");
        }
    }

private:
    json::value value_;
    const std::string& file_;
    std::string place_;
};

[[nodiscard]] inline extremes extremes_from(const facts_value& from, std::size_t runs) {
    extremes found;
    from.for_each([&](const facts_value& pair) {
        extreme one;
        std::size_t at = 0;
        pair.for_each([&](const facts_value& part) {
            if (at == 0) {
                one.number = part.number();
            } else if (at == 1) {
                const std::uint64_t place = part.count();
                if (place >= runs) {
                    part.refuse("it must be a run's place in \"runs\", which has " + std::to_string(runs));
                }
                one.run = static_cast<run_place>(place);
            }
            ++at;
        });
        if (at != 2) {
            pair.refuse("it must be a number and a run's place: [1.5, 0]");
        }
        if (found.size() == extremes::most) {
            from.refuse("it has at most three items");
        }
        found.push_back(one);
    });
    if (found.empty()) {
        from.refuse("it must not be empty: delete the whole window, and it is not judged");
    }
    return found;
}

[[nodiscard]] inline window_facts window_facts_from(const facts_value& from, std::size_t runs) {
    window_facts window;
    from.for_each_key({"from", "high", "low", "runs"}, [&](std::string_view key, const facts_value& value) {
        if (key == "from") {
            const auto known = window_from(value.steps());
            if (!known) {
                value.refuse("no window begins there: they begin at 0, 1, 2, ..., 8, 10, 12, 14, 16, 20, 24, ...");
            }
            window.window = *known;
        } else if (key == "runs") {
            window.runs = value.count(std::numeric_limits<std::uint32_t>::max());
        } else {
            const extremes found = extremes_from(value, runs);  // by hand in any order
            (key == "low" ? window.low : window.high) = key == "low" ? joined_low(found, {}) : joined_high(found, {});
        }
    });
    return window;
}

[[nodiscard]] inline number_series series_from(const facts_value& from, std::size_t runs) {
    number_series series;
    from.for_each_key(
        {"?down", "runs", "?up", "?widen", "windows"}, [&](std::string_view key, const facts_value& value) {
            if (key == "runs") {
                series.runs = value.count();
            } else if (key == "windows") {
                std::vector<window_facts> windows;
                value.for_each([&](const facts_value& each) {
                    windows.push_back(window_facts_from(each, runs));
                    if (windows.size() > 1 && windows.back().window <= windows[windows.size() - 2].window) {
                        each.refuse("windows must be ascending");
                    }
                });
                series.windows = window_list{windows};
            } else {
                (key == "down" ? series.down : key == "up" ? series.up : series.widen) = value.margin();
            }
        });
    return series;
}

[[nodiscard]] inline shape_fact shape_from(const facts_value& from) {
    if (from.is_null()) {
        return {};
    }
    shape_fact shape{.extents = std::vector<std::optional<std::size_t>>{}};
    from.for_each([&](const facts_value& extent) {
        shape.extents->push_back(extent.is_null() ? std::nullopt : std::optional<std::size_t>{extent.count()});
    });
    return shape;
}

[[nodiscard]] inline entry_facts entry_from(const facts_value& from, std::size_t runs) {
    entry_facts entry{.dtypes = std::nullopt,
                      .shape = std::nullopt,
                      .finite = std::nullopt,
                      .nonnegative = std::nullopt,
                      .nonpositive = std::nullopt,
                      .constant = std::nullopt,
                      .changing = std::nullopt,
                      .replicas = std::nullopt};
    from.for_each_key(
        {"?changing", "?constant", "?dtype", "every", "?finite", "?nonnegative", "?nonpositive", "numbers", "?replicas",
         "runs", "?shape"},
        [&](std::string_view key, const facts_value& value) {
            if (key == "every") {
                value.for_each_key({"saves", "steps"}, [&](std::string_view part, const facts_value& gap) {
                    (part == "saves" ? entry.every.saves : entry.every.steps) = gap.steps();
                });
            } else if (key == "numbers") {
                value.for_each_name([&](std::string_view name, const facts_value& series) {
                    const auto which = number_named(name);
                    if (!which) {
                        value.refuse("the number \"" + printable(name) + "\" is not known." +
                                     meant_by(name, number_names));
                    }
                    entry.numbers.emplace(*which, series_from(series, runs));
                });
            } else if (key == "runs") {
                entry.runs = value.count();
            } else if (key == "shape") {
                entry.shape = shape_from(value);
            } else if (key == "dtype") {
                entry.dtypes = value.strings();
                std::sort(entry.dtypes->begin(), entry.dtypes->end());
                entry.dtypes->erase(std::unique(entry.dtypes->begin(), entry.dtypes->end()), entry.dtypes->end());
            } else {
                auto& count = key == "changing"      ? entry.changing
                              : key == "constant"    ? entry.constant
                              : key == "finite"      ? entry.finite
                              : key == "nonnegative" ? entry.nonnegative
                              : key == "nonpositive" ? entry.nonpositive
                                                     : entry.replicas;
                count = value.count();
            }
        });
    return entry;
}

/// Sorts the runs, which the places in windows follow.
inline void sort_runs(all_facts& facts, const facts_value& from) {
    std::vector<run_place> order(facts.runs.size());
    std::iota(order.begin(), order.end(), run_place{0});
    std::sort(order.begin(), order.end(),
              [&](run_place one, run_place other) { return facts.runs[one] < facts.runs[other]; });
    std::vector<std::string> sorted;
    std::vector<run_place> places(order.size());
    for (const run_place each : order) {
        if (!sorted.empty() && sorted.back() == facts.runs[each]) {
            from.refuse("the run " + printable(sorted.back()) + " is there twice");
        }
        places[each] = static_cast<run_place>(sorted.size());
        sorted.push_back(facts.runs[each]);
    }
    if (sorted == facts.runs) {
        return;
    }
    facts.runs = std::move(sorted);
    for (auto& [name, tensor] : facts.tensors) {
        for (auto& [in, entry] : tensor.by_mode) {
            for (auto& [which, series] : entry.numbers) {
                series.windows.renumber(places);
            }
        }
    }
}

[[nodiscard]] inline mode mode_from(std::string_view name, const facts_value& from) {
    const auto known = mode_named(name);
    if (!known) {
        from.refuse("a mode is TRAIN, EVAL, PREDICT or GLOBAL");
    }
    return *known;
}

[[nodiscard]] inline tied_class tied_from(const facts_value& from) {
    tied_class one;
    from.for_each_key({"saves", "tensors"}, [&](std::string_view key, const facts_value& value) {
        if (key == "saves") {
            one.saves = value.count();
        } else {
            one.tensors = value.strings();
        }
    });
    std::sort(one.tensors.begin(), one.tensors.end());
    one.tensors.erase(std::unique(one.tensors.begin(), one.tensors.end()), one.tensors.end());
    return one;
}

/// Whether it is a file of this format, in a version that this library reads.
inline void check_format(const json::value& root, const std::string& where) {
    const auto format = root["format"];
    const auto text = format ? format->string() : std::nullopt;
    if (text != file_format) {
        throw value_error(where + ": it is not what `smdebug learn` writes: its \"format\" must be \"" +
                          std::string{file_format} + "\"");
    }
    const auto version = root["version"];
    const auto number = version ? version->unsigned_integer() : std::nullopt;
    if (number != file_version) {
        throw value_error(where + ": its \"version\" must be " + std::to_string(file_version) +
                          ", which is what this smdebug reads.  Learn it again, or use the smdebug that wrote it");
    }
}

/// Reads "tensors", or one field of it, behind the runs and modes, to which it refers.
inline void read_tensors(all_facts& facts, const facts_value& from) {
    from.for_each_name([&](std::string_view name, const facts_value& tensor) {
        tensor_facts& to = facts.tensors[std::string{name}];
        tensor.for_each_name([&](std::string_view mode_name, const facts_value& entry) {
            const mode in = mode_from(mode_name, entry);
            if (!facts.modes.contains(in)) {
                entry.refuse("the mode " + std::string{mode_name} + " is not in \"modes\"");
            }
            to.by_mode[in] = entry_from(entry, facts.runs.size());
        });
    });
}

/// All of a file, but that the runs are not sorted.
[[nodiscard]] inline all_facts unsorted_facts_from(const facts_value& file, const json::value& root,
                                                   const std::string& where) {
    if (!root.is_object()) {
        file.refuse("it is not what `smdebug learn` writes: it must be an object, {...}");
    }
    check_format(root, where);
    all_facts facts;
    // The runs and modes first: what follows refers to them.
    file.for_each_key({"format", "modes", "reductions", "runs", "suspects", "tensors", "tied", "version"},
                      [&](std::string_view key, const facts_value& value) {
                          if (key == "runs") {
                              facts.runs = value.strings();
                          } else if (key == "suspects") {
                              facts.suspects = value.strings();
                              std::sort(facts.suspects.begin(), facts.suspects.end());
                          } else if (key == "modes") {
                              value.for_each_name([&](std::string_view name, const facts_value& in) {
                                  mode_facts& of = facts.modes[mode_from(name, in)];
                                  in.for_each_key({"last", "runs"}, [&](std::string_view part, const facts_value& at) {
                                      if (part == "runs") {
                                          of.runs = at.count();
                                      } else {
                                          of.last = at.steps();
                                      }
                                  });
                              });
                          }
                      });
    file.for_each_name([&](std::string_view key, const facts_value& value) {
        if (key == "reductions") {
            for (const std::string& name : value.strings()) {
                const auto which = number_named(name);
                if (!which || *which == number::value) {
                    value.refuse("the number \"" + printable(name) + "\" is not known." + meant_by(name, number_names));
                }
                facts.reductions.insert(*which);
            }
        } else if (key == "tensors") {
            read_tensors(facts, value);
        } else if (key == "tied") {
            value.for_each([&](const facts_value& each) {
                tied_class one = tied_from(each);
                if (one.tensors.size() >= 2) {
                    facts.tied.push_back(std::move(one));
                }
            });
        }
    });
    return facts;
}

/// Finds the fields of an object in JSON.  It looks at brackets, strings and commas alone: the parser of a field checks
/// what lies between them.
class field_finder {
public:
    explicit field_finder(std::string_view text) : text_(text) {}

    struct field {
        std::string_view key = {};  ///< with its quotes
        std::string_view value = {};
    };

    /// Calls visit(field) for each; false: this is no object, or there is something behind it.
    template <class Visit>
    [[nodiscard]] bool for_each(Visit visit) {
        if (!take('{')) {
            return false;
        }
        bool ends = take('}');
        while (!ends) {
            field found;
            skip_blanks();
            const std::size_t key = at_;
            if (!skip_string()) {
                return false;
            }
            found.key = text_.substr(key, at_ - key);
            if (!take(':')) {
                return false;
            }
            skip_blanks();
            const std::size_t value = at_;
            if (!skip_value()) {
                return false;
            }
            found.value = text_.substr(value, at_ - value);
            visit(found);
            ends = take('}');
            if (!ends && !take(',')) {
                return false;
            }
        }
        skip_blanks();
        return at_ == text_.size();
    }

private:
    void skip_blanks() noexcept { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
    bool take(char wanted) noexcept {
        skip_blanks();
        const bool is_there = at_ < text_.size() && text_[at_] == wanted;
        at_ += is_there ? 1U : 0U;
        return is_there;
    }
    bool skip_string() noexcept {
        if (at_ == text_.size() || text_[at_] != '"') {
            return false;
        }
        while (++at_ < text_.size()) {
            if (text_[at_] == '"') {
                ++at_;
                return true;
            }
            at_ += text_[at_] == '\\' ? 1U : 0U;
        }
        return false;
    }
    bool skip_value() noexcept {
        if (at_ < text_.size() && text_[at_] == '"') {
            return skip_string();
        }
        if (at_ == text_.size() || (text_[at_] != '{' && text_[at_] != '[')) {
            const std::size_t begin = at_;
            at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
            return at_ > begin;
        }
        std::size_t depth = 0;
        while (at_ < text_.size()) {
            const char found = text_[at_];
            if (found == '"') {
                if (!skip_string()) {
                    return false;
                }
                continue;
            }
            ++at_;
            if (found == '{' || found == '[') {
                ++depth;
            } else if ((found == '}' || found == ']') && --depth == 0) {
                return true;
            }
        }
        return false;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

/// What facts_from_json() returns, with the memory of one parsed tensor at a time; nothing if something is wrong.
[[nodiscard]] inline std::optional<all_facts> facts_piece_by_piece(std::string_view text, const std::string& where) {
    std::vector<field_finder::field> tensors;
    std::string_view all_tensors;
    bool is_once = false;
    const bool is_object = field_finder{text}.for_each([&](const field_finder::field& each) {
        if (each.key == "\"tensors\"") {
            is_once = all_tensors.empty();
            all_tensors = each.value;
        }
    });
    if (!is_object || !is_once ||
        !field_finder{all_tensors}.for_each([&](const field_finder::field& each) { tensors.push_back(each); })) {
        return std::nullopt;
    }
    const auto begin = static_cast<std::size_t>(all_tensors.data() - text.data());
    std::string rest{text.substr(0, begin)};
    rest.append("{}").append(text.substr(begin + all_tensors.size()));
    json::document document;
    const auto root = document.parse(as_bytes(std::string_view{rest}));
    if (!root) {
        return std::nullopt;
    }
    try {
        const facts_value file{*root, where, ""};
        all_facts facts = unsorted_facts_from(file, *root, where);
        json::document of_tensor;
        std::string piece;
        for (const field_finder::field& each : tensors) {
            piece.assign("{").append(each.key).append(":").append(each.value).append("}");
            const auto parsed = of_tensor.parse(as_bytes(std::string_view{piece}));
            const std::size_t before = facts.tensors.size();
            if (!parsed) {
                return std::nullopt;
            }
            read_tensors(facts, facts_value{*parsed, where, "tensors"});
            if (facts.tensors.size() == before) {
                return std::nullopt;  // a name that is there twice
            }
        }
        sort_runs(facts, file);
        return facts;
    } catch (const value_error&) {
        return std::nullopt;
    }
}

SMDEBUG_INLINE all_facts facts_from_json(std::string_view text, const std::string& where) {
    if (auto facts = facts_piece_by_piece(text, where)) {
        return *std::move(facts);
    }
    // As a whole: the message is about the first error in it.
    json::document document;
    const auto root = document.parse(as_bytes(text));
    if (!root) {
        throw value_error(where + ": it is not JSON");
    }
    const facts_value file{*root, where, ""};
    all_facts facts = unsorted_facts_from(file, *root, where);
    sort_runs(facts, file);
    return facts;
}

}  // namespace smdebug::inline v1::detail::learn
#include <smdebug/core/strict_math/end.ipp>
