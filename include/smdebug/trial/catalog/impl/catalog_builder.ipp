// The bodies of <smdebug/trial/catalog/catalog_builder.hpp>.
#pragma once

#include <smdebug/core/sorted_blocks.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/catalog_builder.hpp>
#include <smdebug/trial/run_contents.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE std::optional<std::uint32_t> payload_cache::find(std::uint32_t worker, byte_view bytes) {
    if (worker < last_of_.size() && last_of_[worker] < payloads_.size() &&
        matches(payloads_[last_of_[worker]], bytes)) {
        return use(last_of_[worker], worker);
    }
    for (std::uint32_t i = 0; i < payloads_.size(); ++i) {
        if (matches(payloads_[i], bytes)) {
            return use(i, worker);
        }
    }
    return std::nullopt;
}

SMDEBUG_INLINE void payload_cache::remember(std::uint32_t worker, byte_view bytes, std::uint32_t layout) {
    workers_ = std::max<std::size_t>(workers_, worker + std::size_t{1});
    while (payloads_.size() >= 8 && (payloads_.size() >= 8 + 2 * workers_ || bytes_ + bytes.size() > most_bytes)) {
        const auto oldest = std::min_element(payloads_.begin(), payloads_.end(),
                                             [](const payload& a, const payload& b) { return a.used < b.used; });
        bytes_ -= oldest->bytes.size();
        std::swap(*oldest, payloads_.back());  // last_of_ is a guess that find() verifies
        payloads_.pop_back();
    }
    payload& slot = payloads_.emplace_back();
    bytes_ += bytes.size();
    slot.bytes.assign(bytes.begin(), bytes.end());
    slot.layout = layout;
    static_cast<void>(use(static_cast<std::uint32_t>(&slot - payloads_.data()), worker));
}

SMDEBUG_INLINE bool payload_cache::matches(const payload& known, byte_view bytes) noexcept {
    constexpr std::size_t tail = 64;
    const std::size_t size = bytes.size();
    return known.bytes.size() == size &&
           (size < tail || std::memcmp(known.bytes.data() + size - tail, bytes.data() + size - tail, tail) == 0) &&
           (size == 0 || std::memcmp(known.bytes.data(), bytes.data(), size) == 0);
}

SMDEBUG_INLINE std::uint32_t payload_cache::use(std::uint32_t place, std::uint32_t worker) {
    if (worker >= last_of_.size()) {
        last_of_.resize(worker + std::size_t{1}, none);
    }
    last_of_[worker] = place;
    payloads_[place].used = ++clock_;
    return payloads_[place].layout;
}

SMDEBUG_INLINE std::shared_ptr<const name_list> recent_name_lists::find(std::span<const recorded_item> items,
                                                                        std::span<const name_id> shapes) {
    for (std::size_t i = 0; i < lists_.size(); ++i) {
        if (lists_[i]->equals(items, shapes)) {
            const auto place = lists_.begin() + static_cast<std::ptrdiff_t>(i);
            std::rotate(lists_.begin(), place, place + 1);
            return lists_.front();
        }
    }
    return nullptr;
}

SMDEBUG_INLINE void recent_name_lists::remember(std::shared_ptr<const name_list> list) {
    if (lists_.size() == most) {
        lists_.pop_back();
    }
    lists_.insert(lists_.begin(), std::move(list));
}

SMDEBUG_INLINE void loader_cache::forget() {
    payloads.forget();
    lists.forget();
    workers.clear();
}

SMDEBUG_INLINE std::optional<index_file::damage> catalog_builder::add(step_number step, std::string_view worker_part,
                                                                      byte_view bytes, std::uint64_t stamp) {
    const auto is_left_out = [this](const index_file::meta& head) {
        return mode_steps_ && !mode_steps_->contains(head.mode_step);
    };
    const auto parts = index_file::split_canonical(bytes);
    if (parts && is_left_out(parts->head)) {
        return std::nullopt;
    }
    const worker_id worker = worker_of(worker_part);
    if (is_repeated(step, worker)) {
        return std::nullopt;
    }
    index_file::meta head;
    std::optional<std::uint32_t> shared;
    if (parts) {
        head = parts->head;
        shared = cache_.payloads.find(worker, parts->payload);
    }
    if (!shared) {
        if (auto wrong = parse(worker, bytes, parts, head, shared)) {
            return wrong;
        }
    }
    if (!shared || is_left_out(head)) {
        return std::nullopt;  // a file that names nothing makes no step
    }
    next_.steps_are_synthetic = next_.steps_are_synthetic || (mode_steps_ && head.mode_step != step);
    added_.push_back({.step = step,
                      .mode_step = head.mode_step,
                      .layout = *shared,
                      .worker = worker,
                      .event_file = event_file(step, worker_part, head.event_file_name),
                      .mode = head.mode,
                      .stamp = stamp});
    return std::nullopt;
}

