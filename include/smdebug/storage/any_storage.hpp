// A storage whose kind is chosen at run time.
// One indirect call a read, none an element.  What the inner storage can do beyond a plain one is not lost.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/change_signal.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/read_each.hpp>
#include <smdebug/storage/read_ranges.hpp>
#include <smdebug/storage/reading_ahead.hpp>
#include <smdebug/storage/versioned_read.hpp>

#include <chrono>
#include <concepts>
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

/// A follower whose kind is chosen at run time.  Threads: one at a time.
class any_follower {
public:
    template <class Inner>
    requires(!std::same_as<std::remove_cvref_t<Inner>, any_follower> &&
             key_follower<std::remove_cvref_t<Inner>>) explicit any_follower(Inner&& inner)
        : inner_(std::make_unique<model<std::remove_cvref_t<Inner>>>(std::forward<Inner>(inner))) {}

    [[nodiscard]] std::vector<std::string> next() { return inner_->next(); }
    void forget() { inner_->forget(); }

private:
    struct interface {
        interface() = default;
        interface(const interface&) = delete;
        interface& operator=(const interface&) = delete;
        virtual ~interface() = default;
        [[nodiscard]] virtual std::vector<std::string> next() = 0;
        virtual void forget() = 0;
    };
    template <class Inner>
    struct model final : interface {
        template <class Given>
        explicit model(Given&& inner) : follower(std::forward<Given>(inner)) {}
        [[nodiscard]] std::vector<std::string> next() override { return follower.next(); }
        void forget() override { follower.forget(); }
        Inner follower;
    };

    std::unique_ptr<interface> inner_;
};

/// Holds any storage behind one indirect call.  Copies share it.  Keeps the inner storage's optional abilities, except
/// writing and entries(), as there are no versions where the inner storage has none; where it has none of the others:
/// reads one by one, follows by listing everything each time, and has no signals or times.
class any_storage {
public:
    template <class Inner>
    requires(!std::same_as<std::remove_cvref_t<Inner>, any_storage> &&
             storage<std::remove_cvref_t<Inner>>) explicit any_storage(Inner&& inner)
        : inner_(std::make_shared<const model<std::remove_cvref_t<Inner>>>(std::forward<Inner>(inner))) {}

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
    /// Whether the inner storage does more than reading them one by one.
    [[nodiscard]] bool batches_ranges() const { return inner_->batches_ranges(); }
    /// Nothing for a storage that has none to give.
    [[nodiscard]] std::optional<byte_buffer> view(std::string_view key) const { return inner_->view(key); }
    /// Whether the inner storage has views worth asking for.
    [[nodiscard]] bool views() const { return inner_->views(); }
    /// True for a storage that has no such thing.
    [[nodiscard]] bool read_ahead(std::string_view key) const { return inner_->read_ahead(key); }
    /// Whether that is worth asking for small objects, too.
    [[nodiscard]] bool reads_ahead() const { return inner_->reads_ahead(); }
    /// Null for a storage that has no such thing.
    [[nodiscard]] std::unique_ptr<held_objects> hold() const { return inner_->hold(); }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        return inner_->list(prefix, after);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return inner_->size(key); }
    [[nodiscard]] std::string name() const { return inner_->name(); }
    /// True for a storage that cannot tell.
    [[nodiscard]] bool exists() const { return inner_->exists(); }
    /// False for a storage that cannot tell.
    [[nodiscard]] bool is_file() const { return inner_->is_file(); }

    /// The inner storage's follower, or one that gives all that is there at each call: follows() tells which.
    [[nodiscard]] any_follower follow(std::string_view prefix) const;
    /// Whether a follower costs by what is new.
    [[nodiscard]] bool follows() const { return inner_->follows(); }
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

