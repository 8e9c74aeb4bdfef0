// A compressed stream can be read at any offset, after any other reads and with any amount of memory.
#include <smdebug/archive/stream/decoded_source.hpp>

#include "support/archive_builder.hpp"
#include "support/stored_archive.hpp"
#include "support/test.hpp"

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/archive/stream/codecs.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug::archive::detail;
using namespace smdebug_test;

namespace {

// Partly compressible; every place differs from all others.
const std::string& content() {
    static const std::string text = [] {
        std::string made;
        std::mt19937 random{11};
        while (made.size() < (std::size_t{9} << 20U)) {
            if (random() % 3 == 0) {
                made.append(static_cast<std::size_t>(random() % 3000), 'x');
            } else {
                for (auto left = static_cast<unsigned>(random() % 2000); left > 0; --left) {
                    made += static_cast<char>(random() & 0xFU);
                }
            }
        }
        return made;
    }();
    return text;
}

std::shared_ptr<const codec> by_gzip_codec() { return deflate_codec(deflate_wrap::gzip); }
std::shared_ptr<const codec> by_zstd_codec() { return zstd_codec(); }

void check_part(const decoded_source& source, std::uint64_t offset, std::uint64_t length) {
    CAPTURE(offset);
    CAPTURE(length);
    const std::string wanted = offset < content().size() ? content().substr(offset, length) : std::string{};
    CHECK(as_text(source.read({offset, length}).view()) == wanted);
}

void check_anywhere(const decoded_source& source) {
    std::mt19937 random{3};
    for (int i = 0; i < 60; ++i) {
        check_part(source, random() % content().size(), random() % 3 == 0 ? random() % 5'000'000 : random() % 5000);
    }
    check_part(source, content().size() - 1, 10);
    check_part(source, content().size(), 10);
    check_part(source, UINT64_MAX, UINT64_MAX);
    check_part(source, 0, UINT64_MAX);
    CHECK(source.size() == content().size());
}

const archive_options little_memory{.memory_bytes = 0};

// A "format" without compression, in spans of a thousand bytes whose points claim a mebibyte each.
class thick_codec final : public codec {
public:
    static constexpr std::size_t span_bytes = 1000;

    struct thick_point final : access_point {
        explicit thick_point(std::uint64_t at) : place(at) {}
        [[nodiscard]] std::size_t cost() const noexcept override { return std::size_t{1} << 20U; }
        [[nodiscard]] std::vector<std::byte> written() const override { return {}; }
        std::uint64_t place;
    };
    class thick_decoder final : public decoder {
    public:
        thick_decoder(std::shared_ptr<const byte_source> packed, std::uint64_t at)
            : packed_(std::move(packed)), place_(at) {}
        [[nodiscard]] std::size_t decode(std::span<std::byte> out, std::size_t /*enough*/) override {
            const byte_buffer bytes = packed_->read({place_, std::min(out.size(), span_bytes)});
            std::copy(bytes.view().begin(), bytes.view().end(), out.begin());
            place_ += bytes.size();
            return bytes.size();
        }
        [[nodiscard]] std::uint64_t consumed() const noexcept override { return place_; }
        [[nodiscard]] std::shared_ptr<const access_point> point() const override {
            return std::make_shared<thick_point>(place_);
        }

    private:
        std::shared_ptr<const byte_source> packed_;
        std::uint64_t place_;
    };

    [[nodiscard]] std::unique_ptr<decoder> begin(std::shared_ptr<const byte_source> packed,
                                                 const access_point* from) const override {
        const auto* const point = dynamic_cast<const thick_point*>(from);
        return std::make_unique<thick_decoder>(std::move(packed), point != nullptr ? point->place : 0);
    }
    [[nodiscard]] std::shared_ptr<const access_point> restore(byte_view /*written*/) const override { return nullptr; }
    [[nodiscard]] std::string_view name() const noexcept override { return "thick"; }
    [[nodiscard]] std::optional<std::uint64_t> part_end(const byte_source& /*packed*/,
                                                        std::uint64_t /*begin*/) const override {
        return std::nullopt;
    }
    [[nodiscard]] bool gains_by_threads() const noexcept override { return false; }
    [[nodiscard]] std::shared_ptr<const access_point> part_point(std::uint64_t /*begin*/) const override {
        return nullptr;
    }
};

}  // namespace