SMDEBUG_INLINE catalog catalog_builder::finish(int window, bool ended) && {
    next_.names = std::move(names_).finish();
    next_.layouts = next_.layouts.with(std::move(layouts_));
    next_.name_lists = next_.name_lists.with(std::move(lists_));
    next_.event_files = next_.event_files.with(std::move(event_files_));
    next_.numbers = next_.numbers.with(std::move(numbers_));
    growth::add_mode_steps(next_, added_);
    growth::add_files(next_, std::move(added_));
    growth::complete_steps(next_, static_cast<std::size_t>(window));
    if (ended) {
        growth::end(next_);
    }
    return std::move(next_);
}

SMDEBUG_INLINE bool catalog_builder::is_repeated(step_number step, worker_id worker) const {
    for (auto added = added_.rbegin(); added != added_.rend() && added->step == step; ++added) {
        if (added->worker == worker) {
            return true;
        }
    }
    return false;
}

SMDEBUG_INLINE std::optional<index_file::damage> catalog_builder::parse(worker_id worker, byte_view bytes,
                                                                        const std::optional<index_file::split>& parts,
                                                                        index_file::meta& head,
                                                                        std::optional<std::uint32_t>& made) {
    items_.clear();
    places_.clear();
    locations_.clear();
    std::vector<layout::shape_entry> shapes;
    const auto keep = [this](const index_file::location& place) { locations_.push_back(place); };
    if (parts && index_file::read_canonical(parts->payload, keep)) {  // the file is valid: its names count
        for (const index_file::location& place : locations_) {
            add_item(place);
        }
    } else {
        const auto on_location = [this](const index_file::location& place) { add_item(place); };
        auto wrong =
            index_file::parse(bytes, cache_.parser, head, on_location, [&](const index_file::saved_shape& shape) {
                shapes.push_back({names_.id_of(shape.tensor_name), names_.id_of(shape.original_name), shape.extents});
            });
        if (wrong) {
            return wrong;
        }
    }
    if (items_.empty() && shapes.empty()) {
        return std::nullopt;
    }
    auto names = list_of(shapes);
    made = layout_of(std::move(names), std::move(shapes), nullptr);
    if (parts) {
        cache_.payloads.remember(worker, parts->payload, *made);
    }
    return std::nullopt;
}

SMDEBUG_INLINE void catalog_builder::add_item(const index_file::location& place) {
    const recorded_name parsed = parse_recorded_name(place.tensor_name);
    items_.push_back({.name = id_of(parsed.tensor, items_.size()), .kind = kind_of(parsed.reduction)});
    places_.push_back(place.record);
}

SMDEBUG_INLINE name_id catalog_builder::id_of(std::string_view name, std::size_t place) {
    for (const std::shared_ptr<const name_list>& last : cache_.lists.recent()) {
        if (place < last->items().size()) {
            const name_id guess = last->items()[place].name;
            if (names_.text_of(guess) == name) {
                return guess;
            }
        }
    }
    return names_.id_of(name);
}

SMDEBUG_INLINE std::shared_ptr<const name_list> catalog_builder::list_of(
    const std::vector<layout::shape_entry>& shapes) {
    std::vector<name_id> with_shape;
    for (const layout::shape_entry& shape : shapes) {
        with_shape.push_back(shape.name);
    }
    std::sort(with_shape.begin(), with_shape.end());
    with_shape.erase(std::unique(with_shape.begin(), with_shape.end()), with_shape.end());
    if (auto known = cache_.lists.find(items_, with_shape)) {
        return known;
    }
    const bool ranked = have_ranks(items_.size() + with_shape.size());
    auto made = std::make_shared<const name_list>(items_, std::move(with_shape), [&](std::vector<name_id>& names) {
        ranked ? sort_by_rank(names) : sort_by_text(names);
    });
    for (const name_id id : made->tensors()) {
        names_.mark_tensor(id);
    }
    cache_.lists.remember(made);
    lists_.push_back(made);
    return made;
}

SMDEBUG_INLINE void catalog_builder::sort_by_text(std::vector<name_id>& names) const {
    std::sort(names.begin(), names.end(),
              [this](name_id a, name_id b) { return names_.text_of(a) < names_.text_of(b); });
}

SMDEBUG_INLINE void catalog_builder::sort_by_rank(std::vector<name_id>& names) const {
    std::vector<std::uint64_t> keys(names.size());  // 32 bits of rank, 32 of name
    std::transform(names.begin(), names.end(), keys.begin(),
                   [this](name_id id) { return std::uint64_t{ranks_[id]} << 32U | id; });
    std::sort(keys.begin(), keys.end());
    std::transform(keys.begin(), keys.end(), names.begin(),
                   [](std::uint64_t key) { return static_cast<name_id>(key & 0xffffffffU); });
}

