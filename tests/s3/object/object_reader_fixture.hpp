// An object reader over the fake S3, and texts to read: for the tests of the object reader.
#pragma once

#include <smdebug/s3/object/object_reader.hpp>

#include <smdebug/s3/credentials.hpp>

#include "support/fake_s3.hpp"
#include "support/test.hpp"

namespace smdebug_test::parts {

using namespace smdebug;

inline constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

inline s3_options in_parts(std::uint64_t part_bytes, std::size_t most_requests = 4) {
    s3_options options = quick_options();
    options.part_bytes = part_bytes;
    options.most_requests = most_requests;
    options.merge_gap = 0;
    options.retry.most_attempts = 3;
    return options;
}

/// A server with objects under "run/", and readers of them.
struct place {
    explicit place(const s3_options& options = in_parts(10), fake_s3_options how = {},
                   const char* where = "s3://bucket/run")
        : server(how),
          client{s3::parse_location(where), options, server,
                 std::make_shared<static_credentials>(*fake_s3_options{}.keys)} {}

    [[nodiscard]] s3::detail::object_reader reader() const { return s3::detail::object_reader{client}; }
    void put(const std::string& key, std::string content) const { server.put("run/" + key, std::move(content)); }
    [[nodiscard]] std::string read(std::string_view key, byte_range where = {0, most}) const {
        const auto bytes = reader().read(key, where);
        return bytes ? std::string{as_text(bytes->view())} : "nothing";
    }
    /// Results of read_each.
    [[nodiscard]] std::vector<std::string> read_each(const std::vector<std::string>& keys) const {
        std::vector<std::string> texts;
        reader().read_each(keys, [&](std::size_t i, std::optional<byte_view> bytes, const object_version&) {
            CHECK(i == texts.size());
            texts.push_back(bytes ? std::string{as_text(*bytes)} : "nothing");
        });
        return texts;
    }
    /// Results of read_ranges.
    [[nodiscard]] std::vector<std::string> read_ranges(const std::vector<object_range>& ranges) const {
        std::vector<std::string> texts;
        reader().read_ranges(ranges, [&](std::size_t i, std::optional<byte_buffer> bytes, const object_version&) {
            CHECK(i == texts.size());
            texts.push_back(bytes ? std::string{as_text(bytes->view())} : "nothing");
        });
        return texts;
    }

    fake_s3 server;
    s3::detail::client client;
};

inline std::string text_of_size(std::size_t size, unsigned seed = 1) {
    std::minstd_rand random{seed};
    std::string text;
    for (std::size_t i = 0; i < size; ++i) {
        text += static_cast<char>('a' + random() % 26);
    }
    return text;
}

inline std::string cut(const std::string& text, byte_range where) {
    return where.offset < text.size() ? text.substr(where.offset, std::min<std::uint64_t>(where.length, text.size()))
                                      : std::string{};
}

}  // namespace smdebug_test::parts
