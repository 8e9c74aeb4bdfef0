// The bodies of <smdebug/report/page_text.hpp>.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/version.hpp>
#include <smdebug/report/page/bundle.hpp>
#include <smdebug/report/page_text.hpp>
#include <smdebug/rules/rule_result.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::report::detail {

/// Findings of a rule about one tensor of one worker.
struct finding_group {
    std::size_t rule = 0;
    std::size_t tensor = 0;  ///< the number of tensors: no tensor is shown
    std::size_t worker = 0;
    std::string tensor_name = {};
    std::string worker_name = {};
    std::size_t count = 0;
    step_number last = 0;
    const finding* first = nullptr;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> places = {};  ///< by axis and bucket: how many
};

/// A finding's step as users know it.
[[nodiscard]] SMDEBUG_INLINE step_number shown_step(const reported_run& run, const finding& one) noexcept {
    return run.steps_are_synthetic && one.mode_step >= 0 ? one.mode_step : one.step;
}

/// In the order of rules, then of first steps.
[[nodiscard]] SMDEBUG_INLINE std::vector<finding_group> groups_of(const reported_run& run, step_axes& axes) {
    std::vector<finding_group> groups;
    for (std::size_t rule = 0; rule < run.verdicts.size(); ++rule) {
        std::map<std::pair<std::string, std::string>, std::size_t> places;
        for (const finding& each : run.verdicts[rule].outcome.findings) {
            const auto [place, is_new] = places.try_emplace({each.tensor, each.worker}, groups.size());
            if (is_new) {
                groups.push_back({.rule = rule,
                                  .tensor = run.series.tensor_place(each.tensor),
                                  .worker = run.series.worker_place(each.worker),
                                  .tensor_name = each.tensor,
                                  .worker_name = each.worker,
                                  .last = shown_step(run, each),
                                  .first = &each});
            }
            finding_group& group = groups[place->second];
            ++group.count;
            group.last = std::max(group.last, shown_step(run, each));
            if (const auto where = axes.place_of(each.step)) {
                ++group.places[{where->axis, where->bucket}];
            }
        }
    }
    return groups;
}

/// A band of a rule, and the first findings that it has led to.
struct shown_band {
    std::size_t rule = 0;
    std::size_t tensor = 0;
    std::size_t axis = 0;
    const rule_outcome::band* what = nullptr;
    bool has_findings = false;  ///< the tensor, of any rule
    bool is_scalar = false;
    std::vector<const finding*> findings = {};
};
struct shown_bands {
    std::vector<shown_band> all = {};
    std::size_t left_out = 0;
};

/// The window of a mode step; null: it is not judged.
[[nodiscard]] SMDEBUG_INLINE const rule_outcome::band::window* window_at(const rule_outcome::band& band,
                                                                         step_number mode_step) noexcept {
    const auto found = std::find_if(band.windows.begin(), band.windows.end(),
                                    [&](const rule_outcome::band::window& each) { return mode_step <= each.last; });
    return found != band.windows.end() && found->first <= mode_step ? &*found : nullptr;
}

