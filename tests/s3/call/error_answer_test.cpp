#include <smdebug/s3/call/retry_decision.hpp>

#include "support/test.hpp"

#include <cctype>

using namespace smdebug;

namespace {

http::response answer_with(std::string_view body, std::vector<http::header> headers = {}) {
    http::response answer;
    answer.status = 400;
    answer.headers = std::move(headers);
    // A heap block of exactly that size: a sanitizer then sees every read beyond it.
    answer.body = byte_buffer::take(std::vector<char>(body.begin(), body.end()));
    return answer;
}

s3::detail::error_answer said_in(std::string_view body, std::vector<http::header> headers = {}) {
    return s3::detail::parse_error_answer(answer_with(body, std::move(headers)));
}

/// The message of an error that has only this text.
std::string message_in(const std::string& text) {
    return said_in("<Error><Message>" + text + "</Message></Error>").message;
}

bool is_empty(const s3::detail::error_answer& said) {
    return said.code.empty() && said.message.empty() && said.request_id.empty() && said.region.empty() &&
           said.endpoint.empty();
}

const std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const std::string ids =
    "<RequestId>4442587FB7D0A2F9</RequestId><HostId>eftixk72aD6Ap51TnqcoF8eFidJG9Z/2mkiDFu8yU9A=</HostId>";

const std::string no_such_key =
    xml + "<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>runs/x</Key>" + ids +
    "</Error>";
const std::string no_such_bucket =
    xml +
    "<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message>"
    "<BucketName>bucket</BucketName>" +
    ids + "</Error>";
const std::string redirect =
    xml +
    "<Error><Code>PermanentRedirect</Code><Message>The bucket you are attempting to access must be addressed using "
    "the specified endpoint. Please send all future requests to this endpoint.</Message>"
    "<Endpoint>bucket.s3.eu-central-1.amazonaws.com</Endpoint><Bucket>bucket</Bucket>" +
    ids + "</Error>";
const std::string malformed =
    xml +
    "<Error><Code>AuthorizationHeaderMalformed</Code><Message>The authorization header is malformed; the region "
    "'us-east-1' is wrong; expecting 'eu-central-1'</Message><Region>eu-central-1</Region>" +
    ids + "</Error>";
const std::string expired = xml +
                            "<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message>"
                            "<Token-0>FAKETOKENIQoJb3JpZ2luX2VjEFAKEFAKEFAKE//////////wEaCXVzLWVhc3QtMSJ</Token-0>" +
                            ids + "</Error>";
const std::string skewed =
    xml +
    "<Error><Code>RequestTimeTooSkewed</Code><Message>The difference between the request time and the current time "
    "is too large.</Message><RequestTime>20130524T000000Z</RequestTime><ServerTime>2013-05-24T01:00:00Z"
    "</ServerTime><MaxAllowedSkewMilliseconds>900000</MaxAllowedSkewMilliseconds>" +
    ids + "</Error>";
const std::string slow_down =
    xml + "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message>" + ids + "</Error>";
const std::string mismatch =
    xml +
    "<Error><Code>SignatureDoesNotMatch</Code><Message>The request signature we calculated does not match the "
    "signature you provided. Check your key and signing method.</Message><AWSAccessKeyId>AKIAFAKEFAKEFAKE0001"
    "</AWSAccessKeyId><StringToSign>AWS4-HMAC-SHA256\n20261121T224353Z\n20261121/us-east-1/s3/aws4_request\n"
    "144d873beeede9620c2a7b240c160c9e537587812e99ae700db80345ea4cc36a</StringToSign><SignatureProvided>"
    "ef517205e2cd88cd2a73a5325542f5d14176eabc89dcb9be9c71acc580d9c321</SignatureProvided><StringToSignBytes>41 57 "
    "53 34</StringToSignBytes><CanonicalRequest>GET\n/bucket/key\n\nhost:127.0.0.1:9000\nx-amz-content-sha256:"
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\nx-amz-security-token:FAKETOKEN"
    "</CanonicalRequest>" +
    ids + "</Error>";
const std::string of_ceph =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>InvalidAccessKeyId</Code><Message></Message><RequestId>"
    "tx0000089d0af9ca03231a4-006b021ea9-1011-default</RequestId><HostId>1011-default-default</HostId></Error>";
const std::string of_proxy =
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad "
    "Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n";

const std::vector<std::string> all{no_such_key, no_such_bucket, redirect, malformed, expired,
                                   skewed,      slow_down,      mismatch, of_ceph,   of_proxy};

/// Whether none of these is in the visible texts.
bool keeps_secrets(const s3::detail::error_answer& said) {
    const std::string shown =
        said.code + " " + said.message + " " + said.request_id + " " + said.region + " " + said.endpoint;
    for (const std::string_view secret :
         {"AKIA", "ASIA", "FAKETOKEN", "144d873b", "ef517205", "41 57", "HMAC", "GET"}) {
        if (shown.find(secret) != std::string::npos) {
            return false;
        }
    }
    return true;
}

}  // namespace

