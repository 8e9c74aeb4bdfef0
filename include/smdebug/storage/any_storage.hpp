// A type-erased storage: its kind is chosen at run time. It can be read, and written if the inner storage can.
// A read or an append costs one indirect call; elements cost none. All abilities of the inner storage are kept.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/storage/batch_read.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/writable.hpp>

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

class source_maker;

/// The base of a type-erased interface.
struct erased {
    erased() = default;
    erased(const erased&) = delete;
    erased& operator=(const erased&) = delete;
    virtual ~erased() = default;
};

/// The source() of a storage around an any_storage; null for other types.
template <class Store>
[[nodiscard]] std::shared_ptr<const source_maker> source_of(const Store& store) {
    if constexpr (requires { store.source(); }) {
        return store.source();
    } else {
        return nullptr;
    }
}

// Each of these can be moved, not copied; a moved-from one can only be destroyed or assigned to.

/// An object being written, type-erased; models object_output.
class any_output {
public:
    template <class Inner>
        requires(!std::same_as<Inner, any_output> && object_output<Inner>)
    explicit any_output(Inner inner) : inner_(std::make_unique<model<Inner>>(std::move(inner))) {}

    void append(std::span<const byte_view> pieces) { inner_->append(pieces); }
    void commit(durability how) { inner_->commit(how); }

private:
    struct interface : erased {
        virtual void append(std::span<const byte_view> pieces) = 0;
        virtual void commit(durability how) = 0;
    };
    template <class Inner>
    struct model final : interface {
        explicit model(Inner inner) : output(std::move(inner)) {}
        void append(std::span<const byte_view> pieces) override { output.append(pieces); }
        void commit(durability how) override { output.commit(how); }
        Inner output;
    };

    std::unique_ptr<interface> inner_;
};

/// A key held exclusively, type-erased; models object_claim.
class any_claim {
public:
    template <class Inner>
        requires(!std::same_as<Inner, any_claim> && object_claim<Inner>)
    explicit any_claim(Inner inner) : inner_(std::make_unique<model<Inner>>(std::move(inner))) {}

    void release() {
        if (inner_) {
            inner_->release();
        }
    }
    /// True if the inner claim does not know.
    [[nodiscard]] bool holds() const { return inner_ && inner_->holds(); }

private:
    struct interface : erased {
        virtual void release() = 0;
        [[nodiscard]] virtual bool holds() const = 0;
    };
    template <class Inner>
    struct model final : interface {
        explicit model(Inner inner) : claim(std::move(inner)) {}
        void release() override { claim.release(); }
        [[nodiscard]] bool holds() const override { return still_holds(claim); }
        Inner claim;
    };

    std::unique_ptr<interface> inner_;
};

/// A type-erased follower; models key_follower. Threads: one at a time.
class any_follower {
public:
    template <class Inner>
        requires(!std::same_as<Inner, any_follower> && key_follower<Inner>)
    explicit any_follower(Inner inner) : inner_(std::make_unique<model<Inner>>(std::move(inner))) {}

    [[nodiscard]] std::vector<std::string> next() { return inner_->next(); }
    void forget() { inner_->forget(); }

private:
    struct interface : erased {
        [[nodiscard]] virtual std::vector<std::string> next() = 0;
        virtual void forget() = 0;
    };
    template <class Inner>
    struct model final : interface {
        explicit model(Inner inner) : follower(std::move(inner)) {}
        [[nodiscard]] std::vector<std::string> next() override { return follower.next(); }
        void forget() override { follower.forget(); }
        Inner follower;
    };

    std::unique_ptr<interface> inner_;
};

}  // namespace detail

/// Holds any storage behind one indirect call. Copies are handles on it. It has every optional operation except
/// entries(), since the inner storage may have no versions (list_entries() shows whether it has); abilities() say which
/// of them the inner storage has. Without them it reads one by one, follows by listing everything each time, has no
/// signals or times, gathers in memory what is written piece by piece (see create_output), and throws unsupported for a
/// write, remove or claim.
/// Threads: as the inner storage.
/// Cost: one allocation per create(), claim() or follow(), none per read or append.
class any_storage {
public:
    template <class Inner>
        requires(!std::same_as<std::remove_cvref_t<Inner>, any_storage> && storage<std::remove_cvref_t<Inner>>)
    explicit any_storage(Inner&& inner)
        : source_(detail::source_of(inner)),
          inner_(std::make_shared<writer<std::remove_cvref_t<Inner>>>(std::forward<Inner>(inner))) {}

