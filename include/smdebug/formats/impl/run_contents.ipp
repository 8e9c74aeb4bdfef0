// The bodies of <smdebug/formats/run_contents.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/formats/run_contents.hpp>
#include <smdebug/record/crc_check.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/wire/event.hpp>
#include <smdebug/wire/field_writer.hpp>
#include <smdebug/wire/summary.hpp>

#include <algorithm>
#include <array>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::uint32_t numbered_texts::number_of(std::string_view text) {
    if (guess_ >= texts_.size() || *texts_[guess_] != text) {
        const auto [known, is_new] = numbers_.try_emplace(std::string{text}, static_cast<std::uint32_t>(texts_.size()));
        if (is_new) {
            texts_.push_back(&known->first);
        }
        guess_ = known->second;
    }
    const auto number = static_cast<std::uint32_t>(guess_);
    guess_ = guess_ + 1 < texts_.size() ? guess_ + 1 : 0;
    return number;
}

SMDEBUG_INLINE std::optional<std::uint32_t> numbered_texts::find(std::string_view text) const {
    const auto known = numbers_.find(text);
    return known != numbers_.end() ? std::optional{known->second} : std::nullopt;
}

/// The event of a tensor, as the format has it: only the length of the elements is known, no byte of them.
struct event_of_elements {
    event_of_elements(const run_contents::place& where, std::string_view tensor, dtype type,
                      std::span<const std::size_t> shape, std::uint64_t size)
        : values{wire::value_fields{.tag = tensor,
                                    .tensor = {.type = type,
                                               .shape = {.extents = shape, .dim_name = {}},
                                               .content = size == 0 ? byte_view{} : byte_view{&nothing, size},
                                               .strings = {}},
                                    .plugins = {}}},
          event{.wall_time = where.wall_time, .step = where.step, .file_version = {}, .values = values} {}
    event_of_elements(const event_of_elements&) = delete;
    event_of_elements& operator=(const event_of_elements&) = delete;
    ~event_of_elements() = default;

    static constexpr std::byte nothing{};
    std::array<wire::value_fields, 1> values;
    wire::event_fields event;
};

}  // namespace detail

SMDEBUG_INLINE std::uint32_t run_contents::object(std::string_view key) { return objects_.number_of(key); }

SMDEBUG_INLINE std::uint32_t run_contents::object(std::string_view name, any_storage store, std::string key) {
    const std::uint32_t number = objects_.number_of(name);
    elsewhere_.insert_or_assign(number, detail::object_elsewhere{std::move(store), std::move(key)});
    return number;
}

SMDEBUG_INLINE const detail::object_elsewhere* run_contents::elsewhere(std::uint32_t object) const {
    const auto known = elsewhere_.find(object);
    return known != elsewhere_.end() ? &known->second : nullptr;
}

SMDEBUG_INLINE detail::presented_file& run_contents::file_at(const place& where) {
    if (last_file_ != nullptr && last_file_->step == where.step && last_worker_ == where.worker &&
        !last_file_->is_listed) {
        return *last_file_;
    }
    std::string worker{where.worker};
    for (int generation = 2;; ++generation) {
        const file_key key{where.step, workers_.number_of(worker)};
        std::shared_ptr<detail::presented_file>& file = files_[key];
        if (!file) {
            file = std::make_shared<detail::presented_file>();
            file->step = where.step;
            file->mode = where.mode;
            file->mode_step = where.mode_step;
            file->worker = key.second;
            new_files_.push_back(key);
        }
        if (!file->is_listed) {
            last_file_ = file.get();
            last_worker_ = where.worker;
            return *file;
        }
        worker = std::string{where.worker} + "~" + std::to_string(generation);
    }
}

SMDEBUG_INLINE void run_contents::put_together(const detail::presented_file& file) {
    if (file.whole_object != detail::event_piece::written) {
        throw value_error("step " + std::to_string(file.step) +
                          " is an event file as it is, to which no other records can be added");
    }
}

SMDEBUG_INLINE void run_contents::add_entry(detail::presented_file& file, std::string_view tensor, byte_range record) {
    file.entries.push_back({.name = names_.number_of(tensor), .record = record});
}

