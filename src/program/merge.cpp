#include <program/merge.hpp>

#include <program/database/merge_databases.hpp>
#include <program/text.hpp>
#include <smdebug/core/error.hpp>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

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

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