SMDEBUG_INLINE bool catalog_builder::have_ranks(std::size_t list_size) {
    if (ranks_.size() == names_.size()) {
        return true;
    }
    sorted_names_ += list_size;
    if (sorted_names_ < names_.size()) {
        return false;
    }
    std::vector<name_id> by_text(names_.size());
    std::iota(by_text.begin(), by_text.end(), name_id{0});
    sort_by_text(by_text);
    ranks_.resize(by_text.size());
    for (std::uint32_t rank = 0; rank < by_text.size(); ++rank) {
        ranks_[by_text[rank]] = rank;
    }
    sorted_names_ = 0;
    return true;
}

SMDEBUG_INLINE std::uint32_t catalog_builder::layout_of(std::shared_ptr<const name_list> names,
                                                        std::vector<layout::shape_entry> shapes,
                                                        std::shared_ptr<const form_list> forms) {
    constexpr std::size_t most = 4;
    sort_stably(shapes, [](const layout::shape_entry& a, const layout::shape_entry& b) { return a.name < b.name; });
    const std::size_t known = next_.layouts.size();
    const std::size_t all = known + layouts_.size();
    for (std::size_t place = all; place > 0 && all - place < most; --place) {
        if (layout_at(place - 1).equals(names, places_, shapes, forms)) {
            return static_cast<std::uint32_t>(place - 1);
        }
    }
    layouts_.push_back(std::make_shared<const layout>(std::move(names), places_, std::move(shapes), std::move(forms)));
    return static_cast<std::uint32_t>(all);
}

SMDEBUG_INLINE std::map<std::uint32_t, std::size_t> catalog_builder::add(const run_contents& found,
                                                                         const step_range& range) {
    const std::span<const found_stretch> stretches = contents_access::stretches(found);
    std::vector<std::size_t> order;
    order.reserve(stretches.size());
    for (std::size_t i = 0; i < stretches.size(); ++i) {
        if (mode_steps_ ? mode_steps_->contains(stretches[i].mode_step) : range.contains(stretches[i].step)) {
            order.push_back(i);
        }
    }
    // An object's data of one step may have been found in several stretches.
    const auto is_before = [&](std::size_t a, std::size_t b) {
        return std::tie(stretches[a].step, stretches[a].worker, stretches[a].object) <
               std::tie(stretches[b].step, stretches[b].worker, stretches[b].object);
    };
    if (!std::is_sorted(order.begin(), order.end(), is_before)) {
        std::stable_sort(order.begin(), order.end(), is_before);
    }
    found_names_.assign(contents_access::names(found).size(), not_looked_up);
    found_workers_.clear();
    for (std::uint32_t i = 0; i < contents_access::workers(found).size(); ++i) {
        found_workers_.push_back(worker_named(contents_access::workers(found)[i]));
    }
    next_.has_index = false;
    std::map<std::uint32_t, std::size_t> left_out;
    numbers_.reserve(contents_access::entry_count(found));
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin + 1;
        while (end < order.size() && !is_before(order[begin], order[end])) {
            ++end;
        }
        if (const std::size_t count = add_found(found, std::span{order}.subspan(begin, end - begin)); count > 0) {
            left_out[stretches[order[begin]].object] += count;
        }
        begin = end;
    }
    return left_out;
}

SMDEBUG_INLINE std::size_t catalog_builder::add_found(const run_contents& found,
                                                      std::span<const std::size_t> stretches) {
    const found_stretch& first = contents_access::stretches(found)[stretches.front()];
    const worker_id worker = found_workers_[first.worker];
    const catalog::step_entry* const known = next_.find_step(first.step);
    std::size_t left_out = 0;
    const auto is_new = [&](const recorded_item& item) {
        if ((known == nullptr && (added_.empty() || added_.back().step != first.step)) ||
            !has_already(first.step, worker, item)) {
            return true;
        }
        ++left_out;
        return false;
    };
    const auto item_of = [&](std::uint32_t name) {
        recorded_item& item = found_names_[name];
        if (item.kind == not_looked_up.kind) {
            const recorded_name parsed = parse_recorded_name(contents_access::names(found)[name]);
            item = {.name = names_.id_of(parsed.tensor), .kind = kind_of(parsed.reduction)};
        }
        return item;
    };
    items_.clear();
    places_.clear();
    forms_.clear();
    const std::size_t numbers = numbers_.size();
    bool has_numbers = false;
    std::vector<layout::shape_entry> shapes;
    for (const std::size_t stretch : stretches) {
        contents_access::each_entry(found, stretch, [&](const found_entry& entry) {
            if (const recorded_item item = item_of(entry.name); is_new(item)) {
                items_.push_back(item);
                places_.push_back(entry.place);
                forms_.push_back(&contents_access::form(found, entry.form));
                numbers_.push_back(entry.number);
                has_numbers = has_numbers || entry.number.wall_time != 0 || forms_.back()->as == storage_form::number;
            }
        });
        const auto shape =
            std::lower_bound(contents_access::shapes(found).begin(), contents_access::shapes(found).end(), stretch,
                             [](const found_shape& one, std::size_t of) { return one.stretch < of; });
        for (auto each = shape; each != contents_access::shapes(found).end() && each->stretch == stretch; ++each) {
            if (const recorded_item item = item_of(each->name); is_new(item)) {
                shapes.push_back({item.name, item.name, each->extents});
            }
        }
    }
    if (!has_numbers) {
        numbers_.resize(numbers);
    }
    if (items_.empty() && shapes.empty()) {
        return left_out;
    }
    next_.steps_are_synthetic = next_.steps_are_synthetic || (mode_steps_ && first.mode_step != first.step);
    auto names = list_of(shapes);
    const std::uint32_t layout = layout_of(std::move(names), std::move(shapes), forms_of(found));
    added_.push_back({.step = first.step,
                      .mode_step = first.mode_step,
                      .layout = layout,
                      .worker = worker,
                      .event_file = number_of_key(found.key_of(first.object)),
                      .mode = first.mode,
                      .first_number = has_numbers ? next_.numbers.size() + numbers : catalog::no_numbers,
                      .stamp = first.stamp});
    return left_out;
}

