// The bodies of <smdebug/exporting/write/export_walk.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/exporting/write/export_walk.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/uri.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/read/selected_tensors.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE export_extent export_extent::of(const catalog& from, const tensor_selection& which) {
    tensor_selection with_tables = which;
    with_tables.tables = true;
    with_tables.digests = true;
    const selected_tensors selected{with_tables, from};
    export_extent all;
    std::set<std::string> tensors;
    std::set<std::string> workers;
    std::vector<std::uint8_t> looked_at(from.layouts.size(),
                                        0);  // by layout; 1: nothing of it is selected, 2: something
    for (const catalog::file* const file : from.files_in(which.range)) {
        if (!selected.contains(*file)) {
            continue;
        }
        std::uint8_t& known = looked_at[file->layout];
        if (known == 0) {
            known = 1;
            for (const name_id name : from.layout_of(*file).names().tensors()) {
                if (selected.contains(name)) {
                    tensors.insert(std::string{(*from.names)[name]});
                    known = 2;
                }
            }
        }
        if (known == 2) {
            all.files.push_back(file);
            workers.insert(from.workers[file->worker]);
        }
    }
    all.tensors.assign(tensors.begin(), tensors.end());
    all.workers.assign(workers.begin(), workers.end());
    if (const auto texts = from.job->collections.find("texts"); texts != from.job->collections.end()) {
        all.texts = texts->second.tensor_names;
    }
    all.repeats_steps = from.steps_are_synthetic &&
                        std::any_of(all.files.begin(), all.files.end(),
                                    [&](const catalog::file* file) { return file->mode != all.files.front()->mode; });
    return all;
}

SMDEBUG_INLINE const layout* layout_at(const catalog& from, step_number step, std::string_view worker) noexcept {
    if (const catalog::step_entry* const entry = from.find_step(step)) {
        for (const catalog::file& file : entry->files()) {
            if (from.workers[file.worker] == worker) {
                return &from.layout_of(file);
            }
        }
    }
    return nullptr;
}

SMDEBUG_INLINE void export_log::report(const left_out_tensor& what) const {
    if (options_.left_out) {
        options_.left_out(what);
    }
}

SMDEBUG_INLINE void export_log::damaged(const exported_place& where, std::string_view tensor, const lookup_error& why) {
    ++result.damaged;
    report({.step = where.shown,
            .worker = where.worker,
            .tensor = tensor,
            .why = what_of(why, std::string{tensor}, where.shown, where.mode),
            .is_damaged = true});
}

SMDEBUG_INLINE void export_log::damaged_file(const exported_place& where, const lookup_error& why) {
    if (last_failed_ == why.where) {
        return;
    }
    last_failed_ = why.where;
    ++result.damaged;
    report(
        {.step = where.shown,
         .worker = where.worker,
         .why = why.where +
                (why.why == lookup_failure_kind::event_file_missing ? " is missing" : " cannot be read: " + why.note) +
                ": nothing of step " + std::to_string(where.shown) + " of " + std::string{where.worker},
         .is_damaged = true});
}

SMDEBUG_INLINE void export_log::take(const scanned_tensor& tensor) {
    if (current_.first != tensor.step || current_.second != tensor.worker) {
        if (current_.first >= 0) {
            target_.end_file();
        }
        current_ = {tensor.step, std::string{tensor.worker}};
        last_failed_.clear();
    }
    for (const unread_reduction& bad : tensor.saved_failures) {
        damaged(exported_place::of(tensor), tensor.name, bad.why);
    }
    if (tensor.failure() != nullptr) {
        tensor.file_failed() ? damaged_file(exported_place::of(tensor), *tensor.failure())
                             : damaged(exported_place::of(tensor), tensor.name, *tensor.failure());
        return;
    }
    if (tensor.values() == nullptr && !target_.takes_reductions()) {
        const bool has_table = from_.names->find_tensor(table_of_histogram(tensor.name)).has_value();
        result.without_values += has_table ? 0 : 1;
        return;
    }
    const std::string why_not = target_.add(tensor);
    if (why_not.empty()) {
        ++result.tensors;
        return;
    }
    ++result.refused;
    report({.step = tensor.shown_step,
            .worker = tensor.worker,
            .tensor = tensor.name,
            .why = "the tensor \"" + std::string{tensor.name} + "\" " + why_not + ": left out at step " +
                   std::to_string(tensor.shown_step)});
}