SMDEBUG_INLINE void run_contents::append(detail::presented_file& file, const detail::event_piece& piece) {
    file.size += piece.size;
    if (!file.pieces.empty()) {
        detail::event_piece& last = file.pieces.back();
        if (last.object == piece.object && last.object != detail::event_piece::made &&
            last.offset + last.size == piece.offset) {
            last.size += piece.size;
            return;
        }
    }
    file.pieces.push_back(piece);
}

SMDEBUG_INLINE void run_contents::append_written(detail::presented_file& file, byte_view bytes) {
    append(file, {.object = detail::event_piece::written, .offset = file.written.size(), .size = bytes.size()});
    file.written.insert(file.written.end(), bytes.begin(), bytes.end());
}

SMDEBUG_INLINE void run_contents::add_record(const place& where, std::string_view tensor, std::uint32_t object,
                                             byte_range record) {
    detail::presented_file& file = file_at(where);
    put_together(file);
    if (!file.pieces.empty()) {  // another value of the record that came last
        const detail::event_piece& last = file.pieces.back();
        if (last.object == object && last.offset <= record.offset &&
            record.offset + record.length <= last.offset + last.size) {
            add_entry(file, tensor,
                      {.offset = file.size - last.size + (record.offset - last.offset), .length = record.length});
            return;
        }
    }
    add_entry(file, tensor, {.offset = file.size, .length = record.length});
    append(file, {.object = object, .offset = record.offset, .size = record.length});
}

SMDEBUG_INLINE void run_contents::add_own_record(const place& where, std::string_view tensor, std::uint32_t object,
                                                 byte_range record) {
    detail::presented_file& file = file_at(where);
    if (!file.pieces.empty() || (file.whole_object != detail::event_piece::written && file.whole_object != object)) {
        throw value_error("step " + std::to_string(file.step) + " has records of several files");
    }
    file.whole_object = object;
    add_entry(file, tensor, record);
}

SMDEBUG_INLINE void run_contents::add_elements(const place& where, std::string_view tensor, const tensor_form& form,
                                               std::uint32_t object, byte_range elements) {
    add_framed(where, tensor, form, {.object = object, .offset = elements.offset, .size = elements.length}, {}, {});
}

SMDEBUG_INLINE void run_contents::add_made(const place& where, std::string_view tensor, const tensor_form& form,
                                           maker make) {
    const std::uint64_t count = element_count(form.shape).value_or(0);
    add_framed(where, tensor, form, {.object = detail::event_piece::made, .size = count * size_of(form.type)}, {},
               std::move(make));
}

SMDEBUG_INLINE void run_contents::add_number(const place& where, std::string_view tensor, double number, dtype as) {
    std::array<std::byte, sizeof number> bytes{};
    if (as == dtype::float32) {
        store_le(bytes.data(), static_cast<float>(number));
    } else {
        store_le(bytes.data(), number);
    }
    const byte_view element = byte_view{bytes}.first(size_of(as));
    add_framed(where, tensor, {.type = as},
               {.object = detail::event_piece::written, .offset = 0, .size = element.size()}, element, {});
}

SMDEBUG_INLINE std::uint64_t run_contents::record_bytes(const place& where, std::string_view tensor,
                                                        const tensor_form& form) {
    const std::uint64_t size = element_count(form.shape).value_or(0) * size_of(form.type);
    return detail::wire::encoded_size(detail::event_of_elements{where, tensor, form.type, form.shape, size}.event);
}