TEST_CASE("error_answer: what servers say") {
    struct row {
        const std::string& body;
        std::string_view code;
        std::string_view message;
        std::string_view request_id = "4442587FB7D0A2F9";
    };
    for (const row& each : {
             row{no_such_key, "NoSuchKey", "The specified key does not exist."},
             row{no_such_bucket, "NoSuchBucket", "The specified bucket does not exist"},
             row{slow_down, "SlowDown", "Please reduce your request rate."},
             row{skewed, "RequestTimeTooSkewed",
                 "The difference between the request time and the current time is too large."},
             row{of_ceph, "InvalidAccessKeyId", "", "tx0000089d0af9ca03231a4-006b021ea9-1011-default"},
         }) {
        CAPTURE(each.code);
        const auto said = said_in(each.body);
        CHECK(said.code == each.code);
        CHECK(said.message == each.message);
        CHECK(said.request_id == each.request_id);
        CHECK(said.region.empty());
        CHECK(said.endpoint.empty());
    }
}

TEST_CASE("error_answer: where to ask instead") {
    const auto elsewhere = said_in(redirect, {{"x-amz-bucket-region", "eu-central-1"}});
    CHECK(elsewhere.code == "PermanentRedirect");
    CHECK(elsewhere.endpoint == "bucket.s3.eu-central-1.amazonaws.com");
    CHECK(elsewhere.region == "eu-central-1");
    CHECK(said_in(redirect).region.empty());
    CHECK(said_in(malformed).region == "eu-central-1");
    CHECK(said_in(malformed).message.find("expecting 'eu-central-1'") != std::string::npos);
    // Invalid hosts and regions are dropped.
    for (const std::string bad : {"evil.example/path", "a b", "user@host", "x\r\ny", "h?q", "\xC3\xA4"}) {
        const auto said =
            said_in("<Error><Code>C</Code><Endpoint>" + bad + "</Endpoint><Region>" + bad + "</Region></Error>",
                    {{"x-amz-request-id", bad}});
        CHECK(said.code == "C");
        CHECK(said.endpoint.empty());
        CHECK(said.region.empty());
    }
    CHECK(said_in("<Error><Endpoint>[::1]:9000</Endpoint></Error>").endpoint == "[::1]:9000");
}

TEST_CASE("error_answer: headers alone, as of HEAD; they go before the body") {
    const auto alone = said_in("", {{"x-amz-request-id", "R1"}, {"x-amz-bucket-region", "eu-west-1"}, {"server", "x"}});
    CHECK(alone.code.empty());
    CHECK(alone.message.empty());
    CHECK(alone.request_id == "R1");
    CHECK(alone.region == "eu-west-1");
    const auto both = said_in(malformed, {{"x-amz-request-id", "R1"}, {"x-amz-bucket-region", "eu-west-1"}});
    CHECK(both.request_id == "R1");
    CHECK(both.region == "eu-west-1");
    CHECK(is_empty(s3::detail::parse_error_answer({})));
}