private:
    struct interface {
        interface() = default;
        interface(const interface&) = delete;
        interface& operator=(const interface&) = delete;
        virtual ~interface() = default;
        [[nodiscard]] virtual byte_buffer read(std::string_view key) const = 0;
        [[nodiscard]] virtual byte_buffer read(std::string_view key, byte_range where) const = 0;
        virtual void read_each(std::span<const std::string> keys, object_sink sink) const = 0;
        virtual void read_ranges(std::span<const object_range> ranges, range_sink sink) const = 0;
        virtual void read_each_versioned(std::span<const std::string> keys, versioned_object_sink sink) const = 0;
        virtual void read_ranges_versioned(std::span<const object_range> ranges, versioned_range_sink sink) const = 0;
        [[nodiscard]] virtual bool batches_ranges() const = 0;
        [[nodiscard]] virtual std::optional<byte_buffer> view(std::string_view key) const = 0;
        [[nodiscard]] virtual bool views() const = 0;
        [[nodiscard]] virtual bool read_ahead(std::string_view key) const = 0;
        [[nodiscard]] virtual bool reads_ahead() const = 0;
        [[nodiscard]] virtual std::unique_ptr<held_objects> hold() const = 0;
        [[nodiscard]] virtual std::vector<std::string> list(std::string_view prefix, std::string_view after) const = 0;
        [[nodiscard]] virtual std::optional<std::uint64_t> size(std::string_view key) const = 0;
        [[nodiscard]] virtual std::string name() const = 0;
        [[nodiscard]] virtual bool exists() const = 0;
        [[nodiscard]] virtual bool is_file() const = 0;
        [[nodiscard]] virtual std::optional<any_follower> follow(std::string_view prefix) const = 0;
        [[nodiscard]] virtual bool follows() const = 0;
        [[nodiscard]] virtual std::chrono::milliseconds look_interval() const = 0;
        [[nodiscard]] virtual std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes) const = 0;
        [[nodiscard]] virtual std::optional<std::chrono::system_clock::time_point> modified(
            std::string_view key) const = 0;
    };

    // Follows a storage that cannot be followed.
    struct listing {
        [[nodiscard]] std::vector<std::string> next() const { return inner->list(prefix, {}); }
        void forget() const noexcept {}
        std::shared_ptr<const interface> inner;
        std::string prefix;
    };

    template <class Inner>
    struct model final : interface {
        explicit model(Inner inner) : store(std::move(inner)) {}
        [[nodiscard]] byte_buffer read(std::string_view key) const override { return store.read(key); }
        [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const override {
            return store.read(key, where);
        }
        void read_each(std::span<const std::string> keys, object_sink sink) const override {
            smdebug::read_each(store, keys, sink);
        }
        void read_ranges(std::span<const object_range> ranges, range_sink sink) const override {
            smdebug::read_ranges(store, ranges, sink);
        }
        void read_each_versioned(std::span<const std::string> keys, versioned_object_sink sink) const override {
            smdebug::read_each_versioned(store, keys, sink);
        }
        void read_ranges_versioned(std::span<const object_range> ranges, versioned_range_sink sink) const override {
            smdebug::read_ranges_versioned(store, ranges, sink);
        }
        [[nodiscard]] bool batches_ranges() const override { return worth_batching_ranges(store); }
        [[nodiscard]] std::optional<byte_buffer> view([[maybe_unused]] std::string_view key) const override;
        [[nodiscard]] bool views() const override { return worth_viewing(store); }
        [[nodiscard]] bool read_ahead([[maybe_unused]] std::string_view key) const override;
        [[nodiscard]] bool reads_ahead() const override { return worth_reading_ahead(store); }
        [[nodiscard]] std::unique_ptr<held_objects> hold() const override;
        [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const override {
            return store.list(prefix, after);
        }
        [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override { return store.size(key); }
        [[nodiscard]] std::string name() const override { return store.name(); }
        [[nodiscard]] bool exists() const override;
        [[nodiscard]] bool is_file() const override;
        [[nodiscard]] std::optional<any_follower> follow([[maybe_unused]] std::string_view prefix) const override;
        [[nodiscard]] bool follows() const override { return worth_following(store); }
        [[nodiscard]] std::chrono::milliseconds look_interval() const override {
            return smdebug::look_interval(store, std::chrono::milliseconds{0});
        }
        [[nodiscard]] std::unique_ptr<change_signal> watch(
            [[maybe_unused]] std::span<const std::string> prefixes) const override;
        [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(
            [[maybe_unused]] std::string_view key) const override;
        Inner store;
    };

    std::shared_ptr<const interface> inner_;
};

static_assert(key_follower<any_follower>);
static_assert(storage<any_storage> && batch_reader<any_storage> && range_batch_reader<any_storage> &&
              range_batch_prober<any_storage> && versioned_batch_reader<any_storage> && place_prober<any_storage> &&
              file_prober<any_storage>);
static_assert(viewing_storage<any_storage> && view_prober<any_storage> && prefetching_storage<any_storage> &&
              ahead_prober<any_storage> && holding_storage<any_storage>);
static_assert(followable_storage<any_storage> && follow_prober<any_storage> && announcing_storage<any_storage> &&
              pacing_storage<any_storage> && dated_storage<any_storage>);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/any_storage.ipp>
#endif

#include <smdebug/storage/impl/any_storage.tpp>
