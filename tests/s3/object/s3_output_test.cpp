#include <smdebug/s3/object/multipart_upload.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials.hpp>

#include "support/fake_s3.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

using client_type = s3::detail::client;
using output = s3_output;

constexpr std::size_t part = std::size_t{5} << 20U;

struct place {
    explicit place(delivery how = delivery::at_once) : server({.how = how}) {
        s3_options options = quick_options();
        options.part_bytes = part;
        options.most_uploads = 2;
        client = std::make_shared<const client_type>(s3::parse_location("s3://bucket/run"), options, server,
                                                     std::make_shared<static_credentials>(*fake_s3_options{}.keys));
    }
    [[nodiscard]] output create() const { return {client, "run/a"}; }

    fake_s3 server;
    std::shared_ptr<const client_type> client;
};

void append(output& out, const std::string& text) {
    const std::vector<byte_view> pieces{as_bytes(text)};
    out.append(pieces);
}

/// Text whose lines are all different.
std::string text_of_size(std::size_t size) {
    const std::string rest(200, ';');
    std::string text;
    text.reserve(size + 2 * rest.size());
    while (text.size() < size) {
        text += std::to_string(text.size()) + rest;
    }
    text.resize(size);
    return text;
}

}  // namespace

TEST_CASE("s3_output: a small object is one request, at commit") {
    const place at;
    output out = at.create();
    append(out, "one,");
    append(out, "two");
    CHECK(at.server.count() == 0);
    out.commit(durability::on_disk);
    CHECK(at.server.content("run/a") == "one,two");
    CHECK(at.server.count(asks_for::put) == 1);
    CHECK(at.server.count() == 1);
    at.create().commit(durability::cached);
    CHECK(at.server.content("run/a") == "");
}

TEST_CASE("s3_output: a long one is sent in parts while it is appended to, however it is cut into pieces") {
    for (const delivery how : {delivery::at_once, delivery::later}) {
        for (const std::size_t size : {part - 1, part, part + 1, 3 * part, 3 * part + 7}) {
            CAPTURE(size);
            const place at{how};
            const std::string text = text_of_size(size);
            output out = at.create();
            for (std::size_t begin = 0; begin < size; begin += 1'234'567) {
                std::string piece = text.substr(begin, 1'234'567);
                append(out, piece);
                piece.assign(piece.size(), '#');  // not needed any longer
            }
            CHECK(at.server.count(asks_for::upload_part) == size / part);
            CHECK(at.server.keys().empty());
            out.commit(durability::cached);
            CHECK((at.server.content("run/a") == text));
            CHECK(at.server.count(asks_for::upload_part) == (size < part ? 0 : (size + part - 1) / part));
            CHECK(at.server.count(asks_for::put) == (size < part ? 1 : 0));
            CHECK(at.server.most_under_way() <= 2);
            CHECK(at.server.open_uploads() == 0);
            CHECK(at.server.wrong_signatures() == 0);
        }
    }
}

TEST_CASE("s3_output: one piece of many parts") {
    const place at{delivery::later};
    const std::string text = text_of_size(4 * part + 1);
    output out = at.create();
    append(out, "x");
    append(out, text);
    out.commit(durability::cached);
    CHECK((at.server.content("run/a") == "x" + text));
}

TEST_CASE("s3_output: without a commit there is nothing, not even an upload") {
    const place at{delivery::later};
    {
        output small = at.create();
        append(small, "x");
        output large = at.create();
        append(large, text_of_size(2 * part + 5));
    }
    CHECK(at.server.keys().empty());
    CHECK(at.server.open_uploads() == 0);
    CHECK(at.server.count(asks_for::abort_upload) == 1);
}

TEST_CASE("s3_output: failures come out of append or commit, and leave nothing") {
    for (const char* step : {"uploads=", "partNumber=1", "partNumber=3", "POST"}) {
        CAPTURE(step);
        const place at;
        at.server.put("run/a", "older");
        at.server.fail_by([&](const http::request& ask, std::size_t) {
            const bool is_it = ask.url.find(step) != std::string::npos ||
                               (std::string{step} == "POST" && ask.method == http::method::post &&
                                ask.url.find("uploadId=") != std::string::npos);
            return is_it ? std::optional{s3_error(403, "AccessDenied")} : std::nullopt;
        });
        const auto write = [&] {
            output out = at.create();
            append(out, text_of_size(3 * part + 1));
            out.commit(durability::cached);
        };
        CHECK_THROWS_AS(write(), access_denied);
        CHECK(at.server.content("run/a") == "older");
        CHECK(at.server.open_uploads() == 0);
    }
}

TEST_CASE("s3_output: put_object is one request, and throws what it comes to") {
    const place at;
    s3::detail::put_object(*at.client, "run/b", as_bytes("bytes"));
    CHECK(at.server.content("run/b") == "bytes");
    at.server.fail_by(always_answer(s3_error(403, "AccessDenied")));
    CHECK_THROWS_AS(s3::detail::put_object(*at.client, "run/b", {}), access_denied);
}
