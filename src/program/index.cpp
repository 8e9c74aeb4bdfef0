#include <program/index.hpp>

#include <program/command_line.hpp>
#include <program/command_options.hpp>
#include <program/runs.hpp>
#include <program/text.hpp>
#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/archive/directory/contents.hpp>
#include <smdebug/archive/directory/kept_index.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/uri.hpp>

#include <cstddef>
#include <exception>
#include <memory>

namespace smdebug::inline v1::cli::detail {

namespace {

// Reads a whole archive, ignoring existing indexes, and writes its index beside it; returns a line that says so.
// Errors: value_error, unsupported: it is no archive; corrupt_data: it is damaged; those of the storage.
std::string write_index(const std::string& path, const storage_options& options) {
    const auto archived = smdebug::detail::archive_in(path);
    if (!archived || !archived->inside.empty()) {
        throw value_error(path + " is no archive: name a .tar, .tar.gz or .tar.zst, without what is in it",
                          {.where = path});
    }
    any_storage folder = smdebug::detail::open_place(archived->folder, options.s3);
    const archive::detail::contents all{std::make_shared<archive::detail::stored_source>(folder, archived->key),
                                        options.archive, archive::detail::indexes::ignored};
    if (!all.members().damage.empty()) {
        const archive::detail::damaged_place& first = all.members().damage.front();
        throw corrupt_data("the archive " + path + " is damaged, so that it gets no index: at byte " +
                               std::to_string(first.offset) + ": " + first.what,
                           {.where = path, .offset = first.offset});
    }
    const std::vector<std::byte> index = all.index();
    if (index.empty()) {
        return printable(path) + ": an index would spare nothing\n";
    }
    const std::string name = archived->key + std::string{smdebug::detail::archive_index_extension};
    smdebug::detail::put_whole(folder, name, index, durability::on_disk);
    return "wrote " + printable(path.ends_with('!') ? path.substr(0, path.size() - 1) : path) +
           std::string{smdebug::detail::archive_index_extension} + ": " + std::to_string(index.size()) + " bytes for " +
           counted(all.members().members.size(), "file") + "\n";
}

}  // namespace

int write_indexes(const index_arguments& args, console& to) {
    for (const std::string& path : args.archives) {
        static_cast<void>(try_on_run(path, to, [&] { to.print(write_index(path, args.storage)); }));
    }
    return to.status();
}

void declare_index(command_line& line) {
    const auto args = std::make_shared<index_arguments>();
    CLI::App& app = line.add(
        "index", "write ARCHIVE.smdx beside an archive, by which it is opened without reading it through", args,
        [](const index_arguments&) {},
        [](const index_arguments& given, const run_context& with) { return write_indexes(given, with.to); });
    add_arguments(app, "ARCHIVE", args->archives, "archives: .tar, .tar.gz, .tar.zst, here or s3://bucket/key");
    add_storage(app, args->storage);
    add_notes(
        app,
        "An index says where the files of an archive are, and keeps what inflating from its middle takes.  It is\n"
        "passed over once the archive has another size, time (S3: ETag), head or tail.  None is written where it\n"
        "would spare nothing: of a zip, of a single frame of zstd, of what is smaller than 1 MiB.\n");
}

}  // namespace smdebug::inline v1::cli::detail