TEST_CASE("error_answer: never repeats the signed text, the key's id or the token") {
    REQUIRE_FALSE(keeps_secrets({.message = "AKIA"}));
    for (const std::string& body : all) {
        CHECK(keeps_secrets(said_in(body)));
    }
    const auto said = said_in(mismatch);
    CHECK(said.code == "SignatureDoesNotMatch");
    CHECK(said.message ==
          "The request signature we calculated does not match the signature you provided. Check your key "
          "and signing method.");
    // Also in the message itself.
    const std::string harmless =
        "User: arn:aws:iam::123456789012:user/somebody is not authorized to perform: s3:GetObject on resource: "
        "\"arn:aws:s3:::bucket/runs/000000000000_worker_0.tfevents\"";
    struct row {
        std::string text;
        std::string_view shown;
    };
    const std::vector<row> rows{
        {"The key AKIAFAKEFAKEFAKE0001 is unknown, ASIAFAKEFAKEFAKE0001, too.", "The key ... is unknown, ..., too."},
        {"Authorization: x Credential=AKIAFAKEFAKEFAKE0001/20130524/us-east-1, Signature="
         "ef517205e2cd88cd2a73a5325542f5d14176eabc89dcb9be9c71acc580d9c321",
         "Authorization: x Credential=.../20130524/us-east-1, Signature=..."},
        {"token FAKETOKENIQoJb3JpZ2luX2VjEFAKEFAKEFAKE==", "token ...=="},
        {harmless, harmless},
    };
    for (const row& each : rows) {
        CAPTURE(each.text);
        CHECK(message_in(each.text) == each.shown);
    }
}

TEST_CASE("error_answer: messages are one line of printable characters, cut at 300") {
    CHECK(message_in(" two\r\n\t lines \n") == "two lines");
    CHECK(message_in("a\x1b[31mb\x7f\xC3\xA4") == "a?[31mb???");
    CHECK(message_in(" \n").empty());
    std::string words;
    for (int number = 0; number < 100; ++number) {
        words += "word ";
    }
    CHECK(message_in(words.substr(0, 299)) == words.substr(0, 299));
    CHECK(message_in(words.substr(0, 301)).size() == 300);
    CHECK(message_in(words.substr(0, 301)).ends_with("..."));
    CHECK(message_in(words).size() == 300);
    CHECK(message_in(words).starts_with("word word "));
    std::string odd;
    for (int number = 0; number < 500; ++number) {
        odd += '\xFF';
    }
    CHECK(message_in(odd) == std::string(297, '?') + "...");
    // A code is a single word.
    CHECK(said_in("<Error><Code>a b</Code></Error>").code.empty());
    CHECK(said_in("<Error><Code>" + std::string(129, 'x') + "</Code></Error>").code.empty());
    CHECK(said_in("<Error><Code>Client.Bad_Thing-1</Code></Error>").code == "Client.Bad_Thing-1");
}

TEST_CASE("error_answer: a page in HTML has a title at best") {
    const auto said = said_in(of_proxy, {{"content-type", "text/html"}});
    CHECK(said.code.empty());
    CHECK(said.message == "502 Bad Gateway");
    struct row {
        std::string_view page;
        std::string_view title;
    };
    for (const row& each : {
             row{"<!DOCTYPE html><HTML><HEAD><TITLE>\n ERROR:  The URL </TITLE><p>", "ERROR: The URL"},
             row{"<title>key AKIAFAKEFAKEFAKE0001</title>", "key ..."},
             row{"<html><h1>Bad Request</h1><p>The server could not comply.</p></html>", ""},
             row{"<html><head><title>cut of", ""},
             row{"<html><head><title></title></head></html>", ""},
         }) {
        CAPTURE(each.page);
        CHECK(said_in(each.page).message == each.title);
        CHECK(is_empty(said_in(each.page)) == each.title.empty());
    }
}

TEST_CASE("error_answer: every prefix of each says nothing wrong, and of XML nothing") {
    for (const std::string& whole : all) {
        for (std::size_t length = 0; length < whole.size(); ++length) {
            CAPTURE(whole.substr(0, length));
            const auto said = said_in(whole.substr(0, length));
            CHECK((is_empty(said) || &whole == &all.back()));
            CHECK((said.message.empty() || said.message == "502 Bad Gateway"));
        }
    }
}

