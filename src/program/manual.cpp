#include <program/manual.hpp>

#include <program/environment_list.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <initializer_list>
#include <utility>

namespace smdebug::inline v1::cli::detail {

std::string roff(std::string_view text) {
    constexpr std::array<std::pair<char, std::string_view>, 7> escapes{
        {{'\\', "\\e"}, {'-', "\\-"}, {'\'', "\\(aq"}, {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}, {'"', "\\(dq"}}};
    std::string out;
    for (const char c : text) {
        const auto escape =
            std::find_if(escapes.begin(), escapes.end(), [&](const auto& each) { return each.first == c; });
        escape != escapes.end() ? out.append(escape->second) : out.append(1, c);
    }
    return out;
}

std::string roff_line(std::string_view text) {
    std::string line = text.starts_with('.') || text.starts_with('\'') || text.starts_with(' ') ? "\\&" : "";
    return line.append(roff(text)).append("\n");
}

namespace {

// The texts, one behind another.
std::string all_of(std::initializer_list<std::string_view> texts) {
    std::string all;
    for (const std::string_view each : texts) {
        all += each;
    }
    return all;
}

std::string in_font(char font, std::string_view text) {
    return std::string{"\\f"}.append(1, font).append(roff(text)).append("\\fR");
}
std::string bold(std::string_view text) { return in_font('B', text); }
std::string italic(std::string_view text) { return in_font('I', text); }

}  // namespace

std::string sentence(std::string_view phrase) {
    return std::string{phrase} + (phrase.empty() || phrase.ends_with('.') || phrase.ends_with('?') ? "" : ".");
}

namespace {

// Lines as they stand.
std::string as_it_is(std::string_view text) {
    std::string lines = text.empty() ? "" : ".nf\n";
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        lines += roff_line(line);
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    return lines + (lines.empty() ? "" : ".fi\n");
}

std::string synopsis_of(const command_table& table, const command_entry& command) {
    const bool is_program = &command == &table.program;
    std::string text = ".SH SYNOPSIS\n" + bold(table.program.name);
    if (is_program) {
        return all_of({text, " [", italic("OPTION"), "]... ", italic("COMMAND"), " [", italic("ARGUMENT"), "]...\n"});
    }
    text += all_of({" ", bold(command.name), " [", italic("OPTION"), "]..."});
    for (const option_entry& option : command.options) {
        if (option.required) {
            text += all_of({" ", bold(option.names.front()), " ", italic(option.value)});
        }
    }
    for (const option_entry& argument : command.arguments) {
        text += all_of({argument.required ? " " : " [", italic(argument.value), argument.repeats ? "..." : "",
                        argument.required ? "" : "]"});
    }
    return text + "\n";
}

std::string options_in_roff(const std::vector<option_entry>& options, std::string_view title) {
    std::string text = options.empty() ? std::string{} : ".SH " + std::string{title} + "\n";
    for (const option_entry& option : options) {
        std::string names;
        for (const std::string& name : option.names) {
            names += names.empty() ? "" : ", ";
            names += name.starts_with('-') ? bold(name) : italic(name);
        }
        const bool has_value = option.names.front().starts_with('-') && !option.value.empty();
        text += all_of({".TP\n", names, has_value ? " " : "", has_value ? italic(option.value) : std::string{}, "\n",
                        roff_line(sentence(option.help))});
    }
    return text;
}

}  // namespace

manual_page page_of(const command_table& table, const command_entry& command) {
    const bool is_program = &command == &table.program;
    const std::string name = is_program ? command.name : table.program.name + "-" + command.name;
    std::string title = name;
    std::transform(title.begin(), title.end(), title.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    std::string text = ".\\\" Printed by `" + table.program.name + " manual" +
                       (is_program ? std::string{} : " " + command.name) + "`.\n.TH \"" + roff(title) + "\" 1 \"\" \"" +
                       roff(table.program.name + " " + table.version) + "\" \"" + roff(table.program.name) +
                       "\"\n.nh\n.ad l\n";  // no word is hyphenated, no blank widened: they may be part of a command
    std::string summary = command.summary;
    if (is_program && !summary.empty()) {
        summary.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(summary.front())));
    }
    text += ".SH NAME\n" + roff(name) + " \\- " + roff(summary) + "\n" + synopsis_of(table, command);
    text += ".SH DESCRIPTION\n" + roff_line(sentence(command.summary));
    const std::string_view notes = command.notes;
    constexpr std::string_view example_head = "Example: ";
    const std::size_t example = std::min(notes.find(example_head), notes.size());
    text += notes.empty() ? "" : ".PP\n" + as_it_is(notes.substr(0, example));
    if (is_program) {
        text += ".SH COMMANDS\n";
        for (const command_entry& each : table.commands) {
            text += ".TP\n" + bold(each.name) + "\n" + roff_line(sentence(each.summary));
        }
    }
    text += options_in_roff(command.arguments, "ARGUMENTS") + options_in_roff(command.options, "OPTIONS");
    text += ".SH \"EXIT STATUS\"\n";
    for (const exit_status& each : table.statuses) {
        text += ".TP\n" + bold(each.number) + "\n" + roff_line(sentence(each.meaning));
    }
    text += ".SH ENVIRONMENT\n";
    if (is_program) {
        for (const environment_entry& each : environment_list) {
            text += ".TP\n" + bold(each.names) + "\n" + roff_line(sentence(each.meaning));
        }
    } else {
        text += "See " + bold(table.program.name) + "(1).\n";
    }
    if (example < notes.size()) {
        text += ".SH EXAMPLES\n" + as_it_is(notes.substr(example + example_head.size()));
    }
    text += ".SH \"SEE ALSO\"\n";
    if (!is_program) {
        text += bold(table.program.name) + "(1)\n";
    } else {
        for (const command_entry& each : table.commands) {
            text +=
                bold(table.program.name + "-" + each.name) + "(1)" + (&each == &table.commands.back() ? "\n" : ",\n");
        }
    }
    return {name + ".1", text};
}

manual_page page_of(const command_table& table, std::string_view command) {
    const command_entry* const found = table.find(command);
    return page_of(table, found == nullptr ? table.program : *found);
}

std::vector<manual_page> all_manual_pages(const command_table& table) {
    std::vector<manual_page> pages{page_of(table, table.program)};
    for (const command_entry& command : table.commands) {
        pages.push_back(page_of(table, command));
    }
    return pages;
}

int print_manual(const manual_arguments& args, console& to) {
    for (const manual_page& page : args.pages) {
        if (args.folder) {
            smdebug::detail::posix::write_whole(*args.folder + "/" + page.file, as_bytes(page.text));
        } else {
            to.print(page.text);
        }
    }
    return to.status();
}

}  // namespace smdebug::inline v1::cli::detail
