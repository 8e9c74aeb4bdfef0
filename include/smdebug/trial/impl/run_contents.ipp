// The bodies of <smdebug/trial/run_contents.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/trial/run_contents.hpp>

#include <algorithm>

namespace smdebug::inline v1 {
namespace detail {

SMDEBUG_INLINE string_interner::string_interner(const string_interner& other) {
    for (const std::string* const text : other.texts_) {
        static_cast<void>(look_up(*text));
    }
}

SMDEBUG_INLINE std::size_t string_interner::look_up(std::string_view text) {
    const auto [known, is_new] = numbers_.try_emplace(std::string{text}, static_cast<std::uint32_t>(texts_.size()));
    if (is_new) {
        texts_.push_back(&known->first);
    }
    return known->second;
}

}  // namespace detail

SMDEBUG_INLINE std::uint32_t run_contents::form_number(detail::stored_form form) {
    const auto is_it = [&](std::size_t known) { return (*forms_)[known] == form; };
    std::size_t number = form_guess_;  // tensors mostly repeat in the same order
    if (number >= forms_->size() || !is_it(number)) {
        std::size_t hash = static_cast<std::size_t>(form.as) * 31 + static_cast<std::size_t>(form.type);
        hash = hash * 4 + (form.big_endian ? 2U : 0U) + (form.column_major ? 1U : 0U);
        for (const std::size_t extent : form.shape) {
            hash = hash * 1'000'003 + extent;
        }
        const auto [begin, end] = form_places_.equal_range(hash);
        const auto known = std::find_if(begin, end, [&](const auto& one) { return is_it(one.second); });
        number = known != end ? known->second : forms_->size();
        if (known == end) {
            form_places_.emplace(hash, static_cast<std::uint32_t>(number));
            forms_->push_back(std::move(form));
        }
    }
    form_guess_ = number + 1 < forms_->size() ? number + 1 : 0;
    return static_cast<std::uint32_t>(number);
}

SMDEBUG_INLINE std::uint32_t run_contents::new_form_without_shape(detail::storage_form as, dtype type) {
    if (as == detail::storage_form::number && type != dtype::float64 && type != dtype::float32) {
        throw value_error("a number is added as float64 or float32, not as " + std::string{name_of(type)} +
                          "; convert it, or add it as elements");
    }
    const std::uint32_t number = form_number({.as = as, .type = type});
    without_shape_.emplace_back(as, type, number);
    return number;
}

SMDEBUG_INLINE std::uint64_t run_contents::bytes_of(std::string_view tensor, const tensor_form& form) {
    const auto count = element_count(form.shape);
    const std::uint64_t size = size_of(form.type);
    if (!count || size == 0 || *count > UINT64_MAX / size) {
        throw value_error("tensor " + std::string{tensor} + " cannot have shape " + shape_text(form.shape) +
                              " and dtype " + std::string{name_of(form.type)},
                          {.tensor = std::string{tensor}});
    }
    return *count * size;
}

SMDEBUG_INLINE void run_contents::throw_unknown(const char* of, std::uint32_t id, std::size_t count) {
    throw value_error("there is no " + std::string{of} + " " + std::to_string(id) + " among the " +
                      std::to_string(count) + " that were given out: use an id that " + of +
                      "() of the same contents returned");
}

SMDEBUG_INLINE void run_contents::throw_nothing_beside() {
    throw value_error("nothing was added in this update that the number could stand beside: use add_number() first");
}

SMDEBUG_INLINE void run_contents::begin_stretch(const place& where, std::uint32_t object) {
    if (object >= objects_.size()) {
        throw_unknown("object", object, objects_.size());
    }
    last_worker_ = where.worker;
    stretches_.push_back({.step = where.step,
                          .mode_step = where.mode_step,
                          .worker = workers_.number_of(where.worker),
                          .object = object,
                          .mode = where.mode,
                          .stamp = where.stamp,
                          .first = entries_.size()});
}

SMDEBUG_INLINE void run_contents::add_record(const place& where, std::string_view tensor, std::uint32_t object,
                                             byte_range record) {
    add(where, tensor, object, record, form_without_shape(detail::storage_form::record, dtype::invalid));
}

SMDEBUG_INLINE void run_contents::add_elements(const place& where, std::string_view tensor, const tensor_form& form,
                                               std::uint32_t object, byte_range elements) {
    if (const std::uint64_t bytes = bytes_of(tensor, form); elements.length != bytes) {
        throw value_error("tensor " + std::string{tensor} + " of shape " + shape_text(form.shape) + " and dtype " +
                              std::string{name_of(form.type)} + " has " + std::to_string(bytes) + " bytes, not " +
                              std::to_string(elements.length),
                          {.tensor = std::string{tensor}});
    }
    add(where, tensor, object, elements,
        form_number({.as = detail::storage_form::elements,
                     .type = form.type,
                     .big_endian = form.big_endian,
                     .column_major = form.column_major,
                     .shape = shape_type(form.shape.begin(), form.shape.end())}));
}

SMDEBUG_INLINE void run_contents::add_made(const place& where, std::string_view tensor, const tensor_form& form,
                                           maker make, std::optional<std::uint32_t> of) {
    static_cast<void>(bytes_of(tensor, form));
    if (form.big_endian || form.column_major || make == nullptr) {
        throw value_error("tensor " + std::string{tensor} +
                              " needs a function that makes its elements in C order, in this machine's byte order",
                          {.tensor = std::string{tensor}});
    }
    forms_->push_back({.as = detail::storage_form::made,
                       .type = form.type,
                       .shape = shape_type(form.shape.begin(), form.shape.end()),
                       .make = std::move(make)});
    add(where, tensor, object_or_none(of), {}, static_cast<std::uint32_t>(forms_->size() - 1));
}

SMDEBUG_INLINE void run_contents::add_number(const place& where, std::string_view tensor, double number, dtype as,
                                             std::optional<std::uint32_t> of) {
    add_number(where, name(tensor), number, as, object_or_none(of));
}

SMDEBUG_INLINE void run_contents::add_shape(const place& where, std::string_view tensor,
                                            std::span<const std::size_t> shape, std::optional<std::uint32_t> of) {
    begin(where, object_or_none(of));
    shapes_.push_back({.stretch = stretches_.size() - 1,
                       .name = names_.number_of(tensor),
                       .extents = shape_type(shape.begin(), shape.end())});
}

SMDEBUG_INLINE void run_contents::add_collection(collection group) {
    std::string name = group.name;
    collections_.insert_or_assign(std::move(name), std::move(group));
}

SMDEBUG_INLINE void run_contents::add_to_collection(std::string_view collection, std::string_view tensor) {
    auto group = collections_.find(collection);
    if (group == collections_.end()) {
        group =
            collections_.emplace(std::string{collection}, smdebug::collection{.name = std::string{collection}}).first;
    }
    std::vector<std::string>& names = group->second.tensor_names;
    const auto place_of = std::lower_bound(names.begin(), names.end(), tensor);
    if (place_of == names.end() || *place_of != tensor) {
        names.insert(place_of, std::string{tensor});
    }
}

SMDEBUG_INLINE void run_contents::note_problem(std::string where, std::string what, problem_kind kind,
                                               std::string topic) {
    problem one{.kind = kind, .where = where, .what = std::move(what), .topic = topic};
    problems_.insert_or_assign({std::move(where), std::move(topic)}, std::move(one));
}

SMDEBUG_INLINE void run_contents::withdraw_problem(const std::string& where, const std::string& topic) {
    problems_.erase({where, topic});
}

SMDEBUG_INLINE std::vector<problem> run_contents::problems() const {
    std::vector<problem> all;
    all.reserve(problems_.size());
    for (const auto& [key, one] : problems_) {
        all.push_back(one);
    }
    return all;
}

SMDEBUG_INLINE void detail::contents_access::forget_found(run_contents& of) noexcept {
    of.stretches_ = {};
    of.entries_ = {};
    of.shapes_ = {};
}

}  // namespace smdebug::inline v1
