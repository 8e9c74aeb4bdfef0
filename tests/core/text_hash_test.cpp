#include <smdebug/core/text_hash.hpp>

#include "support/test.hpp"

#include <unordered_map>

TEST_CASE("text_hash: a view finds an equal string") {
    std::unordered_map<std::string, int, smdebug::detail::text_hash, std::equal_to<>> map{{"weights", 1}, {"", 2}};
    CHECK(map.find(std::string_view{"weights and biases"}.substr(0, 7))->second == 1);
    CHECK(map.find(std::string_view{})->second == 2);
    CHECK(map.find(std::string_view{"biases"}) == map.end());
}
