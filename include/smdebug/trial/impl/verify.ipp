// The bodies of <smdebug/trial/verify.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/collections_file.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/read/record_batch.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/run_contents.hpp>
#include <smdebug/trial/trial_access.hpp>
#include <smdebug/trial/verify.hpp>
#include <smdebug/wire/event.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

/// Verifies a whole run.  For one use.  Borrows the storage.
class run_verifier {
public:
    run_verifier(const any_storage& store, const size_limits& limits) : store_(store), limits_(limits) {}

    [[nodiscard]] std::vector<inconsistency> run();

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
    // The contents of an index file.
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

    void report(inconsistency_kind kind, std::string_view file, std::string what) {
        found_.push_back({.kind = kind, .file = std::string{file}, .what = std::move(what)});
    }
    void report(inconsistency_kind kind, const index_facts& of, std::string_view file, std::string tensor,
                std::string what);

    /// Calls `look`, and reports an exception from it as an inconsistency of `file`.
    template <class Look>
    void reporting_failures(std::string_view file, Look&& look) {
        try {
            look();
        } catch (const error& failed) {
            report(inconsistency_kind::damaged_file, file, std::string{failed.message()});
        } catch (const std::exception& failed) {
            report(inconsistency_kind::damaged_file, file, failed.what());
        }
    }

    [[nodiscard]] byte_buffer read(const std::string& key, std::uint64_t most) const;

    // Files ------------------------------------------------------------------------------------------------------

    void look_at_collections();

    void look_at_indexes();

    /// Nothing for a file that a running job may be writing.
    [[nodiscard]] std::optional<index_facts> read_index(const std::string& key);

    void compare(const index_facts& facts);

    /// Whether a running job may still write data of this step.
    [[nodiscard]] bool may_come(std::string_view worker_part, step_number step) const;

    void compare_records(const index_facts& facts, const event_records& events);

    void compare_digests(const index_facts& facts, const event_records& events);

    void compare_record(const index_facts& facts, const place& named, const event_record& record);

    // The Python package writes scalars under the mode that was set when they were noted, so one record that confirms
    // the index file suffices.
    void compare_mode(const index_facts& facts, const event_records& events);

    // A tensor has one original name in all files, and an original name belongs to one tensor.
    void compare_original(const index_facts& facts, const saved_shape& shape);

    // The rest ---------------------------------------------------------------------------------------------------

    void look_for_unnamed_files();

    const any_storage& store_;
    size_limits limits_;
    json::document parser_;
    bool ended_ = false;
    std::set<std::string, std::less<>> workers_;  // those that wrote collections files
    collections_check collections_;
    std::map<std::string, step_number, std::less<>> last_step_;   // by worker's part of file names
    std::set<std::string, std::less<>> named_;                    // event files
    std::set<std::string, std::less<>> seen_;                     // tensors
    std::map<std::string, std::string> originals_;                // by tensor
    std::map<std::string, std::string> named_so_;                 // the tensor, by original name
    std::map<std::pair<mode, step_number>, step_number> claims_;  // without a record that confirms them
    std::vector<inconsistency> found_;
};

SMDEBUG_INLINE std::vector<inconsistency> run_verifier::run() {
    reporting_failures({}, [&] { ended_ = store_.size(locations::end_of_job).has_value(); });
    reporting_failures(locations::collections_folder, [&] { look_at_collections(); });
    reporting_failures(locations::index_folder, [&] { look_at_indexes(); });
    reporting_failures(locations::events_folder, [&] { look_for_unnamed_files(); });
    collections_.compare_names(seen_, found_);
    return std::move(found_);
}

SMDEBUG_INLINE void run_verifier::report(inconsistency_kind kind, const index_facts& of, std::string_view file,
                                         std::string tensor, std::string what) {
    found_.push_back({.kind = kind,
                      .file = std::string{file},
                      .step = of.step,
                      .worker = locations::worker_from_file_part(of.worker_part),
                      .tensor = std::move(tensor),
                      .what = std::move(what)});
}

SMDEBUG_INLINE byte_buffer run_verifier::read(const std::string& key, std::uint64_t most) const {
    if (const auto size = store_.size(key); size && *size > most) {
        throw corrupt_data(
            "the file has " + std::to_string(*size) + " bytes, more than the " + std::to_string(most) + " allowed",
            {.where = key});
    }
    return store_.read(key);
}

