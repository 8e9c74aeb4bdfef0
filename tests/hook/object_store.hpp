// Any storage, as little of it as S3 offers: whole objects are written and removed; nothing is claimed, nothing
// follows.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/storage_base.hpp>

#include "support/standard.hpp"

namespace smdebug_test {

/// Copies are handles where those of the inner storage are.
class object_store : public smdebug::storage_base {
public:
    explicit object_store(smdebug::any_storage inner) : inner_(std::move(inner)) {}

    [[nodiscard]] smdebug::storage_abilities abilities() const override {
        return {.batches_ranges = false,
                .views = false,
                .reads_ahead = false,
                .opens_small = false,
                .writes = true,
                .removes = true};
    }
    [[nodiscard]] smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const override {
        return inner_.read(key, where);
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const override {
        return inner_.list(prefix, after);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override { return inner_.size(key); }
    [[nodiscard]] std::string name() const override { return inner_.name(); }
    void write(std::string_view key, smdebug::byte_view bytes) override { inner_.write(key, bytes); }
    bool remove(std::string_view key, smdebug::durability how) override { return inner_.remove(key, how); }

private:
    smdebug::any_storage inner_;
};

/// The same, as a hook that is made by an out_dir gets it.
[[nodiscard]] inline smdebug::any_storage like_s3(smdebug::any_storage inner) { return object_store{std::move(inner)}; }

}  // namespace smdebug_test
