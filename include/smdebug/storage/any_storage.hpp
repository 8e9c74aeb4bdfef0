// A handle on a storage whose kind is chosen at run time.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/storage_base.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

namespace detail {

/// Whether a class has a function of storage_base beyond those of the concepts.
template <class Store>
concept overrides_storage_base =
    requires { &Store::read_each; } || requires { &Store::read_ranges; } || requires { &Store::read_versioned; } ||
    requires { &Store::view; } || requires { &Store::open; } || requires { &Store::read_ahead; } ||
    requires { &Store::hold; } || requires { &Store::entries; } || requires { &Store::follow; } ||
    requires { &Store::watch; } || requires { &Store::modified; } || requires { &Store::place; } ||
    requires { &Store::problems; } || requires { &Store::source; } || requires { &Store::create; } ||
    requires { &Store::remove; } || requires { &Store::remove_unfinished; } || requires { &Store::claim; } ||
    requires { &Store::claimed; } || requires { &Store::abilities; };

/// A plain storage, with the defaults of storage_base for all that it does not have.
template <storage Store>
class plain_storage final : public storage_base {
    static_assert(std::movable<Store>, "a storage can be moved: what its copies share goes behind a pointer");
    static_assert(!overrides_storage_base<Store>,
                  "this storage has more functions than read, list, size, name and write: it must derive from "
                  "smdebug::storage_base and override them, or they would never be called");

public:
    explicit plain_storage(Store store) : store_(std::move(store)) {}

    [[nodiscard]] const Store& inner() const noexcept { return store_; }

    [[nodiscard]] storage_abilities abilities() const override {
        return {.batches_ranges = false,
                .views = false,
                .reads_ahead = false,
                .opens_small = false,
                .writes = writable_storage<Store>};
    }
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const override {
        return store_.read(key, where);
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const override {
        return store_.list(prefix, after);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override { return store_.size(key); }
    [[nodiscard]] std::string name() const override { return store_.name(); }
    void write(std::string_view key, byte_view bytes) override {
        if constexpr (writable_storage<Store>) {
            store_.write(key, bytes);
        } else {
            storage_base::write(key, bytes);
        }
    }

private:
    Store store_;
};

}  // namespace detail

/// A handle on any storage: a class derived from storage_base, or a plain one, which has the defaults of storage_base.
/// Copies are handles on the same storage.  All functions are those of storage_base.
/// Threads: as the inner storage.  Cost: an indirect call each.
class any_storage {
public:
    template <class Inner>
        requires(!std::same_as<std::remove_cvref_t<Inner>, any_storage> && storage<std::remove_cvref_t<Inner>>)
    any_storage(Inner&& inner)  // NOLINT: implicit, as std::function is
        : inner_(std::make_shared<held<std::remove_cvref_t<Inner>>>(std::forward<Inner>(inner))),
          source_(inner_->source()) {}

    /// Null is not allowed.
    explicit any_storage(std::shared_ptr<storage_base> inner) : inner_(std::move(inner)), source_(inner_->source()) {}

    /// The inner storage if it is of this type, otherwise null.
    template <storage Inner>
    [[nodiscard]] const Inner* target() const noexcept {
        const auto* const found = dynamic_cast<const held<Inner>*>(inner_.get());
        if constexpr (std::derived_from<Inner, storage_base>) {
            return found;
        } else {
            return found != nullptr ? &found->inner() : nullptr;
        }
    }

    [[nodiscard]] storage_abilities abilities() const { return inner_->abilities(); }

    // Reading ----------------------------------------------------------------------------------------------------

    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where = whole_object) const {
        return inner_->read(key, where);
    }
    void read_each(std::span<const std::string> keys, object_sink sink) const { inner_->read_each(keys, sink); }
    void read_ranges(std::span<const object_range> ranges, range_sink sink) const { inner_->read_ranges(ranges, sink); }
    [[nodiscard]] versioned_object read_versioned(std::string_view key) const { return inner_->read_versioned(key); }
    [[nodiscard]] std::optional<byte_buffer> view(std::string_view key) const { return inner_->view(key); }
    [[nodiscard]] std::unique_ptr<opened_object> open(std::string_view key) const { return inner_->open(key); }
    [[nodiscard]] bool read_ahead(std::string_view key) const { return inner_->read_ahead(key); }
    [[nodiscard]] std::unique_ptr<pinned_ranges> hold() const { return inner_->hold(); }

    // Listing ----------------------------------------------------------------------------------------------------

    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        return inner_->list(prefix, after);
    }
    [[nodiscard]] std::optional<std::vector<object_entry>> entries(std::string_view prefix, std::string_view after,
                                                                   std::size_t most) const {
        return inner_->entries(prefix, after, most);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return inner_->size(key); }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const {
        return inner_->modified(key);
    }
    /// The inner storage's follower, or one that returns all keys at each call.
    [[nodiscard]] std::unique_ptr<key_follower> follow(std::string_view prefix) const;
    [[nodiscard]] std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes) const {
        return inner_->watch(prefixes);
    }
    [[nodiscard]] std::string name() const { return inner_->name(); }
    [[nodiscard]] place_kind place() const { return inner_->place(); }

    /// Those of the inner storage, then those of with_problems().
    [[nodiscard]] std::vector<problem> problems() const;
    /// A handle on the same storage whose problems() also include these.
    [[nodiscard]] any_storage with_problems(std::vector<problem> more) const;

    [[nodiscard]] const source_handle& source() const noexcept { return source_; }
    /// A handle on the same storage with that source, or without one.
    [[nodiscard]] any_storage with_source(source_handle source) const;

    // Writing ----------------------------------------------------------------------------------------------------

    void write(std::string_view key, byte_view bytes) { inner_->write(key, bytes); }
    [[nodiscard]] std::unique_ptr<object_output> create(std::string_view key) { return inner_->create(key); }
    bool remove(std::string_view key, durability how = durability::cached) { return inner_->remove(key, how); }
    std::vector<std::string> remove_unfinished(std::string_view prefix, function_ref<bool(std::string_view)> which) {
        return inner_->remove_unfinished(prefix, which);
    }
    [[nodiscard]] std::unique_ptr<object_claim> claim(std::string_view key, durability how = durability::cached) {
        return inner_->claim(key, how);
    }
    [[nodiscard]] bool claimed(std::string_view key) const { return inner_->claimed(key); }

private:
    template <class Inner>
    using held = typename std::conditional_t<std::derived_from<Inner, storage_base>, std::type_identity<Inner>,
                                             std::type_identity<detail::plain_storage<Inner>>>::type;

    std::shared_ptr<storage_base> inner_;
    source_handle source_;
    std::shared_ptr<const std::vector<problem>> noted_;  // null if there are none
};

namespace detail {

/// The names of objects, at most so many if the storage can limit its listing.
[[nodiscard]] std::vector<std::string> some_keys(const any_storage& store, std::string_view prefix, std::size_t most);

/// Where an object is, for messages.
[[nodiscard]] std::string path_of(const any_storage& store, std::string_view key);

/// The pause between two checks for changes: the chosen one, or the storage's own if that is longer.
[[nodiscard]] std::chrono::milliseconds look_interval(const any_storage& store, std::chrono::milliseconds chosen);

/// Writes a whole small object.  Errors: those of the storage.
void put_whole(any_storage& store, std::string_view key, byte_view bytes, durability how);

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/any_storage.ipp>
#endif
