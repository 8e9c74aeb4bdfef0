// The bodies of <smdebug/archive/pack.hpp>.
#pragma once

#include <smdebug/archive/archive_storage.hpp>
#include <smdebug/archive/directory/member.hpp>
#include <smdebug/archive/pack.hpp>
#include <smdebug/archive/write/frame.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/output.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace archive::detail {

[[nodiscard]] inline compression compression_of(const std::string& output) {
    const std::string_view last = std::string_view{output}.substr(output.rfind('/') + 1);
    const std::string_view extension = smdebug::detail::archive_extension_of(last);
    if (!extension.empty() && extension != ".zip" && last != extension) {
        return extension.ends_with("zst")  ? compression::zstd
               : extension.ends_with("gz") ? compression::gzip
                                           : compression::none;
    }
    throw value_error(output + " cannot be packed: the name of an archive ends in .tar.zst, .tar.gz or .tar",
                      {.where = output});
}

inline void check_folders(std::span<const packed_run> runs) {
    std::set<std::string> folders;
    for (const packed_run& run : runs) {
        if (run.folder.empty() || key_of(run.folder) != run.folder) {
            throw value_error("\"" + run.folder + "\" is not a folder of an archive", {.where = run.store.name()});
        }
        if (!folders.insert(run.folder).second) {
            throw value_error("two runs would be \"" + run.folder + "\" in the archive: give one another name",
                              {.where = run.store.name()});
        }
    }
}

/// One archive while it is being written.
class packer {
public:
    packer(std::span<const packed_run> runs, const std::string& output, const pack_options& options)
        : runs_(runs),
          output_(output),
          options_(options),
          how_(compression_of(output)),
          level_(options.level.value_or(usual_level(how_))) {
        if (!has_level(how_, level_) || (options.level && *options.level == 0)) {
            throw value_error("there is no level " + std::to_string(level_) + " of compression for " + output,
                              {.where = output});
        }
    }

    [[nodiscard]] pack_result run() {
        check_folders(runs_);
        std::vector<any_storage> stores;
        for (const packed_run& run : runs_) {
            stores.push_back(run.store);
        }
        files_ = files_of(stores);
        for (const packed_file& file : files_) {
            all_ += file.size;
        }
        smdebug::detail::posix::whole_file_output to{output_};
        write(to);
        to.sync();
        check(to.name());
        to.commit(durability::on_disk);
        return {.files = files_.size(), .bytes = all_, .packed_bytes = written_};
    }

private:
    /// A frame, and the checksums of its parts, to be compared with what is read back.
    struct made_frame {
        std::vector<std::byte> raw = {};
        std::vector<std::byte> packed = {};
        std::vector<std::uint64_t> sums = {};
    };
    using parts = std::vector<packed_part>;

    [[nodiscard]] std::string name_of(const packed_file& file) const { return runs_[file.run].folder + "/" + file.key; }

    void write(smdebug::detail::posix::whole_file_output& to) {
        frame_cutter cutter{files_};
        std::vector<frame_size> frames;
        const auto append = [&](const made_frame& frame) {
            const byte_view bytes{frame.packed};
            to.append({&bytes, 1});
            written_ += bytes.size();
            frames.push_back({static_cast<std::uint32_t>(bytes.size()), static_cast<std::uint32_t>(frame.raw.size())});
        };
        smdebug::detail::ordered_thread_pool<parts, made_frame> crew{
            std::max(options_.threads, 1U),
            {},
            [&] {
                parts next = cutter.next();
                return next.empty() ? std::nullopt : std::optional{std::move(next)};
            },
            [&](std::size_t, const parts& of, made_frame& frame) { make(of, frame); }};
        while (const auto made = crew.next(options_.stop)) {
            append(made->part);
            for (std::size_t i = 0; i < made->task.size(); ++i) {
                sums_.push_back(made->part.sums[i]);
                done_ += made->task[i].where.length;
            }
            report();
        }
        if (!crew.is_complete()) {
            stop();
        }
        made_frame end;
        end.raw.resize(tar_end_bytes);
        end.packed = packed_frame(how_, level_, end.raw);
        append(end);
        end.packed = seek_table(how_, frames);
        append(end);
    }

    void make(const parts& of, made_frame& frame) const {
        frame.raw.clear();
        frame.sums.clear();
        const auto add = [&](byte_view bytes) { frame.raw.insert(frame.raw.end(), bytes.begin(), bytes.end()); };
        for (const packed_part& part : of) {
            const packed_file& file = files_[part.file];
            if (part.has_head) {
                add(as_bytes(tar_head(name_of(file), file.size, file.seconds)));
            }
            const byte_buffer bytes = read(file, part.where);
            add(bytes.view());
            frame.sums.push_back(smdebug::detail::content_hash(bytes.view()));
            if (part.where.offset + part.where.length == file.size) {
                frame.raw.resize(frame.raw.size() + std::size_t{tar_padding(file.size)});
            }
        }
        frame.packed = packed_frame(how_, level_, frame.raw);
    }

