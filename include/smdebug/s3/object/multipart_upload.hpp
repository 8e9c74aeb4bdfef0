// Writing one object in parts: several are sent concurrently, and the object is invisible until completed; and
// removing unfinished uploads.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/s3/call/client.hpp>
#include <smdebug/s3/call/request_pipeline.hpp>
#include <smdebug/storage/concepts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace s3::detail {

/// The id in a complete answer to CreateMultipartUpload (POST ?uploads=), else nothing.
[[nodiscard]] std::optional<std::string> parse_upload_id(byte_view body);

/// The object's version (its ETag without quotes; empty with Ceph) in a complete answer to CompleteMultipartUpload.
/// Else nothing: servers send status 200 before they know the result, so an <Error> may follow, which
/// parse_error_answer() reads, or the answer may be cut.
[[nodiscard]] std::optional<std::string> parse_completed_upload(byte_view body);

/// One page of the unfinished uploads.
struct upload_page {
    struct upload {
        std::string key;  ///< the full key
        std::string id;
        friend bool operator==(const upload&, const upload&) = default;
    };
    std::vector<upload> uploads = {};
    bool truncated = false;       ///< more pages follow after these markers
    std::string key_marker = {};  ///< not encoded
    std::string upload_id_marker = {};
};

/// The page in a complete answer to ListMultipartUploads (GET ?uploads=), else nothing.
[[nodiscard]] std::optional<upload_page> parse_upload_page(byte_view body);

/// An uploaded part.
struct uploaded_part {
    int number = 0;    ///< 1 to 10000
    std::string etag;  ///< from the answer's header, including quotes
};

/// The body of CompleteMultipartUpload.  The parts are sorted by number.
[[nodiscard]] std::string parts_document(std::span<const uploaded_part> parts);

/// The constructor starts an upload; the destructor aborts it unless complete() has returned.
/// One thread.      Borrows: the client.
class multipart_upload {
public:
    static constexpr std::uint64_t least_part = std::uint64_t{5} << 20U;  ///< for all parts but the last one
    static constexpr std::uint64_t longest_part = std::uint64_t{5} << 30U;
    static constexpr std::size_t most_parts = 10'000;

    /// The size that part `number` (from 0) should have, so that the parts suffice for the largest possible object.
    [[nodiscard]] static std::uint64_t part_size(std::uint64_t configured, std::size_t number) noexcept {
        const std::uint64_t first = std::clamp(configured, least_part, longest_part);
        return std::min(first << std::min<std::size_t>(number / 1000, 9), longest_part);
    }

    /// `key` is the full key.  Errors: those of fail().
    multipart_upload(const client& asked, std::string key);
    multipart_upload(const multipart_upload&) = delete;
    multipart_upload& operator=(const multipart_upload&) = delete;
    ~multipart_upload() {
        if (!completed_) {
            give_up();
        }
    }

    [[nodiscard]] std::size_t begun_parts() const noexcept { return parts_.size(); }

    /// Starts sending the next part, which is held until it is done.  Waits while s3_options::most_uploads parts are
    /// under way.  Errors: those of fail().
    void send(byte_buffer part);

    /// Waits for all parts, and makes the object appear.  Errors: those of fail().
    void complete();

private:
    // Waits until one of the parts is done.
    void wait();

    // Whether the existing object has the same number of parts and bytes.
    [[nodiscard]] bool is_there() const;

    // The server keeps the parts of an unfinished upload and charges for them.
    void give_up() noexcept;

    const client& client_;
    std::string key_;
    std::string id_;
    std::map<std::size_t, byte_buffer> sending_;  // by number, from 0; declared before the requests that borrow them
    request_pipeline window_;
    std::vector<uploaded_part> parts_;
    std::uint64_t size_ = 0;
    bool completed_ = false;
};

/// Aborts unfinished uploads under `prefix` whose key `which` accepts; their writers may be dead or still at work.
/// Returns these keys, each once, in order.  Keys are relative to the client's prefix.
/// Cost:   one request for 1,000 uploads, and one for each aborted one.      Errors: those of fail().
std::vector<std::string> remove_uploads(const client& asked, std::string_view prefix,
                                        function_ref<bool(std::string_view)> which);

/// Writes a whole object with one request.  Errors: those of fail().
void put_object(const client& asked, std::string key, byte_view bytes);

}  // namespace s3::detail
namespace detail {

/// An object being written into a bucket, see object_output: with one request if it is small, else in parts.
/// Memory: s3_options::most_uploads + 1 parts.  What S3 has accepted survives a loss of power, so that commit() always
/// acts as with durability::on_disk.
/// Errors: append() and commit() throw those of s3::fail().
class s3_output final : public object_output {
public:
    /// `key` is the full key.
    s3_output(std::shared_ptr<const s3::detail::client> asked, std::string key)
        : state_(new state{std::move(asked), std::move(key)}) {}

    SMDEBUG_INLINE void append(std::span<const byte_view> pieces) override;

    SMDEBUG_INLINE void commit(durability /*all is on_disk*/) override;

private:
    struct state {
        std::shared_ptr<const s3::detail::client> client;
        std::string key;
        std::vector<std::byte> filling = {};
        std::optional<s3::detail::multipart_upload> upload = {};

        void send();
    };

    std::unique_ptr<state> state_;
};

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/object/impl/multipart_upload.ipp>
#endif
