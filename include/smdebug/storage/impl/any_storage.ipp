// The bodies of <smdebug/storage/any_storage.hpp>.
#pragma once

#include <smdebug/storage/any_storage.hpp>

#include <algorithm>
#include <utility>

namespace smdebug::inline v1 {

namespace detail {

/// Follows a storage that has no follower.
class listing_follower final : public key_follower {
public:
    listing_follower(std::shared_ptr<const storage_base> store, std::string_view prefix)
        : store_(std::move(store)), prefix_(prefix) {}
    [[nodiscard]] std::vector<std::string> next() override { return store_->list(prefix_, ""); }
    void forget() override {}

private:
    std::shared_ptr<const storage_base> store_;
    std::string prefix_;
};

}  // namespace detail

SMDEBUG_INLINE std::unique_ptr<key_follower> any_storage::follow(std::string_view prefix) const {
    std::unique_ptr<key_follower> follower = inner_->follow(prefix);
    return follower ? std::move(follower) : std::make_unique<detail::listing_follower>(inner_, prefix);
}

SMDEBUG_INLINE std::vector<problem> any_storage::problems() const {
    std::vector<problem> all = inner_->problems();
    if (noted_) {
        all.insert(all.end(), noted_->begin(), noted_->end());
    }
    return all;
}

SMDEBUG_INLINE any_storage any_storage::with_problems(std::vector<problem> more) const {
    any_storage noted = *this;
    if (noted_) {
        more.insert(more.begin(), noted_->begin(), noted_->end());
    }
    noted.noted_ = std::make_shared<const std::vector<problem>>(std::move(more));
    return noted;
}

SMDEBUG_INLINE any_storage any_storage::with_source(source_handle source) const {
    any_storage other = *this;
    other.source_ = std::move(source);
    return other;
}

namespace detail {

SMDEBUG_INLINE std::vector<std::string> some_keys(const any_storage& store, std::string_view prefix, std::size_t most) {
    std::optional<std::vector<object_entry>> listed = store.entries(prefix, "", most);
    return listed ? keys_of(*std::move(listed)) : store.list(prefix, "");
}

SMDEBUG_INLINE std::string path_of(const any_storage& store, std::string_view key) {
    return store.abilities().one_object ? store.name() : store.name() + "/" + std::string{key};
}

SMDEBUG_INLINE std::chrono::milliseconds look_interval(const any_storage& store, std::chrono::milliseconds chosen) {
    return std::max(store.abilities().look_interval, chosen);
}

SMDEBUG_INLINE void put_whole(any_storage& store, std::string_view key, byte_view bytes, durability how) {
    const std::unique_ptr<object_output> output = store.create(key);
    output->append({&bytes, 1});
    output->commit(how);
}

}  // namespace detail
}  // namespace smdebug::inline v1
