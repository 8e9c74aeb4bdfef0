#include <program/repair.hpp>

#include <program/command_line.hpp>
#include <program/command_options.hpp>
#include <program/runs.hpp>
#include <program/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/formats/event_file_source.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <exception>
#include <memory>

namespace smdebug::inline v1::cli::detail {

void repair(const std::string& path, const repair_arguments& args, console& to, const std::stop_token& stop) {
    any_storage store = smdebug::detail::open_place(path, args.storage.s3);
    const index_repair plan = plan_index_repair(store);
    for (const index_repair::file& file : plan.files) {
        const bool replaces = file.what == index_repair::action::replaced;
        to.print(std::string{args.dry_run ? "would " : ""} + (replaces ? "replace " : "write ") + printable(file.key) +
                 ": " + printable(file.why) +
                 (file.dropped.empty() ? "" : "; what is lost of it: " + printable(file.dropped)) + "\n");
    }
    for (const std::string& problem : plan.problems) {
        to.error(printable(problem) + " [run " + printable(path) + "]");
    }
    if (const std::size_t written = args.dry_run ? plan.files.size() : repair_index(store, plan, stop);
        written < plan.files.size()) {
        throw stopped_error("interrupted: of " + counted(plan.files.size(), "file") + " of " + path + " " +
                            std::to_string(written) + " are written; repair it again for the rest");
    }
    to.print(printable(path) + ": " + counted(plan.event_files, "event file") + " read, " +
             counted(plan.good, "index file") + " good, " + counted(plan.files.size(), "file") +
             (args.dry_run ? " to be written\n" : " written\n"));
}

int repair(const repair_arguments& args, console& to, const std::stop_token& stop) {
    for (const std::string& path : args.runs) {
        static_cast<void>(try_on_run(path, to, [&] { repair(plain_path(path), args, to, stop); }));
    }
    return to.status();
}

void declare_repair(command_line& line) {
    const auto args = std::make_shared<repair_arguments>();
    CLI::App& app = line.add(
        "repair", "a new index for a run whose own is missing or damaged, from its event files", args,
        [](const repair_arguments&) {},
        [](const repair_arguments& given, const run_context& with) { return repair(given, with.to, with.stop()); });
    add_runs(app, args->runs);
    add_flag(app, "--dry-run", args->dry_run, "only say what would be done");
    add_storage(app, args->storage);
    add_notes(app,
              "Event files are only read.  An index file that is replaced is kept under its name and \".damaged\".  "
              "Records\n"
              "that are damaged or cut are left out and named; exit status 1 then.  Not for a run that is being "
              "written.\n"
              "A run without its index can be looked at without repairing it, too.\n");
}

}  // namespace smdebug::inline v1::cli::detail