SMDEBUG_INLINE bool catalog_builder::has_already(step_number step, worker_id worker, const recorded_item& item) const {
    const auto has = [&](const catalog::file& file) {
        if (file.worker != worker) {
            return false;
        }
        const layout& entries = layout_at(file.layout);
        return entries.names().find(item.name, item.kind).has_value() ||
               (item.kind == 0 && entries.shape(item.name) != nullptr);
    };
    if (const catalog::step_entry* const entry = next_.find_step(step);
        entry != nullptr && std::any_of(entry->files().begin(), entry->files().end(), has)) {
        return true;
    }
    for (auto added = added_.rbegin(); added != added_.rend() && added->step == step; ++added) {
        if (has(*added)) {
            return true;
        }
    }
    return false;
}

SMDEBUG_INLINE std::shared_ptr<const form_list> catalog_builder::forms_of(const run_contents& found) {
    if (std::all_of(forms_.begin(), forms_.end(),
                    [](const stored_form* one) { return one->as == storage_form::record; })) {
        return nullptr;
    }
    if (last_forms_ == nullptr || !last_forms_->equals(forms_)) {
        last_forms_ = std::make_shared<const form_list>(contents_access::forms(found), forms_);
    }
    return last_forms_;
}

SMDEBUG_INLINE std::uint32_t catalog_builder::number_of_key(const std::string& key) {
    const std::string* const last = !event_files_.empty()        ? &event_files_.back()
                                    : !next_.event_files.empty() ? &next_.event_files.back()
                                                                 : nullptr;
    if (last == nullptr || *last != key) {
        event_files_.push_back(key);
    }
    return static_cast<std::uint32_t>(next_.event_files.size() + event_files_.size() - 1);
}

SMDEBUG_INLINE worker_id catalog_builder::worker_of(std::string_view part) {
    std::string key{part};
    if (const auto known = cache_.workers.find(key); known != cache_.workers.end()) {
        return known->second;
    }
    const worker_id id = worker_named(locations::worker_from_file_part(part));
    cache_.workers.emplace(std::move(key), id);
    return id;
}

SMDEBUG_INLINE worker_id catalog_builder::worker_named(const std::string& name) {
    const auto found = std::find(next_.workers.begin(), next_.workers.end(), name);
    const auto id = static_cast<worker_id>(found - next_.workers.begin());
    if (found == next_.workers.end()) {
        next_.workers.push_back(name);
    }
    return id;
}

SMDEBUG_INLINE std::uint32_t catalog_builder::event_file(step_number step, std::string_view worker_part,
                                                         std::string_view name) {
    const std::string padded = locations::zero_padded(step, 12);
    std::string_view rest = name;
    const auto skip = [&](std::string_view piece) {
        const bool there = rest.starts_with(piece);
        rest.remove_prefix(there ? piece.size() : 0);
        return there;
    };
    if (skip(locations::events_folder) && skip(padded) && skip("/") && skip(padded) && skip("_") && skip(worker_part) &&
        rest == locations::event_extension) {
        // The usual name is rebuilt from the worker's name, from which not every worker part can be recovered.
        if (locations::file_part_from_worker(locations::worker_from_file_part(worker_part)) == worker_part) {
            return catalog::usual_event_file;
        }
    }
    event_files_.emplace_back(name);
    return static_cast<std::uint32_t>(next_.event_files.size() + event_files_.size() - 1);
}

}  // namespace smdebug::inline v1::detail
