#include <program/command_table.hpp>

#include <program/command_options.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace smdebug::inline v1::cli::detail {

const command_entry* command_table::find(std::string_view name) const noexcept {
    const auto found =
        std::find_if(commands.begin(), commands.end(), [&](const command_entry& each) { return each.name == name; });
    return found == commands.end() ? nullptr : &*found;
}

std::vector<exit_status> exit_statuses_in(std::string_view text) {
    constexpr std::string_view head = "Exit status: ";
    std::vector<exit_status> statuses;
    const std::size_t begin = text.find(head);
    if (begin == std::string_view::npos) {
        return statuses;
    }
    text.remove_prefix(begin + head.size());
    text = text.substr(0, text.find('.'));
    while (!text.empty()) {
        const std::string_view one = text.substr(0, text.find(';'));
        text.remove_prefix(std::min(one.size() + 1, text.size()));
        const std::size_t digits = one.find_first_of("0123456789");
        const std::size_t words = digits == std::string_view::npos ? digits : one.find(' ', digits);
        if (words != std::string_view::npos) {
            statuses.push_back({std::string{one.substr(digits, words - digits)}, std::string{one.substr(words + 1)}});
        }
    }
    return statuses;
}

namespace {

// An option or argument as a row.
option_entry read_option(CLI::Option& option) {
    option_entry entry{.help = option.get_description(),
                       .required = option.get_required(),
                       .repeats = option.get_items_expected_max() > 1};
    if (option.get_positional()) {
        entry.names.push_back(option.get_name(true));
        entry.value = entry.names.front();
    } else {
        for (const std::string& name : option.get_snames()) {
            entry.names.push_back("-" + name);
        }
        for (const std::string& name : option.get_lnames()) {
            entry.names.push_back("--" + name);
        }
        entry.value = option.get_items_expected_max() == 0 ? std::string{} : option.get_type_name();
    }
    if (!entry.value.empty()) {
        const offered words = offered_for(option);
        entry.choices = words.values;
        entry.kind = words.values.empty() ? kind_of_value(entry.value)
                                          : (words.with_commas ? value_kind::choices : value_kind::choice);
    }
    return entry;
}

// A command, or the program itself.  `ending`: what the help of each ends with, and its notes leave out.
command_entry read_command(CLI::App& app, std::string_view ending) {
    command_entry entry{.name = app.get_name(), .summary = app.get_description(), .notes = app.get_footer()};
    entry.notes.resize(std::min(entry.notes.find(ending), entry.notes.size()));
    while (entry.notes.ends_with('\n')) {
        entry.notes.pop_back();
    }
    if (entry.summary.ends_with('.')) {
        entry.summary.pop_back();
    }
    for (CLI::Option* const option : app.get_options(nullptr)) {
        (option->get_positional() ? entry.arguments : entry.options).push_back(read_option(*option));
    }
    return entry;
}

}  // namespace

command_table read_commands(CLI::App& app, std::string_view ending) {
    command_table table{
        .program = read_command(app, ending), .version = release_text(), .statuses = exit_statuses_in(ending)};
    for (CLI::App* const command : app.get_subcommands(nullptr)) {
        table.commands.push_back(read_command(*command, ending));
    }
    return table;
}

}  // namespace smdebug::inline v1::cli::detail