/// The bands for which there is space: first those with findings, then other numbers of tensors with findings, then
/// those of scalars, whose pictures a page begins with.
[[nodiscard]] SMDEBUG_INLINE shown_bands bands_of(const reported_run& run) {
    constexpr std::size_t most_findings = 64;  // of a band
    shown_bands shown;
    std::vector<shown_band>& all = shown.all;
    std::set<std::string_view> with_findings;
    for (const rule_result& rule : run.verdicts) {
        for (const finding& each : rule.outcome.findings) {
            with_findings.insert(each.tensor);
        }
    }
    std::vector<bool> is_scalar(run.series.tensors().size(), true);
    for (const tensor_series& each : run.series.all()) {
        is_scalar[each.tensor] = is_scalar[each.tensor] && each.scalar;
    }
    for (std::size_t rule = 0; rule < run.verdicts.size(); ++rule) {
        const rule_outcome& outcome = run.verdicts[rule].outcome;
        std::multimap<std::pair<std::string_view, mode>, std::size_t> places;
        for (const rule_outcome::band& each : outcome.bands) {
            const std::size_t tensor = run.series.tensor_place(each.tensor);
            const auto& axes = run.axes.all();
            const auto axis =
                std::find_if(axes.begin(), axes.end(), [&](const step_axis& one) { return one.mode == each.mode; });
            if (tensor < run.series.tensors().size() && axis != axes.end()) {
                places.emplace(std::pair{std::string_view{each.tensor}, each.mode}, all.size());
                all.push_back({.rule = rule,
                               .tensor = tensor,
                               .axis = static_cast<std::size_t>(axis - axes.begin()),
                               .what = &each,
                               .has_findings = with_findings.contains(each.tensor),
                               .is_scalar = is_scalar[tensor]});
            }
        }
        // A finding is of the band whose bound it names as what its number was compared with.
        for (const finding& each : outcome.findings) {
            const auto [begin, end] = places.equal_range({each.tensor, each.mode});
            for (auto place = begin; place != end; ++place) {
                shown_band& band = all[place->second];
                const auto* const window = window_at(*band.what, each.mode_step);
                const bool is_its =
                    window != nullptr && ((each.threshold == window->lower && each.value < window->lower) ||
                                          (each.threshold == window->upper && each.value > window->upper));
                if (is_its && band.findings.size() < most_findings) {
                    band.findings.push_back(&each);
                }
            }
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const shown_band& one, const shown_band& other) {
        const auto rank = [](const shown_band& band) {
            return std::tuple{band.findings.empty(), !band.has_findings, !band.is_scalar};
        };
        return rank(one) < rank(other);
    });
    std::size_t bytes = 0;
    const auto end = std::find_if(all.begin(), all.end(), [&](const shown_band& each) {
        bytes += 64 + 64 * each.findings.size() + 24 * each.what->windows.size();
        return bytes > run.most_band_bytes;
    });
    shown.left_out = static_cast<std::size_t>(all.end() - end);
    all.erase(end, all.end());
    return shown;
}

/// Writes a JSON object.
class json_object {
public:
    explicit json_object(std::string& out) : out_(out) { out_ += '{'; }
    json_object(const json_object&) = delete;
    json_object& operator=(const json_object&) = delete;
    ~json_object() { out_ += '}'; }

    std::string& key(std::string_view name) {
        out_ += first_ ? "\"" : ",\"";
        first_ = false;
        out_.append(name).append("\":");
        return out_;
    }
    /// A text for display: escaped where it is not printable.
    void text(std::string_view name, std::string_view value) { append_json_ascii(key(name), printable(value)); }
    void address(std::string_view name, std::string_view value) { append_json_ascii(key(name), value); }
    void number(std::string_view name, std::integral auto value) { append_json_integer(key(name), value); }
    void number(std::string_view name, double value) { append_json_number(key(name), value); }
    /// What is not known is left out.
    template <class Number>
    void number(std::string_view name, const std::optional<Number>& value) {
        if (value) {
            number(name, *value);
        }
    }
    void flag(std::string_view name, bool value) { key(name) += value ? "true" : "false"; }
    /// Calls write(out, each) for each of them.
    template <class All, class Write>
    void list(std::string_view name, const All& all, Write&& write) {
        key(name) += '[';
        bool first = true;
        for (const auto& each : all) {
            out_ += first ? "" : ",";
            first = false;
            write(each);
        }
        out_ += ']';
    }
    void texts(std::string_view name, const std::vector<std::string>& all) {
        list(name, all, [&](const std::string& each) { append_json_ascii(out_, printable(each)); });
    }

private:
    std::string& out_;
    bool first_ = true;
};

/// A message, or its beginning.
[[nodiscard]] SMDEBUG_INLINE std::string_view short_message(std::string_view text) {
    constexpr std::size_t most = 600;
    return smdebug::detail::cut_text(text, most);
}

