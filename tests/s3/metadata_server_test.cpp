// default_credentials over libcurl, against metadata services in a separate process.
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/http/curl_transport.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/http/transport.hpp>
#include <smdebug/s3/credentials/default_credentials.hpp>

#include <support/fake_aws.hpp>
#include <support/http_server.hpp>
#include <support/temporary_folder.hpp>
#include "support/test.hpp"

#include <latch>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

// A busy machine may be slow.
constexpr s3::detail::metadata_limits patient{
    .connect_within = 60s, .answer_within = 60s, .pause = 1ms, .altogether = 300s};
const std::string roles = "/latest/meta-data/iam/security-credentials/";

/// The metadata services of http/server.py.
class metadata_server : public http_server {
public:
    /// The next requests get that status; 0: no answer.
    void fail(int status, int count) const {
        static_cast<void>(ask("/fail/" + std::to_string(status) + "/" + std::to_string(count)));
    }
    /// The number of requests for a path.
    [[nodiscard]] int count(const std::string& path) const { return std::stoi(ask("/count" + path)); }

private:
    [[nodiscard]] std::string ask(const std::string& path) const {
        const auto got = perform(transport_, {.url = url(path)});
        REQUIRE(got.status == 200);
        return std::string{as_text(got.body.view())};
    }

    curl_transport transport_;
};

struct bench {
    std::shared_ptr<std::chrono::steady_clock::time_point> steady =
        std::make_shared<std::chrono::steady_clock::time_point>(1h);

    [[nodiscard]] default_credentials credentials(variables set, s3::detail::metadata_limits limits = patient) const {
        return default_credentials{std::make_shared<curl_transport>(),
                                   {.environment = environment_of(std::move(set)),
                                    .limits = limits,
                                    .refresh = {.clock = [steady = steady] { return *steady; }}}};
    }
};

variables instance_at(const std::string& base) { return {{"AWS_EC2_METADATA_SERVICE_ENDPOINT", base}}; }

}  // namespace

TEST_CASE("metadata_server: an instance's keys, fetched, refreshed and renewed") {
    const metadata_server server;
    const bench at;
    const auto credentials = at.credentials(instance_at(server.url("/")));
    const auto now = std::chrono::system_clock::now();
    const auto id = [&](auto later) { return credentials.keys(now + later)->id; };
    CHECK(id(0h) == "issue 1");
    CHECK((credentials.keys(now)->secret == fake_secret));
    CHECK((credentials.keys(now)->token == fake_token));
    CHECK(id(5h) == "issue 1");
    CHECK(id(5h + 56min) == "issue 2");
    CHECK(id(11h) == "issue 2");
    credentials.renew();
    CHECK(id(0h) == "issue 3");
    CHECK(server.count("/latest/api/token") == 3);
    CHECK(server.count(roles) == 3);
    CHECK(server.count(roles + "trainer") == 3);
}

TEST_CASE("metadata_server: a container's keys, with a token from a file") {
    const metadata_server server;
    const bench at;
    const temporary_folder folder;
    folder.write("token", fake_bearer);
    variables set{{"AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url("/container/keys")},
                  {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", folder.path() + "/token"}};
    CHECK((at.credentials(set).keys(std::chrono::system_clock::now())->id == "issue 1"));
    CHECK(server.count("/latest/api/token") == 0);
    folder.write("token", "another");
    const std::string said =
        what_of<access_denied>([&] { static_cast<void>(at.credentials(set).keys(std::chrono::system_clock::now())); });
    CHECK(said.find("the container's endpoint at 127.0.0.1 (it answers with status 401)") != std::string::npos);
    CHECK_FALSE(tells_secrets(said));
}

TEST_CASE("metadata_server: a failure that passes is not seen") {
    const metadata_server server;
    const bench at;
    server.fail(503, 2);
    const auto credentials = at.credentials(instance_at(server.url("")));
    CHECK((credentials.keys(std::chrono::system_clock::now())->id == "issue 1"));
    CHECK(server.count("/latest/api/token") == 3);
}

TEST_CASE("metadata_server: when the service goes away, the keys serve as long as they are good") {
    metadata_server server;
    const bench at;
    const auto credentials = at.credentials(instance_at(server.url("")));
    const auto now = std::chrono::system_clock::now();
    CHECK((credentials.keys(now)->id == "issue 1"));
    server.stop();
    CHECK((credentials.keys(now + 5h + 56min)->id == "issue 1"));
    *at.steady += 15s;
    const std::string said = what_of<unavailable>([&] { static_cast<void>(credentials.keys(now + 7h)); });
    CHECK(said.find("could not be renewed: instance metadata at " + server.url("") + " (no answer: ") !=
          std::string::npos);
    CHECK_FALSE(tells_secrets(said));
}

TEST_CASE("metadata_server: without a server there are no keys") {
    metadata_server server;
    server.stop();
    const bench at;
    const std::string said = what_of<access_denied>(
        [&] { static_cast<void>(at.credentials(instance_at(server.url(""))).keys(std::chrono::system_clock::now())); });
    CHECK(said.find("instance metadata at " + server.url("") + " (no answer: ") != std::string::npos);
}

TEST_CASE("metadata_server: one that does not answer is given up") {
    const metadata_server server;
    const bench at;
    const s3::detail::metadata_limits hasty{.answer_within = 50ms, .tries = 2, .pause = 1ms};
    server.fail(0, 1000);
    const auto credentials = at.credentials(instance_at(server.url("")), hasty);
    CHECK_THROWS_AS(static_cast<void>(credentials.keys(std::chrono::system_clock::now())), access_denied);
    CHECK(server.count("/latest/api/token") <= 2);
}

TEST_CASE("metadata_server: many threads ask once") {
    const metadata_server server;
    const bench at;
    const auto credentials = at.credentials(instance_at(server.url("")));
    const auto now = std::chrono::system_clock::now();
    constexpr int crew = 8;
    std::latch all_there{crew};
    std::vector<std::string> ids(crew);
    {
        std::vector<std::jthread> threads;
        for (std::string& id : ids) {
            threads.emplace_back([&] {
                all_there.arrive_and_wait();
                id = credentials.keys(now)->id;
            });
        }
    }
    CHECK(ids == std::vector<std::string>(crew, "issue 1"));
    CHECK(server.count("/latest/api/token") == 1);
}
