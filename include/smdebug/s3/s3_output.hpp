// An object that is written piece by piece into a bucket: at once where it is small, in parts where it is not.
// Used by: s3/s3_storage.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/s3/call.hpp>
#include <smdebug/s3/call_window.hpp>
#include <smdebug/s3/failure.hpp>
#include <smdebug/s3/multipart_upload.hpp>
#include <smdebug/storage/concepts.hpp>

#include <algorithm>
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

/// Puts a whole object there with one request.  Errors: those of fail().
template <class Client>
void put_object(const Client& asked, std::string key, byte_view bytes) {
    const result ended =
        perform_call(asked, {.method = http::method::put, .key = std::move(key), .body = bytes, .doing = "writing"});
    if (!ended.good) {
        fail(asked.where(), asked.server(), ended);
    }
}

}  // namespace s3

/// Models object_output.  Memory: s3_options::most_uploads + 1 parts.  What S3 has taken is safe: nothing is `cached`.
/// Errors: append() and commit() throw what s3::fail() does.
template <class Client>
class s3_output {
public:
    /// `key` is the whole one.
    s3_output(std::shared_ptr<const Client> asked, std::string key)
        : state_(std::make_unique<state>(std::move(asked))) {
        state_->key = std::move(key);
    }

    void append(std::span<const byte_view> pieces) {
        for (byte_view piece : pieces) {
            while (!piece.empty()) {
                state& held = *state_;
                const std::size_t room = held.part_size() - held.filling.size();
                const byte_view taken = piece.first(std::min(room, piece.size()));
                held.filling.insert(held.filling.end(), taken.begin(), taken.end());
                piece = piece.subspan(taken.size());
                if (taken.size() == room) {
                    held.send();
                }
            }
        }
    }

    void commit(durability /*all is on_disk*/) {
        state& held = *state_;
        if (!held.upload) {
            s3::put_object(*held.client, held.key, held.filling);
        } else {
            if (!held.filling.empty()) {
                held.send();
            }
            held.upload->complete();
        }
        state_.reset();
    }

private:
    struct state {
        explicit state(std::shared_ptr<const Client> asked) : client(std::move(asked)) {}

        [[nodiscard]] std::size_t part_size() const {
            return static_cast<std::size_t>(s3::multipart_upload<Client>::part_size(
                client->options().part_bytes, upload ? upload->begun_parts() : 0));
        }

        void send() {
            if (!upload) {
                upload.emplace(*client, key);
            }
            while (upload->under_way() >= std::max<std::size_t>(client->options().most_uploads, 1)) {
                sending.erase(upload->wait());
            }
            const std::size_t number = upload->begun_parts();
            upload->send(sending.try_emplace(number, std::exchange(filling, {})).first->second);
        }

        std::shared_ptr<const Client> client;
        std::string key;
        std::vector<std::byte> filling;
        std::map<std::size_t, std::vector<std::byte>> sending;  // by part; before the upload that borrows them
        std::optional<s3::multipart_upload<Client>> upload;
    };

    std::unique_ptr<state> state_;
};

}  // namespace v1
}  // namespace smdebug
