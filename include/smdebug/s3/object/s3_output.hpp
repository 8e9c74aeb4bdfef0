// An object that is written piece by piece into a bucket: at once where it is small, in parts where it is not.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/call_window.hpp>
#include <smdebug/s3/call/client.hpp>
#include <smdebug/s3/object/failure.hpp>
#include <smdebug/s3/object/multipart_upload.hpp>
#include <smdebug/storage/writable.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// Puts a whole object there with one request.  Errors: those of fail().
template <class Client>
void put_object(const Client& asked, std::string key, byte_view bytes) {
    const call_result ended =
        perform_call(asked, {.method = http::method::put, .key = std::move(key), .body = bytes, .doing = "writing"});
    if (!ended.good) {
        fail(asked.where(), asked.server(), ended);
    }
}

}  // namespace detail
}  // namespace s3
namespace detail {

/// Models object_output.  Memory: s3_options::most_uploads + 1 parts.  What S3 has taken is safe: nothing is `cached`.
/// Errors: append() and commit() throw what s3::fail() does.
template <class Client>
class s3_output {
public:
    /// `key` is the whole one.
    s3_output(std::shared_ptr<const Client> asked, std::string key);

    void append(std::span<const byte_view> pieces);

    void commit(durability /*all is on_disk*/);

private:
    struct state {
        explicit state(std::shared_ptr<const Client> asked) : client(std::move(asked)) {}

        [[nodiscard]] std::size_t part_size() const;

        void send();

        std::shared_ptr<const Client> client;
        std::string key;
        std::vector<std::byte> filling;
        std::map<std::size_t, std::vector<std::byte>> sending;  // by part; before the upload that borrows them
        std::optional<s3::detail::multipart_upload<Client>> upload;
    };

    std::unique_ptr<state> state_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#include <smdebug/s3/object/impl/s3_output.tpp>
