// A response put together from header lines and pieces of a body, as they come over a connection.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace http {
namespace detail {

/// No answer, and why.
[[nodiscard]] http::response not_answered(http::outcome why, std::string words);

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
    [[nodiscard]] http::response build(int status) &&;

private:
    std::uint64_t most_;
    std::vector<http::header> headers_;
    bool headers_end_ = false;
    std::uint64_t received_ = 0;
    std::shared_ptr<std::byte[]> block_;  // of the whole body, where its length was said
    std::uint64_t length_ = 0;
    std::vector<std::byte> grown_;  // where not
};

}  // namespace detail
}  // namespace http
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/http/impl/response_builder.ipp>
#endif
