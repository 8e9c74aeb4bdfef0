// A storage whose kind is chosen at run time.
// One indirect call a read, none an element.
// Used by: trial (smdebug::trial), create_trial, the command line.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/read_each.hpp>

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

/// Holds any storage behind one indirect call.  Copies share it.  Keeps the inner storage's batch reads where it has
/// them; reads one by one where it has not.
class any_storage {
public:
    template <class Inner>
    requires(!std::same_as<std::remove_cvref_t<Inner>, any_storage> &&
             storage<std::remove_cvref_t<Inner>>) explicit any_storage(Inner&& inner)
        : inner_(std::make_shared<const model<std::remove_cvref_t<Inner>>>(std::forward<Inner>(inner))) {}

    [[nodiscard]] byte_buffer read(std::string_view key) const { return inner_->read(key); }
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const { return inner_->read(key, where); }
    void read_each(std::span<const std::string> keys, object_sink sink) const { inner_->read_each(keys, sink); }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        return inner_->list(prefix, after);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return inner_->size(key); }
    [[nodiscard]] std::string name() const { return inner_->name(); }
    /// True for a storage that cannot tell.
    [[nodiscard]] bool exists() const { return inner_->exists(); }

private:
    struct interface {
        interface() = default;
        interface(const interface&) = delete;
        interface& operator=(const interface&) = delete;
        virtual ~interface() = default;
        [[nodiscard]] virtual byte_buffer read(std::string_view key) const = 0;
        [[nodiscard]] virtual byte_buffer read(std::string_view key, byte_range where) const = 0;
        virtual void read_each(std::span<const std::string> keys, object_sink sink) const = 0;
        [[nodiscard]] virtual std::vector<std::string> list(std::string_view prefix, std::string_view after) const = 0;
        [[nodiscard]] virtual std::optional<std::uint64_t> size(std::string_view key) const = 0;
        [[nodiscard]] virtual std::string name() const = 0;
        [[nodiscard]] virtual bool exists() const = 0;
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
        [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const override {
            return store.list(prefix, after);
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
        Inner store;
    };

    std::shared_ptr<const interface> inner_;
};

static_assert(storage<any_storage> && batch_reader<any_storage>);

}  // namespace v1
}  // namespace smdebug
