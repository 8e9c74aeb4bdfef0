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

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug
