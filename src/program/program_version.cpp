#include <program/program_version.hpp>

#include <program/command_options.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/index/regex.hpp>

#include <curl/curl.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <CLI/Version.hpp>
#include <pugixml.hpp>
#include <xsimd/config/xsimd_config.hpp>
#if __has_include(<xtensor/core/xtensor_config.hpp>)
#include <xtensor/core/xtensor_config.hpp>
#else
#include <xtensor/xtensor_config.hpp>
#endif
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::cli::detail {

namespace {

// A component of the library, and the third parties in it.
struct component_version {
    std::string component;
    std::string made_of;
};

std::string compiler_text() {
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "g++ " __VERSION__;
#else
    return "an unknown compiler";
#endif
}

std::string three_numbers(int major, int minor, int patch) {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

// The components of this program.  For shared libraries the version that it runs with, for headers the one that it was
// built with.
std::vector<component_version> component_versions(const std::string& mpi) {
    // pugixml counts 1.13 as 1130; from 1.10 on the last digit is the patch.
    const std::string pugixml = three_numbers(PUGIXML_VERSION / 1000, PUGIXML_VERSION / 10 % 100, PUGIXML_VERSION % 10);
    std::string_view openssl = OpenSSL_version(OPENSSL_VERSION);  // "OpenSSL 3.0.15 3 Sep 2024 (Library: ...)"
    openssl = openssl.substr(0, openssl.find(' ', std::min(openssl.find(' '), openssl.size() - 1) + 1));
    std::string pcre2 = regex_library_version();
    pcre2.resize(std::min(pcre2.find(' '), pcre2.size()));
    std::vector<component_version> rows{
        {"smdebug", "xtensor " + three_numbers(XTENSOR_VERSION_MAJOR, XTENSOR_VERSION_MINOR, XTENSOR_VERSION_PATCH) +
                        ", xsimd " + three_numbers(XSIMD_VERSION_MAJOR, XSIMD_VERSION_MINOR, XSIMD_VERSION_PATCH) +
                        ", simdjson " + smdebug::detail::json::library_version() + ", PCRE2 " + pcre2},
        {"s3", std::string{"libcurl "} + curl_version_info(CURLVERSION_NOW)->version + ", " + std::string{openssl} +
                   ", pugixml " + pugixml},
        {"archive", std::string{"zlib "} + zlibVersion() + ", libzstd " + ZSTD_versionString()},
        {"batch", std::string{"SQLite "} + sqlite3_libversion()},
        {"kernels", std::string{dispatched_kernel{}.instruction_set()}},
        {"cli", "CLI11 " CLI11_VERSION}};
    if (!mpi.empty()) {
        rows.push_back({"mpi", mpi});
    }
    return rows;
}

}  // namespace

std::string program_version(const std::string& mpi) {
    std::string text = version_text() + "\n";
    std::vector<component_version> rows = component_versions(mpi);
    rows.insert(rows.begin(), {"built by", compiler_text() + ", compiled form"});
    for (const component_version& row : rows) {
        text +=
            row.component + std::string(10 - std::min(row.component.size(), std::size_t{9}), ' ') + row.made_of + "\n";
    }
    return text;
}

}  // namespace smdebug::inline v1::cli::detail
