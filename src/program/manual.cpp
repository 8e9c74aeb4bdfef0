#include <program/manual.hpp>

#include <program/environment_list.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <algorithm>
#include <cctype>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

std::string roff(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '\\':
                out += "\\e";
                break;
            case '-':
                out += "\\-";
                break;
            case '\'':
                out += "\\(aq";
                break;
            case '`':
                out += "\\(ga";
                break;
            case '^':
                out += "\\(ha";
                break;
            case '~':
                out += "\\(ti";
                break;
            case '"':
                out += "\\(dq";  // a quote within a macro's arguments would end one
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string roff_line(std::string_view text) {
    std::string line = roff(text);
    if (text.starts_with('.') || text.starts_with('\'') || text.starts_with(' ')) {
        line.insert(0, "\\&");
    }
    return line + "\n";
}

namespace {

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

}  // namespace

std::string sentence(std::string_view phrase) {
    std::string text{phrase};
    if (!text.empty()) {
        text += text.ends_with('.') || text.ends_with('?') ? "" : ".";
    }
    return text;
}

namespace {

std::vector<std::string_view> lines_in(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        lines.push_back(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
    }
    return lines;
}

}  // namespace

std::size_t second_column(std::string_view line) {
    const std::size_t word = line.find(' ');
    if (word == std::string_view::npos || word == 0 || line.substr(word).starts_with("  ") == false ||
        std::string_view{".:;,!?"}.find(line[word - 1]) != std::string_view::npos) {
        return std::string_view::npos;
    }
    return line.find_first_not_of(' ', word);
}

std::string notes_in_roff(std::string_view notes) {
    std::string text;
    bool in_row = false;
    for (const std::string_view line : lines_in(notes.substr(0, notes.find("Example: ")))) {
        const std::size_t second = second_column(line);
        if (second != std::string_view::npos) {
            text += ".TP\n" + bold(line.substr(0, line.find(' '))) + "\n" + roff_line(line.substr(second));
            in_row = true;
        } else if (in_row && line.starts_with(' ')) {
            text += roff_line(line.substr(std::min(line.find_first_not_of(' '), line.size())));
        } else {
            text += (in_row ? ".PP\n" : "") + (line.empty() ? ".PP\n" : roff_line(line));
            in_row = false;
        }
    }
    return text;
}

std::string example_in_roff(std::string_view notes) {
    constexpr std::string_view head = "Example: ";
    const std::size_t begin = notes.find(head);
    if (begin == std::string_view::npos) {
        return {};
    }
    std::string text = ".SH EXAMPLES\n.nf\n";
    for (std::string_view line : lines_in(notes.substr(begin))) {  // the head, or as many blanks below it
        const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
        line.remove_prefix(indent == 0 ? head.size() : std::min(indent, head.size()));
        text += roff_line(line);
    }
    return text + ".fi\n";
}

namespace {

std::string synopsis_of(const command_table& table, const command_entry& command) {
    const bool is_program = &command == &table.program;
    std::string text = ".SH SYNOPSIS\n" + bold(table.program.name);
    if (is_program) {
        return text + " [" + italic("OPTION") + "]... " + italic("COMMAND") + " [" + italic("ARGUMENT") + "]...\n";
    }
    text += " " + bold(command.name) + " [" + italic("OPTION") + "]...";
    for (const option_entry& option : command.options) {
        if (option.required) {
            text += " " + bold(option.names.front()) + " " + italic(option.value);
        }
    }
    for (const option_entry& argument : command.arguments) {
        const std::string name = italic(argument.value) + (argument.repeats ? "..." : "");
        text += argument.required ? " " + name : " [" + name + "]";
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
        text += ".TP\n" + names + (has_value ? " " + italic(option.value) : std::string{}) + "\n" +
                roff_line(sentence(option.help));
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
    const std::string notes = notes_in_roff(command.notes);
    text += notes.empty() ? "" : ".PP\n" + notes;
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
    text += example_in_roff(command.notes) + ".SH \"SEE ALSO\"\n";
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

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
