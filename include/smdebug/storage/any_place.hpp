// A storage to be written whose kind is chosen at run time: what any_storage is for readers.
// One indirect call an append, none an element.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/output.hpp>
#include <smdebug/storage/read_each.hpp>
#include <smdebug/storage/removal.hpp>

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

/// An object being written, of whichever kind; models object_output.  One that was moved from can only be destroyed.
class any_output {
public:
    template <class Inner>
    requires(!std::same_as<std::remove_cvref_t<Inner>, any_output> &&
             object_output<std::remove_cvref_t<Inner>>) explicit any_output(Inner&& inner)
        : inner_(std::make_unique<model<std::remove_cvref_t<Inner>>>(std::forward<Inner>(inner))) {}

    void append(std::span<const byte_view> pieces) { inner_->append(pieces); }
    void commit(durability how) { inner_->commit(how); }

private:
    struct interface {
        interface() = default;
        interface(const interface&) = delete;
        interface& operator=(const interface&) = delete;
        virtual ~interface() = default;
        virtual void append(std::span<const byte_view> pieces) = 0;
        virtual void commit(durability how) = 0;
    };
    template <class Inner>
    struct model final : interface {
        template <class Given>
        explicit model(Given&& inner) : output(std::forward<Given>(inner)) {}
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
    requires(!std::same_as<std::remove_cvref_t<Inner>, any_claim> &&
             object_claim<std::remove_cvref_t<Inner>>) explicit any_claim(Inner&& inner)
        : inner_(std::make_unique<model<std::remove_cvref_t<Inner>>>(std::forward<Inner>(inner))) {}

    void release();
    /// True where the inner claim cannot tell.
    [[nodiscard]] bool holds() const { return inner_ && inner_->holds(); }

private:
    struct interface {
        interface() = default;
        interface(const interface&) = delete;
        interface& operator=(const interface&) = delete;
        virtual ~interface() = default;
        virtual void release() = 0;
        [[nodiscard]] virtual bool holds() const = 0;
    };
    template <class Inner>
    struct model final : interface {
        template <class Given>
        explicit model(Given&& inner) : held(std::forward<Given>(inner)) {}
        void release() override { held.release(); }
        [[nodiscard]] bool holds() const override { return still_holds(held); }
        Inner held;
    };

    std::unique_ptr<interface> inner_;
};

/// Holds any storage that can be written behind one indirect call.  Copies are handles on the same place.
/// Where the inner storage cannot do more than write: objects are gathered in memory until they are whole (see
/// gathered_output), and remove() and claim() throw unsupported; removes() and claims() tell it beforehand.
/// Threads: as the inner storage.      Cost: one allocation a create() and a claim(), none an append.
class any_place {
public:
    template <class Inner>
    requires(!std::same_as<std::remove_cvref_t<Inner>, any_place> &&
             writable_storage<std::remove_cvref_t<Inner>>) explicit any_place(Inner&& inner)
        : inner_(std::make_shared<model<std::remove_cvref_t<Inner>>>(std::forward<Inner>(inner))) {}

    [[nodiscard]] byte_buffer read(std::string_view key) const { return seen().read(key); }
    [[nodiscard]] byte_buffer read(std::string_view key, byte_range where) const { return seen().read(key, where); }
    void read_each(std::span<const std::string> keys, object_sink sink) const { seen().read_each(keys, sink); }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        return seen().list(prefix, after);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return seen().size(key); }
    [[nodiscard]] std::string name() const { return seen().name(); }
    /// True for a storage that cannot tell.
    [[nodiscard]] bool exists() const { return seen().exists(); }

    void write(std::string_view key, byte_view bytes) { inner_->write(key, bytes); }
    [[nodiscard]] any_output create(std::string_view key) { return inner_->create(key); }

    /// Errors: unsupported where removes() is false, whether the object is there or not; else the inner storage's.
    bool remove(std::string_view key) { return inner_->remove(key); }
    /// Whether objects can be taken away.
    [[nodiscard]] bool removes() const { return seen().removes(); }

    /// See unfinished_remover.  Nothing where the inner storage keeps nothing of what is unfinished.
    std::vector<std::string> remove_unfinished(std::string_view prefix, function_ref<bool(std::string_view)> which) {
        return inner_->remove_unfinished(prefix, which);
    }

    /// Errors: unsupported where claims() is false; else the inner storage's.
    [[nodiscard]] any_claim claim(std::string_view key) { return inner_->claim(key); }
    /// Errors: as claim(), without in_use.
    [[nodiscard]] bool claimed(std::string_view key) const { return seen().claimed(key); }
    /// Whether keys can be held alone.
    [[nodiscard]] bool claims() const { return seen().claims(); }

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
        virtual void write(std::string_view key, byte_view bytes) = 0;
        [[nodiscard]] virtual any_output create(std::string_view key) = 0;
        virtual bool remove(std::string_view key) = 0;
        [[nodiscard]] virtual bool removes() const = 0;
        virtual std::vector<std::string> remove_unfinished(std::string_view prefix,
                                                           function_ref<bool(std::string_view)> which) = 0;
        [[nodiscard]] virtual any_claim claim(std::string_view key) = 0;
        [[nodiscard]] virtual bool claimed(std::string_view key) const = 0;
        [[nodiscard]] virtual bool claims() const = 0;
    };

    template <class Inner>
    struct model final : interface {
        template <class Given>
        explicit model(Given&& inner) : store(std::forward<Given>(inner)) {}
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
        [[nodiscard]] bool exists() const override;
        void write(std::string_view key, byte_view bytes) override { store.write(key, bytes); }
        [[nodiscard]] any_output create(std::string_view key) override { return any_output{create_output(store, key)}; }
        bool remove(std::string_view key) override;
        [[nodiscard]] bool removes() const override { return can_remove(store); }
        std::vector<std::string> remove_unfinished(std::string_view prefix,
                                                   function_ref<bool(std::string_view)> which) override;
        [[nodiscard]] any_claim claim(std::string_view key) override;
        [[nodiscard]] bool claimed(std::string_view key) const override;
        [[nodiscard]] bool claims() const override { return worth_claiming(store); }

        [[noreturn]] void refuse(const std::string& what, std::string_view key) const;
        Inner store;
    };

    // Handles are const or not by themselves; what is read through them is const.
    [[nodiscard]] const interface& seen() const noexcept { return *inner_; }

    std::shared_ptr<interface> inner_;
};

static_assert(object_output<any_output> && observable_claim<any_claim>);
static_assert(writable_storage<any_place> && batch_reader<any_place> && place_prober<any_place>);
static_assert(appending_storage<any_place> && removing_storage<any_place> && removal_prober<any_place> &&
              claiming_storage<any_place> && claim_prober<any_place>);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/any_place.ipp>
#endif

#include <smdebug/storage/impl/any_place.tpp>
