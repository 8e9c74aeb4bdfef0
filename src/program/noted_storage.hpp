// A run's storage with what others have written down about its event files: a trial then finds numbers without reading.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/abilities.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/opened_object.hpp>
#include <smdebug/trial/read/passed_records.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// The notes about event files, by their keys.
using file_notes = std::map<std::string, std::shared_ptr<const smdebug::detail::passed_records>, std::less<>>;

/// Reads as the inner storage does; objects are opened with their notes.  Models storage.
/// Threads: as the inner storage.
class noted_storage {
public:
    noted_storage(any_storage inner, std::shared_ptr<const file_notes> notes);

    /// To open a file for its notes pays whatever its size.
    [[nodiscard]] static storage_abilities abilities() { return {}; }

    [[nodiscard]] byte_buffer read(std::string_view key) const { return inner_.read(key); }
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const { return inner_.read(key, where); }
    void read_each(std::span<const std::string> keys, object_sink sink) const { inner_.read_each(keys, sink); }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const;
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return inner_.size(key); }
    [[nodiscard]] std::string name() const { return inner_.name(); }
    [[nodiscard]] bool exists() const { return inner_.exists(); }
    [[nodiscard]] bool is_file() const { return inner_.is_file(); }
    [[nodiscard]] std::vector<problem> problems() const { return inner_.problems(); }
    [[nodiscard]] const auto& source() const noexcept { return inner_.source(); }
    [[nodiscard]] std::unique_ptr<smdebug::detail::opened_object> open(std::string_view key) const;

private:
    class noted final : public smdebug::detail::opened_object {
    public:
        noted(std::unique_ptr<opened_object> inner, std::shared_ptr<const smdebug::detail::object_notes> notes)
            : inner_(std::move(inner)), notes_(std::move(notes)) {}
        [[nodiscard]] std::uint64_t size() const noexcept override { return inner_->size(); }
        [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override {
            return inner_->read_at(offset, into);
        }
        [[nodiscard]] byte_buffer part(std::uint64_t offset, std::uint64_t most) const override {
            return inner_->part(offset, most);
        }
        [[nodiscard]] const smdebug::detail::object_notes* notes() const noexcept override { return notes_.get(); }

    private:
        std::unique_ptr<opened_object> inner_;
        std::shared_ptr<const smdebug::detail::object_notes> notes_;
    };

    any_storage inner_;
    std::shared_ptr<const file_notes> notes_;
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
