// Checkpoints for tests: those recorded in tests/data/checkpoints, with the output of an independent reader, and
// .safetensors and .npy made in memory, so that a test decides their damage.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/formats/checkpoints/safetensors_header.hpp>

#include "support/standard.hpp"

namespace smdebug_test {

inline const std::string checkpoint_folder = SMDEBUG_TEST_DATA "/checkpoints";

[[nodiscard]] inline std::string recorded(const std::string& name) {
    std::ifstream file(checkpoint_folder + "/" + name, std::ios::binary);
    if (!file) {
        throw std::runtime_error("there is no " + checkpoint_folder + "/" + name);
    }
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A .safetensors of that header and `data_bytes` zeros behind it.
[[nodiscard]] inline std::string safetensors_of(std::string_view header, std::size_t data_bytes = 0) {
    std::string file(8, '\0');
    smdebug::store_le(reinterpret_cast<std::byte*>(file.data()), std::uint64_t{header.size()});
    return file.append(header).append(data_bytes, '\0');
}

/// A .npy of version 1 with that header and `data_bytes` zeros behind it.
[[nodiscard]] inline std::string npy_of(std::string_view header, std::size_t data_bytes = 0) {
    std::string file("\x93NUMPY\1\0\0\0", 10);
    smdebug::store_le(reinterpret_cast<std::byte*>(&file[8]), static_cast<std::uint16_t>(header.size()));
    return file.append(header).append(data_bytes, '\0');
}

/// Reads parts of `file`, which is borrowed, and counts them.
struct text_reader {
    std::string_view file;
    std::size_t reads = 0;

    smdebug::byte_buffer operator()(smdebug::byte_range where) {
        ++reads;
        return smdebug::byte_buffer{nullptr, smdebug::as_bytes(file)}.slice(where);
    }
};

/// A tensor as read by the independent reader.
struct expected_tensor {
    smdebug::formats::detail::stored_tensor is;
    std::string content;  ///< bytes of the elements, as hexadecimal digits
};

[[nodiscard]] inline std::string hexadecimal(smdebug::byte_view bytes) {
    std::string text;
    for (const std::byte each : bytes) {
        constexpr std::string_view digits = "0123456789abcdef";
        text += digits[static_cast<unsigned>(each) >> 4U];
        text += digits[static_cast<unsigned>(each) & 15U];
    }
    return text;
}

/// Those of a recorded file, by name.
[[nodiscard]] inline std::vector<expected_tensor> expected_in(const std::string& file) {
    const std::string text = recorded("expected.json");
    smdebug::detail::json::document document;
    std::vector<expected_tensor> all;
    const auto list = document.parse(smdebug::as_bytes(text)).value()[file].value();
    list.for_each_element([&](smdebug::detail::json::value each) {
        expected_tensor one;
        one.is.name = each["name"]->string().value();
        for (std::uint64_t code = 0; code < 32; ++code) {
            const smdebug::dtype type = smdebug::dtype_from_code(code);
            one.is.type = name_of(type) == each["dtype"]->string().value() ? type : one.is.type;
        }
        each["shape"]->for_each_element([&](smdebug::detail::json::value extent) {
            one.is.shape.push_back(extent.unsigned_integer().value());
            return true;
        });
        one.content = each["bytes"]->string().value();
        one.is.where = {each["begin"]->unsigned_integer().value(), one.content.size() / 2};
        one.is.big_endian = each["big_endian"] && each["big_endian"]->boolean().value();
        one.is.column_major = each["column_major"] && each["column_major"]->boolean().value();
        all.push_back(std::move(one));
        return true;
    });
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.is.name < b.is.name; });
    return all;
}

[[nodiscard]] inline bool same(const smdebug::formats::detail::stored_tensor& a,
                               const smdebug::formats::detail::stored_tensor& b) {
    return a.name == b.name && a.type == b.type && a.shape == b.shape && a.where == b.where &&
           a.big_endian == b.big_endian && a.column_major == b.column_major;
}

}  // namespace smdebug_test