SMDEBUG_INLINE void append_run_json(std::string& out, const reported_run& run) {
    constexpr std::size_t most_groups = 2000;  // of all rules, in the list; pictures have all
    constexpr std::size_t most_damage = 200;   // sentences
    step_axes axes = run.axes;
    json_object object{out};
    object.text("name", run.name);
    object.text("path", run.path);
    object.text("state", run.failed.empty() ? name_of(run.state) : "failed");
    object.text("failed", short_message(run.failed));
    object.number("workersOfJob", run.num_workers);
    object.number("tensorCount", run.tensors);
    object.number("lastComplete", run.last_complete);
    object.number("bytes", run.bytes);
    object.number("values", run.values);
    object.flag("sampled", run.sampled);
    object.flag("mergedWorkers", run.series.merges_workers());
    object.number("leftOut", run.series.left_out());
    object.texts("workers", run.series.workers());
    std::vector<std::string> damage = run.problems;
    damage.insert(damage.end(), run.damage.begin(), run.damage.end());
    damage.resize(std::min(damage.size(), most_damage));
    object.texts("damage", damage);
    object.number("damaged", run.problems.size() + run.damaged);
    object.list("tensors", run.series.tensors(), [&, place = std::size_t{0}](const std::string& name) mutable {
        json_object tensor{out};
        tensor.text("name", name);
        if (place < run.facts.size()) {
            const tensor_facts& facts = run.facts[place++];
            if (facts.type) {
                tensor.text("dtype", name_of(*facts.type));
            }
            if (facts.shape) {
                tensor.text("shape", shape_text(*facts.shape));
            }
            tensor.flag("changes", facts.changes);
        }
    });
    object.list("collections", run.collections, [&](const auto& each) {
        json_object group{out};
        group.text("name", each.first);
        std::vector<std::size_t> members;
        for (const std::string& name : each.second) {
            if (const std::size_t place = run.series.tensor_place(name); place < run.series.tensors().size()) {
                members.push_back(place);
            }
        }
        group.number("all", each.second.size());
        group.list("tensors", members, [&](std::size_t member) { append_json_integer(out, member); });
    });
    object.list("axes", axes.all(), [&](const step_axis& axis) {
        json_object one{out};
        one.text("mode", name_of(axis.mode));
        one.number("steps", axis.steps);
    });
    object.list("rules", run.verdicts, [&](const rule_result& each) {
        json_object rule{out};
        rule.text("name", each.name);
        rule.text("status", name_of(each.status));
        rule.text("details", short_message(each.details));
        rule.number("evaluated", each.outcome.evaluated);
        rule.number("met", each.outcome.met_at.size());
        rule.number("findings", each.outcome.findings.size());
        rule.number("unread", each.outcome.unread);
        rule.list("parameters", each.parameters, [&](const auto& parameter) {
            append_json_ascii(out, printable(short_message(parameter.first + "=" + parameter.second)));
        });
    });
    object.list("notEvaluated", run.not_evaluated, [&](const rule_left_out& each) {
        json_object rule{out};
        rule.text("name", each.name);
        rule.text("why", each.why);
    });
    if (const finding* const first = first_bad_value(run.verdicts)) {
        finding shown = *first;
        shown.step = shown_step(run, shown);
        object.text("firstBadValue", short_message(first_bad_value_text(shown)));
    }
    std::vector<finding_group> groups = groups_of(run, axes);
    object.number("groups", groups.size());
    groups.resize(std::min(groups.size(), most_groups));
    object.list("findings", groups, [&](const finding_group& each) {
        json_object group{out};
        group.number("rule", each.rule);
        group.number("tensor", each.tensor < run.series.tensors().size() ? std::optional{each.tensor} : std::nullopt);
        group.text("tensorName", each.tensor_name);
        group.text("worker", each.worker_name);
        group.number("count", each.count);
        group.number("first", shown_step(run, *each.first));
        group.text("mode", name_of(each.first->mode));
        group.number("modeStep", each.first->mode_step);
        group.number("last", each.last);
        group.number("value", each.first->value);
        group.number("threshold", each.first->threshold);
        group.text("message", short_message(each.first->message));
    });
    const shown_bands bands = bands_of(run);
    if (bands.left_out > 0) {
        object.number("bandsLeftOut", bands.left_out);
    }
    if (bands.all.empty()) {
        return;
    }
    object.list("bands", bands.all, [&](const shown_band& each) {
        json_object band{out};
        band.number("rule", each.rule);
        band.number("tensor", each.tensor);
        band.number("axis", each.axis);
        band.text("number", each.what->number);
        band.list("found", each.findings, [&](const finding* found) {
            json_object one{out};
            one.number("step", shown_step(run, *found));
            one.number("value", found->value);
            one.text("worker", found->worker);
        });
    });
}