SMDEBUG_INLINE void run_verifier::look_at_collections() {
    for (const std::string& key : store_.list(locations::collections_folder, "")) {
        if (const auto worker = locations::worker_of_collections_file(key)) {
            workers_.insert(*worker);
            reporting_failures(key, [&] {
                const byte_buffer bytes = read(key, limits_.collections_file);
                collections_.add(key, bytes.view(), parser_, found_);
            });
        }
    }
    const auto wanted = collections_.num_workers();
    if (wanted && workers_.size() != *wanted && ended_) {
        report(inconsistency_kind::workers, collections_.key(),
               "the job says that it has " + std::to_string(*wanted) + " workers, and " +
                   std::to_string(workers_.size()) + " have written collections files");
    }
}

SMDEBUG_INLINE void run_verifier::look_at_indexes() {
    const std::vector<std::string> keys = store_.list(locations::index_folder, "");
    for (const std::string& key : keys) {
        if (const auto name = locations::parse_index_key(key); name && locations::is_index_file(key)) {
            step_number& last = last_step_[std::string{name->worker_part}];
            last = std::max(last, name->step);
        }
    }
    for (const std::string& key : keys) {
        if (locations::is_index_file(key)) {
            reporting_failures(key, [&] {
                if (const auto facts = read_index(key)) {
                    compare(*facts);
                }
            });
        }
    }
}

SMDEBUG_INLINE std::optional<run_verifier::index_facts> run_verifier::read_index(const std::string& key) {
    const auto name = locations::parse_index_key(key);
    if (!name) {
        throw corrupt_data("the name is not of the form <step>_<worker>.json", {.where = key});
    }
    index_facts facts{.key = key, .step = name->step, .worker_part = std::string{name->worker_part}};
    const byte_buffer bytes = read(key, limits_.index_file);
    index_file::meta head;
    const auto wrong = index_file::parse(
        bytes.view(), parser_, head,
        [&](const index_file::location& named) {
            facts.places.push_back({std::string{named.tensor_name}, named.record});
        },
        [&](const index_file::saved_shape& shape) {
            facts.shapes.push_back({std::string{shape.tensor_name}, std::string{shape.original_name}, shape.extents});
        });
    if (wrong && wrong->not_json && !ended_) {
        return std::nullopt;
    }
    const auto root = parser_.parse(bytes.view());
    check_keys(found_, key, "", root, root_keys);
    check_keys(found_, key, "meta: ", root ? (*root)["meta"] : std::nullopt, meta_keys);
    if (wrong) {
        throw corrupt_data(wrong->what, {.where = key});
    }
    facts.in = head.mode;
    facts.mode_step = head.mode_step;
    facts.event_file = head.event_file_name;
    return facts;
}

SMDEBUG_INLINE void run_verifier::compare(const index_facts& facts) {
    const std::string worker = locations::worker_from_file_part(facts.worker_part);
    if (!workers_.empty() && !workers_.contains(worker)) {
        report(inconsistency_kind::workers, facts, facts.key, {}, "no collections file is this worker's");
    }
    for (const place& named : facts.places) {
        seen_.insert(std::string{parse_recorded_name(named.name).tensor});
    }
    for (const saved_shape& shape : facts.shapes) {
        seen_.insert(shape.name);
        compare_original(facts, shape);
    }
    const auto named = locations::parse_step_file(facts.event_file, locations::event_extension);
    if (!stays_inside(facts.event_file)) {
        report(inconsistency_kind::place, facts, facts.key, {},
               "it names no event file of the run: \"" + facts.event_file + "\"");
        return;
    }
    if (named && (named->step != facts.step || named->worker_part != facts.worker_part)) {
        report(inconsistency_kind::place, facts, facts.key, {},
               "it names the event file of another step or worker, " + facts.event_file);
    }
    named_.insert(facts.event_file);
    std::optional<event_records> events;
    try {
        events = read_event_records(store_, facts.event_file, limits_.record, collections_.has(digests_collection));
    } catch (const not_found&) {
        if (!facts.places.empty() && !may_come(facts.worker_part, facts.step)) {
            report(inconsistency_kind::missing_file, facts, facts.key, {},
                   "the event file " + facts.event_file + " is not there");
        }
    }
    if (events) {
        compare_records(facts, *events);
    }
    compare_mode(facts, events ? *events : event_records{});
}

SMDEBUG_INLINE bool run_verifier::may_come(std::string_view worker_part, step_number step) const {
    const auto last = last_step_.find(worker_part);
    return !ended_ && (last == last_step_.end() || step >= last->second);
}

