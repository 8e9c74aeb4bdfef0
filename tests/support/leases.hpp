// Whether the system grants read leases in a folder, found by trying.
#pragma once

#include "support/skipped.hpp"
#include "support/temporary_folder.hpp"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdint>

namespace smdebug_test {

/// Whether it does, and only this machine writes to the file system.  If not, prints so.
[[nodiscard]] inline bool leases_are_given(const temporary_folder& folder) {
    folder.write("lease_probe", "x");
    const int probe = ::open((folder.path() + "/lease_probe").c_str(), O_RDONLY | O_CLOEXEC);
    struct ::statfs system = {};
    bool given = false;
    if (probe >= 0 && ::fstatfs(probe, &system) == 0) {
        const auto kind = static_cast<std::uint32_t>(system.f_type);
        const bool local = kind == 0xEF53 || kind == 0x58465342 || kind == 0x9123683E || kind == 0x01021994;
        given = local && ::fcntl(probe, F_SETLEASE, F_RDLCK) == 0;
    }
    if (probe >= 0) {
        ::close(probe);  // and with it the lease
    }
    folder.remove("lease_probe");
    if (!given) {
        skipped(lacking::file_system, "no leases on the file system of " + folder.path());
    }
    return given;
}

}  // namespace smdebug_test
