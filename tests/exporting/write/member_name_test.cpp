#include <smdebug/exporting/write/export_walk.hpp>

#include <smdebug/core/printable_text.hpp>

#include "support/test.hpp"

using namespace smdebug;
using smdebug::detail::member_name;

TEST_CASE("member_name: usual names stay as they are") {
    for (const std::string_view name : {"fc1.weight", "gradient/dense/kernel:0", "loss", "a b", "\xC3\xA9t\xC3\xA9",
                                        "x\"y'z", "x:0", "...", "a/.../b", ".hidden", "a:b"}) {
        CHECK(member_name(name) == name);
    }
}

TEST_CASE("member_name: what would lead elsewhere, or be read as another's, is written in numbers") {
    CHECK(member_name("") == "%");
    CHECK(member_name("../x") == "%2E%2E/x");
    CHECK(member_name("a/../../b") == "a/%2E%2E/%2E%2E/b");
    CHECK(member_name("./x") == "%2E/x");
    CHECK(member_name("..") == "%2E%2E");
    CHECK(member_name("/etc/passwd") == "%2Fetc/passwd");
    CHECK(member_name("a//b") == "a%2F%2Fb");
    CHECK(member_name("a/") == "a%2F");
    CHECK(member_name("/") == "%2F");
    CHECK(member_name("a\nb\x7F") == "a%0Ab%7F");
    CHECK(member_name(std::string_view{"a\0b", 3}) == "a%00b");
    CHECK(member_name("50%") == "50%25");
    CHECK(member_name("..\\x") == "..%5Cx");
    CHECK(member_name("C:/x") == "C%3A/x");
    CHECK(member_name("\xFFx") == "%FFx");
    CHECK(member_name("\xC2\x85") == "%C2%85");  // a control beyond ASCII
    CHECK(member_name("x.npy") == "x%2Enpy");
    CHECK(member_name(".npy") == "%2Enpy");
}

TEST_CASE("member_name: no two names become one, and none leads out of the archive") {
    constexpr std::string_view letters = "/.%:aC\\2E";
    std::set<std::string> seen;
    std::size_t names = 0;
    std::string name;
    const auto add = [&](const auto& self, int length) -> void {
        const std::string made = member_name(name);
        ++names;
        seen.insert(made);
        CHECK(stays_inside(made + ".npy"));
        for (std::size_t i = 0; length > 0 && i < letters.size(); ++i) {
            name += letters[i];
            self(self, length - 1);
            name.pop_back();
        }
    };
    add(add, 4);
    CHECK(seen.size() == names);
    CHECK(detail::file_name_part("/job:worker/replica:0") == "%2Fjob:worker%2Freplica:0");
    CHECK(detail::file_name_part("..") == "%2E%2E");
    CHECK(detail::file_name_part("worker_0") == "worker_0");
}
