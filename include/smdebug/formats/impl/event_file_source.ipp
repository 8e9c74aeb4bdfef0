// The bodies of <smdebug/formats/event_file_source.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/formats/event_file_source.hpp>
#include <smdebug/index/collections_file.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/trial/read/event_records.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {

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
        if (size > most) {  // a sparse file of a hundred bytes may be as large as one likes
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
    // The mark is looked up first: whatever was written before it is in the listing that follows.
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
        // A worker that writes a later step has done with this one.
        if (read_file(each.key, ended || each.step < last_steps_[each.worker], contents)) {
            done_.insert(each.key);
            has_news = true;
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

}  // namespace v1
}  // namespace smdebug