    /// Makes a read-only storage: it never writes, removes or claims, even if the inner storage can, so that a program
    /// that only reads does not contain that code. An any_storage is returned unchanged.
    template <storage Inner>
    [[nodiscard]] static any_storage to_read(Inner inner);

    /// The inner storage if it is of this type, otherwise null.
    template <storage Inner>
    [[nodiscard]] const Inner* target() const noexcept;

    /// The inner storage's abilities.
    [[nodiscard]] storage_abilities abilities() const { return inner_->abilities(); }

    // Reading ----------------------------------------------------------------------------------------------------

    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where = whole_object) const {
        return inner_->read(key, where);
    }
    void read_each(std::span<const std::string> keys, object_sink sink) const { inner_->read_each(keys, sink); }
    void read_ranges(std::span<const object_range> ranges, range_sink sink) const { inner_->read_ranges(ranges, sink); }
    /// Nothing if the inner storage has no view().
    [[nodiscard]] std::optional<byte_buffer> view(std::string_view key) const { return inner_->view(key); }
    /// Null if the inner storage has no such operation.
    [[nodiscard]] std::unique_ptr<opened_object> open(std::string_view key) const { return inner_->open(key); }
    /// True if the inner storage has no such operation.
    [[nodiscard]] bool read_ahead(std::string_view key) const { return inner_->read_ahead(key); }
    /// Null if the inner storage has no such operation.
    [[nodiscard]] std::unique_ptr<pinned_ranges> hold() const { return inner_->hold(); }

    // Listing ----------------------------------------------------------------------------------------------------

    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        return inner_->list(prefix, after);
    }
    /// The inner storage's entries(), or nothing if it has no such operation.
    [[nodiscard]] std::optional<std::vector<object_entry>> list_entries(std::string_view prefix, std::string_view after,
                                                                        std::size_t most) const {
        return inner_->list_entries(prefix, after, most);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return inner_->size(key); }
    [[nodiscard]] std::string name() const { return inner_->name(); }
    [[nodiscard]] place_kind place() const { return inner_->place(); }
    /// The inner storage's follower, or one that returns all keys at each call.
    [[nodiscard]] detail::any_follower follow(std::string_view prefix) const;
    /// Nothing if the inner storage has no signals.
    [[nodiscard]] std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes) const {
        return inner_->watch(prefixes);
    }
    /// Also nothing if the inner storage has no modified().
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const {
        return inner_->modified(key);
    }

    /// None if the inner storage has no such operation; those of with_problems() follow.
    [[nodiscard]] std::vector<problem> problems() const;
    /// A handle on the same storage whose problems() also include these.
    [[nodiscard]] any_storage with_problems(std::vector<problem> more) const;

    /// Makes the catalogs of trials on this storage, instead of index files; null: index files are used. See as_run().
    [[nodiscard]] const std::shared_ptr<const detail::source_maker>& source() const noexcept { return source_; }
    /// A handle on the same storage with that source, or without one.
    [[nodiscard]] any_storage with_source(std::shared_ptr<const detail::source_maker> source) const;

    // Writing: throws unsupported if abilities() exclude it, whether or not the object exists ----------------------

    void write(std::string_view key, byte_view bytes) { inner_->write(key, bytes); }
    [[nodiscard]] detail::any_output create(std::string_view key) { return inner_->create(key); }
    /// See smdebug::remove_object.
    bool remove(std::string_view key, durability how = durability::cached) { return inner_->remove(key, how); }
    /// See smdebug::remove_unfinished.
    std::vector<std::string> remove_unfinished(std::string_view prefix, function_ref<bool(std::string_view)> which) {
        return inner_->remove_unfinished(prefix, which);
    }
    /// See smdebug::take_claim.
    [[nodiscard]] detail::any_claim claim(std::string_view key, durability how = durability::cached) {
        return inner_->claim(key, how);
    }
    [[nodiscard]] bool claimed(std::string_view key) const { return inner_->claimed(key); }

