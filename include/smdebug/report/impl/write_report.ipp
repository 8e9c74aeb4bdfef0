// The bodies of <smdebug/report/write_report.hpp>.
#pragma once

#include <smdebug/report/write_report.hpp>
#include <smdebug/storage/posix/output.hpp>

#include <array>

namespace smdebug {
inline namespace v1 {
namespace report {
namespace detail {

SMDEBUG_INLINE void write_page(const page& what, const std::string& path) {
    smdebug::detail::posix::whole_file_output file{path};
    for (const std::string& piece : page_text(what)) {
        const std::array<byte_view, 1> bytes{as_bytes(piece)};
        file.append(bytes);
    }
    file.commit(durability::on_disk);  // in the place of an older page
}

SMDEBUG_INLINE gather_options gathering(const write_report_options& options) {
    return {.which = options.which, .how = options.how, .most_bytes = data_bytes(options.most_bytes)};
}

SMDEBUG_INLINE void write_page_of(reported_run shown, const write_report_options& options, const std::string& path) {
    page whole;
    whole.title = options.title.empty() ? shown.name : options.title;
    whole.runs.push_back(std::move(shown));
    write_page(whole, path);
}

}  // namespace detail
}  // namespace report
SMDEBUG_INLINE void write_report(const trial& run, const write_report_options& options, const std::string& path) {
    report::detail::reported_run shown = report::detail::gather_run(run, report::detail::gathering(options));
    shown.verdicts = options.verdicts;
    report::detail::write_page_of(std::move(shown), options, path);
}

}  // namespace v1
}  // namespace smdebug
