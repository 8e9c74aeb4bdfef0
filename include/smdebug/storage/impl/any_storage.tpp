// The bodies of <smdebug/storage/any_storage.hpp> that are templates.
#pragma once

#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/output.hpp>
#include <smdebug/storage/read_each.hpp>
#include <smdebug/storage/read_ranges.hpp>

namespace smdebug {
inline namespace v1 {

template <class Inner>
struct any_storage::reader : interface {
    explicit reader(Inner inner) : store(std::move(inner)) {}

    [[nodiscard]] storage_abilities abilities() const override {
        storage_abilities told = abilities_of(store);
        told.writes = told.removes = told.claims = false;
        return told;
    }

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
    [[nodiscard]] std::optional<byte_buffer> view([[maybe_unused]] std::string_view key) const override {
        if constexpr (viewing_storage<Inner>) {
            return store.view(key);
        } else {
            return std::nullopt;
        }
    }
    [[nodiscard]] std::unique_ptr<detail::opened_object> open([[maybe_unused]] std::string_view key) const override {
        if constexpr (detail::opening_storage<Inner>) {
            return store.open(key);
        } else {
            return nullptr;
        }
    }
    [[nodiscard]] bool read_ahead([[maybe_unused]] std::string_view key) const override {
        if constexpr (prefetching_storage<Inner>) {
            return store.read_ahead(key);
        } else {
            return true;
        }
    }
    [[nodiscard]] std::unique_ptr<held_objects> hold() const override {
        if constexpr (holding_storage<Inner>) {
            return store.hold();
        } else {
            return nullptr;
        }
    }

    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const override {
        return store.list(prefix, after);
    }
    [[nodiscard]] std::optional<std::vector<object_entry>> list_entries(
        [[maybe_unused]] std::string_view prefix, [[maybe_unused]] std::string_view after,
        [[maybe_unused]] std::size_t most) const override {
        if constexpr (entry_lister<Inner>) {
            return store.entries(prefix, after, most);
        } else {
            return std::nullopt;
        }
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override { return store.size(key); }
    [[nodiscard]] std::string name() const override { return store.name(); }
    [[nodiscard]] bool exists() const override {
        if constexpr (place_prober<Inner>) {
            return store.exists();
        } else {
            return true;
        }
    }
    [[nodiscard]] bool is_file() const override { return detail::is_file(store); }
    [[nodiscard]] std::optional<detail::any_follower> follow([[maybe_unused]] std::string_view prefix) const override {
        if constexpr (followable_storage<Inner>) {
            return detail::any_follower{store.follow(prefix)};
        } else {
            return std::nullopt;
        }
    }
    [[nodiscard]] std::unique_ptr<change_signal> watch(
        [[maybe_unused]] std::span<const std::string> prefixes) const override {
        if constexpr (announcing_storage<Inner>) {
            return store.watch(prefixes);
        } else {
            return nullptr;
        }
    }
    [[nodiscard]] std::chrono::milliseconds look_interval() const override {
        return smdebug::look_interval(store, std::chrono::milliseconds{0});
    }
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(
        [[maybe_unused]] std::string_view key) const override {
        if constexpr (dated_storage<Inner>) {
            return store.modified(key);
        } else {
            return std::nullopt;
        }
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
    bool remove(std::string_view key) override {
        if constexpr (removing_storage<Inner>) {
            return store.remove(key);
        } else {
            return interface::remove(key);
        }
    }
    std::vector<std::string> remove_unfinished(std::string_view prefix,
                                               function_ref<bool(std::string_view)> which) override {
        return smdebug::remove_unfinished(store, prefix, which);
    }
    void settle(std::string_view key) override { settle_removal(store, key); }
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

}  // namespace v1
}  // namespace smdebug
