// The bodies of <smdebug/s3/object/s3_output.hpp> that are templates.
#pragma once

#include <smdebug/s3/object/s3_output.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <class Client>
s3_output<Client>::s3_output(std::shared_ptr<const Client> asked, std::string key)
    : state_(std::make_unique<state>(std::move(asked))) {
    state_->key = std::move(key);
}

template <class Client>
void s3_output<Client>::append(std::span<const byte_view> pieces) {
    for (byte_view piece : pieces) {
        while (!piece.empty()) {
            state& sending = *state_;
            const std::size_t room = sending.part_size() - sending.filling.size();
            const byte_view taken = piece.first(std::min(room, piece.size()));
            sending.filling.insert(sending.filling.end(), taken.begin(), taken.end());
            piece = piece.subspan(taken.size());
            if (taken.size() == room) {
                sending.send();
            }
        }
    }
}

template <class Client>
void s3_output<Client>::commit(durability /*all is on_disk*/) {
    state& sending = *state_;
    if (!sending.upload) {
        s3::detail::put_object(*sending.client, sending.key, sending.filling);
    } else {
        if (!sending.filling.empty()) {
            sending.send();
        }
        sending.upload->complete();
    }
    state_.reset();
}

template <class Client>
std::size_t s3_output<Client>::state::part_size() const {
    return static_cast<std::size_t>(s3::detail::multipart_upload<Client>::part_size(
        client->options().part_bytes, upload ? upload->begun_parts() : 0));
}

template <class Client>
void s3_output<Client>::state::send() {
    if (!upload) {
        upload.emplace(*client, key);
    }
    while (upload->under_way() >= std::max<std::size_t>(client->options().most_uploads, 1)) {
        sending.erase(upload->wait());
    }
    const std::size_t number = upload->begun_parts();
    upload->send(sending.try_emplace(number, std::exchange(filling, {})).first->second);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
