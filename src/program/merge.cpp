#include <program/merge.hpp>

#include <program/command_line.hpp>
#include <program/command_options.hpp>
#include <program/database/merge_databases.hpp>
#include <program/text.hpp>
#include <smdebug/core/error.hpp>

#include <memory>

namespace smdebug::inline v1::cli::detail {

int merge(const merge_arguments& args, console& to, const std::stop_token& stop) {
    const merge_result merged = merge_databases(args.sources, args.output, {.replace = args.replace, .stop = stop});
    std::string text = "merged " + counted(args.sources.size(), "database") + " of " + counted(merged.read, "run") +
                       " into " + printable(args.output) + ": " + counted(merged.runs, "run");
    if (merged.read > merged.runs) {
        text += "; " + counted(merged.read - merged.runs, "run") + " gave way to another one of the same path";
    }
    if (merged.failed > 0) {
        text += "; " + counted(merged.failed, "run") + " not looked at to the end";
    }
    to.print(text + "\n");
    return to.status();
}

void declare_merge(command_line& line) {
    const auto args = std::make_shared<merge_arguments>();
    CLI::App& app = line.add(
        "merge", "databases of results in one: of shards, of machines, of nights", args, [](const merge_arguments&) {},
        [](const merge_arguments& given, const run_context& with) { return merge(given, with.to, with.stop()); });
    add_arguments(app, "DATABASE", args->sources, "databases that scans wrote; they are only read");
    add_output(app, args->output, "FILE", "the database that is made of them");
    add_flag(app, "--replace", args->replace, "replace the output where it is there already");
    add_notes(
        app,
        "If several have the same run, the one that was scanned to its end wins, then the one scanned last, then the\n"
        "first.  The output is renamed into place when it is whole.\n"
        "Example: smdebug merge shard-*.db -o all.db\n");
}

}  // namespace smdebug::inline v1::cli::detail
