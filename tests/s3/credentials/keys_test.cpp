#include <smdebug/s3/credentials.hpp>

#include "support/test.hpp"

#include <ostream>

using namespace smdebug;

namespace {

template <class T>
concept printable = requires(std::ostream& out, const T& value) { out << value; };

}  // namespace

TEST_CASE("access_keys: are equal in every part, and cannot be printed") {
    static_assert(printable<int>);
    static_assert(!printable<s3::access_keys>);
    const s3::access_keys keys{"FAKEID", "fakesecret", "faketoken", std::chrono::system_clock::time_point{}};
    CHECK(keys == s3::access_keys{keys});
    for (auto part : {&s3::access_keys::id, &s3::access_keys::secret, &s3::access_keys::token}) {
        s3::access_keys other = keys;
        other.*part += "x";
        CHECK_FALSE(keys == other);
    }
    s3::access_keys lasting = keys;
    lasting.expires.reset();
    CHECK_FALSE(keys == lasting);
    CHECK(s3::access_keys{} == s3::access_keys{.id = "", .secret = "", .token = "", .expires = {}});
}

TEST_CASE("hide_keys: nothing of the keys stays in a text, however often it stands there") {
    const s3::access_keys keys{.id = "test:tester", .secret = "fake/secret", .token = "fake+token=="};
    std::string text = "test:tester asked with fake+token==, test:tester; fake/secretfake/secret";
    s3::hide_keys(text, keys);
    CHECK(text == "... asked with ..., ...; ......");
    std::string other = "nothing of it";
    s3::hide_keys(other, keys);
    s3::hide_keys(other, {});
    CHECK(other == "nothing of it");
}
