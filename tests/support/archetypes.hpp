// Minimal models of each concept: code that compiles with them uses only what the concept promises.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/storage/writable.hpp>
#include <smdebug/tensor/concepts.hpp>
#include <smdebug/tensor/event_decoder.hpp>

#include "support/given_text.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug_test {

/// A storage and nothing else: movable, not copyable, no batch reads, no exists, no write.
class storage_archetype {
public:
    explicit storage_archetype(smdebug::memory_storage objects) : objects_(std::move(objects)) {}
    storage_archetype(storage_archetype&&) = default;
    storage_archetype& operator=(storage_archetype&&) = default;
    storage_archetype(const storage_archetype&) = delete;
    storage_archetype& operator=(const storage_archetype&) = delete;
    ~storage_archetype() = default;

    [[nodiscard]] smdebug::byte_buffer read(std::string_view key) const { return objects_.read(key); }
    [[nodiscard]] smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const {
        return objects_.read(key, where);
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
        return objects_.list(given_text(prefix), given_text(after));
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const { return objects_.size(key); }
    [[nodiscard]] const char* name() const { return "archetype"; }

protected:
    [[nodiscard]] const smdebug::memory_storage& objects() const { return objects_; }

private:
    smdebug::memory_storage objects_;
};

/// A follower and nothing else: movable, not copyable, no default constructor.
class follower_archetype {
public:
    explicit follower_archetype(smdebug::memory_storage::follower inner) : inner_(std::move(inner)) {}
    follower_archetype(follower_archetype&&) = default;
    follower_archetype& operator=(follower_archetype&&) = default;
    follower_archetype(const follower_archetype&) = delete;
    follower_archetype& operator=(const follower_archetype&) = delete;
    ~follower_archetype() = default;

    [[nodiscard]] std::vector<std::string> next() { return inner_.next(); }
    void forget() { inner_.forget(); }

private:
    smdebug::memory_storage::follower inner_;
};

/// A storage that can be followed, and nothing else.
class followable_archetype : public storage_archetype {
public:
    using storage_archetype::storage_archetype;
    [[nodiscard]] follower_archetype follow(std::string_view prefix) const {
        return follower_archetype{objects().follow(prefix)};
    }
};

/// A storage that can be followed, but only by listing everything each time, and says so.
class reluctant_archetype : public followable_archetype {
public:
    using followable_archetype::followable_archetype;
    [[nodiscard]] smdebug::storage_abilities abilities() const { return {.follows = false}; }
};

/// A storage that announces changes, and nothing else.
class announcing_archetype : public storage_archetype {
public:
    using storage_archetype::storage_archetype;
    [[nodiscard]] std::unique_ptr<smdebug::change_signal> watch(std::span<const std::string> prefixes) const {
        return objects().watch(prefixes);
    }
};

/// A storage that dates its objects, and nothing else.
class dated_archetype : public storage_archetype {
public:
    using storage_archetype::storage_archetype;
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> modified(std::string_view key) const {
        return objects().modified(key);
    }
};

/// A storage with versions, and nothing else.
class versioned_archetype : public storage_archetype {
public:
    using storage_archetype::storage_archetype;
    [[nodiscard]] std::vector<smdebug::object_entry> entries(std::string_view prefix, std::string_view after,
                                                             std::size_t most) const {
        return objects().entries(given_text(prefix), given_text(after), most);
    }
    [[nodiscard]] smdebug::versioned_object read_versioned(std::string_view key) const {
        return objects().read_versioned(key);
    }
};

/// A storage that reads many parts at once, and nothing else.
class range_batch_archetype : public storage_archetype {
public:
    using storage_archetype::storage_archetype;
    void read_ranges(std::span<const smdebug::object_range> ranges, smdebug::range_sink sink) const {
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            const auto whole = objects().view(ranges[i].key);
            sink(i, whole ? std::optional{whole->slice(ranges[i].where)} : std::nullopt, {});
        }
    }
};

/// A storage that shows objects, and nothing else.
class viewing_archetype : public storage_archetype {
public:
    using storage_archetype::storage_archetype;
    [[nodiscard]] std::optional<smdebug::byte_buffer> view(std::string_view key) const { return objects().view(key); }
};

/// A storage that returns views only of objects that were read before, and says so.
class unviewing_archetype : public viewing_archetype {
public:
    using viewing_archetype::viewing_archetype;
    [[nodiscard]] smdebug::storage_abilities abilities() const { return {.views = false}; }
};

