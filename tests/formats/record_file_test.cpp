#include <smdebug/formats/record_file.hpp>

#include <smdebug/storage/memory_storage.hpp>

#include "support/log_builder.hpp"
#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;

namespace {

struct read_records {
    memory_storage files;
    detail::record_file file{"log"};
    std::vector<std::string> payloads = {};
    std::vector<std::pair<std::uint64_t, status>> damage = {};

    std::size_t read(const std::string& bytes) {
        files.write("log", as_bytes(bytes));
        return file.read(
            any_storage{files}, [&](byte_range, byte_view payload) { payloads.emplace_back(as_text(payload)); },
            [&](byte_range where, status why) { damage.emplace_back(where.offset, why); });
    }
};

}  // namespace

TEST_CASE("record_file: gives each record once, as the file grows, cut anywhere") {
    const std::string all = framed("first") + framed("") + framed("third");
    for (std::size_t cut = 0; cut <= all.size(); ++cut) {
        CAPTURE(cut);
        read_records log;
        log.read(all.substr(0, cut));
        const bool at_record =
            cut == 0 || cut == framed("first").size() || cut == framed("first").size() + 16 || cut == all.size();
        CHECK(log.file.state() == (at_record ? status::ok : status::truncated));
        log.read(all);
        CHECK(log.payloads == std::vector<std::string>{"first", "", "third"});
        CHECK(log.file.state() == status::ok);
        CHECK(log.file.position() == all.size());
        CHECK(log.read(all) == 0);
        CHECK(log.damage.empty());
    }
}

TEST_CASE("record_file: every flipped bit is a damaged record, or the end of what can be read") {
    const std::string good = framed("abc");
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        CAPTURE(bit);
        std::string bad = good;
        bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
        read_records log;
        log.read(framed("before") + bad + framed("behind"));
        REQUIRE(log.damage.size() == 1);
        CHECK(log.damage[0].first == framed("before").size());
        if (bit / 8 < 12) {
            CHECK(log.damage[0].second == status::bad_length_checksum);
            CHECK(log.payloads == std::vector<std::string>{"before"});
            CHECK(log.read(framed("before") + bad + framed("behind") + framed("more")) == 0);
        } else {
            CHECK(log.damage[0].second == status::bad_payload_checksum);
            CHECK(log.payloads == std::vector<std::string>{"before", "behind"});
        }
    }
}

TEST_CASE("record_file: no record is believed that is larger than any may be") {
    namespace crc = smdebug::record::crc32c;
    const std::string length = proto::raw(std::uint64_t{1} << 40U);
    read_records log;
    const std::string head = length + proto::raw(crc::mask(crc::value(length)));
    log.read(head + "x");
    CHECK(log.file.state() == status::truncated);
    CHECK(log.file.cut_text().starts_with("the record is cut: the file ends 10995116277"));
    CHECK(log.damage.empty());
}

TEST_CASE("record_file: a record that is larger than allowed is passed over, and is not damaged") {
    memory_storage files;
    const std::string large = framed(std::string(100, 'x'));
    files.write("log", as_bytes(framed("before") + large + framed("behind")));
    detail::record_file file{"log", 64};
    std::vector<std::string> payloads;
    std::vector<problem> problems;
    file.read(
        any_storage{files}, [&](byte_range, byte_view payload) { payloads.emplace_back(as_text(payload)); },
        [&](byte_range where, status why) {
            problems.push_back(detail::record_problem(any_storage{files}, "log", where, why));
        });
    CHECK(payloads == std::vector<std::string>{"before", "behind"});
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].kind == problem_kind::unsupported);
    CHECK(text_of(problems[0]) == "log, byte " + std::to_string(framed("before").size()) + ": the record has " +
                                      std::to_string(large.size()) + " bytes, more than allowed: it is left out");
    CHECK(file.state() == status::ok);
}

TEST_CASE("record_file: a file that is not there has no records") {
    detail::record_file none{"none"};
    CHECK(none.read(
              any_storage{memory_storage{}}, [](byte_range, byte_view) {}, [](byte_range, status) {}) == 0);
    CHECK(none.state() == status::ok);
    CHECK(none.key() == "none");
}

TEST_CASE("record_file: a file that does not begin with a record is named as what it is") {
    const std::string page(200, 'x');
    for (const auto& [begin, text] :
         {std::pair<std::string, std::string>{
              "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
              "it is a pointer of Git LFS, not the file itself: fetch that by git lfs pull"},
          {"\x1f\x8b\x08" + page, "this is not an event file (gzip: unpack it)"},
          {"<!DOCTYPE html>" + page, "this is not an event file (HTML or XML: download the file again)"},
          {"\n {\"a\": 1}" + page, "this is not an event file (JSON)"},
          {"step,loss\n" + page, "this is not an event file (text)"},
          {"\x80" + page, "the length of a record is damaged: nothing behind it can be read"}}) {
        read_records log;
        log.read(begin);
        REQUIRE(log.damage.size() == 1);
        CHECK(detail::record_problem(any_storage{log.files}, "log", {log.damage[0].first, 12}, log.damage[0].second)
                  .what == text);
    }
}
