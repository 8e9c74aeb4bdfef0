#include <smdebug/http/curl_options.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("curl_options: servers are verified, and there are not more connections than requests") {
    const curl_options defaults;
    CHECK(defaults.verify_tls);
    CHECK(defaults.ca_file.empty());
    CHECK(defaults.most_connections <= defaults.most_in_flight);
    CHECK(defaults.most_connections > 0);
}
