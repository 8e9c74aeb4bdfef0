// A table of two commands with everything that shells and manual pages treat specially.
#pragma once

#include <program/command_table.hpp>

namespace smdebug_test {

inline smdebug::cli::detail::command_table small_table() {
    using smdebug::cli::detail::command_entry;
    using smdebug::cli::detail::option_entry;
    using smdebug::cli::detail::value_kind;
    const option_entry help{.names = {"-h", "--help"}, .help = "say this; and end"};
    const command_entry look{
        .name = "look",
        .summary = "it's a look: at [some] files",
        .notes =
            "What is found is printed.  A\nsecond line.\n"
            ".dots begin lines\n"
            "'quotes too\n"
            "\\back \\n slashes\n"
            "npz          one word, and its row,\n"
            "             goes on\n"
            "csv          another row\n"
            "Text after rows.\n"
            "Example: prog-x look a-b 'c\\d' \\\n"
            "             --kind=one `pwd` ^~\n",
        .options = {help,
                    {.names = {"--kind"},
                     .value = "K",
                     .help = "one.  Or two",
                     .kind = value_kind::choice,
                     .choices = {"one", "two", "three"}},
                    {.names = {"--some"},
                     .value = "LIST",
                     .help = "columns",
                     .kind = value_kind::choices,
                     .choices = {"min", "max", "mean"}},
                    {.names = {"-o", "--output"},
                     .value = "FILE",
                     .help = "where to",
                     .kind = value_kind::path,
                     .required = true},
                    {.names = {"--cache"}, .value = "DIR", .help = "a folder", .kind = value_kind::folder},
                    {.names = {"--run"}, .value = "COMMAND", .help = "a program", .kind = value_kind::program},
                    {.names = {"--rule"},
                     .value = "RULE",
                     .help = "a \"rule\"",
                     .kind = value_kind::choice,
                     .choices = {"dead_relu", "all_zero"},
                     .repeats = true},
                    {.names = {"--number"}, .value = "A:B", .help = "a [number]: any", .kind = value_kind::text},
                    {.names = {"--quiet"}, .help = "don't talk"}},
        .arguments = {
            {.names = {"NAME"}, .value = "NAME", .help = "a name", .kind = value_kind::text, .required = true},
            {.names = {"RUN"}, .value = "RUN", .help = "a run", .kind = value_kind::path, .repeats = true}}};
    const command_entry ask{.name = "ask",
                            .summary = "another command",
                            .options = {help},
                            .arguments = {{.names = {"TOPIC"},
                                           .value = "TOPIC",
                                           .help = "what",
                                           .kind = value_kind::choice,
                                           .choices = {"look", "ask"}}}};
    return {
        .program = {.name = "prog-x",
                    .summary = "Looks at things",
                    .options = {help,
                                {.names = {"--config"}, .value = "FILE", .help = "defaults", .kind = value_kind::path},
                                {.names = {"--version"}, .help = "the version"}}},
        .commands = {look, ask},
        .version = "1.2.3",
        .statuses = {{"0", "all is well"}, {"2", "wrong usage"}}};
}

}  // namespace smdebug_test
