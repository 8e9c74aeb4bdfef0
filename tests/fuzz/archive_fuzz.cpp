// Archives as storages: tar, the same packed by gzip and zstd, zip, and the index of one (.smdx).
// The first byte says what the rest is: a whole archive; a tar whose headers get right checksums, which is then
// packed in four ways that must all read the same; or the front of an index, which gets a right checksum.
#include "support.hpp"
#include "support/archive_builder.hpp"
#include "support/standard.hpp"
#include "tar_maker.hpp"

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/archive/directory/kept_index.hpp>
#include <smdebug/archive/stream/codecs.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug_fuzz;
using archived = archive_storage;
namespace archives = smdebug::archive::detail;

namespace {

archive_options small_options() {
    archive_options options;
    options.memory_bytes = std::uint64_t{1} << 20U;
    options.most_bytes = std::uint64_t{64} << 20U;
    options.most_members = 1000;
    return options;
}

struct seen_member {
    std::string key;
    std::optional<std::string> content;  // nothing: it cannot be read
    friend bool operator==(const seen_member&, const seen_member&) = default;
};

// Checks a storage's promises for each member.  Returns its content; nothing if it cannot be opened.
std::optional<std::vector<seen_member>> seen_in(const std::string& bytes) {
    memory_storage store;
    store.write("run", as_bytes(bytes));
    std::vector<seen_member> all;
    const bool good = only_errors([&] {
        const archived archive{store, "run", {}, small_options()};
        for (const std::string& place : archive.damage()) {
            demand(!place.empty(), "damage is reported");
        }
        const std::vector<std::string> keys = archive.list("", "");
        demand(std::adjacent_find(keys.begin(), keys.end(), std::greater_equal<>{}) == keys.end(), "keys are in order");
        for (const std::string& root : archive.runs()) {
            demand(root.empty() || stays_inside(root), "runs lie inside");
        }
        std::vector<object_range> parts;
        bool all_read = true;
        for (const std::string& key : keys) {
            demand(stays_inside(key), "a key leads nowhere else");
            const std::optional<std::uint64_t> size = archive.size(key);
            demand(size.has_value(), "a listed member is there");
            seen_member member{.key = key, .content = {}};
            const bool read = *size <= (std::uint64_t{8} << 20U) && only_errors([&] {
                const byte_buffer whole = archive.read(key);
                demand(whole.size() == *size, "a member is as long as it is said to be");
                member.content = as_text(whole.view());
                const byte_range part{*size / 3, *size / 2 + 1};
                demand(equal(archive.read(key, part).view(), whole.slice(part).view()), "a part is that of the whole");
            });
            all_read = all_read && read;
            if (read) {
                parts.push_back({key, {*size / 4, 100}});
                if (const auto opened = archive.open(key)) {
                    std::string pieces(static_cast<std::size_t>(*size) + 1, '\0');
                    const std::size_t length =
                        opened->read_at(0, std::as_writable_bytes(std::span{pieces.data(), pieces.size()}));
                    pieces.resize(length);
                    demand(pieces == *member.content, "a member reads in pieces as in one");
                }
            }
            all.push_back(std::move(member));
        }
        std::size_t next = 0;
        archive.read_ranges(parts,
                            [&](std::size_t place, const std::optional<byte_buffer>& got, const object_version&) {
                                demand(place == next++ && got.has_value(), "parts come in order");
                            });
        demand(next == parts.size(), "all parts come");
    });
    return good ? std::optional{std::move(all)} : std::nullopt;
}

void check_packed(std::string tar) {
    put_sums_right(tar);
    if (archives::format_of(as_bytes(tar)) != archives::format::tar) {
        return;  // unpacked it would be taken for something else
    }
    const auto plain = seen_in(tar);
    for (const std::string& packed : {smdebug_test::gzip_of(tar), smdebug_test::gzip_of(tar, 700),
                                      smdebug_test::zstd_of(tar), smdebug_test::zstd_of(tar, 700)}) {
        demand(seen_in(packed) == plain, "packed, an archive holds the same");
    }
}

// The identity stands before the rest, so that the file is about this archive.
void check_index(input in) {
    const bool is_packed = (in.take_byte() & 1U) != 0;
    const archives::archive_identity of{.size = 4096, .version = "v", .hash_of_ends = 7};
    archives::smdx::writer front;
    front.number(of.size);
    front.text(of.version);
    front.fixed(of.hash_of_ends);
    const std::string kind = is_packed ? "tar.zst" : "tar";
    front.text(kind);
    const byte_view points = in.take_bytes(in.take_byte());
    std::vector<std::byte> file(archives::smdx::head_bytes);
    front.bytes().insert(front.bytes().end(), in.rest().begin(), in.rest().end());
    store_le(file.data(), archives::smdx::mark);
    store_le(file.data() + 8, std::uint64_t{front.bytes().size()});
    store_le(file.data() + 16, std::uint64_t{file.size() + front.bytes().size() + points.size()});
    store_le(file.data() + 24, archives::smdx::checksum_of(file, front.bytes()));
    file.insert(file.end(), front.bytes().begin(), front.bytes().end());
    file.insert(file.end(), points.begin(), points.end());
    memory_storage store;
    store.write("x.smdx", file);
    const auto source = std::make_shared<archives::stored_source>(store, "x.smdx");
    const auto unpacks = is_packed ? archives::zstd_codec() : nullptr;
    auto index = archives::read_index(source, of, kind, unpacks, small_options());
    if (!index) {
        return;
    }
    for (const auto& [key, member] : index->members.members) {
        demand(stays_inside(key) && archives::key_of(key) == key, "a key leads nowhere else");
        demand(member.where.offset + member.where.length >= member.where.offset, "a member lies in the archive");
    }
    for (archives::stream_span& each : index->spans) {
        demand(each.length > 0, "a span is not empty");
        if (each.point != nullptr) {
            static_cast<void>(each.point->loaded(each.point));
        }
    }
    only_errors([&] {  // points that are damaged are not written again
        const std::vector<std::byte> written = archives::written(*index);
        store.write("y.smdx", written);
        const auto again = archives::read_index(std::make_shared<archives::stored_source>(store, "y.smdx"), of, kind,
                                                unpacks, small_options());
        demand(again && again->members.members.size() == index->members.members.size() &&
                   again->spans.size() == index->spans.size(),
               "an index is read as it was written");
        demand(archives::written(*again) == written, "and written as it was read");
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    input in{data, size};
    switch (in.take_byte() % 3) {
        case 0:
            static_cast<void>(seen_in(std::string{as_text(in.rest())}));
            break;
        case 1:
            check_packed(std::string{as_text(in.rest())});
            break;
        default:
            check_index(in);
    }
    return 0;
}
