#include <smdebug/exporting/npz.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/exporting/write/output.hpp>
#include <smdebug/storage/local_storage.hpp>

using namespace smdebug;
using namespace smdebug_test;
using detail::buffered_output;
using detail::zip_limits;
using detail::zip_writer;

namespace {

// The members that this library's reader of zips, which checks checksums, finds.
std::map<std::string, std::string> members_of(const std::string& folder, const std::string& name) {
    const archive_storage archive{local_storage{folder}, name};
    REQUIRE(archive.damage().empty());
    std::map<std::string, std::string> members;
    for (const std::string& key : archive.list("", "")) {
        members[key] = as_text(archive.read(key).view());
    }
    return members;
}

}  // namespace

TEST_CASE("zip_writer: members, of one piece and several, small and large; and fields of 64 bits") {
    const temporary_folder folder;
    const std::string large(100'000, 'x');
    const std::map<std::string, std::string> wanted{
        {"a.npy", "12345"}, {"b/c:0.npy", large + "tail"}, {"empty.npy", ""}, {"\xC3\xA9.npy", "e"}};
    for (const zip_limits limits : {zip_limits{}, zip_limits{.size = 4}, zip_limits{.size = 50'000, .members = 3}}) {
        buffered_output file{folder.path() + "/x.zip"};
        zip_writer zip{file, limits};
        for (const auto& [name, text] : wanted) {
            const byte_view whole = as_bytes(std::string_view{text});
            const std::array pieces{whole.first(whole.size() / 3), whole.subspan(whole.size() / 3)};
            zip.add(name, pieces);
        }
        zip.finish();
        file.finish(durability::cached);
        CHECK(members_of(folder.path(), "x.zip") == wanted);
    }
}

TEST_CASE("zip_writer: a member whose head is known last") {
    const temporary_folder folder;
    for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{200'000}}) {
        buffered_output file{folder.path() + "/x.zip"};
        zip_writer zip{file};
        const std::string body(size, 'b');
        zip.begin("stack.npy", 4);
        zip.append(as_bytes(std::string_view{body}).first(size / 2));
        zip.append(as_bytes(std::string_view{body}).subspan(size / 2));
        zip.end(as_bytes(std::string_view{"head"}));
        zip.add("after.npy", std::vector<byte_view>{as_bytes(std::string_view{"z"})});
        zip.finish();
        file.finish(durability::cached);
        CHECK(members_of(folder.path(), "x.zip") ==
              std::map<std::string, std::string>{{"after.npy", "z"}, {"stack.npy", "head" + body}});
    }
}

TEST_CASE("zip_writer: an archive of nothing, and one of more members than 16 bits count") {
    const temporary_folder folder;
    {
        buffered_output file{folder.path() + "/none.zip"};
        zip_writer zip{file};
        zip.finish();
        file.finish(durability::cached);
        CHECK(members_of(folder.path(), "none.zip").empty());
    }
    buffered_output file{folder.path() + "/many.zip"};
    zip_writer zip{file};
    constexpr std::size_t count = 66'000;
    for (std::size_t i = 0; i < count; ++i) {
        zip.add(std::to_string(i), {});
    }
    zip.finish();
    file.finish(durability::cached);
    const archive_storage archive{local_storage{folder.path()}, "many.zip"};
    CHECK(archive.list("", "").size() == count);
}
