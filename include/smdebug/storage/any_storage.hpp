// A storage whose kind is chosen at run time, to be read, and written where it can be.
// One indirect call a read or an append, none an element.  What the inner storage can do beyond a plain one is not
// lost.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/problem.hpp>
#include <smdebug/storage/abilities.hpp>
#include <smdebug/storage/change_signal.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/opened_object.hpp>
#include <smdebug/storage/versioned_read.hpp>
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

namespace smdebug {
inline namespace v1 {

namespace detail {

class source_maker;

/// What an interface between a value and whoever does not know its type starts from.
struct erased {
    erased() = default;
    erased(const erased&) = delete;
    erased& operator=(const erased&) = delete;
    virtual ~erased() = default;
};

/// That of a storage around an any_storage, which has a source() for it; else null.
template <class S>
[[nodiscard]] std::shared_ptr<const source_maker> source_of(const S& store) {
    if constexpr (requires { store.source(); }) {
        return store.source();
    } else {
        return nullptr;
    }
}

// Each can be moved, not copied; one that was moved from can only be destroyed or assigned to.

/// An object being written, of whichever kind; models object_output.
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

/// A key that is held alone, of whichever kind; models object_claim.
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
    /// True where the inner claim cannot tell.
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

/// A follower of whichever kind; models key_follower.  Threads: one at a time.
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

/// Holds any storage behind one indirect call.  Copies are handles on it.  Has every optional operation, except
/// entries(), as there are no versions where the inner storage has none (list_entries() tells whether it has); abilities()
/// tell which of them the inner storage has, too.  Without it: reads one by one, follows by listing everything each time, has no signals or times,
/// gathers in memory what is written piece by piece (see create_output), and throws unsupported where it cannot
/// write, remove or claim. Threads: as the inner storage.      Cost: one allocation a create(), claim() or follow(),
/// none a read or an append.
class any_storage {
public:
    template <class Inner>
        requires(!std::same_as<std::remove_cvref_t<Inner>, any_storage> && storage<std::remove_cvref_t<Inner>>)
    explicit any_storage(Inner&& inner)
        : source_(detail::source_of(inner)),
          inner_(std::make_shared<writer<std::remove_cvref_t<Inner>>>(std::forward<Inner>(inner))) {}

    /// Of a storage that is only read: writes, removes and claims nothing, whatever the inner storage can, so that a program
    /// that only reads does not have the code for it.  An any_storage stays as it is.
    template <storage Inner>
    [[nodiscard]] static any_storage to_read(Inner inner);

    /// The inner storage, if it is of this type; else null.
    template <storage Inner>
    [[nodiscard]] const Inner* target() const noexcept;

    /// Those of the inner storage.
    [[nodiscard]] storage_abilities abilities() const { return inner_->abilities(); }

    // Reading ----------------------------------------------------------------------------------------------------

    [[nodiscard]] byte_buffer read(std::string_view key) const { return inner_->read(key); }
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const { return inner_->read(key, where); }
    void read_each(std::span<const std::string> keys, object_sink sink) const { inner_->read_each(keys, sink); }
    void read_ranges(std::span<const object_range> ranges, range_sink sink) const { inner_->read_ranges(ranges, sink); }
    /// With versions as far as the inner storage tells them.
    void read_each_versioned(std::span<const std::string> keys, versioned_object_sink sink) const {
        inner_->read_each_versioned(keys, sink);
    }
    void read_ranges_versioned(std::span<const object_range> ranges, versioned_range_sink sink) const {
        inner_->read_ranges_versioned(ranges, sink);
    }
    /// Nothing for a storage that has none to give.
    [[nodiscard]] std::optional<byte_buffer> view(std::string_view key) const { return inner_->view(key); }
    /// Null for a storage that has no such thing.
    [[nodiscard]] std::unique_ptr<detail::opened_object> open(std::string_view key) const { return inner_->open(key); }
    /// True for a storage that has no such thing.
    [[nodiscard]] bool read_ahead(std::string_view key) const { return inner_->read_ahead(key); }
    /// Null for a storage that has no such thing.
    [[nodiscard]] std::unique_ptr<held_objects> hold() const { return inner_->hold(); }

    // Listing ----------------------------------------------------------------------------------------------------

    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        return inner_->list(prefix, after);
    }
    /// What entries() of the inner storage gives; nothing for a storage that has no such thing.
    [[nodiscard]] std::optional<std::vector<object_entry>> list_entries(std::string_view prefix, std::string_view after,
                                                                        std::size_t most) const {
        return inner_->list_entries(prefix, after, most);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return inner_->size(key); }
    [[nodiscard]] std::string name() const { return inner_->name(); }
    /// True for a storage that cannot tell.
    [[nodiscard]] bool exists() const { return inner_->exists(); }
    /// False for a storage that cannot tell.
    [[nodiscard]] bool is_file() const { return inner_->is_file(); }
    /// The inner storage's follower, or one that gives all that is there at each call.
    [[nodiscard]] detail::any_follower follow(std::string_view prefix) const;
    /// Nothing for a storage that cannot tell.
    [[nodiscard]] std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes) const {
        return inner_->watch(prefixes);
    }
    /// Nothing to wait for where the inner storage does not mind.
    [[nodiscard]] std::chrono::milliseconds look_interval() const { return inner_->look_interval(); }
    /// Nothing for a storage that cannot tell, too.
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const {
        return inner_->modified(key);
    }

    /// None for a storage that has no such thing; those of with_problems() follow.
    [[nodiscard]] std::vector<problem> problems() const;
    /// A handle on the same storage whose problems() have these, too.
    [[nodiscard]] any_storage with_problems(std::vector<problem> more) const;

    /// What makes the catalogs of trials on it, instead of index files; null: index files.  See as_run().
    [[nodiscard]] const std::shared_ptr<const detail::source_maker>& source() const noexcept { return source_; }
    /// A handle on the same storage with that source, or with none.
    [[nodiscard]] any_storage with_source(std::shared_ptr<const detail::source_maker> source) const;

    // Writing: unsupported where abilities() tell so, whether the object is there or not ---------------------------

    void write(std::string_view key, byte_view bytes) { inner_->write(key, bytes); }
    [[nodiscard]] detail::any_output create(std::string_view key) { return inner_->create(key); }
    bool remove(std::string_view key) { return inner_->remove(key); }
    /// See smdebug::remove_unfinished.
    std::vector<std::string> remove_unfinished(std::string_view prefix, function_ref<bool(std::string_view)> which) {
        return inner_->remove_unfinished(prefix, which);
    }
    /// See smdebug::settle_removal.
    void settle(std::string_view key) { inner_->settle(key); }
    /// See smdebug::take_claim.
    [[nodiscard]] detail::any_claim claim(std::string_view key, durability how = durability::cached) {
        return inner_->claim(key, how);
    }
    [[nodiscard]] bool claimed(std::string_view key) const { return inner_->claimed(key); }

private:
    struct interface : detail::erased {
        [[nodiscard]] virtual storage_abilities abilities() const = 0;
        [[nodiscard]] virtual byte_buffer read(std::string_view key) const = 0;
        [[nodiscard]] virtual byte_buffer read(std::string_view key, byte_range where) const = 0;
        virtual void read_each(std::span<const std::string> keys, object_sink sink) const = 0;
        virtual void read_ranges(std::span<const object_range> ranges, range_sink sink) const = 0;
        virtual void read_each_versioned(std::span<const std::string> keys, versioned_object_sink sink) const = 0;
        virtual void read_ranges_versioned(std::span<const object_range> ranges, versioned_range_sink sink) const = 0;
        [[nodiscard]] virtual std::optional<byte_buffer> view(std::string_view key) const = 0;
        [[nodiscard]] virtual std::unique_ptr<detail::opened_object> open(std::string_view key) const = 0;
        [[nodiscard]] virtual bool read_ahead(std::string_view key) const = 0;
        [[nodiscard]] virtual std::unique_ptr<held_objects> hold() const = 0;
        [[nodiscard]] virtual std::vector<std::string> list(std::string_view prefix, std::string_view after) const = 0;
        [[nodiscard]] virtual std::optional<std::vector<object_entry>> list_entries(std::string_view prefix,
                                                                                    std::string_view after,
                                                                                    std::size_t most) const = 0;
        [[nodiscard]] virtual std::optional<std::uint64_t> size(std::string_view key) const = 0;
        [[nodiscard]] virtual std::string name() const = 0;
        [[nodiscard]] virtual bool exists() const = 0;
        [[nodiscard]] virtual bool is_file() const = 0;
        [[nodiscard]] virtual std::optional<detail::any_follower> follow(std::string_view prefix) const = 0;
        [[nodiscard]] virtual std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes) const = 0;
        [[nodiscard]] virtual std::chrono::milliseconds look_interval() const = 0;
        [[nodiscard]] virtual std::optional<std::chrono::system_clock::time_point> modified(
            std::string_view key) const = 0;
        [[nodiscard]] virtual std::vector<problem> problems() const = 0;

        // Without an override: unsupported, and nothing to remove.
        SMDEBUG_INLINE virtual void write(std::string_view key, byte_view bytes);
        [[nodiscard]] SMDEBUG_INLINE virtual detail::any_output create(std::string_view key);
        SMDEBUG_INLINE virtual bool remove(std::string_view key);
        SMDEBUG_INLINE virtual std::vector<std::string> remove_unfinished(std::string_view prefix,
                                                                          function_ref<bool(std::string_view)> which);
        SMDEBUG_INLINE virtual void settle(std::string_view key);
        [[nodiscard]] SMDEBUG_INLINE virtual detail::any_claim claim(std::string_view key, durability how);
        [[nodiscard]] SMDEBUG_INLINE virtual bool claimed(std::string_view key) const;
    };

    // Follows a storage that cannot be followed.
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

/// Any storage behind the one type; one that is so already stays as it is.
template <storage Storage>
[[nodiscard]] any_storage erased_storage(Storage store) {
    if constexpr (std::same_as<Storage, any_storage>) {
        return store;
    } else {
        return any_storage{std::move(store)};
    }
}

/// Names of objects, at most so many where the storage can stop there.
[[nodiscard]] std::vector<std::string> some_keys(const any_storage& store, std::string_view prefix, std::size_t most);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/any_storage.ipp>
#endif

#include <smdebug/storage/impl/any_storage.tpp>
