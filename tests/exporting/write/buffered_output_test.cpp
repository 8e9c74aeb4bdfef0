#include <smdebug/exporting/write/output.hpp>

#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>

using namespace smdebug;
using namespace smdebug_test;
using detail::buffered_output;

namespace {

byte_view bytes_of(const std::string& text) { return as_bytes(std::string_view{text}); }

std::string some_text(std::size_t size) {
    std::string text(size, '\0');
    std::size_t number = size;
    std::generate(text.begin(), text.end(), [&] { return static_cast<char>('a' + (number = number * 31 + 7) % 26); });
    return text;
}

}  // namespace

TEST_CASE("buffered_output: small and large pieces, in order, and the file appears when it is whole") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/a/b.bin";
    std::string wanted;
    buffered_output out{path};
    for (const std::size_t size : {std::size_t{1}, std::size_t{0}, std::size_t{200'000}, std::size_t{3},
                                   std::size_t{32'767}, std::size_t{32'768}, std::size_t{5}}) {
        const std::string piece = some_text(size);
        out.append(piece);
        wanted += piece;
        CHECK(out.size() == wanted.size());
    }
    for (int i = 0; i < 20'000; ++i) {
        out.append("line 17\n");
        wanted += "line 17\n";
    }
    CHECK_FALSE(std::filesystem::exists(path));
    out.finish(durability::on_disk);
    CHECK(file_content(path) == wanted);
}

TEST_CASE("buffered_output: appended bytes can be overwritten, on disk and while still buffered") {
    const temporary_folder folder;
    std::string wanted = some_text(300'000);
    buffered_output out{folder.path() + "/x"};
    out.append(wanted.substr(0, 100'000));
    out.append(wanted.substr(100'000));
    out.append("tail of a few bytes");
    wanted += "tail of a few bytes";
    for (const std::size_t at : {std::size_t{0}, std::size_t{99'998}, std::size_t{300'001}, std::size_t{299'999}}) {
        out.overwrite(at, bytes_of("NEW"));
        wanted.replace(at, 3, "NEW");
    }
    out.append("end");
    out.finish(durability::cached);
    CHECK(file_content(folder.path() + "/x") == wanted + "end");
}

TEST_CASE("buffered_output: room is made by moving what follows") {
    const temporary_folder folder;
    for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{9'000'000}}) {
        for (const std::size_t distance : {std::size_t{1}, std::size_t{5'000'000}}) {
            const std::string body = some_text(size);
            buffered_output out{folder.path() + "/x"};
            out.append("head");
            out.append(body);
            out.make_room(4, distance);
            CHECK(out.size() == 4 + distance + size);
            const std::string gap(distance, 'g');
            out.overwrite(4, bytes_of(gap));
            out.append("end");
            out.finish(durability::cached);
            CHECK((file_content(folder.path() + "/x") == "head" + gap + body + "end"));
        }
    }
}

TEST_CASE("buffered_output: nothing is left of an abandoned file") {
    const temporary_folder folder;
    {
        buffered_output out{folder.path() + "/x"};
        out.append(some_text(100'000));
    }
    CHECK(std::filesystem::is_empty(folder.path()));
}