TEST_CASE("decoded_source: any part of a stream, in one member or many, in one frame or many") {
    for (const bool little : {false, true}) {
        CAPTURE(little);
        const archive_options options = little ? little_memory : archive_options{};
        check_anywhere(decoded_source{stored(gzip_of(content())), by_gzip_codec(), options});
        check_anywhere(decoded_source{stored(gzip_of(content(), 300'000)), by_gzip_codec(), options});
        check_anywhere(decoded_source{stored(gzip_of(content(), std::string_view::npos, 0)), by_gzip_codec(), options});
        check_anywhere(decoded_source{stored(zstd_of(content())), by_zstd_codec(), options});
        check_anywhere(decoded_source{stored(zstd_of(content(), 300'000)), by_zstd_codec(), options});
    }
}

TEST_CASE("decoded_source: in order each span is inflated once; what memory holds is not inflated again") {
    const decoded_source source{stored(gzip_of(content())), by_gzip_codec()};
    for (std::uint64_t place = 0; place < content().size(); place += 100'000) {
        check_part(source, place, 100'000);
    }
    const auto once = source.counted();
    CHECK(once.spans >= 5);
    CHECK(once.decoded == once.spans);
    CHECK(once.points > 1);
    check_part(source, 5, 100);
    CHECK(source.counted().decoded == once.decoded);
}

TEST_CASE("decoded_source: without memory, one frame in order is inflated twice, not once a span") {
    const decoded_source source{stored(zstd_of(content())), by_zstd_codec(), little_memory};
    CHECK(source.size() == content().size());
    const auto once = source.counted();
    CHECK(once.points == 1);
    for (std::uint64_t place = 0; place < content().size(); place += 50'000) {
        check_part(source, place, 50'000);
    }
    CHECK(source.counted().decoded <= 2 * once.decoded);
}

TEST_CASE("decoded_source: a part behind an access point does not inflate what is before it") {
    const decoded_source source{stored(gzip_of(content())), by_gzip_codec(), little_memory};
    CHECK(source.size() == content().size());
    const auto before = source.counted();
    CHECK(before.points == before.spans);
    check_part(source, content().size() / 2, 10);
    CHECK(source.counted().decoded == before.decoded + 1);
}

TEST_CASE("decoded_source: every other access point is dropped until their memory is within the limit") {
    const std::string text = content().substr(0, 100 * thick_codec::span_bytes);
    const decoded_source source{stored(text), std::make_shared<thick_codec>(), little_memory};
    CHECK(as_text(source.read({0, UINT64_MAX}).view()) == text);
    CHECK(source.counted().spans == 100);
    CHECK(source.counted().points == 25);        // of 32 MiB: every fourth
    for (std::size_t span = 100; span-- > 0;) {  // from the end, so that no decoder stands before the span
        CAPTURE(span);
        const std::size_t before = source.counted().decoded;
        const std::uint64_t begin = span * thick_codec::span_bytes + 10;
        CHECK(as_text(source.read({begin, 20}).view()) == text.substr(begin, 20));
        CHECK(source.counted().decoded - before <= span % 4 + 1);  // from the previous point on
    }
}

TEST_CASE("decoded_source: threads read anywhere at once") {
    for (const bool little : {false, true}) {
        const decoded_source source{stored(gzip_of(content())), by_gzip_codec(),
                                    little ? little_memory : archive_options{}};
        std::atomic<int> wrong = 0;
        {
            std::vector<std::jthread> readers;
            for (unsigned seed = 0; seed < 4; ++seed) {
                readers.emplace_back([&, seed] {
                    std::mt19937 random{seed};
                    for (int i = 0; i < 20; ++i) {
                        const std::size_t offset = random() % content().size();
                        wrong += as_text(source.read({offset, 1000}).view()) == content().substr(offset, 1000) ? 0 : 1;
                    }
                });
            }
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("decoded_source: a cut stream can be read up to its end; each read after that is an error") {
    for (const bool by_zstd : {false, true}) {
        CAPTURE(by_zstd);
        const std::string packed = by_zstd ? zstd_of(content()) : gzip_of(content());
        const decoded_source source{stored(packed.substr(0, packed.size() / 2)),
                                    by_zstd ? by_zstd_codec() : by_gzip_codec()};
        check_part(source, 0, 1'000'000);
        for (int i = 0; i < 2; ++i) {
            CHECK_THROWS_AS(static_cast<void>(source.read({content().size() - 100, 10})), corrupt_data);
            CHECK_THROWS_AS(static_cast<void>(source.size()), corrupt_data);
        }
        check_part(source, 1'000'000, 10);
    }
}

TEST_CASE("decoded_source: what inflates to more than is allowed is refused where that shows") {
    const std::string zeros(std::size_t{80} << 20U, '\0');
    const std::string packed = gzip_of(zeros);
    const decoded_source dense{stored(packed), by_gzip_codec(), {.most_ratio = 500}};
    CHECK_THROWS_AS(static_cast<void>(dense.size()), corrupt_data);
    CHECK(dense.read({0, 10}).size() == 10);
    const decoded_source allowed{stored(packed), by_gzip_codec(), {.most_ratio = 5000}};
    CHECK(allowed.size() == zeros.size());
    const decoded_source large{stored(packed), by_gzip_codec(), {.most_ratio = 5000, .most_bytes = 1'000'000}};
    CHECK_THROWS_AS(static_cast<void>(large.size()), corrupt_data);
}

TEST_CASE("decoded_source: kept spans are read as others; a point that is gone is made up for by the one before it") {
    struct lost_point final : access_point {
        [[nodiscard]] std::size_t cost() const noexcept override { return 1; }
        [[nodiscard]] std::vector<std::byte> written() const override { return {}; }
        [[nodiscard]] std::shared_ptr<const access_point> loaded(
            std::shared_ptr<const access_point> /*self*/) const override {
            return nullptr;
        }
    };
    const auto packed = stored(gzip_of(content()));
    const decoded_source first{packed, by_gzip_codec()};
    CHECK(first.size() == content().size());
    for (const bool all : {false, true}) {
        kept_stream kept{.spans = first.spans()};
        for (std::size_t i = 0; i < kept.spans.size(); ++i) {
            if (all || i % 2 == 1) {
                kept.spans[i].point = std::make_shared<lost_point>();
            }
        }
        const decoded_source second{packed, by_gzip_codec(), little_memory, kept};
        check_part(second, kept.spans[3].begin + 5, 10);
        CHECK(second.counted().decoded == (all ? 4 : 2));
        check_anywhere(second);
    }
}

TEST_CASE("decoded_source: kept spans of another stream are an error at the first read, with advice") {
    const auto packed = stored(gzip_of(content()));
    const decoded_source first{packed, by_gzip_codec()};
    CHECK(first.size() == content().size());
    std::string other = content();
    other[other.size() / 2] = static_cast<char>(other[other.size() / 2] ^ 1);
    for (const std::string& bytes : {gzip_of(other), gzip_of(content()).substr(0, 1'000'000), std::string(5000, 'x')}) {
        int told = 0;
        const kept_stream kept{.spans = first.spans(), .is_wrong = [&] {
                                   ++told;
                                   return std::string{"do this"};
                               }};
        const decoded_source second{stored(bytes), by_gzip_codec(), {}, kept};
        CHECK_THROWS_WITH_AS(static_cast<void>(second.read({0, UINT64_MAX})),
                             doctest::Contains("is not what was kept of it: do this"), unavailable);
        CHECK(told == 1);
    }
}

TEST_CASE("decoded_source: a stream that is another when it is inflated again is unavailable") {
    memory_storage store;
    store.write("a", as_bytes(gzip_of(content())));
    const auto packed = std::make_shared<stored_source>(store, "a");
    const decoded_source source{packed, by_gzip_codec(), little_memory};
    CHECK(source.size() == content().size());
    std::string other = content();
    std::reverse(other.begin(), other.end());
    store.write("a", as_bytes(gzip_of(other)));
    CHECK_THROWS_AS(static_cast<void>(source.read({0, 10})), unavailable);
}
