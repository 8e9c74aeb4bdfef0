// Everything of a run that can be checked against something else: index files against the event files that they name,
// event files against the index files that name them, collections files against each other and against the names seen.
// The format has no checksum over index and collections files: this is what tells a flipped bit there.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/problem.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/index/index_meta.hpp>
#include <smdebug/storage/abilities.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/trial/difference.hpp>
#include <smdebug/trial/load/collections_check.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/read/event_records.hpp>

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail {

/// Compares all of a run.  Used once.  Borrows the storage.
template <storage Storage>
class run_verifier {
public:
    run_verifier(const Storage& store, const size_limits& limits) : store_(store), limits_(limits) {}

    [[nodiscard]] std::vector<difference> run();

private:
    struct place {
        std::string name;
        byte_range record;
    };
    struct saved_shape {
        std::string name;
        std::string original;
        shape_type extents;
    };
    // What an index file says.
    struct index_facts {
        std::string key{};
        step_number step = 0;
        std::string worker_part{};
        mode in = mode::global;
        step_number mode_step = 0;
        std::string event_file{};
        std::vector<place> places{};
        std::vector<saved_shape> shapes{};
    };

    static constexpr std::array<std::string_view, 3> root_keys{"meta", "tensor_payload", "shape_payload"};
    static constexpr std::array<std::string_view, 3> meta_keys{"mode", "mode_step", "event_file_name"};

    void tell(difference_kind kind, std::string_view file, std::string what) {
        found_.push_back({.kind = kind, .file = std::string{file}, .what = std::move(what)});
    }
    void tell(difference_kind kind, const index_facts& of, std::string_view file, std::string tensor, std::string what);

    /// Whatever `look` throws is a difference of `file`.
    template <class Look>
    void guarded(std::string_view file, Look&& look) {
        try {
            look();
        } catch (const error& failed) {
            tell(difference_kind::damaged_file, file, std::string{failed.message()});
        } catch (const std::exception& failed) {
            tell(difference_kind::damaged_file, file, failed.what());
        }
    }

    [[nodiscard]] byte_buffer read(const std::string& key, std::uint64_t most) const;

    // Files ------------------------------------------------------------------------------------------------------

    void look_at_collections();

    void look_at_indexes();

    /// Nothing for a file that a running job may be writing.
    [[nodiscard]] std::optional<index_facts> read_index(const std::string& key);

    void compare(const index_facts& facts);

    /// Whether a running job may be about to write something of this step.
    [[nodiscard]] bool may_come(std::string_view worker_part, step_number step) const;

    void compare_records(const index_facts& facts, const event_records& events);

    void compare_record(const index_facts& facts, const place& named, const event_record& record);

    // The Python package writes scalars under the mode that was set when they were noted, so that one record which
    // bears the index file out is enough.
    void compare_mode(const index_facts& facts, const event_records& events);

    // A tensor has one original name in all files, and an original name one tensor.
    void compare_original(const index_facts& facts, const saved_shape& shape);

    // The rest ---------------------------------------------------------------------------------------------------

    void look_for_unnamed_files();

    const Storage& store_;
    size_limits limits_;
    json::document parser_;
    bool ended_ = false;
    std::set<std::string, std::less<>> workers_;  // that wrote collections files
    collections_check collections_;
    std::map<std::string, step_number, std::less<>> last_step_;   // by worker's part of file names
    std::set<std::string, std::less<>> named_;                    // event files
    std::set<std::string, std::less<>> seen_;                     // tensors
    std::map<std::string, std::string> originals_;                // by tensor
    std::map<std::string, std::string> named_so_;                 // the tensor, by original name
    std::map<std::pair<mode, step_number>, step_number> claims_;  // that no record bears out
    std::vector<difference> found_;
};

}  // namespace detail

/// Compares everything in `store` that a run says twice; what does not agree, file by file.  Damage is a difference, no
/// error: nothing is thrown but bad_alloc.  Of a running job what may still come is not missed.
/// What the format says only once cannot be told: a saved shape and its names, or a mode step, without values beside
/// it; regexes and saving intervals in the collections file of a single worker; a flipped byte in a payload under the
/// package's constant in place of a checksum.
/// Data of other tools that are shown as a run say nothing twice: there only the storage's problems are differences, as
/// they are of an archive: what is damaged as damaged_file, what is whole and was not read as unread.
/// Cost: reads the whole run, one file after another, and takes every checksum.
template <storage Storage>
[[nodiscard]] std::vector<difference> verify_run(const Storage& store, const size_limits& limits = {}) {
    std::vector<difference> found;
    if (abilities_of(store).own_index) {
        found = detail::run_verifier<Storage>{store, limits}.run();
    }
    for (problem& each : problems_of(store)) {
        const bool damaged = each.kind == problem_kind::damaged;
        found.push_back({.kind = damaged ? difference_kind::damaged_file : difference_kind::unread,
                         .file = std::move(each.where),
                         .what = std::move(each.what)});
    }
    return found;
}

}  // namespace v1
}  // namespace smdebug

#include <smdebug/trial/impl/verify.tpp>
