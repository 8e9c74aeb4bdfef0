#include <program/pack.hpp>

#include <program/command_line.hpp>
#include <program/command_options.hpp>
#include <program/numbers.hpp>
#include <program/run_places.hpp>
#include <program/runs.hpp>
#include <program/text.hpp>
#include <smdebug/archive/pack.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/formats/open_data.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/uri.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace smdebug::inline v1::cli::detail {

std::string folder_for(const std::string& path, std::set<std::string>& taken) {
    std::string name = path.substr(path.find_last_of("/!") + 1);
    const std::string_view extension = smdebug::detail::archive_extension_of(name);
    if (name.size() > extension.size()) {
        name.resize(name.size() - extension.size());
    }
    if (name.empty() || name == "." || name == ".." || name == "~") {
        name = "run";
    }
    std::string folder = name;
    for (std::size_t number = 2; !taken.insert(folder).second; ++number) {
        folder = name + "-" + std::to_string(number);
    }
    return folder;
}

int pack(const pack_arguments& args, console& to, const std::stop_token& stop) {
    std::vector<packed_run> runs;
    std::set<std::string> taken;
    storage_options as_they_are = args.storage;  // files are packed, and not what they are shown as
    as_they_are.formats.as = data_format::smdebug;
    for (const std::string& as_written : args.runs) {
        const std::string path = plain_path(as_written);
        run_places places = places_of(path, as_they_are);
        if (!places.damage.empty()) {
            throw corrupt_data(places.damage + "; an archive that is damaged is not packed again", {.where = path});
        }
        for (const run_place& place : places.runs) {
            const any_storage store =
                place.store ? *place.store : smdebug::detail::open_storage_of_run(path, as_they_are);
            if (const data_format what = format_of(store);
                what == data_format::tensorboard || what == data_format::checkpoints) {
                throw value_error(place.path + " holds " +
                                      (what == data_format::tensorboard ? "TensorBoard logs" : "checkpoints") +
                                      ", which tar packs as they are; smdebug export RUN --to smdebug makes a run of "
                                      "them, which can be packed",
                                  {.where = place.path});
            }
            runs.push_back({.folder = folder_for(place.path, taken), .store = store});
        }
    }
    const pack_result packed =
        pack_runs(runs, args.output,
                  {.level = args.level,
                   .threads = args.threads,
                   .replace = args.replace,
                   .progress = [&](std::uint64_t done,
                                   std::uint64_t all) { to.progress("bytes packed and read back", done, all); },
                   .stop = stop});
    to.print("packed " + counted(runs.size(), "run") + " of " + counted(packed.files, "file") + ", " +
             size_text(packed.bytes) + ", into " + printable(args.output) + ", " + size_text(packed.packed_bytes) +
             "; read back and compared\n");
    return to.status();
}

void declare_pack(command_line& line) {
    const auto args = std::make_shared<pack_arguments>();
    CLI::App& app = line.add(
        "pack", "pack runs into one archive that is quick to scan", args, [](const pack_arguments&) {},
        [](const pack_arguments& given, const run_context& with) { return pack(given, with.to, with.stop()); });
    add_runs(app, args->runs);
    add_output(app, args->output, "FILE", "the archive: a file of this machine, .tar.zst, .tar.gz or .tar");
    add_parsed(app, "--level", args->level, "N",
               "how hard to compress: zstd 1 to 19, default 3; gzip 1 to 9, default 6",
               [](const std::string& text) { return whole_number<int>("--level", text, 1); });
    add_threads(app, args->threads, "threads to use; default: 1");
    add_flag(app, "--replace", args->replace, "replace the output where it is there already");
    add_storage(app, args->storage);
    add_notes(
        app,
        "Index files come first, event files by step, in frames that can each be unpacked alone.  The archive is\n"
        "read back and compared before it takes its place; the runs are only read.\n"
        "Example: smdebug pack runs/2024-* -o 2024.tar.zst --threads 4\n");
}

}  // namespace smdebug::inline v1::cli::detail
