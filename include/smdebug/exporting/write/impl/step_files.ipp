// The bodies of <smdebug/exporting/write/step_files.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/exporting/write/member_name.hpp>
#include <smdebug/exporting/write/step_files.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::string output_path(const std::string& output, const std::string& run) {
    std::string path = local_path(output);
    const std::string real = posix::real_path(posix::absolute_path(path)) + "/";
    const std::string source = posix::real_path(posix::absolute_path(run)) + "/";
    if (posix::is_folder(run) && (real.starts_with(source) || source.starts_with(real))) {
        throw value_error(output + " is no output: the run " + run + " lies there", {.where = output});
    }
    return path;
}

SMDEBUG_INLINE void check_output_file(const std::string& path, bool replace) {
    if (posix::is_folder(path)) {
        throw run_exists(path + " is a folder already, and a file is to be written: name another output",
                         {.where = path});
    }
    if (!replace && posix::is_there(path)) {
        throw run_exists(path + " is there already: name another output, or ask for it to be replaced",
                         {.where = path});
    }
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
        posix::check_output_folder(output_, replace_,
                                   [&](std::string_view key) { return is_step_file(key, extension_); });
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

SMDEBUG_INLINE posix::buffered_output& step_files::open(const scanned_tensor& tensor) {
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
    if (!file_) {
        return;
    }
    bytes_ += file_->size();
    if (!is_single_) {
        file_->finish(durability::cached);
        file_.reset();
    }
}

SMDEBUG_INLINE void step_files::finish(export_result& result) {
    if (is_single_ && file_) {
        check_output_file(output_, replace_);
        file_->finish(durability::on_disk);
    } else if (folder_) {
        folder_->take_its_place(replace_);
    }
    result.files += count_;
    result.bytes += bytes_;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