SMDEBUG_INLINE void run_verifier::compare_records(const index_facts& facts, const event_records& events) {
    std::vector<bool> used(events.records.size());
    for (const place& named : facts.places) {
        const auto record =
            std::lower_bound(events.records.begin(), events.records.end(), named.record.offset,
                             [](const event_record& one, std::uint64_t begin) { return one.where.offset < begin; });
        if (record == events.records.end() || record->where.offset != named.record.offset) {
            report(inconsistency_kind::place, facts, facts.event_file, named.name,
                   "no record begins at byte " + std::to_string(named.record.offset) + ", where the index file has it");
            continue;
        }
        used[static_cast<std::size_t>(record - events.records.begin())] = true;
        compare_record(facts, named, *record);
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
        const event_record& left = events.records[i];
        if (!used[i] && (left.has_value || left.state != status::ok)) {
            report(inconsistency_kind::unnamed_record, facts, facts.event_file, left.tag,
                   "the index file does not name the record at byte " + std::to_string(left.where.offset));
        }
    }
    if (events.end != status::ok && !(events.end == status::truncated && may_come(facts.worker_part, facts.step))) {
        report(inconsistency_kind::damaged_record, facts, facts.event_file, {},
               "at byte " + std::to_string(events.end_offset) + ": " + std::string{describe(events.end)});
    }
    if (collections_.has(digests_collection)) {
        compare_digests(facts, events);
    }
    for (const saved_shape& shape : facts.shapes) {
        const auto is_of = [&](const event_record& one) { return one.shape && one.tag == shape.name; };
        const auto fits = [&](const event_record& one) { return is_of(one) && *one.shape == shape.extents; };
        if (std::any_of(events.records.begin(), events.records.end(), is_of) &&
            std::none_of(events.records.begin(), events.records.end(), fits)) {  // a step may have several saves of it
            report(inconsistency_kind::shape, facts, facts.key, shape.name,
                   "the index file has another shape than the saved values");
        }
    }
}

SMDEBUG_INLINE void run_verifier::compare_digests(const index_facts& facts, const event_records& events) {
    const auto differ = [&](std::string_view tensor, std::string what) {
        report(inconsistency_kind::digest, facts, facts.event_file, std::string{tensor}, std::move(what));
    };
    // By tensor, its saved digests and those of its values: a step may have several saves of it.
    std::map<std::string_view, std::array<std::vector<std::int64_t>, 2>> tensors;
    for (const event_record& one : events.records) {
        const bool is_one = is_digest(one.tag);
        if (is_one && one.state == status::ok && !one.number) {
            differ(tensor_of_digest(one.tag), "its digest is not an int64 scalar");
        } else if (const auto& digest = is_one ? one.number : one.digest) {
            tensors[is_one ? tensor_of_digest(one.tag) : one.tag][is_one ? 0 : 1].push_back(*digest);
        }
    }
    for (const auto& [tensor, both] : tensors) {
        const auto& [saved, of_values] = both;
        for (std::size_t i = 0; !saved.empty() && i < of_values.size(); ++i) {
            // In pairs; any of them, if the values or the digest of some save are not there.
            const std::span all{saved};
            const auto fitting = saved.size() == of_values.size() ? all.subspan(i, 1) : all;
            if (std::find(fitting.begin(), fitting.end(), of_values[i]) == fitting.end()) {
                differ(tensor, "its values are not what the hook saw: their digest is " + std::to_string(of_values[i]) +
                                   ", the saved one " + std::to_string(fitting.back()));
            }
        }
    }
}

SMDEBUG_INLINE void run_verifier::compare_record(const index_facts& facts, const place& named,
                                                 const event_record& record) {
    const std::string which = "the record at byte " + std::to_string(record.where.offset);
    if (record.where.length != named.record.length) {
        report(inconsistency_kind::place, facts, facts.event_file, named.name,
               which + " has " + std::to_string(record.where.length) + " bytes, " +
                   std::to_string(named.record.length) + " by the index file");
    }
    if (record.state != status::ok) {
        report(inconsistency_kind::damaged_record, facts, facts.event_file, named.name,
               which + ": " + std::string{describe(record.state)});
        return;
    }
    if (record.tag != named.name) {
        report(inconsistency_kind::name, facts, facts.event_file, named.name,
               which + " is that of \"" + record.tag + "\"");
    }
    if (record.step != facts.step) {
        report(inconsistency_kind::step, facts, facts.event_file, named.name,
               which + " is of step " + std::to_string(record.step));
    }
}

