#include <program/learn_table.hpp>

#include <program/learn.hpp>
#include <program/table.hpp>
#include <program/text.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/printable_text.hpp>

#include <cstdint>
#include <vector>

namespace smdebug::inline v1::cli::detail {

namespace {

namespace learn = smdebug::detail::learn;

std::string shape_words(const learn::entry_facts& entry) {
    if (!entry.shape || !entry.shape->extents) {
        return entry.shape ? "-" : "any";
    }
    std::string text;
    for (const auto& extent : *entry.shape->extents) {
        text.append(text.empty() ? "" : "x").append(extent ? std::to_string(*extent) : "?");
    }
    return text.empty() ? "()" : text;
}

std::string dtype_words(const learn::entry_facts& entry) {
    if (!entry.dtypes) {
        return "any";
    }
    return entry.dtypes->empty() ? "-" : joined(*entry.dtypes, " ");
}

// The facts that hold, each with how often it was seen.
std::string fact_words(const learn::entry_facts& entry) {
    std::string text;
    const auto add = [&](const char* name, const std::optional<std::uint64_t>& count) {
        if (count.value_or(0) > 0) {
            text.append(text.empty() ? "" : " ").append(name).append(":").append(std::to_string(*count));
        }
    };
    add("finite", entry.finite);
    add("nonnegative", entry.nonnegative);
    add("nonpositive", entry.nonpositive);
    add("constant", entry.constant);
    add("changing", entry.changing);
    add("replicas", entry.replicas);
    return text.empty() ? "-" : text;
}

std::string margin_words(const std::optional<double>& margin) { return margin ? short_text(*margin) : "none"; }

std::string all_tensors(const learned_facts& facts) {
    const std::vector<column> columns{{"tensor"}, {"mode"},  {"runs", true}, {"every", true},
                                      {"dtype"},  {"shape"}, {"facts"},      {"numbers"}};
    std::vector<std::string> cells;
    for (const auto& [name, tensor] : learn::facts_access::data(facts).tensors) {
        for (const mode in : learn::modes_by_name) {
            const learn::entry_facts* const entry = tensor.find(in);
            if (entry == nullptr) {
                continue;
            }
            std::string numbers;
            for (const auto& [which, series] : entry->numbers) {
                numbers.append(numbers.empty() ? "" : " ").append(learn::name_of(which));
            }
            for (const std::string& cell :
                 {printable(name), std::string{name_of(in)}, std::to_string(entry->runs),
                  std::to_string(entry->every.steps), dtype_words(*entry), shape_words(*entry), fact_words(*entry),
                  numbers.empty() ? std::string{"-"} : numbers}) {
                cells.push_back(cell);
            }
        }
    }
    return table_text(columns, cells);
}

std::string windows_of(const learn::number_series& series, learn::number which) {
    const std::vector<column> columns{{"from", true},     {"to", true},    {"runs", true}, {"least", true},
                                      {"greatest", true}, {"lower", true}, {"upper", true}};
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < series.windows.size(); ++i) {
        const learn::window_facts window = series.windows[i];
        const step_number first = learn::first_step_of(window.window);
        const auto envelope = learn::envelope_of(series, which, first, 1);
        const auto bound = [&](const std::optional<double>& margin, double learned_envelope::*side) {
            return envelope && margin ? short_text((envelope->envelope).*side) : std::string{"-"};
        };
        for (const std::string& cell :
             {std::to_string(first), std::to_string(learn::last_step_of(window.window)), std::to_string(window.runs),
              short_text(window.low[0].number), short_text(window.high[0].number),
              bound(series.down, &learned_envelope::lower), bound(series.up, &learned_envelope::upper)}) {
            cells.push_back(cell);
        }
    }
    return table_text(columns, cells);
}

std::string one_tensor(const learned_facts& facts, const std::string& name) {
    std::string text;
    const learn::tensor_facts& tensor = learn::facts_access::data(facts).tensors.find(name)->second;
    for (const mode in : learn::modes_by_name) {
        const learn::entry_facts* const entry = tensor.find(in);
        if (entry == nullptr) {
            continue;
        }
        text += (text.empty() ? "" : "\n") + printable(name) + " in " + std::string{name_of(in)} + ": in " +
                counted(entry->runs, "run") + ", every " + std::to_string(entry->every.saves) + " saves and " +
                std::to_string(entry->every.steps) + " steps; dtype " + dtype_words(*entry) + ", shape " +
                shape_words(*entry) + "; " + fact_words(*entry) + "\n";
        for (const auto& [which, series] : entry->numbers) {
            text.append("\n").append(learn::name_of(which)).append(": margins down ");
            text.append(margin_words(series.down)).append(", up ").append(margin_words(series.up));
            if (series.widen) {
                text.append(", widened by ").append(short_text(*series.widen));
            }
            text.append("\n").append(windows_of(series, which));
        }
    }
    for (const learn::tied_class& each : learn::facts_access::data(facts).tied) {
        for (const std::string& one : each.tensors) {
            if (one == name) {
                text += "\nequal in each of " + counted(each.saves, "save") + ": " +
                        printable(joined(each.tensors, " ")) + "\n";
            }
        }
    }
    return text;
}

}  // namespace

std::string learned_table(const learned_facts& facts, const std::optional<std::string>& tensor) {
    if (tensor) {
        return one_tensor(facts, *tensor);
    }
    std::string text = all_tensors(facts);
    for (const learn::tied_class& each : learn::facts_access::data(facts).tied) {
        text += "equal in each of " + counted(each.saves, "save") + ": " + printable(joined(each.tensors, " ")) + "\n";
    }
    return text + counted(facts.runs().size(), "run") + "; " + suspects_text(facts) + "\n";
}

}  // namespace smdebug::inline v1::cli::detail
