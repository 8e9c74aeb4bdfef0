// Writing an object piece by piece into any storage that can be written.
// The storage's own way where it has one; else the pieces are gathered in memory and written at once.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/writable.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail {

/// Puts the pieces behind what is there.  Cost: one copy of them, and of what was there once in a doubling.
void gather(std::vector<std::byte>& into, std::span<const byte_view> pieces);

/// An object_output for a storage that has none: gathers the pieces in memory, and write()s them at commit.
/// The storage must outlive it.  It is as durable as write() is, whatever was asked for.
/// Errors: those of write(), from commit() alone; an impossible key is found out there, too.
template <writable_storage Storage>
class gathered_output {
public:
    gathered_output(Storage& store, std::string_view key) : store_(std::addressof(store)), key_(key) {}
    gathered_output(gathered_output&&) = default;
    gathered_output& operator=(gathered_output&&) = default;
    gathered_output(const gathered_output&) = delete;
    gathered_output& operator=(const gathered_output&) = delete;
    ~gathered_output() = default;

    void append(std::span<const byte_view> pieces) { gather(bytes_, pieces); }
    void commit(durability /*as write() has it*/);

private:
    Storage* store_;
    std::string key_;
    std::vector<std::byte> bytes_;
};

}  // namespace detail

/// An object_output for the object `key`: the storage's own where it has one.  Errors: those of the storage.
template <writable_storage Storage>
[[nodiscard]] auto create_output(Storage& store, std::string_view key) {
    if constexpr (appending_storage<Storage>) {
        return store.create(key);
    } else {
        return detail::gathered_output<Storage>{store, key};
    }
}

namespace detail {

/// Writes a whole small object.  Errors: those of the storage.
template <writable_storage Storage>
void put_whole(Storage& store, std::string_view key, byte_view bytes, durability how) {
    auto output = create_output(store, key);
    output.append({&bytes, 1});
    output.commit(how);
}

}  // namespace detail

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/output.ipp>
#endif

#include <smdebug/storage/impl/output.tpp>