SMDEBUG_INLINE void run_verifier::compare_mode(const index_facts& facts, const event_records& events) {
    std::string other;
    for (const event_record& record : events.records) {
        if (!record.mode || !record.mode_step) {
            continue;
        }
        if (*record.mode == facts.in && *record.mode_step == facts.mode_step) {
            return;
        }
        other = std::string{name_of(*record.mode)} + " " + std::to_string(*record.mode_step);
    }
    const std::string here = std::string{name_of(facts.in)} + " " + std::to_string(facts.mode_step);
    if (!other.empty()) {
        report(inconsistency_kind::mode, facts, facts.key, {},
               "the index file says " + here + ", the records say " + other);
        return;
    }
    // Only the index file contains it: then no other step may claim it.
    const auto [claimed, fresh] = claims_.try_emplace(std::pair{facts.in, facts.mode_step}, facts.step);
    if (facts.in != mode::global && !fresh && claimed->second != facts.step) {
        report(inconsistency_kind::mode, facts, facts.key, {},
               "step " + std::to_string(claimed->second) + " is " + here + ", too");
    }
}

SMDEBUG_INLINE void run_verifier::compare_original(const index_facts& facts, const saved_shape& shape) {
    const auto original = originals_.try_emplace(shape.name, shape.original).first;
    const auto name = named_so_.try_emplace(shape.original, shape.name).first;
    if (original->second != shape.original) {
        report(inconsistency_kind::name, facts, facts.key, shape.name,
               "its original name is \"" + shape.original + "\" here and \"" + original->second + "\" elsewhere");
    } else if (name->second != shape.name) {
        report(inconsistency_kind::name, facts, facts.key, shape.name,
               "its original name is that of \"" + name->second + "\" elsewhere");
    }
}

SMDEBUG_INLINE void run_verifier::look_for_unnamed_files() {
    for (const std::string& key : store_.list(locations::events_folder, "")) {
        const auto name = locations::parse_step_file(key, locations::event_extension);
        if (name && !named_.contains(key) && !may_come(name->worker_part, name->step)) {
            found_.push_back({.kind = inconsistency_kind::unnamed_file,
                              .file = key,
                              .step = name->step,
                              .worker = locations::worker_from_file_part(name->worker_part),
                              .what = "no index file names it"});
        }
    }
}

}  // namespace detail

SMDEBUG_INLINE std::vector<inconsistency> verify_run(const any_storage& store, const size_limits& limits) {
    std::vector<inconsistency> found;
    std::vector<problem> problems = store.problems();
    if (store.source() == nullptr) {
        found = detail::run_verifier{store, limits}.run();
    } else {
        run_contents contents;
        static_cast<void>(store.source()->make()->update(contents));
        const std::vector<problem> of_data = contents.problems();
        problems.insert(problems.end(), of_data.begin(), of_data.end());
    }
    for (problem& each : problems) {
        const bool damaged = each.kind == problem_kind::damaged;
        found.push_back({.kind = damaged ? inconsistency_kind::damaged_file : inconsistency_kind::unread,
                         .file = std::move(each.where),
                         .what = std::move(each.what)});
    }
    return found;
}

SMDEBUG_INLINE std::vector<inconsistency> verify_run(const trial& run) {
    return verify_run(run.store(), detail::state_of(run)->options().limits);
}

