// Checks everything in a run that is stored twice: index files against the event files that they name, event files
// against the index files that name them, collections files against each other and against the names seen, values
// against their digests.
// The format has no checksum over index and collections files: only this finds a flipped bit there.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

/// The kind of an inconsistency.
enum class inconsistency_kind : std::uint8_t {
    damaged_file,    ///< it cannot be read or parsed
    renamed_key,     ///< an unknown key beside a missing one, or one key twice
    missing_file,    ///< an index file names an event file that is not there
    unnamed_file,    ///< an event file that no index file names
    unnamed_record,  ///< a record that its index file does not name
    damaged_record,  ///< a wrong checksum, or wrong content
    place,           ///< a record's offset or length
    name,            ///< a tensor's name
    step,
    mode,  ///< or the step in the mode
    shape,
    workers,
    collections,
    unread,  ///< it is whole, but was not checked
    digest,  ///< a tensor's saved digest is not that of its saved values
};

/// "renamed key".
[[nodiscard]] constexpr std::string_view name_of(inconsistency_kind kind) noexcept {
    constexpr std::array<std::string_view, 15> names{"damaged file",   "renamed key",    "missing file", "unnamed file",
                                                     "unnamed record", "damaged record", "place",        "name",
                                                     "step",           "mode",           "shape",        "workers",
                                                     "collections",    "unread",         "digest"};
    return names[static_cast<std::size_t>(kind)];
}

/// Two facts of a run that do not agree.
struct inconsistency {
    inconsistency_kind kind = inconsistency_kind::damaged_file;
    std::string file = {};  ///< its key
    std::optional<step_number> step = {};
    std::string worker = {};
    std::string tensor = {};
    std::string what = {};  ///< a sentence without the fields above
};

/// Compares everything in `store` that a run stores twice, and returns what does not agree, file by file.  Damage is an
/// inconsistency, not an error: nothing but bad_alloc is thrown.  Data that a running job may still write are not
/// reported as missing.
/// Data that are stored only once cannot be checked:
///  - a saved shape and its names, or a mode step, without values beside them;
///  - regexes and saving intervals in the collections file of a single worker;
///  - payload bytes whose record has the placeholder that the Python package writes instead of a checksum, without a
///    digest of the values (hook_options::digests) beside them.
/// For other tools' data shown as a run, index files are synthesized from the data, so the only inconsistencies are the
/// storage's problems, as for an archive: damaged data as damaged_file, whole but unread data as unread.
/// Cost: reads the whole run, one file after another, and verifies every checksum.
[[nodiscard]] std::vector<inconsistency> verify_run(const any_storage& store, const size_limits& limits = {});
/// Verifies a trial's run, including steps outside its range and index files that it skipped.
[[nodiscard]] std::vector<inconsistency> verify_run(const trial& run);

namespace detail {

/// Reports renamed and repeated keys in one object.  `where` begins each message.
void check_keys(std::vector<inconsistency>& found, std::string_view file, const std::string& where,
                const std::optional<json::value>& object, std::span<const std::string_view> known);

/// Takes the files one after another, then the names that were seen.
class collections_check {
public:
    /// Adds one file.  Errors: corrupt_data if it cannot be parsed.
    void add(const std::string& key, byte_view bytes, json::document& parser, std::vector<inconsistency>& found);

    /// How many workers the job has; nothing before the first file.
    [[nodiscard]] std::optional<std::size_t> num_workers() const {
        return key_.empty() ? std::nullopt : std::optional{static_cast<std::size_t>(first_.num_workers)};
    }
    /// Whether the first file has a collection.
    [[nodiscard]] bool has(std::string_view name) const {
        return first_.collections.find(name) != first_.collections.end();
    }
    /// The key of the first file.
    [[nodiscard]] const std::string& key() const noexcept { return key_; }

    /// Collections may list tensors that were never saved, and tensors need not be in any.  But a listed name that no
    /// tensor has, and that differs in one character from a tensor that no collection lists, is reported as a damaged
    /// name.
    void compare_names(const std::set<std::string, std::less<>>& seen, std::vector<inconsistency>& found) const;

private:
    static void check_all_keys(const std::string& key, json::value root, std::vector<inconsistency>& found);

    static void check_group(const std::string& key, std::string_view name, json::value group,
                            std::vector<inconsistency>& found);

    // Names of tensors may differ: each worker writes those that it has seen.
    void compare(const std::string& key, collections_file& one, std::vector<inconsistency>& found) const;

    [[nodiscard]] static bool is_near(std::string_view a, std::string_view b) noexcept;

    std::string key_;
    collections_file first_;
};

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/verify.ipp>
#endif