SMDEBUG_INLINE void run_contents::add_framed(const place& where, std::string_view tensor, const tensor_form& form,
                                             detail::event_piece elements, byte_view written, maker make) {
    const auto count = element_count(form.shape);
    const std::uint64_t size = size_of(form.type);
    if (!count || size == 0 || *count > UINT64_MAX / size || elements.size != *count * size) {
        throw value_error("tensor " + std::string{tensor} + " of shape " + shape_text(form.shape) + " and dtype " +
                              std::string{name_of(form.type)} + " cannot lie in " + std::to_string(elements.size) +
                              " bytes",
                          {.tensor = std::string{tensor}});
    }
    detail::presented_file& file = file_at(where);
    put_together(file);

    namespace wire = detail::wire;
    const detail::event_of_elements made{where, tensor, form.type, form.shape, elements.size};
    const wire::event_fields& event = made.event;
    std::vector<std::byte>& around = around_;
    around.assign(record::header_size, std::byte{});
    record::store_header(around.data(), record::detail::header::of(wire::encoded_size(event)));
    wire::omitted_bytes omitted{.at = 0, .bytes = {}};
    wire::field_writer writer{around, omitted};
    wire::encode(writer, event);
    const std::size_t front = elements.size == 0 ? around.size() : omitted.at;
    around.resize(around.size() + record::footer_size);
    store_le(around.data() + around.size() - record::footer_size, record::package_footer);

    add_entry(file, tensor, {.offset = file.size, .length = around.size() + elements.size});
    append_written(file, byte_view{around}.first(front));
    if (elements.size > 0 && elements.object == detail::event_piece::written) {
        append_written(file, written);
    } else if (elements.size > 0) {
        if (elements.object == detail::event_piece::made) {
            elements.offset = file.makers.size();
            file.makers.push_back(std::move(make));
        }
        append(file, elements);
    }
    append_written(file, byte_view{around}.subspan(front));
}

SMDEBUG_INLINE void run_contents::add_shape(const place& where, std::string_view tensor,
                                            std::span<const std::size_t> shape) {
    file_at(where).shapes.push_back(
        {.name = names_.number_of(tensor), .extents = shape_type(shape.begin(), shape.end())});
}

SMDEBUG_INLINE std::set<std::string> run_contents::tensors_of(const place& where) const {
    std::set<std::string> names;
    std::string worker{where.worker};
    for (int generation = 2;; ++generation) {
        const std::optional<std::uint32_t> number = workers_.find(worker);
        const auto file = number ? files_.find({where.step, *number}) : files_.end();
        if (file == files_.end()) {
            return names;
        }
        for (const detail::presented_file::entry& one : file->second->entries) {
            names.insert(names_[one.name]);
        }
        for (const detail::presented_file::shape_entry& one : file->second->shapes) {
            names.insert(names_[one.name]);
        }
        worker = std::string{where.worker} + "~" + std::to_string(generation);
    }
}

SMDEBUG_INLINE void run_contents::add_collection(collection group) {
    std::string name = group.name;
    job_.collections.insert_or_assign(std::move(name), std::move(group));
}

SMDEBUG_INLINE void run_contents::add_to_collection(std::string_view collection, std::string_view tensor) {
    auto group = job_.collections.find(collection);
    if (group == job_.collections.end()) {
        group = job_.collections.emplace(std::string{collection}, smdebug::collection{.name = std::string{collection}})
                    .first;
    }
    std::vector<std::string>& names = group->second.tensor_names;
    const auto place_of = std::lower_bound(names.begin(), names.end(), tensor);
    if (place_of == names.end() || *place_of != tensor) {
        names.insert(place_of, std::string{tensor});
    }
}

SMDEBUG_INLINE void run_contents::note_problem(std::string where, std::string what, problem_kind kind,
                                               std::string topic) {
    problem one{.kind = kind, .where = where, .what = std::move(what)};
    problems_.insert_or_assign({std::move(where), std::move(topic)}, std::move(one));
}

SMDEBUG_INLINE void run_contents::withdraw_problem(const std::string& where) {
    problems_.erase({where, std::string{}});
}

SMDEBUG_INLINE std::vector<std::shared_ptr<const detail::presented_file>> run_contents::take_new() {
    std::vector<std::shared_ptr<const detail::presented_file>> taken;
    taken.reserve(new_files_.size());
    std::sort(new_files_.begin(), new_files_.end());
    for (const file_key& key : new_files_) {
        const std::shared_ptr<detail::presented_file>& file = files_.at(key);
        file->is_listed = true;
        taken.push_back(file);
    }
    new_files_.clear();
    return taken;
}

SMDEBUG_INLINE std::vector<problem> run_contents::problems() const {
    std::vector<problem> all;
    all.reserve(problems_.size());
    for (const auto& [key, one] : problems_) {
        all.push_back(one);
    }
    return all;
}

}  // namespace v1
}  // namespace smdebug