    [[nodiscard]] byte_buffer read(const packed_file& file, byte_range where) const {
        const any_storage& store = runs_[file.run].store;
        const std::optional<std::uint64_t> size = store.size(file.key);
        byte_buffer bytes = where.length > 0 ? store.read(file.key, where) : byte_buffer{};
        if (size != file.size || bytes.size() < where.length) {
            throw unavailable(store.name() + "/" + file.key + " has changed while it was packed: is the job still " +
                                  "writing? Pack it when it has ended",
                              {.where = store.name() + "/" + file.key});
        }
        return bytes;
    }

    // Reads all of it back, as any reader of the archive will.
    void check(const std::string& written) {
        const std::size_t slash = written.rfind('/');
        const archive_storage made{local_storage{slash == std::string::npos ? "." : written.substr(0, slash + 1)},
                                   written.substr(slash + 1)};
        const auto fail = [&](const std::string& what) {
            throw corrupt_data(
                "what was written is not what is read back of " + output_ + ": " + what + "; it was removed",
                {.where = output_});
        };
        if (!made.damage().empty()) {
            fail(made.damage().front());
        }
        if (made.list("", "").size() != files_.size()) {
            fail("there are " + std::to_string(made.list("", "").size()) + " files, not " +
                 std::to_string(files_.size()));
        }
        frame_cutter cutter{files_};
        std::size_t number = 0;
        for (parts of = cutter.next(); !of.empty(); of = cutter.next()) {
            for (const packed_part& part : of) {
                const std::string key = name_of(files_[part.file]);
                const byte_buffer bytes = made.read(key, part.where);
                if (made.size(key) != files_[part.file].size || bytes.size() != part.where.length ||
                    smdebug::detail::content_hash(bytes.view()) != sums_[number++]) {
                    fail(key + ", at byte " + std::to_string(part.where.offset));
                }
                done_ += part.where.length;
            }
            report();
            if (options_.stop.stop_requested()) {
                stop();
            }
        }
    }

    void report() const {
        if (options_.progress) {
            options_.progress(done_, 2 * all_);
        }
    }
    [[noreturn]] void stop() const { throw stopped_error("packing " + output_ + " was stopped; nothing was written"); }

    std::span<const packed_run> runs_;
    std::string output_;
    const pack_options& options_;
    compression how_;
    int level_;
    std::vector<packed_file> files_;
    std::vector<std::uint64_t> sums_;  // of each part, in order
    std::uint64_t all_ = 0;
    std::uint64_t done_ = 0;
    std::uint64_t written_ = 0;
};

}  // namespace archive::detail

SMDEBUG_INLINE pack_result pack_runs(std::span<const packed_run> runs, const std::string& output,
                                     const pack_options& options) {
    // The folder as users write it; the name of an archive does not name a folder.
    const std::size_t slash = output.rfind('/');
    const std::string path = slash == std::string::npos
                                 ? output
                                 : smdebug::detail::local_path(output.substr(0, slash + 1)) + output.substr(slash);
    archive::detail::packer packer{runs, path, options};
    if (!options.replace && smdebug::detail::posix::facts_of(path)) {
        throw run_exists(path + " is there already: name another output, or ask for it to be replaced",
                         {.where = path});
    }
    return packer.run();
}

namespace archive::detail {

SMDEBUG_INLINE std::vector<packed_file> files_of(std::span<const any_storage> runs) {
    std::vector<packed_file> files;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const any_storage& store = runs[i];
        directory there;
        for (const std::string& key : store.list("", "")) {
            const std::optional<std::uint64_t> size = store.size(key);
            if (!size) {
                continue;  // removed meanwhile: a temporary file of a job that still writes
            }
            const auto written = store.modified(key);
            const auto since = written ? std::chrono::duration_cast<std::chrono::seconds>(written->time_since_epoch())
                                       : std::chrono::seconds{0};
            files.push_back({.run = i,
                             .key = key,
                             .size = *size,
                             .seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(since.count(), 0))});
            there.members.emplace(key, member{});
        }
        if (runs_in(there).empty()) {
            throw not_found("there is no run at " + store.name() + ": no collections, index or event files",
                            {.where = store.name()});
        }
    }
    const auto rank = [](const packed_file& file) {
        return std::tuple{file.run, file.key.ends_with(".tfevents"), std::string_view{file.key}};
    };
    std::sort(files.begin(), files.end(),
              [&](const packed_file& one, const packed_file& other) { return rank(one) < rank(other); });
    return files;
}

SMDEBUG_INLINE std::vector<packed_part> frame_cutter::next() {
    std::vector<packed_part> parts;
    std::uint64_t bytes = 0;
    while (file_ < files_.size() && bytes < enough_bytes) {
        const std::uint64_t size = files_[file_].size;
        if (!parts.empty() && size > small_bytes) {
            break;
        }
        const std::uint64_t length = std::min(size - offset_, most_bytes);
        parts.push_back({.file = file_, .where = {offset_, length}, .has_head = offset_ == 0});
        bytes += length;
        offset_ += length;
        if (offset_ < size) {
            break;
        }
        ++file_;
        offset_ = 0;
    }
    return parts;
}

}  // namespace archive::detail
}  // namespace smdebug::inline v1
