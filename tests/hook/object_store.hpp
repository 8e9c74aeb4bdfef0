// Any storage, as little of it as S3 offers: whole objects are written and removed; nothing is claimed, nothing
// follows.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/writable.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug_test {

/// Copies are handles where those of the inner storage are.
template <smdebug::writable_storage Inner>
    requires smdebug::removing_storage<Inner>
class object_store {
public:
    explicit object_store(Inner inner) : inner_(std::move(inner)) {}

    [[nodiscard]] smdebug::byte_buffer read(std::string_view key) const { return inner_.read(key); }
    [[nodiscard]] smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const {
        return inner_.read(key, where);
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        return inner_.list(prefix, after);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return inner_.size(key); }
    [[nodiscard]] std::string name() const { return inner_.name(); }
    void write(std::string_view key, smdebug::byte_view bytes) { inner_.write(key, bytes); }
    bool remove(std::string_view key) { return inner_.remove(key); }

private:
    Inner inner_;
};

/// The same, as a hook that is made by an out_dir gets it.
template <class Inner>
[[nodiscard]] smdebug::any_storage like_s3(Inner inner) {
    return smdebug::any_storage{object_store<Inner>{std::move(inner)}};
}

}  // namespace smdebug_test
