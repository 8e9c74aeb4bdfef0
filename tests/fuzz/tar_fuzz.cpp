// The directory of a tar against libarchive: if neither finds an error in an archive, both have the same files with
// the same bytes.  The headers get right checksums first.
#include "support.hpp"
#include "tar_maker.hpp"

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/archive/directory/tar.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include <archive.h>
#include <archive_entry.h>

#include "support/standard.hpp"

#include <clocale>

using namespace smdebug;
using namespace smdebug_fuzz;
namespace archives = smdebug::archive::detail;

namespace {

struct files {
    std::map<std::string, std::string> contents;
    std::set<std::string> unsure;  // symbolic links, which libarchive does not resolve
};

// The two differ, and both may: libarchive ends at a single empty block, this library continues after it; libarchive
// applies the fields of GNU's sparse files to the headers of all others, too, which GNU tar does not.
bool is_comparable(const std::string& tar) {
    bool has_empty = false;
    for (std::size_t begin = 0; begin + 512 <= tar.size(); begin += 512) {
        const std::string_view block = std::string_view{tar}.substr(begin, 512);
        const std::string_view mark = block.substr(257, 6);
        const auto has_any = [](std::string_view bytes) {
            return bytes.find_first_not_of('\0') != std::string_view::npos;
        };
        if ((mark.starts_with("ustar") && has_empty) || (mark == "ustar " && has_any(block.substr(386, 109)))) {
            return false;
        }
        has_empty = has_empty || !has_any(block);
    }
    return true;
}

// What libarchive finds; nothing if it reports any error.
std::optional<files> theirs(const std::string& tar) {
    const std::unique_ptr<::archive, int (*)(::archive*)> reader{archive_read_new(), archive_read_free};
    archive_read_support_format_tar(reader.get());
    archive_read_set_options(reader.get(), "!mac-ext,!read_concatenated_archives");
    if (archive_read_open_memory(reader.get(), tar.data(), tar.size()) != ARCHIVE_OK) {
        return std::nullopt;
    }
    files all;
    archive_entry* entry = nullptr;
    for (int outcome = 0; (outcome = archive_read_next_header(reader.get(), &entry)) != ARCHIVE_EOF;) {
        if (outcome != ARCHIVE_OK || archive_entry_pathname(entry) == nullptr ||
            archive_entry_sparse_count(entry) > 0) {
            return std::nullopt;
        }
        const std::string key = archives::key_of(archive_entry_pathname(entry));
        if (const char* const target = archive_entry_hardlink(entry)) {
            const auto file = all.contents.find(archives::key_of(target));
            if (file == all.contents.end() || archive_entry_size(entry) > 0) {
                return std::nullopt;  // of a link, or of what comes later; or with bytes of its own
            }
            all.unsure.erase(key);
            all.contents.insert_or_assign(key, std::string{file->second});
            continue;
        }
        if (archive_entry_symlink(entry) != nullptr) {
            all.contents.erase(key);
            all.unsure.insert(key);
            continue;
        }
        if (archive_entry_filetype(entry) != AE_IFREG) {
            continue;
        }
        const la_int64_t bytes = archive_entry_size(entry);
        if (bytes < 0 || bytes > (1 << 20)) {
            return std::nullopt;
        }
        std::string content(static_cast<std::size_t>(bytes), '\0');
        const la_ssize_t length = archive_read_data(reader.get(), content.data(), content.size());
        if (length != bytes) {
            return std::nullopt;
        }
        all.unsure.erase(key);
        all.contents.insert_or_assign(key, std::move(content));
    }
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const bool has_locale = std::setlocale(LC_ALL, "C.UTF-8") != nullptr;  // libarchive converts names by it
    demand(has_locale, "there is the locale C.UTF-8");
    std::string tar{reinterpret_cast<const char*>(data), size};
    put_sums_right(tar);
    if (archives::format_of(as_bytes(tar)) != archives::format::tar || !is_comparable(tar)) {
        return 0;
    }
    const std::optional<files> expected = theirs(tar);
    if (!expected) {
        return 0;
    }
    memory_storage store;
    store.write("run.tar", as_bytes(tar));
    only_errors([&] {
        const archive_storage ours{store, "run.tar"};
        const auto source = std::make_shared<archives::stored_source>(store, "run.tar");
        const archives::directory all =
            archives::read_tar(*source, {}, [](std::string_view, const archives::member&) {});
        if (!all.damage.empty() || all.passed_over > 0) {
            return;  // what is of no known kind libarchive takes for a file
        }
        for (const auto& [key, content] : expected->contents) {
            const auto member = all.members.find(key);
            if (key.empty() || expected->unsure.contains(key)) {
                continue;
            }
            demand(member != all.members.end(), "a file is there");
            if (member->second.how != archives::packing::refused) {
                demand(as_text(ours.read(key).view()) == content, "with the same bytes");
            }
        }
        for (const auto& [key, member] : all.members) {
            demand(expected->contents.contains(key) || expected->unsure.contains(key) ||
                       member.how == archives::packing::refused,
                   "there is no other file");
        }
    });
    return 0;
}
