// In which order the records of an event file are read: that in which a scan hands over its tensors.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/catalog/name_list.hpp>
#include <smdebug/trial/selection.hpp>

#include <cstddef>
#include <optional>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Calls one(name_id, const layout::entry*) for each tensor of a file for which wanted(name_id) holds, with the entry at
/// which its turn is, null where only a shape was saved.
/// Order: that of the values' entries (of two of one name the last counts); a tensor without values stands where the
/// first of its reductions (in the order of their names' list) does; those of which only a shape was saved come last.
template <class Wanted, class One>
void each_tensor(const catalog& from, const catalog::file& file, Wanted&& wanted, One&& one) {
    const layout& entries = from.layout_of(file);
    for (std::size_t place = 0; place < entries.size(); ++place) {
        const layout::entry entry = from.entry_of(file, entries, place);
        if (wanted(entry.what.name) && entries.names().leads(place)) {
            one(entry.what.name, &entry);
        }
    }
    for (const layout::shape_entry& shape : entries.shapes()) {
        if (wanted(shape.name) && entries.shape(shape.name) == &shape && !entries.has_values(shape.name) &&
            entries.saved_reductions(shape.name).empty()) {
            one(shape.name, static_cast<const layout::entry*>(nullptr));
        }
    }
}

/// Calls one(reduction_key, const layout::entry&) for each of the reductions that were saved of a tensor.
template <class One>
void each_saved(const catalog& from, const catalog::file& file, name_id name, reduction_set asked, One&& one) {
    const layout& entries = from.layout_of(file);
    if (entries.names().values_alone()) {
        return;
    }
    const reduction_set there = entries.saved_reductions(name) & asked;
    for (std::size_t i = 0; !there.empty() && i < 2 * reduction_count; ++i) {
        if (const reduction_key key = reduction_key::from_index(i); there.contains(key)) {
            one(key, *from.reduction_of(file, name, key));
        }
    }
}

/// Calls take(byte_range) for each record that a scan reads, and ended() behind those of each tensor: reductions come
/// before the values.
template <class Take, class Ended>
void each_record(const catalog& from, const catalog::file& file, const selected_tensors& which, reduction_set saved,
                 Take&& take, Ended&& ended) {
    const auto wanted = [&](name_id name) { return which.contains(name); };
    const auto take_entry = [&](const layout::entry& entry) {
        if (entry.is_in_object()) {
            take(entry.record);
        }
    };
    each_tensor(from, file, wanted, [&](name_id name, const layout::entry* entry) {
        if (entry == nullptr) {
            return;
        }
        each_saved(from, file, name, saved, [&](reduction_key, const layout::entry& one) { take_entry(one); });
        if (entry->what.kind == 0) {
            take_entry(*entry);
        }
        ended();
    });
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
