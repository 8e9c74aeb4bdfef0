// Input from servers and settings files: listings, errors, uploads (XML), profiles, response headers, dates, escapes,
// paths.  The first byte says which reader gets the rest.
#include "support.hpp"

#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/client.hpp>
#include <smdebug/s3/call/endpoint.hpp>
#include <smdebug/s3/call/retry_decision.hpp>
#include <smdebug/s3/credentials/metadata_exchange.hpp>
#include <smdebug/s3/credentials/profile.hpp>
#include <smdebug/s3/object/listing.hpp>
#include <smdebug/s3/object/multipart_upload.hpp>
#include <smdebug/storage/uri.hpp>

#include "support/standard.hpp"

using namespace smdebug;
using namespace smdebug_fuzz;
using namespace smdebug::s3::detail;

namespace {

void check_listing(input in) {
    const exact_copy body{in.rest()};
    const auto page = parse_list_page(body.view());
    if (!page) {
        return;
    }
    demand(!page->truncated || !page->continuation.empty() || !page->entries.empty(), "there is a way to continue");
    for (const object_entry& entry : page->entries) {
        demand(!entry.key.empty() && !entry.version.empty(), "an entry has a key and a version");
    }
}

void check_error_answer(input in) {
    constexpr std::string_view secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    const s3::access_keys keys{
        .id = "AKIAIOSFODNN7EXAMPLE", .secret = std::string{secret}, .token = "FwoGZXIvYXdzEBYaD"};
    http::response answer;
    answer.status = 403;
    if ((in.take_byte() & 1U) != 0) {
        answer.headers.push_back({"x-amz-request-id", in.take_text('\n')});
        answer.headers.push_back({"x-amz-bucket-region", in.take_text('\n')});
    }
    std::string body{as_text(in.rest())};
    if (!body.empty()) {  // somewhere in it what the request was signed with
        body.insert(body.size() / 2, secret);
    }
    answer.body = byte_buffer::take(body);
    const error_answer said = parse_error_answer(answer, keys);
    demand(said.message.size() <= 300, "a message is short");
    for (const std::string* text : {&said.code, &said.message, &said.request_id, &said.region, &said.endpoint}) {
        demand(std::all_of(text->begin(), text->end(), [](char c) { return c >= ' ' && c <= '~'; }),
               "it is plain ASCII");
        for (std::size_t i = 0; i + 8 <= secret.size(); ++i) {
            demand(text->find(secret.substr(i, 8)) == std::string::npos, "it has nothing of a secret");
        }
    }
}

void check_uploads(input in) {
    const exact_copy body{in.rest()};
    if (const auto id = parse_upload_id(body.view())) {
        demand(!id->empty(), "an upload has an id");
    }
    static_cast<void>(parse_completed_upload(body.view()));
    if (const auto page = parse_upload_page(body.view())) {
        for (const upload_page::upload& one : page->uploads) {
            demand(!one.key.empty() && !one.id.empty(), "an upload has a key and an id");
        }
        demand(!page->truncated || !page->key_marker.empty(), "there is a way to continue");
    }
}

void check_profile(input in) {
    const std::string text{as_text(in.rest())};
    only_errors([&] {
        const profile_property file = parse_profile_file(text, "config");
        for (const char* name : {"default", "profile x", "services y", ""}) {
            const profile_property* const section = find_below(&file, name);
            for (const profile_property& property :
                 section != nullptr ? section->below : std::vector<profile_property>{}) {
                demand(!property.name.empty() && property.where.starts_with("config, line "),
                       "a property has name and place");
                demand(find_below(section, property.name) != nullptr, "and is found by it");
                demand(std::none_of(property.name.begin(), property.name.end(),
                                    [](char c) { return c >= 'A' && c <= 'Z'; }),
                       "which is in small letters");
            }
        }
    });
}

void check_answer(input in) {
    http::detail::response_builder builder{std::uint64_t{1} << 16U};
    const std::uint8_t how = in.take_byte();
    std::string line = in.take_text('\n');
    for (; !line.empty() && line != "\r"; line = in.take_text('\n')) {
        builder.take_line(line);
    }
    builder.take_line("\r\n");
    const std::optional<std::uint64_t> length =
        (how & 1U) != 0 ? std::optional<std::uint64_t>{in.take<std::uint32_t>()} : std::nullopt;
    std::uint64_t taken = 0;
    while (!in.empty()) {
        const byte_view piece = in.take_bytes(1U + (how >> 1U));
        std::byte* const room = builder.room_for(piece.size(), length);
        if (room == nullptr) {
            break;
        }
        std::copy(piece.begin(), piece.end(), room);
        taken += piece.size();
    }
    http::response answer = std::move(builder.made);
    answer.status = (how & 2U) != 0 ? 206 : 200;
    demand(answer.body.size() == taken, "a body is what was taken");
    for (const http::header& header : answer.headers) {
        demand(answer.find_header(header.name).has_value(), "a header is found by its name");
    }
    const byte_range wanted{how, 10};
    if (const auto part = part_in(answer, wanted)) {
        demand(part->bytes.size() <= wanted.length, "no more than what was wanted");
        demand(part->bytes.empty() || part->total >= wanted.offset + part->bytes.size(), "which lies in the object");
    }
    static_cast<void>(body_length(answer));
}

void check_words(input in) {
    const exact_copy bytes{in.rest()};
    const std::string_view text = as_text(bytes.view());
    if (const auto range = parse_content_range(text)) {
        demand(range->where.length <= range->total && range->where.offset <= range->total - range->where.length,
               "a part lies in the whole");
    }
    static_cast<void>(parse_http_date(text));
    static_cast<void>(parse_iso_time(text));
    for (const bool keeps_slashes : {false, true}) {
        const std::string encoded = percent_encoded(text, keeps_slashes);
        demand(percent_decoded(encoded) == text, "what was encoded is decoded");
    }
    if (const auto decoded = percent_decoded(text)) {
        demand(percent_decoded(percent_encoded(*decoded, false)) == *decoded, "what was decoded is encoded");
    }
    only_errors([&] { static_cast<void>(smdebug::detail::is_in_s3(text)); });
    demand(text.ends_with(smdebug::detail::archive_extension_of(text)), "an extension ends the path");
    static_cast<void>(smdebug::detail::is_data_file(text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    input in{data, size};
    constexpr void (*checks[])(input) = {check_listing, check_error_answer, check_uploads,
                                         check_profile, check_answer,       check_words};
    checks[in.take_byte() % std::size(checks)](in);
    return 0;
}
