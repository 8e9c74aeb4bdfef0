// `smdebug repair`: a new index for a run whose own is missing or damaged.
#pragma once

#include <smdebug/cli/console.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/cli/text.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/formats/repair_index.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <exception>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

struct repair_arguments {
    std::vector<std::string> runs = {};
    bool dry_run = false;
    storage_options storage = {};
};

/// Says what is wrong with a run's index, and mends it unless that is only to be said.
inline void repair(const std::string& path, const repair_arguments& args, console& to) {
    any_storage store = smdebug::detail::open_place(path, args.storage.s3);
    const index_repair plan = plan_index_repair(store);
    for (const index_repair::file& file : plan.files) {
        const bool replaces = file.what == index_repair::action::replaced;
        to.print(std::string{args.dry_run ? "would " : ""} + (replaces ? "replace " : "write ") + printable(file.key) +
                 ": " + printable(file.why) + "\n");
    }
    for (const std::string& problem : plan.problems) {
        to.error(printable(problem) + " [run " + printable(path) + "]");
    }
    if (!args.dry_run) {
        repair_index(store, plan);
    }
    to.print(printable(path) + ": " + counted(plan.event_files, "event file") + " read, " +
             counted(plan.good, "index file") + " good, " + counted(plan.files.size(), "file") +
             (args.dry_run ? " to be written\n" : " written\n"));
}

/// Runs the command; the exit status.  A run that fails does not lose the others.
[[nodiscard]] inline int repair(const repair_arguments& args, console& to) {
    for (const std::string& path : args.runs) {
        try {
            repair(plain_path(path), args, to);
        } catch (const output_error&) {
            throw;
        } catch (const std::exception& wrong) {
            to.error(error_text(wrong, path));
        }
    }
    return to.status();
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
