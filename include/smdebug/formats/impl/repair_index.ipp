// The bodies of <smdebug/formats/repair_index.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/formats/event_file_source.hpp>
#include <smdebug/formats/presented_index.hpp>
#include <smdebug/formats/repair_index.hpp>
#include <smdebug/formats/run_contents.hpp>
#include <smdebug/index/collections_file.hpp>
#include <smdebug/index/collections_writer.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/output.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// What is wrong with an index file, seen from what its event file has; nothing: it is good.
[[nodiscard]] inline std::optional<std::string> fault_of(byte_view bytes, const run_contents& contents,
                                                         const presented_file& file, json::document& parser) {
    std::map<std::string, byte_range> named;
    index_file::meta head;
    const auto wrong = index_file::parse(
        bytes, parser, head,
        [&](const index_file::location& place) {
            named.insert_or_assign(std::string{place.tensor_name}, place.record);
        },
        [](const index_file::saved_shape&) {});
    if (wrong) {
        return wrong->what;
    }
    if (head.mode != file.mode || head.mode_step != file.mode_step) {
        return "its mode or mode step is not what the records say";
    }
    if (head.event_file_name != event_key_of(contents, file)) {
        return "it names another event file, " + std::string{head.event_file_name};
    }
    std::map<std::string, byte_range> recorded;
    for (const presented_file::entry& entry : file.entries) {
        recorded.insert_or_assign(contents.names()[entry.name], entry.record);
    }
    if (named.size() != recorded.size()) {
        return "it names " + std::to_string(named.size()) + " tensors, the event file has " +
               std::to_string(recorded.size());
    }
    const auto other = std::mismatch(recorded.begin(), recorded.end(), named.begin());
    return other.first == recorded.end()
               ? std::nullopt
               : std::optional<std::string>{"tensor " + other.first->first + " lies elsewhere than it says"};
}

}  // namespace detail

SMDEBUG_INLINE index_repair plan_index_repair(const any_storage& store) {
    namespace locations = detail::locations;
    index_repair plan;
    run_contents contents;
    event_file_source source{store, {.is_over = true}};
    static_cast<void>(source.update(contents));
    for (const auto& [kind, where, what] : contents.problems()) {
        plan.problems.push_back(where + ": " + what);
    }
    if (contents.empty() && plan.problems.empty()) {
        throw not_found("there are no event files in " + store.name() + ": nothing to make an index of",
                        {.where = store.name()});
    }
    detail::json::document parser;
    std::set<std::string> known;
    std::set<std::string> workers;
    for (const auto& file : contents.take_new()) {
        ++plan.event_files;
        workers.insert(contents.workers()[file->worker]);
        index_repair::file next{.key = detail::index_key_of(contents, *file),
                                .text = detail::index_text_of(contents, *file)};
        known.insert(next.key);
        if (!store.size(next.key)) {
            next.why = "it is missing";
        } else if (const auto wrong = detail::fault_of(store.read(next.key).view(), contents, *file, parser)) {
            next.what = index_repair::action::replaced;
            next.why = *wrong;
        } else {
            ++plan.good;
            continue;
        }
        plan.files.push_back(std::move(next));
    }
    for (const std::string& key : store.list(locations::index_folder, {})) {
        if (locations::is_index_file(key) && !known.contains(key)) {
            plan.problems.push_back(key + ": there is no event file for it: it stays as it is");
        }
    }
    bool has_collections = false;
    for (const std::string& key : store.list(locations::collections_folder, {})) {
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
                                  .text = collections_text(minimal)});
        }
    }
    std::sort(plan.files.begin(), plan.files.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    return plan;
}

SMDEBUG_INLINE void repair_index(any_storage& store, const index_repair& plan) {
    for (const index_repair::file& file : plan.files) {
        if (file.what == index_repair::action::replaced) {
            detail::put_whole(store, file.key + ".damaged", store.read(file.key).view(), durability::on_disk);
        }
        detail::put_whole(store, file.key, as_bytes(file.text), durability::on_disk);
    }
}

}  // namespace v1
}  // namespace smdebug
