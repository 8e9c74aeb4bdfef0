// JSON files, and the texts of rule parameters.  The first byte says which reader gets the rest.
#include "support.hpp"

#include <smdebug/core/json_document.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>
#include <smdebug/hook/hook_json.hpp>
#include <smdebug/index/collections_file.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/learn/learned_facts.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/s3/credentials/metadata_exchange.hpp>

#include "support/standard.hpp"

using namespace smdebug;
using namespace smdebug_fuzz;
namespace index_file = smdebug::detail::index_file;

namespace {

struct index_entries {
    mode in = mode::global;
    step_number step = 0;
    std::string event_file;
    std::vector<std::pair<std::string, byte_range>> places;
    std::vector<std::pair<std::pair<std::string, std::string>, shape_type>> shapes;
    friend bool operator==(const index_entries&, const index_entries&) = default;
};

std::optional<index_entries> parsed_index(byte_view text) {
    static detail::json::document parser;  // its memory is used again
    index_file::meta head;
    index_entries all;
    const auto wrong = index_file::parse(
        text, parser, head,
        [&](const index_file::location& place) { all.places.emplace_back(place.tensor_name, place.record); },
        [&](const index_file::saved_shape& shape) {
            all.shapes.emplace_back(std::pair{shape.tensor_name, shape.original_name}, shape.extents);
        });
    if (wrong) {
        demand(!wrong->what.empty(), "what is wrong is said");
        return std::nullopt;
    }
    all.in = head.mode;
    all.step = head.mode_step;
    all.event_file = head.event_file_name;
    return all;
}

std::optional<index_entries> canonical_index(byte_view text) {
    const auto parts = index_file::split_canonical(text);
    index_entries all;
    if (!parts || !index_file::read_canonical(parts->payload, [&](const index_file::location& place) {
            all.places.emplace_back(place.tensor_name, place.record);
        })) {
        return std::nullopt;
    }
    all.in = parts->head.mode;
    all.step = parts->head.mode_step;
    all.event_file = parts->head.event_file_name;
    return all;
}

void check_index(byte_view text) {
    const auto general = parsed_index(text);
    const auto quick = canonical_index(text);
    demand(!quick || quick == general, "the quick reader gives what the general one gives");
    if (!general) {
        return;
    }
    detail::index_writer writer;
    for (const auto& [name, record] : general->places) {
        demand(is_utf8(name), "names are UTF-8");
        writer.add_tensor(name, record);
    }
    for (const auto& [names, extents] : general->shapes) {
        writer.add_shape(names.first, names.second, extents);
    }
    const std::string written{writer.text({general->in, general->step, general->event_file})};
    const auto again = parsed_index(exact_copy{as_bytes(written)}.view());
    demand(again == general, "an index is read as it was written");
}

void check_collections(byte_view text) {
    static detail::json::document parser;  // its memory is used again
    detail::collections_file file;
    if (const auto wrong = parse_collections_file(text, parser, file)) {
        demand(!wrong->empty(), "what is wrong is said");
        return;
    }
    demand(file.num_workers >= 1, "there is a worker");
    for (const auto& [name, group] : file.collections) {
        demand(name == group.name, "a collection stands under its name");
        demand(std::adjacent_find(group.tensor_names.begin(), group.tensor_names.end(), std::greater_equal<>{}) ==
                   group.tensor_names.end(),
               "names are sorted, each once");
    }
    const std::string written = collections_text(file);
    detail::collections_file again;
    demand(!parse_collections_file(exact_copy{as_bytes(written)}.view(), parser, again), "what was written is read");
    for (auto& [name, group] : file.collections) {
        if (group.save_config) {
            for (auto& [which, when] : *group.save_config) {
                when.start_step = when.start_step.value_or(0);  // as the package writes it
            }
        }
    }
    demand(again == file, "as it was written");
}

void check_hook(byte_view text) {
    const std::string longer = std::string{as_text(text)} + " \n";
    const bool good = only_errors([&] { static_cast<void>(hook_options_from_json(text, "hook.json")); });
    const bool still_good =
        only_errors([&] { static_cast<void>(hook_options_from_json(as_bytes(longer), "hook.json")); });
    demand(good == still_good, "blanks at the end do not count");
}

void check_rules(byte_view text) {
    only_errors([&] {
        for (const rule_request& request : parse_rules_json(as_text(text), "rules.json")) {
            demand(!request.rule.empty(), "a rule has a name");
            demand(!request.parameters.contains("rule_to_invoke") && !request.parameters.contains("start_step"),
                   "what is none of the rule's own is taken out");
        }
    });
}

template <class T>
void check_setting(std::string_view text, const std::vector<std::string>& items) {
    T value{};
    if (only_errors([&] { parse_setting(text, value); })) {
        T again{};
        demand(only_errors([&] { parse_setting(std::string_view{text_of(value)}, again); }), "a printed value is one");
        demand(text_of(again) == text_of(value), "which is the same");
    }
    only_errors([&] { parse_setting(items, value); });
}

void check_settings(byte_view bytes) {
    const std::string_view text = as_text(bytes);
    std::vector<std::string> items(1);
    for (const char one : text) {
        if (one == ';') {
            items.emplace_back();
        } else {
            items.back() += one;
        }
    }
    check_setting<bool>(text, items);
    check_setting<int>(text, items);
    check_setting<std::int64_t>(text, items);
    check_setting<double>(text, items);
    check_setting<std::optional<std::int64_t>>(text, items);
    check_setting<std::optional<double>>(text, items);
    check_setting<std::optional<mode>>(text, items);
    check_setting<std::vector<double>>(text, items);
    check_setting<std::vector<std::string>>(text, items);
    check_setting<text_list>(text, items);
}

void check_keys(byte_view text) {
    constexpr std::string_view sent = "a-token-that-was-sent-0123456789";
    const auto answer = s3::detail::parse_keys_answer(text, "the service", sent);
    demand(answer.seen.find(sent) == std::string::npos, "what was sent is not shown");
    demand((answer.outcome == s3::detail::keys_outcome::found) == answer.keys.has_value(), "keys are there when found");
    demand(printable(answer.seen) == answer.seen, "what was seen may be shown");
    if (answer.keys) {
        demand(!answer.keys->id.empty() && !answer.keys->secret.empty(), "keys are whole");
    }
}

void check_shards(byte_view text) {
    only_errors([&] {
        const auto index = formats::detail::parse_safetensors_index("model.safetensors.index.json", text);
        for (const auto& [tensor, file] : index.file_of) {
            demand(!file.empty() && file.front() != '/' && file != ".." && !file.starts_with("../") &&
                       file.find("/../") == std::string::npos && !file.ends_with("/.."),
                   "a shard lies below the folder");
        }
        const auto files = index.files();
        demand(std::adjacent_find(files.begin(), files.end(), std::greater_equal<>{}) == files.end(),
               "files are in order, each once");
    });
}

void check_learned(byte_view text) {
    only_errors([&] {
        const learned_facts facts = learned_facts::from_json(as_text(text), "normal.json");
        const std::string written = facts.to_json();
        demand(learned_facts::from_json(written).to_json() == written, "as it was written");
        demand(std::is_sorted(facts.runs().begin(), facts.runs().end()), "runs are in order");
        for (const std::string& tensor : facts.tensors()) {
            static_cast<void>(facts.envelope(tensor, mode::train, "l2", 400));
        }
        detail::learn::all_facts all = detail::learn::facts_access::data(facts);
        all.settle();
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    input in{data, size};
    constexpr void (*checks[])(byte_view) = {check_index,    check_collections, check_hook,   check_rules,
                                             check_settings, check_keys,        check_shards, check_learned};
    const std::size_t which = in.take_byte() % std::size(checks);
    checks[which](exact_copy{in.rest()}.view());
    return 0;
}