SMDEBUG_INLINE export_result export_log::finish(const std::string& run) {
    target_.end_file();
    if (result.tensors == 0) {
        const std::string why = result.damaged + result.refused > 0 ? "no tensor that is selected could be exported"
                                : result.without_values > 0
                                    ? "only reductions or shapes of the selected tensors were saved, not their values"
                                    : "no tensor is selected";
        throw value_error("nothing of " + run + " was exported: " + why, {.where = run});
    }
    target_.finish(result);
    return result;
}

inline void append_escaped(std::string& out, std::string_view bytes) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (const char each : bytes) {
        const auto code = static_cast<unsigned char>(each);
        out += '%';
        out += digits[code >> 4U];
        out += digits[code & 15U];
    }
}

// A part between slashes.
inline void append_name_part(std::string& out, std::string_view part) {
    if (part == "." || part == "..") {
        append_escaped(out, part);
        return;
    }
    while (!part.empty()) {
        const auto [code, found] = first_utf8_character(part);
        const std::size_t length = std::max<std::size_t>(found, 1);
        const bool plain =
            found > 0 && code >= 0x20 && code != 0x7f && (code < 0x80 || code > 0x9f) && code != '%' && code != '\\';
        plain ? static_cast<void>(out.append(part.substr(0, length))) : append_escaped(out, part.substr(0, length));
        part.remove_prefix(length);
    }
}

SMDEBUG_INLINE std::string member_name(std::string_view name) {
    if (name.empty()) {
        return "%";
    }
    std::string out;
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t slash = std::min(name.find('/', begin), name.size());
        append_name_part(out, name.substr(begin, slash - begin));
        if (slash < name.size()) {
            const bool joins = slash > begin && slash + 1 < name.size() && name[slash + 1] != '/';
            joins ? static_cast<void>(out += '/') : append_escaped(out, "/");
        }
        begin = slash + 1;
    }
    constexpr std::string_view extension = ".npy";
    if (name.ends_with(extension)) {
        out.resize(out.size() - extension.size());
        append_escaped(out, ".");
        out += extension.substr(1);
    }
    if (out.size() > 2 && out[1] == ':' && out[2] == '/') {
        out = out.substr(0, 1) + "%3A" + out.substr(2);
    }
    return out;
}

SMDEBUG_INLINE std::string file_name_part(std::string_view text) {
    std::string out;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t slash = std::min(text.find('/', begin), text.size());
        append_name_part(out, text.substr(begin, slash - begin));
        if (slash < text.size()) {
            append_escaped(out, "/");
        }
        begin = slash + 1;
    }
    return out;
}

SMDEBUG_INLINE std::string output_path(const std::string& output, const std::string& run) {
    std::string path = local_path(output);
    std::error_code none;
    // Without links, "." and ".."; a path that does not exist stays as it is.
    const auto real_path = [&](const std::string& of) {
        const std::string whole = posix::absolute_path(of);
        const std::string real = std::filesystem::canonical(whole, none).string();
        return (none ? whole : real) + "/";
    };
    const std::string real = real_path(path);
    const std::string source = real_path(run);
    if (std::filesystem::is_directory(run, none) && (real.starts_with(source) || source.starts_with(real))) {
        throw value_error(output + " is no output: the run " + run + " lies there", {.where = output});
    }
    return path;
}