private:
    struct interface : detail::erased {
        [[nodiscard]] virtual storage_abilities abilities() const = 0;
        [[nodiscard]] virtual byte_buffer read(std::string_view key, byte_range where) const = 0;
        virtual void read_each(std::span<const std::string> keys, object_sink sink) const = 0;
        virtual void read_ranges(std::span<const object_range> ranges, range_sink sink) const = 0;
        [[nodiscard]] virtual std::optional<byte_buffer> view(std::string_view key) const = 0;
        [[nodiscard]] virtual std::unique_ptr<opened_object> open(std::string_view key) const = 0;
        [[nodiscard]] virtual bool read_ahead(std::string_view key) const = 0;
        [[nodiscard]] virtual std::unique_ptr<pinned_ranges> hold() const = 0;
        [[nodiscard]] virtual std::vector<std::string> list(std::string_view prefix, std::string_view after) const = 0;
        [[nodiscard]] virtual std::optional<std::vector<object_entry>> list_entries(std::string_view prefix,
                                                                                    std::string_view after,
                                                                                    std::size_t most) const = 0;
        [[nodiscard]] virtual std::optional<std::uint64_t> size(std::string_view key) const = 0;
        [[nodiscard]] virtual std::string name() const = 0;
        [[nodiscard]] virtual place_kind place() const = 0;
        [[nodiscard]] virtual std::optional<detail::any_follower> follow(std::string_view prefix) const = 0;
        [[nodiscard]] virtual std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes) const = 0;
        [[nodiscard]] virtual std::optional<std::chrono::system_clock::time_point> modified(
            std::string_view key) const = 0;
        [[nodiscard]] virtual std::vector<problem> problems() const = 0;

        // Without an override: unsupported, and nothing to remove.
        SMDEBUG_INLINE virtual void write(std::string_view key, byte_view bytes);
        [[nodiscard]] SMDEBUG_INLINE virtual detail::any_output create(std::string_view key);
        SMDEBUG_INLINE virtual bool remove(std::string_view key, durability how);
        SMDEBUG_INLINE virtual std::vector<std::string> remove_unfinished(std::string_view prefix,
                                                                          function_ref<bool(std::string_view)> which);
        [[nodiscard]] SMDEBUG_INLINE virtual detail::any_claim claim(std::string_view key, durability how);
        [[nodiscard]] SMDEBUG_INLINE virtual bool claimed(std::string_view key) const;
    };

    // Follows a storage that has no follower.
    struct listing {
        [[nodiscard]] std::vector<std::string> next() const { return inner->list(prefix, ""); }
        void forget() const noexcept {}
        std::shared_ptr<const interface> inner;
        std::string prefix;
    };

    template <class Inner>
    struct reader;
    template <class Inner>
    struct writer;

    explicit any_storage(std::shared_ptr<interface> inner) : inner_(std::move(inner)) {}

    std::shared_ptr<const detail::source_maker> source_;
    std::shared_ptr<interface> inner_;
    std::shared_ptr<const std::vector<problem>> noted_;  // null: none
};

namespace detail {

/// Wraps any storage; an any_storage is returned unchanged.
template <storage Storage>
[[nodiscard]] any_storage erased_storage(Storage store) {
    if constexpr (std::same_as<Storage, any_storage>) {
        return store;
    } else {
        return any_storage{std::move(store)};
    }
}

/// The names of objects, at most so many if the storage can limit its listing.
[[nodiscard]] std::vector<std::string> some_keys(const any_storage& store, std::string_view prefix, std::size_t most);

}  // namespace detail

template <class Inner>
struct any_storage::reader : interface {
    static_assert(sizeof(detail::checked_signatures<Inner>) > 0);

    explicit reader(Inner inner) : store(std::move(inner)) {}

