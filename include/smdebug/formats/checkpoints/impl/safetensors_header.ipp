// The bodies of <smdebug/formats/checkpoints/safetensors_header.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace smdebug::inline v1::formats::detail {

/// Parses one header.
class safetensors_parser {
public:
    safetensors_parser(const std::string& file, std::uint64_t data_begin, std::uint64_t data_bytes)
        : file_(file), data_begin_(data_begin), data_bytes_(data_bytes) {}

    [[nodiscard]] stored_tensors parse(byte_view header) {
        smdebug::detail::json::document document;
        const auto root = header.empty() || header.front() != std::byte{'{'} ? std::nullopt : document.parse(header);
        if (!root) {
            refuse(!is_utf8(as_text(header)) ? "the header is not UTF-8"
                                             : "the header is not a JSON object, or is nested too deep");
        }
        root->for_each_field([&](std::string_view name, smdebug::detail::json::value value) {
            name == "__metadata__" ? add_metadata(value) : add(name, value);
            return true;
        });
        check_places();
        sort_by_name();
        return std::move(all_);
    }

private:
    using json_value = smdebug::detail::json::value;

    // The place of a tensor in the data; also for tensors that are not read.
    struct place {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::string_view name;  // in the document
        friend bool operator<(const place& a, const place& b) {
            return std::pair{a.begin, a.end} < std::pair{b.begin, b.end};
        }
    };

    [[noreturn]] void refuse(const std::string& why, std::string_view tensor = {}) const {
        const std::string of = tensor.empty() ? "" : ", tensor " + std::string{tensor};
        throw corrupt_data("the file " + file_ + of + ": " + why, {.where = file_, .tensor = std::string{tensor}});
    }

    void add_metadata(json_value value) {
        if (std::exchange(has_metadata_, true)) {
            refuse("__metadata__ stands twice");
        }
        const bool is_good = value.is_null() || value.for_each_field([&](std::string_view name, json_value text) {
            const std::optional<std::string_view> content = text.string();
            all_.metadata.emplace_back(name, content.value_or(""));
            return content.has_value();
        });
        if (!is_good) {
            refuse("__metadata__ is not an object of texts");
        }
    }

    void add(std::string_view name, json_value value) {
        std::optional<json_value> type;
        std::optional<json_value> shape;
        std::optional<json_value> offsets;
        value.for_each_field([&](std::string_view field, json_value content) {
            std::optional<json_value>* const known = field == "dtype"          ? &type
                                                     : field == "shape"        ? &shape
                                                     : field == "data_offsets" ? &offsets
                                                                               : nullptr;
            if (known != nullptr && std::exchange(*known, content)) {
                refuse("\"" + std::string{field} + "\" stands twice", name);
            }
            return true;
        });
        const std::optional<std::string_view> type_name = type ? type->string() : std::nullopt;
        const std::optional<shape_type> extents = shape ? numbers(*shape) : std::nullopt;
        const std::optional<shape_type> bounds = offsets ? numbers(*offsets) : std::nullopt;
        if (!type_name || !extents || !bounds || bounds->size() != 2) {
            refuse("it needs a \"dtype\", a \"shape\" of at most 254 whole numbers, and two \"data_offsets\"", name);
        }
        const place where{bounds->at(0), bounds->at(1), name};
        if (where.begin > where.end || where.end > data_bytes_) {
            refuse("its data_offsets " + text_of(where) + " are not within the " + std::to_string(data_bytes_) +
                       " bytes behind the header",
                   name);
        }
        places_.push_back(where);
        const dtype known = dtype_in_safetensors(*type_name);
        if (known == dtype::invalid) {
            all_.not_read.push_back({std::string{name}, "its dtype " + std::string{*type_name} + " is not known here",
                                     problem_kind::unsupported});
            return;
        }
        if (content_bytes(known, *extents) != where.end - where.begin) {
            refuse("its shape and dtype (" + shape_text(*extents) + " of " + std::string{*type_name} +
                       ") do not make the " + std::to_string(where.end - where.begin) + " bytes of its data_offsets",
                   name);
        }
        all_.tensors.push_back({.name = std::string{name},
                                .type = known,
                                .shape = *extents,
                                .where = {data_begin_ + where.begin, where.end - where.begin}});
    }

    [[nodiscard]] static std::optional<shape_type> numbers(json_value list) {
        shape_type all;
        const bool is_good = list.for_each_element([&](json_value each) {
            const std::optional<std::uint64_t> number = each.unsigned_integer();
            all.push_back(number.value_or(0));
            return number.has_value() && all.size() <= most_extents;
        });
        return is_good ? std::optional{std::move(all)} : std::nullopt;
    }

    [[nodiscard]] static std::string text_of(const place& where) {
        return std::to_string(where.begin) + " to " + std::to_string(where.end);
    }

