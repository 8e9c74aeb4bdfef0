// The bodies of <smdebug/s3/call/bounded_calls.hpp> that are templates.
#pragma once

#include <smdebug/s3/call/bounded_calls.hpp>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

template <class Client>
std::size_t bounded_calls<Client>::start(call what) {
    while (window_.size() >= most_) {
        arrived_.insert(window_.next());
    }
    window_.start(last_ + 1, std::move(what));
    return ++last_;
}

template <class Client>
call_result bounded_calls<Client>::wait(std::size_t number) {
    while (!arrived_.contains(number)) {
        arrived_.insert(window_.next());
    }
    return std::move(arrived_.extract(number).mapped());
}

template <class Client>
std::pair<std::size_t, call_result> bounded_calls<Client>::next() {
    if (arrived_.empty()) {
        return window_.next();
    }
    auto first = arrived_.extract(arrived_.begin());
    return {first.key(), std::move(first.mapped())};
}

template <class Client>
void bounded_calls<Client>::drop(std::size_t number) noexcept {
    window_.abandon(number);
    arrived_.erase(number);
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
