// Pickles, and files of PyTorch around them, made in memory opcode by opcode, so that a test decides what they say.
#pragma once

#include "archive_builder.hpp"

#include <smdebug/core/bytes.hpp>

#include "support/standard.hpp"

namespace smdebug_test::pickled {

template <class Number>
[[nodiscard]] std::string raw(Number number) {
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
}

[[nodiscard]] inline std::string text(std::string_view content) {
    return "X" + raw(static_cast<std::uint32_t>(content.size())) + std::string{content};
}
[[nodiscard]] inline std::string integer(std::int64_t number) { return "\x8a\x08" + raw(number); }
[[nodiscard]] inline std::string number(double value) {
    std::string bytes = raw(value);
    return "G" + std::string{bytes.rbegin(), bytes.rend()};
}
[[nodiscard]] inline std::string joined(const std::vector<std::string>& parts) {
    std::string all;
    for (const std::string& each : parts) {
        all += each;
    }
    return all;
}
[[nodiscard]] inline std::string tuple(const std::vector<std::string>& items) { return "(" + joined(items) + "t"; }
[[nodiscard]] inline std::string list(const std::vector<std::string>& items) { return "](" + joined(items) + "e"; }
[[nodiscard]] inline std::string integers(const std::vector<std::int64_t>& numbers) {
    std::string all = "(";
    for (const std::int64_t each : numbers) {
        all += integer(each);
    }
    return all + "t";
}
/// A dictionary with keys that are texts.
[[nodiscard]] inline std::string dictionary(const std::vector<std::pair<std::string, std::string>>& entries) {
    std::string all = "}(";
    for (const auto& [key, value] : entries) {
        all += text(key) + value;
    }
    return all + "u";
}
[[nodiscard]] inline std::string name(std::string_view module, std::string_view what) {
    return "c" + std::string{module} + "\n" + std::string{what} + "\n";
}
[[nodiscard]] inline std::string call(std::string_view module, std::string_view what,
                                      const std::vector<std::string>& given) {
    return name(module, what) + tuple(given) + "R";
}
/// An object of a class whose state was set.
[[nodiscard]] inline std::string object(std::string_view module, std::string_view what, const std::string& state) {
    return name(module, what) + ")\x81" + state + "b";
}
[[nodiscard]] inline std::string storage(std::string_view of, std::string_view key, std::int64_t count,
                                         std::string_view device = "cpu") {
    return tuple({text("storage"), name("torch", of), text(key), text(device), integer(count)}) + "Q";
}
[[nodiscard]] inline std::string untyped_storage(std::string_view key, std::int64_t bytes) {
    return tuple({text("storage"), name("torch.storage", "UntypedStorage"), text(key), text("cpu"), integer(bytes)}) +
           "Q";
}
/// A tensor over a storage; `more`: arguments behind the usual six.
[[nodiscard]] inline std::string tensor(const std::string& over, std::int64_t offset,
                                        const std::vector<std::int64_t>& size, const std::vector<std::int64_t>& stride,
                                        const std::vector<std::string>& more = {},
                                        std::string_view by = "_rebuild_tensor_v2") {
    std::vector<std::string> given{over, integer(offset), integers(size), integers(stride), "\x89", "}"};
    given.insert(given.end(), more.begin(), more.end());
    return call("torch._utils", by, given);
}
/// A vector of float32 that is all of its storage.
[[nodiscard]] inline std::string vector(std::string_view key, std::int64_t count) {
    return tensor(storage("FloatStorage", key, count), 0, {count}, {1});
}
[[nodiscard]] inline std::string pickle(const std::string& object) { return "\x80\x02" + object + "."; }

template <class Number>
[[nodiscard]] std::string elements(const std::vector<Number>& numbers) {
    std::string bytes;
    for (const Number each : numbers) {
        bytes += raw(each);
    }
    return bytes;
}

/// What torch.save writes since 1.6: the object's pickle, and its storages by key.
[[nodiscard]] inline std::string torch_zip(const std::string& object,
                                           const std::map<std::string, std::string>& storages = {},
                                           std::uint16_t method = 0, std::string_view byte_order = "little") {
    std::map<std::string, std::string> records{{"archive/data.pkl", pickle(object)}, {"archive/version", "3\n"}};
    records["archive/byteorder"] = byte_order;
    for (const auto& [key, bytes] : storages) {
        records["archive/data/" + key] = bytes;
    }
    return zip_of(records, method);
}

/// What it wrote before: the storages in the order of their keys, each with the number of its elements.
struct old_storage {
    std::string key;
    std::uint64_t count = 0;
    std::string bytes;
};
[[nodiscard]] inline std::string torch_stream(const std::string& object, const std::vector<old_storage>& storages,
                                              bool little_endian = true) {
    std::string file = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19." + pickle(integer(1001)) +
                       pickle(dictionary({{"little_endian", little_endian ? "\x88" : "\x89"}})) + pickle(object);
    std::vector<std::string> keys;
    for (const old_storage& each : storages) {
        keys.push_back(text(each.key));
    }
    file += pickle(list(keys));
    for (const old_storage& each : storages) {
        file += raw(each.count) + each.bytes;
    }
    return file;
}

}  // namespace smdebug_test::pickled
