// The bodies of <smdebug/formats/event_file_source.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/formats/event_file_source.hpp>
#include <smdebug/index/collections_file.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/read/record_batch.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

SMDEBUG_INLINE void event_file_source::read_collections(run_contents& contents) {
    namespace locations = detail::locations;
    constexpr std::uint64_t usual = std::uint64_t{256} << 20U;  // as size_limits::collections_file
    const std::uint64_t most = std::min(how_.most_record_bytes, usual);
    detail::json::document parser;
    bool is_first = true;
    contents.set_num_workers(std::max<std::size_t>(last_steps_.size(), 1));  // unless a file says it
    for (const std::string& key : store_.list(locations::collections_folder, "")) {
        if (!locations::worker_of_collections_file(key) || !is_first) {
            continue;
        }
        is_first = false;
        detail::collections_file parsed;
        const std::uint64_t size = store_.size(key).value_or(0);
        if (size > most) {  // a sparse file of a hundred bytes may have any size
            contents.note_problem(key, "the file has " + std::to_string(size) + " bytes; at most " +
                                           std::to_string(most) + " are read: the run has no collections");
            continue;
        }
        const byte_buffer bytes = store_.read(key);
        if (const auto wrong = parse_collections_file(bytes.view(), parser, parsed)) {
            contents.note_problem(key, *wrong + ": the run has no collections");
            continue;
        }
        contents.set_num_workers(static_cast<std::size_t>(std::max<std::int64_t>(parsed.num_workers, 1)));
        for (auto& [name, group] : parsed.collections) {
            contents.add_collection(std::move(group));
        }
    }
}

SMDEBUG_INLINE bool event_file_source::update(run_contents& contents) {
    namespace locations = detail::locations;
    // The mark is looked up first: the later listing then contains everything that was written before the mark.
    const bool ended = how_.is_over || store_.size(locations::end_of_job).has_value();
    bool has_news = false;
    struct open_file {
        std::string key;
        step_number step = 0;
        std::string worker;
    };
    std::vector<open_file> open_files;
    for (std::string& key : store_.list(locations::events_folder, "")) {
        if (done_.contains(key)) {
            continue;
        }
        const auto name = locations::parse_step_file(key, locations::event_extension);
        if (!name) {
            if (key.ends_with(locations::event_extension) && !is_resource_fork(key)) {
                done_.insert(key);
                contents.note_problem(key,
                                      "the name is not of the form <step>_<worker>.tfevents: the file is left out");
            }
            continue;
        }
        std::string worker = locations::worker_from_file_part(name->worker_part);
        step_number& last = last_steps_.try_emplace(worker, name->step).first->second;
        last = std::max(last, name->step);
        const step_number step = name->step;
        open_files.push_back({std::move(key), step, std::move(worker)});
    }
    for (const open_file& each : open_files) {
        try {
            // A worker that writes a later step has completed this one.
            if (read_file(each.key, ended || each.step < last_steps_[each.worker], contents)) {
                done_.insert(each.key);
                has_news = true;
            }
            contents.withdraw_problem(each.key, run_contents::denied);
        } catch (const access_denied& denied) {
            contents.note_problem(each.key, denied.what(), problem_kind::damaged, run_contents::denied);
        }
    }
    if (!is_open_) {
        read_collections(contents);
        is_open_ = true;
    }
    contents.set_ended(ended);
    return has_news;
}

SMDEBUG_INLINE bool event_file_source::read_file(const std::string& key, bool is_over, run_contents& contents) {
    namespace locations = detail::locations;
    std::vector<found_record> records;
    std::vector<problem> problems;
    const auto at = [&](std::uint64_t offset) { return detail::place_in(key, offset); };
    detail::record_file file{key, how_.most_record_bytes};
    file.read(
        store_,
        [&](byte_range where, byte_view payload) {
            detail::event_record facts;
            if (detail::read_event_facts(payload, facts) != status::ok) {
                problems.push_back({.where = at(where.offset), .what = "the record holds no event: it is left out"});
            } else if (facts.has_value) {
                records.push_back(
                    {.tag = std::move(facts.tag), .where = where, .mode = facts.mode, .mode_step = facts.mode_step});
            }
        },
        [&](byte_range where, status why) { problems.push_back(detail::record_problem(store_, key, where, why)); });
    if (file.position() == 0 && file.state() == status::ok && !store_.size(key)) {
        contents.note_problem(key, "it is a link to a file that is not there");
        return false;
    }
    contents.withdraw_problem(key);
    if (const auto noted = cut_.find(key); noted != cut_.end()) {
        contents.withdraw_problem(noted->second);
        cut_.erase(noted);
    }
    if (const std::string cut = file.cut_text(); !cut.empty()) {
        const std::string where = at(file.position());
        if (!is_over) {
            contents.note_problem(where, cut + "; nothing of the file is read until it is whole, or the job has ended");
            cut_.emplace(key, where);
            return false;
        }
        problems.push_back({.where = where, .what = cut});
    }
    for (problem& each : problems) {
        contents.note_problem(std::move(each.where), std::move(each.what), each.kind);
    }
    if (records.empty()) {
        return true;
    }
    const auto name = locations::parse_step_file(key, locations::event_extension);
    const std::string worker = locations::worker_from_file_part(name->worker_part);
    const auto with_mode =
        std::find_if(records.begin(), records.end(), [](const found_record& one) { return one.mode && one.mode_step; });
    const bool has_mode = with_mode != records.end();
    const run_contents::place where{.step = name->step,
                                    .mode = has_mode ? *with_mode->mode : mode::global,
                                    .mode_step = has_mode ? *with_mode->mode_step : name->step,
                                    .worker = worker};
    const std::uint32_t object = contents.object(key);
    for (const found_record& one : records) {
        contents.add_record(where, one.tag, object, one.where);
    }
    return true;
}

