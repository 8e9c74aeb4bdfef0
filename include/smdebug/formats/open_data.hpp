// Opens any supported data at a path as a run: runs of the Python package, with or without their index, TensorBoard's
// logs, checkpoints.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/formats/options.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

/// The format of the data in a storage.  A run of the Python package is recognised by its index, or by collections
/// files as long as at most one step has event files, as a job writes them first; other event files below events/ are
/// `event_files`; then logs and checkpoints are looked for.  If a folder has several formats, the first in this order
/// counts, and problems() of the storage that open_data() returns name the others.  Without any data it is smdebug, as
/// a run may still come.
/// Cost: a look at index/, if that is empty at collections/ and events/; if all are empty, the names of the first
///       10,000 objects.
/// Errors: those of the storage.
[[nodiscard]] data_format format_of(const any_storage& store);

/// Returns `store` itself for a run of the Python package, and otherwise a storage that shows the data as a run.  If
/// the format is detected rather than chosen, checkpoints and logs beside the run are listed among its problems; beside
/// a run with an index, as they are now.
/// Cost:   that of format_of(), and the names of the first 10,000 objects that are not the run's own.
/// Errors: those of the storage.  Opening a trial on the returned storage has those of the format, too: unsupported if
///         all checkpoints are in forms that are not read; value_error for a bad step_regex.  Damage is in problems()
///         of that storage, and of the trial.
[[nodiscard]] any_storage open_data(any_storage store, const format_options& options = {});

namespace detail {

/// The location of a file.
struct data_file {
    std::string folder = {};
    std::string key = {};
};

/// The parts of a path whose name is that of a log or a checkpoint; nothing if the path is a folder of
/// this machine.
[[nodiscard]] std::optional<data_file> data_file_in(std::string_view path);

/// A storage that shows one object only.
class single_object final : public storage_base {
public:
    single_object(any_storage store, std::string key) : store_(std::move(store)), key_(std::move(key)) {}

    [[nodiscard]] SMDEBUG_INLINE byte_buffer read(std::string_view key, byte_range where = whole_object) const override;
    [[nodiscard]] SMDEBUG_INLINE std::vector<std::string> list(std::string_view prefix,
                                                               std::string_view after) const override;
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override {
        return key == key_ ? store_.size(key) : std::nullopt;
    }
    [[nodiscard]] std::unique_ptr<opened_object> open(std::string_view key) const override {
        return key == key_ ? store_.open(key) : nullptr;
    }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const override {
        return key == key_ ? store_.modified(key) : std::nullopt;
    }
    [[nodiscard]] std::string name() const override { return store_.name() + "/" + key_; }
    [[nodiscard]] place_kind place() const override {
        return store_.size(key_) ? place_kind::file : place_kind::missing;
    }
    [[nodiscard]] storage_abilities abilities() const override {
        return {.batches_ranges = false,
                .views = false,
                .reads_ahead = false,
                .one_object = true,
                .look_interval = store_.abilities().look_interval};
    }
    [[nodiscard]] std::vector<problem> problems() const override { return store_.problems(); }

private:
    any_storage store_;
    std::string key_;
};

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/impl/open_data.ipp>
#endif
