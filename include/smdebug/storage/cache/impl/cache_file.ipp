// The bodies of <smdebug/storage/cache/cache_file.hpp>.
#pragma once

#include <smdebug/storage/cache/cache_file.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/output.hpp>
#include <smdebug/storage/writable.hpp>

#include <algorithm>
#include <memory>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace cache_file {

SMDEBUG_INLINE std::string identity_text(const object_identity& what) {
    std::string text;
    for (const std::string_view part : {what.place, what.key, what.version}) {
        text.append(std::to_string(part.size())).append(":").append(part);
    }
    return text;
}

SMDEBUG_INLINE std::string name_of(const object_identity& what) {
    const std::string text = identity_text(what);
    std::string name;
    for (const std::uint64_t seed : {0U, 1U}) {
        std::uint64_t hash = content_hash(as_bytes(text), seed);
        for (std::size_t i = 0; i < digits / 2; ++i, hash >>= 4U) {
            name += "0123456789abcdef"[hash & 15U];
        }
    }
    return name.append(extension);
}

SMDEBUG_INLINE bool is_name(std::string_view name) noexcept {
    return name.find_first_not_of("0123456789abcdef") == digits &&
           (name.substr(digits) == extension || name.substr(digits) == index_extension);
}

SMDEBUG_INLINE bool is_temporary(std::string_view name) noexcept {
    return name.size() > digits && name.find_first_not_of("0123456789abcdef") == digits &&
           name.substr(digits).starts_with(posix::temporary_mark);
}

namespace detail {

SMDEBUG_INLINE std::array<std::byte, head_size> head_of(std::size_t identity, std::size_t object,
                                                        std::uint64_t checksum) noexcept {
    std::array<std::byte, head_size> head{};
    const std::array<std::uint64_t, 4> numbers{mark, identity, object, checksum};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        store_le(head.data() + 8 * i, numbers[i]);
    }
    return head;
}

}  // namespace detail

SMDEBUG_INLINE std::uint64_t write(const std::string& path, const object_identity& what, byte_view object) {
    const std::string identity = identity_text(what);
    const auto head = detail::head_of(identity.size(), object.size(), detail::checksum_of(as_bytes(identity), object));
    const std::array<byte_view, 3> pieces{byte_view{head}, as_bytes(identity), object};
    posix::whole_file_output out{path, posix::readable_by::owner};
    out.append(pieces);
    out.commit(durability::cached);
    return head.size() + identity.size() + object.size();
}

SMDEBUG_INLINE std::optional<byte_buffer> read(const std::string& path, const object_identity& what,
                                               std::uint64_t most_bytes) {
    const std::size_t slash = path.rfind('/');
    const std::string folder_name = path.substr(0, slash);
    const auto folder = posix::directory_handle::open(folder_name);
    const auto file = folder ? posix::file::open_if_there(*folder, path.substr(slash + 1), folder_name) : std::nullopt;
    if (!file) {
        return std::nullopt;
    }
    const std::string identity = identity_text(what);
    const std::size_t before = head_size + identity.size();
    if (file->size() >= before && file->size() <= most_bytes) {
        const auto size = static_cast<std::size_t>(file->size());
        const std::shared_ptr<std::byte[]> block = std::make_shared_for_overwrite<std::byte[]>(size);
        const byte_view all{block.get(), file->read_at(0, {block.get(), size})};
        if (all.size() == size) {
            const byte_view object = all.subspan(before);
            const auto head =
                detail::head_of(identity.size(), object.size(), detail::checksum_of(as_bytes(identity), object));
            if (std::equal(head.begin(), head.end(), all.begin()) &&
                as_text(all.subspan(head_size, identity.size())) == identity) {
                return byte_buffer{block, object};
            }
        }
    }
    static_cast<void>(posix::remove_file(path));
    return std::nullopt;
}

}  // namespace cache_file
}  // namespace detail
}  // namespace v1
}  // namespace smdebug
