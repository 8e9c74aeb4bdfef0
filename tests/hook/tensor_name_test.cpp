#include <smdebug/hook/save_arguments.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace smdebug;
using namespace smdebug::detail;

namespace {

std::string wrong_with(std::string_view name) {
    try {
        check_tensor_name(name);
    } catch (const value_error& thrown) {
        return std::string{thrown.message()};
    }
    return "";
}

}  // namespace

TEST_CASE("check_tensor_name: accepts every name that readers cannot mistake for a reduction") {
    for (const char* good : {"w", "a/b:0", "smdebug/reductions", "my-smdebug/reduction/mean/w", "w\xC3\xA4", " "}) {
        CAPTURE(good);
        CHECK(wrong_with(good).empty());
    }
}

TEST_CASE("check_tensor_name: refuses what no run can hold, and says why") {
    CHECK(wrong_with("") == "a tensor's name is empty");
    CHECK(wrong_with("w\xFF").find("not valid UTF-8") != std::string::npos);
    for (const char* reserved : {"smdebug/reductions/", "smdebug/reductions/mean/w", "smdebug/reductions/nonsense",
                                 "scalar/smdebug/reductions/mean/w", "my-smdebug/reductions/mean/w"}) {
        CAPTURE(reserved);
        CHECK(wrong_with(reserved).find("for the reductions that a hook saves") != std::string::npos);
    }
}