SMDEBUG_INLINE void check_output_file(const std::string& path, bool replace) {
    if (std::error_code none; std::filesystem::is_directory(path, none)) {
        throw run_exists(path + " is a folder already, and a file is to be written: name another output",
                         {.where = path});
    }
    if (!replace && is_there(path)) {
        throw run_exists(path + " is there already: name another output, or ask for it to be replaced",
                         {.where = path});
    }
}

SMDEBUG_INLINE void finish_file(buffered_output& file, bool replace, export_result& result) {
    check_output_file(file.path(), replace);
    result.bytes += file.size();
    ++result.files;
    file.finish(durability::on_disk);
}

SMDEBUG_INLINE bool is_step_file(std::string_view name, std::string_view extension) noexcept {
    constexpr std::string_view begin = "step_";
    return name.starts_with(begin) && name.ends_with(extension) && name.find('/') == std::string_view::npos &&
           name.size() > begin.size() && name[begin.size()] >= '0' && name[begin.size()] <= '9';
}

SMDEBUG_INLINE step_files::step_files(std::string output, std::string extension, const export_extent& what,
                                      const export_options& options)
    : output_(std::move(output)),
      extension_(std::move(extension)),
      replace_(options.replace),
      names_workers_(what.workers.size() > 1),
      names_modes_(what.repeats_steps),
      is_single_(output_.ends_with(extension_)) {
    if (!is_single_) {
        check_output_folder(output_, replace_, [&](std::string_view key) { return is_step_file(key, extension_); });
        return;
    }
    check_output_file(output_, replace_);
    if (what.files.size() > 1) {
        throw value_error(output_ + " is one file, for one step of one worker; selected are " +
                              std::to_string(what.files.size()) + ", of " + std::to_string(what.workers.size()) +
                              (what.workers.size() == 1 ? " worker" : " workers") +
                              ": name a folder, which then gets a file for each",
                          {.where = output_});
    }
}

SMDEBUG_INLINE buffered_output& step_files::open(const scanned_tensor& tensor) {
    if (is_single_) {
        if (count_ > 0) {
            throw value_error(output_ + " is one file, and the run has got another step meanwhile", {.where = output_});
        }
        file_.emplace(output_);
    } else {
        if (!folder_) {
            folder_.emplace(output_);
        }
        constexpr std::size_t digits = 9;
        file_.emplace(folder_->place() + "/step_" + locations::zero_padded(tensor.shown_step, digits) +
                      (names_modes_ ? "_" + std::string{name_of(tensor.mode)} : "") +
                      (names_workers_ ? "_" + file_name_part(locations::file_part_from_worker(tensor.worker)) : "") +
                      extension_);
    }
    ++count_;
    return *file_;
}

SMDEBUG_INLINE void step_files::close() {
    if (file_ && !is_single_) {
        bytes_ += file_->size();
        file_->finish(durability::cached);
        file_.reset();
    }
}

SMDEBUG_INLINE void step_files::finish(export_result& result) {
    if (is_single_) {
        finish_file(*file_, replace_, result);
        return;
    }
    folder_->take_its_place(replace_);
    result.files += count_;
    result.bytes += bytes_;
}

SMDEBUG_INLINE std::string exported_name(const trial& run, const export_options& options) {
    return options.run_name.empty() ? run.name() : options.run_name;
}

SMDEBUG_INLINE export_result walk_export(const trial& run, const export_options& options, export_target& target) {
    const auto from = catalog_of(run);
    export_log log{options, target, *from};
    scan_options how{.which = options.which,
                     .saved = target.reads_reductions() ? reduction_set::all() : reduction_set{},
                     .how = options.how};
    how.which.tables = true;
    how.which.digests = true;
    if (!scan(state_of(run), how, [&](const scanned_tensor& tensor) { log.take(tensor); })) {
        throw stopped_error("the export was stopped; nothing was written");
    }
    return log.finish(exported_name(run, options));
}

}  // namespace smdebug::inline v1::detail