namespace detail {

/// An existing index file.
struct found_index {
    struct shape {
        std::string name;
        std::string original;
        shape_type extents;
    };

    bool is_parsed = false;
    std::string event_file = {};
    std::map<std::string, byte_range> named = {};
    std::map<std::string, std::size_t> order = {};  // of names
    std::vector<shape> shapes = {};
    std::optional<std::string> fault = {};  // judged by its event file; nothing if it is good
};

/// The content of an event file's records.
struct recorded_file {
    const run_contents& contents;
    const found_stretch& stretch;
    std::vector<found_entry> entries;

    [[nodiscard]] const std::string& name_of(const found_entry& entry) const {
        return detail::contents_access::names(contents)[entry.name];
    }
    [[nodiscard]] const std::string& key() const { return contents.key_of(stretch.object); }
    [[nodiscard]] std::string text(index_writer& writer) const {
        return std::string{
            writer.text({.mode = stretch.mode, .mode_step = stretch.mode_step, .event_file_name = std::string{key()}})};
    }
};

[[nodiscard]] inline found_index found_index_of(byte_view bytes, const recorded_file& file, json::document& parser) {
    found_index found;
    index_file::meta head;
    const auto wrong = index_file::parse(
        bytes, parser, head,
        [&](const index_file::location& place) {
            found.order.try_emplace(std::string{place.tensor_name}, found.order.size());
            found.named.insert_or_assign(std::string{place.tensor_name}, place.record);
        },
        [&](const index_file::saved_shape& shape) {
            found.shapes.push_back({std::string{shape.tensor_name}, std::string{shape.original_name}, shape.extents});
        });
    found.is_parsed = !wrong;
    found.event_file = head.event_file_name;
    std::map<std::string, byte_range> recorded;
    for (const found_entry& entry : file.entries) {
        recorded.insert_or_assign(file.name_of(entry), entry.place);
    }
    if (wrong) {
        found.fault = wrong->what;
    } else if (head.mode != file.stretch.mode || head.mode_step != file.stretch.mode_step) {
        found.fault = "its mode or mode step is not what the records say";
    } else if (head.event_file_name != file.key()) {
        found.fault = "it names another event file, " + found.event_file;
    } else if (found.named.size() != recorded.size()) {
        found.fault = "it names " + std::to_string(found.named.size()) + " tensors, the event file has " +
                      std::to_string(recorded.size());
    } else if (const auto other = std::mismatch(recorded.begin(), recorded.end(), found.named.begin());
               other.first != recorded.end()) {
        found.fault = "tensor " + other.first->first + " lies elsewhere than it says";
    }
    return found;
}

/// "tensor a", "3 tensors, the first a".
[[nodiscard]] inline std::string some_names(std::size_t count, const std::string& what, const std::string& first) {
    return count == 1 ? what + " " + first : std::to_string(count) + " " + what + "s, the first " + first;
}

/// Completes a new index file from the old one that it replaces.  `is_of_another`: the old one belongs to another step.
inline void keep_of_old(index_repair::file& next, const found_index& old, bool is_of_another,
                        const recorded_file& file) {
    if (!old.is_parsed) {
        next.dropped = "shapes and order, if it had any, which cannot be read";
    }
    std::vector<found_entry> entries = file.entries;
    const auto place_of = [&](const found_entry& entry) {
        const auto place = old.order.find(file.name_of(entry));
        return place != old.order.end() ? place->second : old.order.size();
    };
    if (!is_of_another) {
        std::stable_sort(entries.begin(), entries.end(),
                         [&](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
    }
    index_writer writer;
    std::set<std::string> kept;
    for (const found_entry& entry : entries) {
        kept.insert(file.name_of(entry));
        writer.add_tensor(file.name_of(entry), entry.place);
    }
    const auto drop = [&](const std::string& what) {
        next.dropped.append(next.dropped.empty() ? "" : "; ").append(what);
    };
    std::string first;
    std::size_t lost = 0;
    for (const auto& [name, place] : old.order) {
        if (!kept.contains(name) && lost++ == 0) {
            first = name;
        }
    }
    if (lost > 0) {
        drop(some_names(lost, "tensor", first) + ", of which the event file has no record");
    }
    if (is_of_another && !old.shapes.empty()) {
        drop(some_names(old.shapes.size(), "shape", old.shapes.front().name) + ", which belong to " + old.event_file);
    } else {
        for (const found_index::shape& shape : old.shapes) {
            writer.add_shape(shape.name, shape.original, shape.extents);
        }
    }
    next.text = file.text(writer);
}

}  // namespace detail

SMDEBUG_INLINE index_repair plan_index_repair(const any_storage& store) {
    namespace locations = detail::locations;
    index_repair plan;
    run_contents contents;
    event_file_source source{store, {.is_over = true}};
    static_cast<void>(source.update(contents));
    for (const auto& [kind, where, what, topic] : contents.problems()) {
        plan.problems.push_back(where + ": " + what);
    }
    if (detail::contents_access::stretches(contents).empty() && plan.problems.empty()) {
        throw not_found("there are no event files in " + store.name() + ": nothing to make an index of",
                        {.where = store.name()});
    }
    detail::json::document parser;
    std::set<std::string> known;
    std::set<std::string> workers;
    std::set<std::string_view> event_files;
    for (const detail::found_stretch& each : detail::contents_access::stretches(contents)) {
        event_files.insert(contents.key_of(each.object));
    }
    for (std::size_t i = 0; i < detail::contents_access::stretches(contents).size(); ++i) {
        detail::recorded_file file{contents, detail::contents_access::stretches(contents)[i], {}};
        detail::contents_access::each_entry(contents, i,
                                            [&](const detail::found_entry& entry) { file.entries.push_back(entry); });
        const std::string& worker = detail::contents_access::workers(contents)[file.stretch.worker];
        ++plan.event_files;
        workers.insert(worker);
        detail::index_writer writer;
        for (const detail::found_entry& entry : file.entries) {
            writer.add_tensor(file.name_of(entry), entry.place);
        }
        index_repair::file next{.key = locations::index_key(file.stretch.step, worker), .text = file.text(writer)};
        known.insert(next.key);
        if (!store.size(next.key)) {
            next.why = "it is missing";
        } else {
            const auto old = detail::found_index_of(store.read(next.key).view(), file, parser);
            if (!old.fault) {
                ++plan.good;
                continue;
            }
            next.what = index_repair::action::replaced;
            next.why = *old.fault;
            const bool is_of_another = old.event_file != file.key() && event_files.contains(old.event_file);
            detail::keep_of_old(next, old, is_of_another, file);
        }
        plan.files.push_back(std::move(next));
    }
    for (const std::string& key : store.list(locations::index_folder, "")) {
        if (locations::is_index_file(key) && !known.contains(key)) {
            plan.problems.push_back(key + ": there is no event file for it: it stays as it is");
        }
    }
    bool has_collections = false;
    for (const std::string& key : store.list(locations::collections_folder, "")) {
        detail::collections_file parsed;
        has_collections = has_collections || (locations::worker_of_collections_file(key) &&
                                              !parse_collections_file(store.read(key).view(), parser, parsed));
    }
    if (!has_collections && !workers.empty()) {
        detail::collections_file minimal;
        minimal.num_workers = static_cast<std::int64_t>(workers.size());
        for (const std::string& worker : workers) {
            const std::string key = locations::collections_key(worker);
            const bool is_there = store.size(key).has_value();
            plan.files.push_back({.key = key,
                                  .what = is_there ? index_repair::action::replaced : index_repair::action::written,
                                  .why = is_there ? "it is damaged" : "there is no collections file",
                                  .dropped = is_there ? "collections, if it had any, which cannot be read" : "",
                                  .text = collections_text(minimal)});
        }
    }
    std::sort(plan.files.begin(), plan.files.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    return plan;
}

SMDEBUG_INLINE std::size_t repair_index(any_storage& store, const index_repair& plan, const std::stop_token& stop) {
    std::size_t written = 0;
    for (const index_repair::file& file : plan.files) {
        if (stop.stop_requested()) {
            break;
        }
        if (file.what == index_repair::action::replaced) {
            detail::put_whole(store, file.key + ".damaged", store.read(file.key).view(), durability::on_disk);
        }
        detail::put_whole(store, file.key, as_bytes(file.text), durability::on_disk);
        ++written;
    }
    return written;
}

}  // namespace smdebug::inline v1