    void check_places() {
        std::sort(places_.begin(), places_.end());
        std::uint64_t end = 0;
        std::string_view before;
        for (const place& each : places_) {
            if (each.begin < end) {
                refuse("its data_offsets " + text_of(each) + " overlap with those of " + std::string{before},
                       each.name);
            }
            if (each.begin > end) {
                refuse("the " + std::to_string(each.begin - end) + " bytes before it belong to no tensor", each.name);
            }
            end = each.end;
            before = each.name;
        }
        if (end != data_bytes_) {
            refuse("the last " + std::to_string(data_bytes_ - end) + " bytes belong to no tensor");
        }
    }

    void sort_by_name() {
        std::vector<std::string_view> names;
        for (const place& each : places_) {
            names.push_back(each.name);
        }
        std::sort(names.begin(), names.end());
        const auto twice = std::adjacent_find(names.begin(), names.end());
        if (twice != names.end()) {
            refuse("it stands twice", *twice);
        }
        std::sort(all_.tensors.begin(), all_.tensors.end(),
                  [](const stored_tensor& a, const stored_tensor& b) { return a.name < b.name; });
    }

    const std::string& file_;
    std::uint64_t data_begin_;
    std::uint64_t data_bytes_;
    bool has_metadata_ = false;
    stored_tensors all_;
    std::vector<place> places_;
};

SMDEBUG_INLINE stored_tensors read_safetensors_header(const std::string& file, std::uint64_t size, range_reader read) {
    constexpr std::uint64_t number_bytes = 8;
    constexpr std::uint64_t first_read = std::uint64_t{64} << 10U;
    const auto refuse = [&](const std::string& why) {
        throw corrupt_data("the file " + file + ": " + why, {.where = file, .offset = 0});
    };
    const byte_buffer head = read({0, std::min(size, first_read)});
    if (size < number_bytes || head.size() < number_bytes) {
        refuse("it ends within the 8 bytes that a .safetensors begins with");
    }
    if (as_text(head.view()).starts_with(lfs_pointer_begin)) {
        refuse(std::string{lfs_pointer_text});
    }
    const auto length = load_le<std::uint64_t>(head.data());
    if (length > most_header_bytes) {
        refuse("it says that its header has " + std::to_string(length) + " bytes; at most " +
               std::to_string(most_header_bytes) + " are read");
    }
    if (length > size - number_bytes) {
        refuse("its header of " + std::to_string(length) + " bytes reaches beyond its end");
    }
    const byte_range where{number_bytes, length};
    const byte_buffer header = number_bytes + length <= head.size() ? head.slice(where) : read(where);
    if (header.size() < length) {
        refuse("it ends within its header");
    }
    return safetensors_parser(file, number_bytes + length, size - number_bytes - length).parse(header.view());
}

SMDEBUG_INLINE std::vector<std::string> safetensors_index::files() const {
    std::vector<std::string> names;
    for (const auto& [tensor, file] : file_of) {
        names.push_back(file);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

SMDEBUG_INLINE safetensors_index parse_safetensors_index(const std::string& file, byte_view bytes) {
    const auto refuse = [&](const std::string& why, std::string_view tensor = {}) {
        throw corrupt_data("the index " + file + ": " + why, {.where = file, .tensor = std::string{tensor}});
    };
    if (bytes.size() > most_header_bytes) {
        refuse("it has " + std::to_string(bytes.size()) + " bytes; at most " + std::to_string(most_header_bytes) +
               " are read");
    }
    if (as_text(bytes).starts_with(lfs_pointer_begin)) {
        refuse(std::string{lfs_pointer_text});
    }
    smdebug::detail::json::document document;
    const auto root = document.parse(bytes);
    const auto map = root ? (*root)["weight_map"] : std::nullopt;
    if (!map || !map->is_object()) {
        refuse("it is not a JSON object with a \"weight_map\"");
    }
    safetensors_index all;
    map->for_each_field([&](std::string_view tensor, smdebug::detail::json::value value) {
        const std::optional<std::string_view> shard = value.string();
        if (!shard) {
            refuse("the file of tensor " + std::string{tensor} + " is not a text", tensor);
        }
        if (!stays_inside(*shard)) {
            refuse("the file of tensor " + std::string{tensor} + ", " + std::string{*shard} +
                       ", does not lie below the index's folder",
                   tensor);
        }
        all.file_of.emplace_back(tensor, std::filesystem::path{*shard}.lexically_normal().string());
        return true;
    });
    std::sort(all.file_of.begin(), all.file_of.end());
    const auto twice = std::adjacent_find(all.file_of.begin(), all.file_of.end(),
                                          [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice != all.file_of.end()) {
        refuse("tensor " + twice->first + " stands twice", twice->first);
    }
    return all;
}

}  // namespace smdebug::inline v1::formats::detail
