// A storage in a bucket, or under a prefix of one, in Amazon S3 or on a compatible server.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/http/transport.hpp>
#include <smdebug/s3/call/client.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/object/multipart_upload.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/storage_base.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

class s3_storage;

namespace s3::detail {

/// The client of a storage, with which tests send requests that a storage has no function for.
[[nodiscard]] const client& client_of(const s3_storage& store) noexcept;

}  // namespace s3::detail

/// The objects under a prefix of a bucket; keys are relative to the prefix.
///
/// Temporary failures are retried within s3_options::retry; nothing is returned that was not received whole.  A written
/// object appears whole or not at all.  S3 shows new objects at once but sends no notifications: a growing run is
/// polled.
///
/// Errors:   every call may throw not_found (no such object or bucket), access_denied, timed_out, unsupported (the
///           server lacks the operation), unavailable, each with bucket, key and the server's request id; and the
///           errors of the credentials.  No error contains a key or a token.
/// Threads:  all calls on any, concurrently.  Copies are handles on the same connections.
/// Cost:     one request an object or part of one (s3_options::part_bytes), or for 1,000 keys of a listing.
class s3_storage : public storage_base {
public:
    /// `uri`: "s3://bucket/prefix".  Sends no request yet.  Settings that `options` leaves open come from environment
    /// and profile.  Errors: value_error (uri, endpoint, region, the profile's file).
    explicit s3_storage(std::string_view uri, const s3_options& options = {});

    /// Everything as given: neither environment nor profile is read, unless the credentials read them.
    /// `over`: storages with the same transport share its connections.  `credentials`: null means s3_credentials().
    s3_storage(std::string_view uri, s3_options options, std::shared_ptr<const http_transport> over,
               std::shared_ptr<const credentials_provider> credentials = nullptr);

    // --- reading -------------------------------------------------------------------------------------------------

    /// An object, or a part of it, in one block.
    /// Long ranges are read with several concurrent requests, all from the same version of the object.
    [[nodiscard]] SMDEBUG_INLINE byte_buffer read(std::string_view key, byte_range where = whole_object) const override;

    /// The whole object and its ETag.
    [[nodiscard]] SMDEBUG_INLINE versioned_object read_versioned(std::string_view key) const override;

    /// Many whole objects and their ETags, with s3_options::most_requests concurrent requests.
    /// Errors: also unsupported for an object above 256 MiB.
    SMDEBUG_INLINE void read_each(std::span<const std::string> keys, object_sink sink) const override;

    /// Many ranges of objects, and their ETags.  Ranges at most s3_options::merge_gap bytes apart are read together.
    SMDEBUG_INLINE void read_ranges(std::span<const object_range> ranges, range_sink sink) const override;

    [[nodiscard]] SMDEBUG_INLINE std::vector<std::string> list(std::string_view prefix,
                                                               std::string_view after) const override;

    /// Versions are ETags.
    [[nodiscard]] SMDEBUG_INLINE std::optional<std::vector<object_entry>> entries(std::string_view prefix,
                                                                                  std::string_view after,
                                                                                  std::size_t most) const override;

    [[nodiscard]] SMDEBUG_INLINE std::optional<std::uint64_t> size(std::string_view key) const override;

    /// Time of the object's last write, by the server's clock.
    [[nodiscard]] SMDEBUG_INLINE std::optional<std::chrono::system_clock::time_point> modified(
        std::string_view key) const override;

    /// "s3://bucket/prefix"
    [[nodiscard]] std::string name() const override { return client_->where().text(); }

    /// A folder if there is any object under the prefix.  Cost: one request.
    [[nodiscard]] place_kind place() const override {
        return entries("", "", 1)->empty() ? place_kind::missing : place_kind::folder;
    }

    /// s3_options::look_interval
    [[nodiscard]] storage_abilities abilities() const override {
        return {.views = false,
                .reads_ahead = false,
                .opens_small = false,
                .writes = true,
                .removes = true,
                .look_interval = client_->options().look_interval};
    }

    // --- writing -------------------------------------------------------------------------------------------------

    /// One request; objects above s3_options::part_bytes in parts, s3_options::most_uploads of them concurrently.
    SMDEBUG_INLINE void write(std::string_view key, byte_view bytes) override;

    /// Writes an object piece by piece: earlier pieces are sent while further ones are added.
    [[nodiscard]] std::unique_ptr<object_output> create(std::string_view key) override {
        return std::make_unique<detail::s3_output>(client_, whole_key(key));
    }

    /// Removes an object.  Returns whether it existed a moment before.
    SMDEBUG_INLINE bool remove(std::string_view key, durability how = durability::cached) override;

    /// Removes unfinished uploads, whose parts S3 keeps and charges for.  See storage_base.
    std::vector<std::string> remove_unfinished(std::string_view prefix,
                                               function_ref<bool(std::string_view)> which) override {
        return s3::detail::remove_uploads(*client_, prefix, which);
    }

private:
    friend const s3::detail::client& s3::detail::client_of(const s3_storage& store) noexcept;

    struct seen_object {
        std::uint64_t size = 0;
        std::optional<std::chrono::system_clock::time_point> modified = {};
    };

    [[nodiscard]] std::string whole_key(std::string_view key) const;
    // Errors: not_found, unless the object is there.
    void check_found(std::string_view key, bool is_there) const;

    // The server's answer about an object without its bytes; nothing if there is no such object.
    [[nodiscard]] std::optional<seen_object> look(std::string_view key) const;

    std::shared_ptr<const s3::detail::client> client_;
};

inline const s3::detail::client& s3::detail::client_of(const s3_storage& store) noexcept { return *store.client_; }

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/impl/s3_storage.ipp>
#endif