namespace detail {

SMDEBUG_INLINE void check_keys(std::vector<inconsistency>& found, std::string_view file, const std::string& where,
                               const std::optional<json::value>& object, std::span<const std::string_view> known) {
    if (!object) {
        return;
    }
    for (const auto& wrong : {renamed_keys(*object, known), repeated_keys(*object)}) {
        if (wrong) {
            found.push_back(
                {.kind = inconsistency_kind::renamed_key, .file = std::string{file}, .what = where + *wrong});
        }
    }
}

SMDEBUG_INLINE void collections_check::add(const std::string& key, byte_view bytes, json::document& parser,
                                           std::vector<inconsistency>& found) {
    collections_file parsed;
    if (const auto wrong = parse_collections_file(bytes, parser, parsed)) {
        throw corrupt_data(*wrong, {.where = key});
    }
    check_all_keys(key, *parser.parse(bytes), found);
    if (key_.empty()) {
        key_ = key;
        first_ = std::move(parsed);
    } else {
        compare(key, parsed, found);
    }
}

SMDEBUG_INLINE void collections_check::compare_names(const std::set<std::string, std::less<>>& seen,
                                                     std::vector<inconsistency>& found) const {
    std::set<std::string_view> listed;
    for (const auto& [name, group] : first_.collections) {
        listed.insert(group.tensor_names.begin(), group.tensor_names.end());
    }
    std::vector<std::string_view> lonely;
    std::set_difference(seen.begin(), seen.end(), listed.begin(), listed.end(), std::back_inserter(lonely));
    constexpr std::size_t most = 4096;  // every pair is compared
    if (lonely.size() > most) {
        return;
    }
    for (const auto& [name, group] : first_.collections) {
        for (const std::string& tensor : group.tensor_names) {
            const auto near = std::find_if(lonely.begin(), lonely.end(),
                                           [&](std::string_view other) { return is_near(tensor, other); });
            if (near != lonely.end() && !seen.contains(tensor)) {
                found.push_back({.kind = inconsistency_kind::collections,
                                 .file = key_,
                                 .tensor = std::string{*near},
                                 .what = "collection \"" + name + "\" has \"" + tensor + "\", which no step has"});
            }
        }
    }
}

SMDEBUG_INLINE void collections_check::check_all_keys(const std::string& key, json::value root,
                                                      std::vector<inconsistency>& found) {
    constexpr std::array<std::string_view, 2> sections{"collections", "_meta"};
    constexpr std::array<std::string_view, 1> meta{"num_workers"};
    check_keys(found, key, "", root, sections);
    check_keys(found, key, "_meta: ", root["_meta"], meta);
    const auto groups = root["collections"];
    check_keys(found, key, "collections: ", groups, {});
    static_cast<void>(groups && groups->for_each_field([&](std::string_view name, json::value group) {
        check_group(key, name, group, found);
        return true;
    }));
}

SMDEBUG_INLINE void collections_check::check_group(const std::string& key, std::string_view name, json::value group,
                                                   std::vector<inconsistency>& found) {
    constexpr std::array<std::string_view, 6> known{"name",        "include_regex",    "tensor_names",
                                                    "save_config", "reduction_config", "save_histogram"};
    constexpr std::array<std::string_view, 3> reductions{"reductions", "save_raw_tensor", "save_shape"};
    constexpr std::array<std::string_view, 4> intervals{"save_interval", "save_steps", "start_step", "end_step"};
    const std::string where = "collection \"" + std::string{name} + "\": ";
    check_keys(found, key, where, group, known);
    check_keys(found, key, where, group["reduction_config"], reductions);
    if (const auto modes = group["save_config"]) {
        static_cast<void>(modes->for_each_field([&](std::string_view, json::value mode) {
            check_keys(found, key, where, mode, intervals);
            return true;
        }));
    }
    const auto field = group["name"];
    const auto own = field ? field->string() : std::nullopt;
    if (own && *own != name) {
        found.push_back({.kind = inconsistency_kind::collections,
                         .file = key,
                         .what = where + "it calls itself \"" + std::string{*own} + "\""});
    }
}

SMDEBUG_INLINE void collections_check::compare(const std::string& key, collections_file& one,
                                               std::vector<inconsistency>& found) const {
    if (one.num_workers != first_.num_workers) {
        found.push_back({.kind = inconsistency_kind::workers,
                         .file = key,
                         .what = "it says " + std::to_string(one.num_workers) + " workers, " + key_ + " says " +
                                 std::to_string(first_.num_workers)});
    }
    const auto report = [&](const std::string& name, const std::string& what) {
        found.push_back({.kind = inconsistency_kind::collections,
                         .file = key,
                         .what = "collection \"" + name + "\" is " + what + " " + key_});
    };
    for (auto& [name, group] : one.collections) {
        const auto same = first_.collections.find(name);
        if (same == first_.collections.end()) {
            report(name, "not in");
            continue;
        }
        group.tensor_names = same->second.tensor_names;
        if (group != same->second) {
            report(name, "configured otherwise than in");
        }
    }
    for (const auto& [name, group] : first_.collections) {
        if (!one.collections.contains(name)) {
            report(name, "missing, which is in");
        }
    }
}

SMDEBUG_INLINE bool collections_check::is_near(std::string_view a, std::string_view b) noexcept {
    std::size_t other = a.size() == b.size() ? 0 : 2;
    for (std::size_t i = 0; other < 2 && i < a.size(); ++i) {
        other += a[i] != b[i] ? 1U : 0U;
    }
    return other == 1;
}

}  // namespace detail
}  // namespace smdebug::inline v1