    [[nodiscard]] storage_abilities abilities() const override {
        storage_abilities told = abilities_of(store);
        told.writes = told.removes = told.claims = false;
        return told;
    }

    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const override {
        return where == whole_object ? store.read(key) : store.read(key, where);
    }
    void read_each(std::span<const std::string> keys, object_sink sink) const override {
        smdebug::read_each(store, keys, sink);
    }
    void read_ranges(std::span<const object_range> ranges, range_sink sink) const override {
        smdebug::read_ranges(store, ranges, sink);
    }
    [[nodiscard]] std::optional<byte_buffer> view(std::string_view key) const override {
        return view_object(store, key);
    }
    [[nodiscard]] std::unique_ptr<opened_object> open(std::string_view key) const override {
        return open_object(store, key);
    }
    [[nodiscard]] bool read_ahead(std::string_view key) const override { return prefetch_object(store, key); }
    [[nodiscard]] std::unique_ptr<pinned_ranges> hold() const override { return hold_ranges(store); }

    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const override {
        return store.list(prefix, after);
    }
    [[nodiscard]] std::optional<std::vector<object_entry>> list_entries(
        [[maybe_unused]] std::string_view prefix, [[maybe_unused]] std::string_view after,
        [[maybe_unused]] std::size_t most) const override {
        if constexpr (versioned_storage<Inner>) {
            return store.entries(prefix, after, most);
        } else {
            return std::nullopt;
        }
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override { return store.size(key); }
    [[nodiscard]] std::string name() const override { return store.name(); }
    [[nodiscard]] place_kind place() const override { return place_kind_of(store); }
    [[nodiscard]] std::optional<detail::any_follower> follow([[maybe_unused]] std::string_view prefix) const override {
        if constexpr (followable_storage<Inner>) {
            return detail::any_follower{store.follow(prefix)};
        } else {
            return std::nullopt;
        }
    }
    [[nodiscard]] std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes) const override {
        return watch_changes(store, prefixes);
    }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const override {
        return time_of(store, key);
    }
    [[nodiscard]] std::vector<problem> problems() const override { return problems_of(store); }

    Inner store;
};

template <class Inner>
struct any_storage::writer final : reader<Inner> {
    using reader<Inner>::reader;
    using reader<Inner>::store;

    [[nodiscard]] storage_abilities abilities() const override { return abilities_of(store); }

    void write(std::string_view key, byte_view bytes) override {
        if constexpr (writable_storage<Inner>) {
            store.write(key, bytes);
        } else {
            interface::write(key, bytes);
        }
    }
    [[nodiscard]] detail::any_output create(std::string_view key) override {
        if constexpr (writable_storage<Inner>) {
            return detail::any_output{create_output(store, key)};
        } else {
            return interface::create(key);
        }
    }
    bool remove(std::string_view key, durability how) override {
        if constexpr (removing_storage<Inner>) {
            return remove_object(store, key, how);
        } else {
            return interface::remove(key, how);
        }
    }
    std::vector<std::string> remove_unfinished(std::string_view prefix,
                                               function_ref<bool(std::string_view)> which) override {
        return smdebug::remove_unfinished(store, prefix, which);
    }
    [[nodiscard]] detail::any_claim claim(std::string_view key, durability how) override {
        if constexpr (claiming_storage<Inner>) {
            return detail::any_claim{take_claim(store, key, how)};
        } else {
            return interface::claim(key, how);
        }
    }
    [[nodiscard]] bool claimed(std::string_view key) const override {
        if constexpr (claiming_storage<Inner>) {
            return store.claimed(key);
        } else {
            return interface::claimed(key);
        }
    }
};

template <storage Inner>
any_storage any_storage::to_read(Inner inner) {
    if constexpr (std::same_as<Inner, any_storage>) {
        return inner;
    } else {
        auto source = detail::source_of(inner);
        any_storage made{std::shared_ptr<interface>{std::make_shared<reader<Inner>>(std::move(inner))}};
        made.source_ = std::move(source);
        return made;
    }
}

template <storage Inner>
const Inner* any_storage::target() const noexcept {
    const auto* const held = dynamic_cast<const reader<Inner>*>(inner_.get());
    return held != nullptr ? &held->store : nullptr;
}

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/any_storage.ipp>
#endif
