// An index is read exactly as it was written, or not at all, whatever happened to its file.
#include <smdebug/archive/directory/kept_index.hpp>

#include "support/archive_builder.hpp"
#include "support/sanitized.hpp"
#include "support/stored_archive.hpp"
#include "support/test.hpp"

#include <smdebug/archive/stream/codecs.hpp>
#include <smdebug/archive/stream/decoded_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>

using namespace smdebug;
using namespace smdebug::archive::detail;
using namespace smdebug_test;

namespace {

std::string noise(std::size_t length) {
    std::mt19937 random{7};
    std::string made(length, '\0');
    for (char& one : made) {
        one = static_cast<char>(random() % 50);
    }
    return made;
}

const std::shared_ptr<const codec> by_gzip = deflate_codec(deflate_wrap::gzip);
const std::shared_ptr<const codec> by_zstd = zstd_codec();
const archive_identity identity{.size = 5000, .version = "tag 1", .hash_of_ends = 77};

directory some_members() {
    directory made;
    made.members.emplace("events/000000000000/0.tfevents", member{.where = {512, 1000}, .size = 1000});
    made.members.emplace("events/000000000000/1.tfevents", member{.where = {2048, 0}, .size = 0});
    made.members.emplace("holes",
                         member{.where = {3072, 10}, .size = 10, .how = packing::refused, .why = "it has holes"});
    return made;
}

std::string text(const std::vector<std::byte>& bytes) { return std::string{as_text(bytes)}; }

bool is_same(const member& a, const member& b) {
    return a.where == b.where && a.size == b.size && a.how == b.how && a.why == b.why && a.sum == b.sum &&
           a.behind_own_head == b.behind_own_head;
}

void check_same_front(const kept_index& a, const kept_index& b) {
    CHECK(a.of == b.of);
    CHECK(a.kind == b.kind);
    CHECK(a.members.damage.empty());
    REQUIRE(a.members.members.size() == b.members.members.size());
    for (const auto& [key, file] : a.members.members) {
        CHECK(is_same(file, b.members.members.at(key)));
    }
    REQUIRE(a.spans.size() == b.spans.size());
    for (std::size_t i = 0; i < a.spans.size(); ++i) {
        CHECK(a.spans[i].begin == b.spans[i].begin);
        CHECK(a.spans[i].length == b.spans[i].length);
        CHECK(a.spans[i].sum == b.spans[i].sum);
        CHECK((a.spans[i].point == nullptr) == (b.spans[i].point == nullptr));
    }
}

std::optional<kept_index> read_back(const std::string& file, const archive_identity& of = identity,
                                    std::string_view kind = "tar.gz",
                                    const std::shared_ptr<const codec>& unpacks = by_gzip,
                                    const archive_options& options = {}) {
    return read_index(stored(file), of, kind, unpacks, options);
}

// Two spans, one with a window, and members.
kept_index small_index() {
    const std::string content = noise(40'000);
    const auto decoder = by_gzip->begin(stored(gzip_of(content)), nullptr);
    std::vector<std::byte> out(content.size());
    kept_index made{.of = identity, .kind = "tar.gz", .members = some_members()};
    made.spans.push_back({.begin = 0, .length = 1500, .sum = 4, .point = decoder->point()});
    const std::size_t length = decoder->decode(out, 200);
    REQUIRE(length > 200);
    made.spans.push_back({.begin = 1500, .length = 3500, .sum = 5, .point = decoder->point()});
    REQUIRE(made.spans[1].point != nullptr);
    return made;
}

void put(std::string& file, std::size_t place, std::uint64_t value) {
    store_le(reinterpret_cast<std::byte*>(file.data() + place), value);
}

// What a forger would do: makes the checksum of the front valid again.
void set_checksum(std::string& file) {
    const byte_view all = as_bytes(file);
    const auto front = load_le<std::uint64_t>(all.data() + 8);
    put(file, 24,
        smdebug::detail::content_hash(all.subspan(32, static_cast<std::size_t>(front)),
                                      smdebug::detail::content_hash(all.first(24))));
}

}  // namespace

TEST_CASE("kept_index: spans and points of each kind of stream come back, and are read when they are needed") {
    const std::string content = noise(5'000'000);
    const auto check = [&](const std::string& packed, const std::shared_ptr<const codec>& unpacks,
                           std::size_t least_points) {
        const auto archive = stored(packed);
        const decoded_source first{archive, unpacks};
        CHECK(first.spans().empty());
        CHECK(first.size() == content.size());
        kept_index index{.of = identity_of(*archive), .kind = "x", .members = some_members(), .spans = first.spans()};
        const std::string file = text(written(index));
        auto again = read_back(file, index.of, "x", unpacks);
        REQUIRE(again);
        check_same_front(*again, index);
        std::size_t points = 0;
        for (std::size_t i = 0; i < index.spans.size(); ++i) {
            if (index.spans[i].point != nullptr) {
                ++points;
                const auto loaded = again->spans[i].point->loaded(again->spans[i].point);
                REQUIRE(loaded != nullptr);
                CHECK(loaded->written() == index.spans[i].point->written());
            }
        }
        CHECK(points >= least_points);
        CHECK(text(written(*again)) == file);
        const decoded_source second{archive, unpacks, {.memory_bytes = 0}, {.spans = again->spans}};
        CHECK(second.size() == content.size());
        CHECK(second.counted().decoded == 0);
        for (const std::size_t place : {content.size() - 10, std::size_t{3'000'000}, std::size_t{0}}) {
            CHECK(as_text(second.read({place, 10}).view()) == content.substr(place, 10));
        }
        return second.counted().decoded;
    };
    CHECK(check(gzip_of(content), by_gzip, 4) == 3);
    CHECK(check(gzip_of(content, 300'000), by_gzip, 4) == 3);
    CHECK(check(zstd_of(content, 300'000), by_zstd, 4) == 3);
    CHECK(check(zstd_of(content), by_zstd, 1) > 3);  // from the stream's beginning on
}

TEST_CASE("kept_index: a plain archive has members alone") {
    const kept_index index{.of = identity, .kind = "tar", .members = some_members()};
    const auto again = read_back(text(written(index)), identity, "tar", nullptr);
    REQUIRE(again);
    check_same_front(*again, index);
}

TEST_CASE("kept_index: of another archive, kind or format it is none") {
    const std::string file = text(written(small_index()));
    REQUIRE(read_back(file));
    CHECK_FALSE(read_back(file, {.size = 5001, .version = "tag 1", .hash_of_ends = 77}));
    CHECK_FALSE(read_back(file, {.size = 5000, .version = "tag 2", .hash_of_ends = 77}));
    CHECK_FALSE(read_back(file, {.size = 5000, .version = "tag 1", .hash_of_ends = 78}));
    CHECK_FALSE(read_back(file, identity, "tar.zst", by_zstd));
    CHECK_FALSE(read_back(file, identity, "tar.gz", nullptr));
    CHECK_FALSE(read_back({}));
    std::string other = file;
    for (const char version : {'1', '3'}) {  // an index of version 1 lacks members and problems that are reported now
        other[5] = version;
        set_checksum(other);
        CHECK_FALSE(read_back(other));
    }
    set_checksum(other = file);
    CHECK(read_back(other));
}

TEST_CASE("identity_of: size, version, and both ends") {
    const std::string bytes = noise(300'000);
    const auto of = [](const std::string& archive) { return identity_of(*stored(archive)); };
    const archive_identity plain = of(bytes);
    CHECK(plain.size == bytes.size());
    CHECK_FALSE(plain.version.empty());
    for (const std::size_t place : {std::size_t{0}, std::size_t{65'535}, bytes.size() - 65'536, bytes.size() - 1}) {
        std::string other = bytes;
        other[place] = static_cast<char>(other[place] ^ 1);
        CHECK(of(other).hash_of_ends != plain.hash_of_ends);
    }
    CHECK(of({}).size == 0);
    CHECK(of("a").hash_of_ends != of("b").hash_of_ends);
}

TEST_CASE("kept_index: every truncation and every flipped bit: none, or a point less") {
    const kept_index index = small_index();
    const std::string file = text(written(index));
    for (std::size_t length = 0; length < file.size(); ++length) {
        CHECK_FALSE(read_back(file.substr(0, length)));
    }
    CHECK_FALSE(read_back(file + '\0'));
    const std::size_t points = 32 + static_cast<std::size_t>(load_le<std::uint64_t>(as_bytes(file).data() + 8));
    REQUIRE(points < file.size());
    for (std::size_t bit = 0; bit < file.size() * 8; bit += bit / 8 < points || !sanitized ? 1 : 37) {
        std::string wrong = file;
        wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ (1 << (bit % 8)));
        const auto again = read_back(wrong);
        REQUIRE(again.has_value() == (bit / 8 >= points));
        if (again) {
            check_same_front(*again, index);
            std::size_t lost = 0;
            for (const stream_span& each : again->spans) {
                if (each.point->loaded(each.point) == nullptr) {
                    ++lost;
                    CHECK_THROWS_AS(static_cast<void>(each.point->written()), corrupt_data);
                }
            }
            CHECK(lost == 1);
        }
    }
}

TEST_CASE("kept_index: what cannot be is not believed, though its checksum is right") {
    const auto refused = [](const auto& change) {
        kept_index index = small_index();
        change(index);
        return !read_back(text(written(index))).has_value();
    };
    const auto with = [&](const std::string& key, const member& file) {
        return refused([&](kept_index& index) { index.members.members.insert_or_assign(key, file); });
    };
    CHECK_FALSE(refused([](kept_index&) {}));
    CHECK_FALSE(with("last", member{.where = {4999, 1}, .size = 1}));
    CHECK(with("behind", member{.where = {5000, 1}, .size = 1}));
    CHECK(with("long", member{.where = {0, 5001}, .size = 5001}));
    CHECK(with("around", member{.where = {UINT64_MAX, 2}, .size = 2}));
    CHECK(with("../out", member{}));
    CHECK(with("/out", member{}));
    CHECK(with("a//b", member{}));
    CHECK(with("", member{}));
    CHECK(refused([](kept_index& index) { index.spans[0].length = 0; }));
    CHECK(refused([](kept_index& index) { index.spans[0].length = decoded_source::most_span_bytes + 1; }));
    CHECK(refused([](kept_index& index) { index.spans.clear(); }));
    const std::string file = text(written(small_index()));
    CHECK_FALSE(read_back(file, identity, "tar.gz", by_gzip, {.most_bytes = 4999}));
    CHECK_FALSE(read_back(file, identity, "tar.gz", by_gzip, {.most_members = 2}));
    CHECK(read_back(file, identity, "tar.gz", by_gzip, {.most_bytes = 5000, .most_members = 3}));
}

TEST_CASE("kept_index: every flipped bit of its front with a right checksum: none, or ranges that are inside") {
    const std::string file = text(written(small_index()));
    const std::size_t end = 32 + static_cast<std::size_t>(load_le<std::uint64_t>(as_bytes(file).data() + 8));
    int taken = 0;
    for (std::size_t bit = std::size_t{32} * 8; bit < end * 8; ++bit) {
        std::string wrong = file;
        wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ (1 << (bit % 8)));
        set_checksum(wrong);
        const auto again = read_back(wrong);
        if (!again) {
            continue;
        }
        ++taken;
        std::uint64_t length = 0;
        for (const stream_span& each : again->spans) {
            length += each.length;
            CHECK(each.length > 0);
            CHECK(each.length <= decoded_source::most_span_bytes);
        }
        for (const auto& [key, each] : again->members.members) {
            CHECK(key_of(key) == key);
            CHECK(each.where.offset + each.size <= length);
        }
    }
    CHECK(taken > 0);
    for (const std::uint64_t front : {std::uint64_t{0}, std::uint64_t{1}, UINT64_MAX, UINT64_MAX - 31}) {
        std::string wrong = file;
        put(wrong, 8, front);
        CHECK_FALSE(read_back(wrong));
    }
}
