// A client of the fake S3, and calls to make with it: for the tests of the request pipeline.
#pragma once

#include <smdebug/s3/call/request_pipeline.hpp>

#include <smdebug/s3/credentials.hpp>

#include "support/fake_s3.hpp"
#include "support/standard.hpp"

namespace smdebug_test::pipeline {

using namespace smdebug;

inline const s3::access_keys fake_keys = *fake_s3_options{}.keys;

class asked {
public:
    explicit asked(std::shared_ptr<const http_transport> over, const s3_options& options = quick_options(),
                   std::shared_ptr<const credentials_provider> who = std::make_shared<static_credentials>(fake_keys))
        : client{s3::parse_location("s3://bucket"), options, std::move(over), std::move(who)} {}
    const s3::detail::client client;
};

inline std::string text_of(const http::response& of) { return std::string{as_text(of.body.view())}; }

inline s3::detail::call getting(std::string key) { return {.key = std::move(key)}; }

inline s3::detail::call getting_part(std::string key, byte_range wanted) {
    s3::detail::call made = getting(std::move(key));
    made.headers.push_back({"range", s3::detail::range_header(wanted)});
    made.wanted = wanted;
    made.check = [](const http::response& got, byte_range part) { return s3::detail::part_in(got, part).has_value(); };
    return made;
}

inline s3::detail::call looking(std::string key) { return {.method = http::method::head, .key = std::move(key)}; }

}  // namespace smdebug_test::pipeline