/// A storage that prefetches, and nothing else; nothing is ever cached.
class prefetching_archetype : public storage_archetype {
public:
    using storage_archetype::storage_archetype;
    [[nodiscard]] bool read_ahead(std::string_view /*key*/) const { return false; }
};

/// A storage that prefetches, but not for objects that are only wanted later, and says so.
class hesitant_archetype : public prefetching_archetype {
public:
    using prefetching_archetype::prefetching_archetype;
    [[nodiscard]] smdebug::storage_abilities abilities() const { return {.reads_ahead = false}; }
};

/// A storage that can be written, and nothing else.
class writable_archetype : public storage_archetype {
public:
    using storage_archetype::storage_archetype;
    void write(std::string_view key, smdebug::byte_view bytes) { handle().write(key, bytes); }

protected:
    [[nodiscard]] smdebug::memory_storage handle() const { return objects(); }
};

/// An output and nothing else: movable, not copyable, no default constructor.
class output_archetype {
public:
    explicit output_archetype(smdebug::memory_storage::output inner) : inner_(std::move(inner)) {}
    output_archetype(output_archetype&&) = default;
    output_archetype& operator=(output_archetype&&) = default;
    output_archetype(const output_archetype&) = delete;
    output_archetype& operator=(const output_archetype&) = delete;
    ~output_archetype() = default;

    void append(std::span<const smdebug::byte_view> pieces) { inner_.append(pieces); }
    void commit(smdebug::durability how) { inner_.commit(how); }

private:
    smdebug::memory_storage::output inner_;
};

/// A claim and nothing else.
class claim_archetype {
public:
    explicit claim_archetype(smdebug::memory_storage::held_key inner) : inner_(std::move(inner)) {}
    claim_archetype(claim_archetype&&) = default;
    claim_archetype& operator=(claim_archetype&&) = default;
    claim_archetype(const claim_archetype&) = delete;
    claim_archetype& operator=(const claim_archetype&) = delete;
    ~claim_archetype() = default;

    void release() { inner_.release(); }

private:
    smdebug::memory_storage::held_key inner_;
};

/// A storage that can be written, piece by piece too, and nothing else.
class appending_archetype : public writable_archetype {
public:
    using writable_archetype::writable_archetype;
    [[nodiscard]] output_archetype create(std::string_view key) { return output_archetype{handle().create(key)}; }
};

/// A storage that can be written, and removes objects, and nothing else.
class removing_archetype : public writable_archetype {
public:
    using writable_archetype::writable_archetype;
    bool remove(std::string_view key) { return handle().remove(key); }
};

/// A storage that can be written, and whose keys can be held, and nothing else.
class claiming_archetype : public writable_archetype {
public:
    using writable_archetype::writable_archetype;
    [[nodiscard]] claim_archetype claim(std::string_view key) { return claim_archetype{handle().claim(key)}; }
    [[nodiscard]] bool claimed(std::string_view key) const { return handle().claimed(key); }
};

/// A storage that could hold keys, but not here, and says so.
class unclaiming_archetype : public claiming_archetype {
public:
    using claiming_archetype::claiming_archetype;
    [[nodiscard]] smdebug::storage_abilities abilities() const { return {.claims = false}; }
};

/// A decoder and nothing else: no default constructor, no assignment.
class decoder_archetype {
public:
    explicit decoder_archetype(int /*made_on_purpose*/) {}
    decoder_archetype(const decoder_archetype&) = default;
    decoder_archetype& operator=(const decoder_archetype&) = delete;
    ~decoder_archetype() = default;

    [[nodiscard]] smdebug::status decode(smdebug::byte_view record, std::string_view expected_name,
                                         smdebug::decoded_tensor& out) const {
        return smdebug::event_decoder<>{}.decode(record, expected_name, out);
    }
    [[nodiscard]] const char* name() const { return "archetype"; }
};

/// A kernel and nothing else.
class kernel_archetype {
public:
    explicit kernel_archetype(int /*made_on_purpose*/) {}
    kernel_archetype(const kernel_archetype&) = default;
    kernel_archetype& operator=(const kernel_archetype&) = delete;
    ~kernel_archetype() = default;

    [[nodiscard]] smdebug::result<smdebug::reduction_values> reduce(const smdebug::tensor_view& tensor,
                                                                    smdebug::reduction_set wanted) const {
        return smdebug::scalar_kernel{}.reduce(tensor, wanted);
    }
    [[nodiscard]] const char* name() const { return "archetype"; }
};

}  // namespace smdebug_test
