// A response put together from header lines and pieces of a body, as they come over a connection.
// Used by: http/curl_transfer.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/http/message.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace http {

/// No answer, and why.
[[nodiscard]] inline http::response not_answered(http::outcome why, std::string words) {
    http::response made;
    made.outcome = why;
    made.failure = std::move(words);
    return made;
}

/// Takes lines until an empty one ends the headers, then the body.  Where the body's length was said, its memory is
/// taken once, and not written to before; where not, it grows.
class response_builder {
public:
    /// A body may have that many bytes.
    explicit response_builder(std::uint64_t most) noexcept : most_(most) {}

    /// A line of the head, with or without its end.  A status line begins anew: 100 Continue came before the answer.
    void take_line(std::string_view line);

    /// A piece of the body; `length`: of all of it, as the server said.  False when it is longer than it may be: this
    /// piece is not taken then.
    [[nodiscard]] bool take_bytes(byte_view bytes, std::optional<std::uint64_t> length);

    [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
    /// Whether the head has ended, and no byte of the body is missing that was said to come.
    [[nodiscard]] bool whole() const noexcept { return headers_end_ && (!block_ || received_ == length_); }

    /// An answer of what was taken.
    [[nodiscard]] http::response build(int status) && {
        http::response made;
        made.status = status;
        made.headers = std::move(headers_);
        if (block_) {
            const byte_view bytes{block_.get(), static_cast<std::size_t>(received_)};
            made.body = byte_buffer{std::move(block_), bytes};
        } else if (!grown_.empty()) {
            made.body = byte_buffer::take(std::move(grown_));
        }
        return made;
    }

private:
    std::uint64_t most_;
    std::vector<http::header> headers_;
    bool headers_end_ = false;
    std::uint64_t received_ = 0;
    std::shared_ptr<std::byte[]> block_;  // of the whole body, where its length was said
    std::uint64_t length_ = 0;
    std::vector<std::byte> grown_;  // where not
};

inline void response_builder::take_line(std::string_view line) {
    while (line.ends_with('\n') || line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    if (line.starts_with("HTTP/")) {
        headers_.clear();
        headers_end_ = false;
        return;
    }
    headers_end_ = headers_end_ || line.empty();
    const std::size_t colon = line.find(':');
    if (headers_end_ || colon == std::string_view::npos) {  // headers may follow a body, too: nobody asks for them
        return;
    }
    constexpr std::string_view blank = " \t";
    std::string_view value = line.substr(colon + 1);
    value.remove_prefix(std::min(value.find_first_not_of(blank), value.size()));
    value = value.substr(0, value.find_last_not_of(blank) + 1);
    http::header taken{.name = std::string{line.substr(0, colon)}, .value = std::string{value}};
    std::transform(taken.name.begin(), taken.name.end(), taken.name.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    headers_.push_back(std::move(taken));
}

inline bool response_builder::take_bytes(byte_view bytes, std::optional<std::uint64_t> length) {
    if (received_ == 0 && !block_ && length) {
        if (*length > most_) {
            return false;
        }
        length_ = *length;
        block_ = std::make_shared_for_overwrite<std::byte[]>(static_cast<std::size_t>(length_));
    }
    if (bytes.size() > (block_ ? length_ : most_) - received_) {
        return false;
    }
    if (block_ && !bytes.empty()) {
        std::memcpy(block_.get() + received_, bytes.data(), bytes.size());
    } else {
        grown_.insert(grown_.end(), bytes.begin(), bytes.end());
    }
    received_ += bytes.size();
    return true;
}

}  // namespace http
}  // namespace v1
}  // namespace smdebug
