#include <smdebug/archive/pack.hpp>

#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::archive::detail;

namespace {

any_storage holding(const std::vector<std::string>& keys) {
    memory_storage store;
    for (const std::string& key : keys) {
        store.write(key, as_bytes(key));
    }
    return any_storage{store};
}

}  // namespace

TEST_CASE("files_of: run by run, what says what is there first, then event files by step") {
    const std::vector<any_storage> runs{
        holding({"events/000000000002/2_w0.tfevents", "index/000000000/2_w0.json", "events/000000000001/1_w0.tfevents",
                 "collections/000000000/c.json", "END_OF_JOB"}),
        holding({"index/000000000/0_w0.json"})};
    std::vector<std::string> names;
    for (const packed_file& file : files_of(runs)) {
        names.push_back(std::to_string(file.run) + "/" + file.key);
        CHECK(file.size == file.key.size());
    }
    CHECK(names == std::vector<std::string>{"0/END_OF_JOB", "0/collections/000000000/c.json",
                                            "0/index/000000000/2_w0.json", "0/events/000000000001/1_w0.tfevents",
                                            "0/events/000000000002/2_w0.tfevents", "1/index/000000000/0_w0.json"});
    CHECK_THROWS_AS(static_cast<void>(files_of(std::vector{holding({"notes.txt"})})), not_found);
    CHECK_THROWS_AS(static_cast<void>(files_of(std::vector{holding({})})), not_found);
}

TEST_CASE("frame_cutter: each byte once, in order; large files begin with a frame") {
    const std::uint64_t large = 9'000'000;
    std::vector<packed_file> files;
    for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{100}, large, std::uint64_t{5}, std::uint64_t{7},
                                     std::uint64_t{300'000}, std::uint64_t{1} << 22U, std::uint64_t{0}}) {
        files.push_back({.key = "k", .size = size});
    }
    files.insert(files.end(), 100, {.key = "small", .size = 200'000});
    std::vector<std::uint64_t> reached(files.size(), 0);
    std::vector<int> heads(files.size(), 0);
    frame_cutter cutter{files};
    std::size_t last = 0;
    for (auto parts = cutter.next(); !parts.empty(); parts = cutter.next()) {
        std::uint64_t bytes = 0;
        for (const packed_part& part : parts) {
            CHECK(part.file >= last);
            last = part.file;
            CHECK(part.where.offset == reached[part.file]);
            reached[part.file] += part.where.length;
            heads[part.file] += part.has_head ? 1 : 0;
            bytes += part.where.length;
            if (part.has_head && files[part.file].size > frame_cutter::small_bytes) {
                CHECK(&part == parts.data());
            }
        }
        CHECK(bytes <= frame_cutter::most_bytes);
        CHECK(parts.size() <= 7);  // of 200,000 bytes each, until there are enough
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
        CHECK(reached[i] == files[i].size);
        CHECK(heads[i] == 1);
    }
}