TEST_CASE("error_answer: garbage, and bodies without end") {
    for (const std::string& body :
         {std::string{}, std::string{"null"}, std::string{"{\"code\": \"NoSuchKey\"}"},
          std::string{"<Fault><Code>NoSuchKey</Code></Fault>"}, std::string(1000, '\0'), std::string(1000, '<')}) {
        CAPTURE(body);
        CHECK(is_empty(said_in(body)));
    }
    std::string bytes;
    unsigned state = 1;
    for (int number = 0; number < 100000; ++number) {
        state = state * 1664525U + 1013904223U;
        bytes += static_cast<char>(state >> 24U);
    }
    (void)said_in(bytes);
    (void)said_in("<Error>" + bytes);
    // Only the beginning is read.
    CHECK(is_empty(said_in("<Error><Code>C</Code>" + std::string(70000, ' ') + "</Error>")));
    CHECK(said_in("<Error><Code>C</Code>" + std::string(60000, ' ') + "</Error>").code == "C");
}

// Keys in echoed requests --------------------------------------------------------------------------------------------

namespace {

/// Random texts from a fixed seed.
class chance {
public:
    explicit chance(unsigned seed) : random_(seed) {}
    std::size_t below(std::size_t end) { return random_() % end; }
    std::string of(std::string_view letters, std::size_t length) {
        std::string made;
        while (made.size() < length) {
            made += letters[below(letters.size())];
        }
        return made;
    }
    s3::access_keys keys() {
        constexpr std::string_view capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
        constexpr std::string_view base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        return {.id = (below(2) == 0 ? "ASIA" : "") + of(capitals, 15),
                .secret = of(base64, 40),
                .token = below(4) == 0 ? "" : of(base64, 20 + below(200)) + "=="};
    }
    /// A random piece of a text, possibly all of it.
    std::string cut(const std::string& whole) {
        const std::size_t from = below(2) == 0 ? 0 : below(whole.size() + 1);
        return whole.substr(from, below(2) == 0 ? whole.size() : below(60));
    }
    /// The same text in another encoding.
    std::string written(const std::string& text) {
        const std::size_t how = below(9);
        std::string made;
        for (const char c : text) {
            const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
            std::array<char, 16> held{};
            const char* form = nullptr;
            switch (how) {
                case 1:
                    form = is_plain ? nullptr : "%%%02X";
                    break;
                case 2:
                    form = "%%%02x";
                    break;
                case 3:
                    form = is_plain ? nullptr : "%%25%02X";
                    break;
                case 4:
                    form = is_plain ? nullptr : "&#%u;";
                    break;
                case 5:
                    form = below(3) == 0 ? "&#x%x;" : nullptr;
                    break;
                case 6:
                    made += below(4) == 0 ? "\n" : "";
                    break;
                case 7:
                    made += below(3) == 0 ? " - " : "";
                    break;
                case 8:
                    form = is_plain ? nullptr : "\\u%04x";
                    break;
                default:
                    break;
            }
            if (form == nullptr) {
                made += c;
            } else {
                std::snprintf(held.data(), held.size(), form, static_cast<unsigned>(static_cast<unsigned char>(c)));
                made += held.data();
            }
        }
        return made;
    }
    std::string message(const s3::access_keys& keys) {
        constexpr std::array words{"The ", "request ", "you sent: ", "Credential=", "/20130524/us-east-1 ",
                                   "<",    "&",        "... ",       "'",           " "};
        std::string made;
        for (std::size_t pieces = 1 + below(20); pieces > 0; --pieces) {
            const std::size_t which = below(6);
            const std::string& secret = which == 0 ? keys.id : which == 1 ? keys.secret : keys.token;
            made += which < 3 ? written(cut(secret)) : words[below(words.size())];
            made += below(30) == 0 ? std::string(below(400), 'x') + " " : "";
        }
        return made;
    }

private:
    std::mt19937 random_;
};

std::string for_xml(const std::string& text) {
    std::string made;
    for (const char c : text) {
        made += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string{c};
    }
    return made;
}

/// Only letters and digits, in lower case; "..." stays.
std::string bare(const std::string& text) {
    std::string made;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto c = static_cast<unsigned char>(text[at]);
        if (std::isalnum(c) != 0) {
            made += static_cast<char>(std::tolower(c));
        } else if (text.compare(at, 3, "...") == 0) {
            made += '.';
        }
    }
    return made;
}