SMDEBUG_INLINE std::string data_text(const reported_run& run) {
    data_writer data;
    step_axes axes = run.axes;
    data.whole(axes.all().size());
    for (const step_axis& axis : axes.all()) {
        data.whole(axis.buckets.size());
        step_bucket before;
        for (const step_bucket& each : axis.buckets) {
            data.whole_signed(each.first - before.first);
            data.whole_signed(each.last - each.first);
            data.whole_signed(each.mode_step - before.mode_step);
            data.whole_signed(each.last_mode_step - each.mode_step);
            data.whole(each.count);
            before = each;
        }
    }
    data.whole(run.series.all().size());
    for (const tensor_series& each : run.series.all()) {
        data.whole(each.tensor);
        data.whole(each.worker);
        data.whole(each.axis);
        data.byte(each.scalar ? 1 : 0);
        data.presence(each.there);
        // For a scalar, the mean suffices.
        constexpr auto mean = static_cast<std::size_t>(series_column::least_mean);
        const std::size_t first = each.scalar ? mean : 0;
        for (std::size_t i = first; i < (each.scalar ? mean + 2 : series_columns); ++i) {
            data.column(each, i, i > first);
        }
        data.whole(each.distributions.size());
        for (const auto& [bucket, spread] : each.distributions) {
            data.whole(bucket);
            const auto& [first_quartile, median, third_quartile] = spread.quartiles;
            data.numbers(std::array{first_quartile, median, third_quartile, spread.low, spread.high});
            for (const std::uint8_t count : spread.counts) {
                data.byte(count);
            }
        }
    }
    // Where rules found something: the bucket of every finding.
    const std::vector<finding_group> groups = groups_of(run, axes);
    data.whole(groups.size());
    for (const finding_group& each : groups) {
        data.whole(each.rule);
        data.whole(std::min(each.tensor, run.series.tensors().size()));
        data.whole(std::min(each.worker, run.series.workers().size()));
        data.whole(each.places.size());
        std::pair<std::uint32_t, std::uint32_t> before{0, 0};
        for (const auto& [where, count] : each.places) {
            data.whole(where.first);
            data.whole(where.first == before.first ? where.second - before.second : where.second);
            data.whole(count);
            before = where;
        }
    }
    for (const shown_band& each : bands_of(run).all) {  // as many as the facts name
        data.whole(each.what->windows.size());
        step_number before = 0;
        for (const rule_outcome::band::window& window : each.what->windows) {
            data.whole_signed(window.first - before);
            data.whole_signed(window.last - window.first);
            data.whole(window.runs);
            const bool has_lower = is_finite(window.lower);
            const bool has_upper = is_finite(window.upper);
            data.byte(static_cast<std::uint8_t>((has_lower ? 1U : 0U) | (has_upper ? 2U : 0U)));
            std::vector<double> numbers{window.least, window.greatest};
            if (has_lower) {
                numbers.push_back(window.lower);
            }
            if (has_upper) {
                numbers.push_back(window.upper);
            }
            data.numbers(numbers);
            before = window.last;
        }
    }
    return base64(data.bytes());
}

