// A folder of a run as a storage of its own, such as the one for TensorBoard.
// Used by: hook (basic_hook).
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/output.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// What lies in another storage below a prefix, which ends in '/' or is empty.
/// Borrows: that storage.
template <writable_storage Inner>
class run_folder {
public:
    run_folder(Inner& inner, std::string prefix) : inner_(&inner), prefix_(std::move(prefix)) {}

    [[nodiscard]] byte_buffer read(std::string_view key) const { return inner_->read(within(key)); }
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const {
        return inner_->read(within(key), where);
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        std::vector<std::string> keys = inner_->list(within(prefix), after.empty() ? std::string{} : within(after));
        for (std::string& key : keys) {
            key.erase(0, prefix_.size());
        }
        return keys;
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return inner_->size(within(key)); }
    [[nodiscard]] std::string name() const { return std::string{inner_->name()} + "/" + prefix_; }
    void write(std::string_view key, byte_view bytes) { inner_->write(within(key), bytes); }
    [[nodiscard]] auto create(std::string_view key) { return create_output(*inner_, within(key)); }

private:
    [[nodiscard]] std::string within(std::string_view key) const { return prefix_ + std::string{key}; }

    Inner* inner_;
    std::string prefix_;
};

}  // namespace v1
}  // namespace smdebug
