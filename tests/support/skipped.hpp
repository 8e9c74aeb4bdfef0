// Test cases, or parts of them, that cannot run here: reported and counted, never passed silently.
#pragma once

#include "support/test.hpp"

namespace smdebug_test {

/// What keeps a test from running.
enum class lacking {
    processor,    ///< it needs another processor, or more features
    file_system,  ///< the file system of the temporary folder does not support it
    server,       ///< the S3 server does not support it
    sanitizer,    ///< a sanitizer does not allow it
    set_up,       ///< a program, a device or a right that tests/run.sh sees to
};

/// Reports that a test case, or the rest of it, does not run here.  A line for each goes to the file that
/// SMDEBUG_TEST_SKIPS names, which tests/run.sh counts.  With CI=true what the set-up sees to must be there.
inline void skipped(lacking what, const std::string& why) {
    MESSAGE("skipped: " << why);
    if (const char* const file = std::getenv("SMDEBUG_TEST_SKIPS"); file != nullptr && *file != '\0') {
        std::ofstream{file, std::ios::app} << (doctest::getContextOptions()->currentTest->m_name + (": " + why) + "\n");
    }
    const char* const ci = std::getenv("CI");
    if (what == lacking::set_up && ci != nullptr && std::string_view{ci} == "true") {
        FAIL_CHECK("skipped although CI=true: " << why);
    }
}

}  // namespace smdebug_test
