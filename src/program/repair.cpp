#include <program/repair.hpp>

#include <program/runs.hpp>
#include <program/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/formats/repair_index.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <exception>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

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
        throw stopped("interrupted: of " + counted(plan.files.size(), "file") + " of " + path + " " +
                      std::to_string(written) + " are written; repair it again for the rest");
    }
    to.print(printable(path) + ": " + counted(plan.event_files, "event file") + " read, " +
             counted(plan.good, "index file") + " good, " + counted(plan.files.size(), "file") +
             (args.dry_run ? " to be written\n" : " written\n"));
}

int repair(const repair_arguments& args, console& to, const std::stop_token& stop) {
    for (const std::string& path : args.runs) {
        static_cast<void>(failure_of(path, to, [&] { repair(plain_path(path), args, to, stop); }));
    }
    return to.status();
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