SMDEBUG_INLINE std::string json_for_html(std::string_view json) {
    std::string safe;
    safe.reserve(json.size() + json.size() / 16);
    for (const char each : json) {
        switch (each) {
            case '<':
                safe += "\\u003c";
                break;
            case '>':
                safe += "\\u003e";
                break;
            case '&':
                safe += "\\u0026";
                break;
            default:
                safe += each;
        }
    }
    return safe;
}

SMDEBUG_INLINE std::string text_for_html(std::string_view text) {
    std::string safe;
    while (!text.empty()) {
        const auto [code, length] = first_utf8_character(text);
        const bool plain = length != 0 && code >= ' ' && code != '<' && code != '>' && code != '&' && code != '"' &&
                           code != '\'' && code != 0x7F;
        if (plain) {
            safe.append(text.substr(0, length));
        } else {
            safe.append("&#").append(std::to_string(length == 0 || code < ' ' ? 0xFFFD : code)).append(";");
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return safe;
}

SMDEBUG_INLINE void append_comparison_json(std::string& out, const reported_comparison& all) {
    json_object object{out};
    object.text("title", all.title);
    object.text("sentence", all.sentence);
    object.number("all", all.all);
    object.list("steps", all.steps, [&](const reported_comparison::step& each) {
        out += '[';
        append_json_integer(out, each.step);
        out += ',';
        append_json_integer(out, each.tensors);
        out += ',';
        append_json_integer(out, each.differing);
        out += ',';
        append_json_number(out, each.largest);
        out += ']';
    });
    object.list("differences", all.differences, [&](const reported_difference& each) {
        json_object one{out};
        one.text("kind", each.kind);
        one.number("step", each.step);
        one.text("worker", each.worker);
        one.text("tensor", each.tensor);
        one.number("largest", each.largest);
        one.text("what", short_message(each.what));
    });
}

SMDEBUG_INLINE void append_row_json(std::string& out, const reported_row& row) {
    json_object object{out};
    object.text("path", row.path);
    object.text("state", row.state);
    object.text("error", short_message(row.error));
    object.address("link", row.link);
    object.number("steps", row.steps);
    object.list("verdicts", row.verdicts, [&](const reported_verdict& each) {
        json_object verdict{out};
        verdict.text("rule", each.rule);
        verdict.text("status", each.status);
        verdict.number("findings", each.findings);
        verdict.number("first", each.first);
        verdict.text("details", short_message(each.details));
    });
    object.list("loss", row.loss,
                [&](float each) { out += short_text(static_cast<double>(each)).insert(0, "\"") + '"'; });
    object.number("lossLost", row.loss_lost);
}

SMDEBUG_INLINE std::vector<std::string> page_text(const page& what) {
    std::string facts;
    {
        json_object object{facts};
        object.text("title", what.title);
        object.text("by", "smdebug " + std::to_string(SMDEBUG_VERSION_MAJOR) + "." +
                              std::to_string(SMDEBUG_VERSION_MINOR) + "." + std::to_string(SMDEBUG_VERSION_PATCH));
        object.number("lookAgain", what.look_again);
        object.flag("isBatch", what.is_batch);
        object.list("runs", what.runs, [&](const reported_run& each) { append_run_json(facts, each); });
        if (what.comparison) {
            append_comparison_json(object.key("comparison"), *what.comparison);
        }
        if (what.is_batch) {
            object.list("batch", what.batch, [&](const reported_row& each) { append_row_json(facts, each); });
        }
    }
    std::vector<std::string> pieces;
    std::string head =
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '";
    head.append(page_script_hash()).append("'; style-src '").append(page_style_hash());
    head +=
        "'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"referrer\" content=\"no-referrer\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n<title>";
    head.append(text_for_html(printable(what.title))).append("</title>\n<style>");
    for (const std::string_view piece : page_style()) {
        head.append(piece);
    }
    head.append("</style>\n</head>\n<body>\n").append(page_body());
    head.append("\n<script type=\"application/json\" id=\"facts\">");
    pieces.push_back(std::move(head));
    pieces.push_back(json_for_html(facts));
    std::string script = "</script>\n<script>";
    for (const std::string_view piece : page_script()) {
        script.append(piece);
    }
    pieces.push_back(script + "</script>\n");
    for (std::size_t i = 0; i < what.runs.size(); ++i) {
        pieces.push_back("<script type=\"application/octet-stream\" id=\"data" + std::to_string(i) + "\">");
        pieces.push_back(data_text(what.runs[i]));
        pieces.emplace_back("</script>\n");
    }
    pieces.emplace_back("</body>\n</html>\n");
    return pieces;
}

SMDEBUG_INLINE void data_writer::whole(std::uint64_t value) {
    while (value >= 0x80) {
        byte(static_cast<std::uint8_t>(value | 0x80));
        value >>= 7U;
    }
    byte(static_cast<std::uint8_t>(value));
}

SMDEBUG_INLINE bool fits_float(double value) noexcept {
    const double size = std::abs(value);
    return !is_finite(value) || size == 0 ||
           (size >= static_cast<double>(std::numeric_limits<float>::min()) &&
            size <= static_cast<double>(std::numeric_limits<float>::max()));
}

SMDEBUG_INLINE void data_writer::number(double value) {
    constexpr std::uint32_t absent = 0x7FC0'0001;
    put(is_absent(value) ? absent : std::bit_cast<std::uint32_t>(static_cast<float>(value)));
}

SMDEBUG_INLINE void data_writer::numbers(std::span<const double> values) {
    const bool wide = !std::all_of(values.begin(), values.end(), fits_float);
    byte(wide ? 1 : 0);
    for (const double each : values) {
        wide ? wide_number(each) : number(each);
    }
}

SMDEBUG_INLINE void data_writer::presence(const std::vector<bool>& there) {
    std::vector<std::size_t> runs{0};
    bool now = false;
    for (const bool each : there) {
        if (each != now) {
            runs.push_back(0);
            now = each;
        }
        ++runs.back();
    }
    whole(runs.size());
    for (const std::size_t run : runs) {
        whole(run);
    }
}

SMDEBUG_INLINE void data_writer::column(const tensor_series& of, std::size_t column, bool follows_another) {
    const auto bits = [&](std::size_t row, std::size_t in) { return std::bit_cast<std::uint64_t>(of.rows[row][in]); };
    std::optional<std::uint64_t> first;
    bool constant = true;
    bool wide = false;
    bool as_before = follows_another && column > 0;
    for (std::size_t i = 0; i < of.rows.size(); ++i) {
        if (of.there[i]) {
            first = first.value_or(bits(i, column));
            constant = constant && *first == bits(i, column);
            as_before = as_before && bits(i, column) == bits(i, column - 1);
            wide = wide || !fits_float(of.rows[i][column]);
        }
    }
    const auto put = [&](double value) { wide ? wide_number(value) : number(value); };
    if (constant) {
        byte(wide ? 3 : 0);
        put(std::bit_cast<double>(first.value_or(0)));
    } else if (as_before) {
        byte(2);
    } else {
        byte(wide ? 4 : 1);
        for (std::size_t i = 0; i < of.rows.size(); ++i) {
            if (of.there[i]) {
                put(of.rows[i][column]);
            }
        }
    }
}

SMDEBUG_INLINE std::string base64(byte_view bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t size = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t three = 0;
        for (std::size_t j = 0; j < 3; ++j) {
            three = (three << 8U) | (j < size ? std::to_integer<std::uint32_t>(bytes[i + j]) : 0U);
        }
        for (std::size_t j = 0; j < 4; ++j) {
            text += j <= size ? digits[(three >> (18U - 6U * j)) & 63U] : '=';
        }
    }
    return text;
}

}  // namespace smdebug::inline v1::report::detail
#include <smdebug/core/strict_math/end.ipp>