/// The first five characters of a secret that occur in a text.
std::string piece_in(const std::string& text, const std::string& secret) {
    for (std::size_t at = 0; at + 5 <= text.size(); ++at) {
        if (secret.find(text.substr(at, 5)) != std::string::npos) {
            return text.substr(at, 5);
        }
    }
    return {};
}

}  // namespace

TEST_CASE("error_answer: no piece of the keys comes out, however a server repeats them and wherever it is cut") {
    chance by{1};
    for (int round = 0; round < 250; ++round) {
        const s3::access_keys keys = by.keys();
        const std::string message = by.message(keys);
        const std::string id = by.written(by.cut(keys.id + keys.token));
        const std::string page = by.below(3) == 0 ? "<html><title>" + message + "</title></html>"
                                                  : "<Error><Code>" + for_xml(by.below(5) == 0 ? id : "AccessDenied") +
                                                        "</Code><Message>" + for_xml(message) +
                                                        "</Message><RequestId>" + for_xml(id) + "</RequestId></Error>";
        const auto answer = by.below(2) == 0 ? answer_with(page) : answer_with(page, {{"x-amz-request-id", id}});
        const s3::detail::error_answer said = s3::detail::parse_error_answer(answer, keys);
        const std::array texts{said.code, said.message, said.request_id};
        for (const std::string& shown : texts) {
            for (const std::string& secret : {keys.id, keys.secret, keys.token}) {
                // A word may happen to be in a key, if case is ignored.
                const bool is_word = &shown == &texts.front() && shown == "AccessDenied";
                const std::string found =
                    is_word ? std::string{} : piece_in(shown, secret) + piece_in(bare(shown), bare(secret));
                if (!found.empty()) {
                    CAPTURE(page);
                    CAPTURE(shown);
                    CAPTURE(secret);
                    CHECK(found == "");
                }
            }
        }
    }
}

TEST_CASE("error_answer: a host or a region with a piece of the keys in it is none") {
    const s3::access_keys keys{
        "AKIAIOSFODNN7EXAMPL", "wJalrXUtnFEMIxK7MDENGxbPxRfiCYEXAMPLEKEY", "IQoJb3Jp/Z2luX2V/jEFk+zz", {}};
    for (const std::string& secret : {keys.id, keys.secret}) {
        const std::string piece = secret.substr(8, 8);
        const auto said =
            s3::detail::parse_error_answer(answer_with("<Error><Code>C</Code><Region>eu-" + piece +
                                                       "</Region><Endpoint>b." + piece + ".com</Endpoint></Error>"),
                                           keys);
        CHECK(said.region.empty());
        CHECK(said.endpoint.empty());
        CHECK(s3::detail::parse_error_answer(answer_with("", {{"x-amz-bucket-region", piece}}), keys).region.empty());
    }
    const auto said = s3::detail::parse_error_answer(
        answer_with("<Error><Region>eu-west-1</Region><Endpoint>b.s3.amazonaws.com</Endpoint></Error>"), keys);
    CHECK(said.region == "eu-west-1");
    CHECK(said.endpoint == "b.s3.amazonaws.com");
}

TEST_CASE("error_answer: a key that the end of a message cuts is hidden, too") {
    const s3::access_keys keys{
        "AKIAIOSFODNN7EXAMPL", "wJalrXUtnFEMIxK7MDENGxbPxRfiCYEXAMPLEKEY", "IQoJb3Jp/Z2luX2V/jEFk+zz", {}};
    for (std::size_t before = 270; before < 302; ++before) {
        for (const std::string& secret : {keys.id, keys.secret, keys.token}) {
            const std::string words = std::string(before, '-') + secret;
            const auto said = s3::detail::parse_error_answer(
                answer_with("<Error><Code>C</Code><Message>" + words + "</Message></Error>"), keys);
            CHECK(piece_in(said.message, secret).empty());
            CHECK(said.code == "C");
        }
    }
    // The code is acted upon, so it must not change.
    const s3::access_keys odd{"KEYID", "secret", "token", {}};
    CHECK(s3::detail::parse_error_answer(answer_with("<Error><Code>InvalidAccessKeyId</Code></Error>"), odd).code ==
          "InvalidAccessKeyId");
}
