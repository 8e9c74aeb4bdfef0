// A single file of data that is a run by itself: a checkpoint, a log.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/opened_object.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Where a file lies.
struct data_file {
    std::string folder = {};
    std::string key = {};
};

/// The parts of a path whose name is that of a log, a .safetensors, .npz or .npy, and where no folder of this machine is.
[[nodiscard]] std::optional<data_file> data_file_in(std::string_view path);

/// A storage of which only one object is seen.
class single_object {
public:
    single_object(any_storage store, std::string key) : store_(std::move(store)), key_(std::move(key)) {}

    [[nodiscard]] byte_buffer read(std::string_view key) const { return read(key, {0, UINT64_MAX}); }
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const;
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const {
        return key == key_ ? store_.size(key) : std::nullopt;
    }
    [[nodiscard]] std::unique_ptr<opened_object> open(std::string_view key) const {
        return key == key_ ? store_.open(key) : nullptr;
    }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const {
        return key == key_ ? store_.modified(key) : std::nullopt;
    }
    [[nodiscard]] std::string name() const { return store_.name() + "/" + key_; }
    [[nodiscard]] bool exists() const { return store_.size(key_).has_value(); }
    [[nodiscard]] bool is_file() const { return true; }
    [[nodiscard]] std::vector<problem> problems() const { return store_.problems(); }

private:
    any_storage store_;
    std::string key_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/impl/data_file.ipp>
#endif
