// The bodies of <smdebug/http/waiting_line.hpp> that are templates.
#pragma once

#include <smdebug/http/waiting_line.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {
namespace http {
namespace detail {

template <class Job>
typename waiting_line<Job>::place waiting_line<Job>::push(std::string_view server, Job job) {
    auto found = lanes_.find(server);
    if (found == lanes_.end()) {
        found = lanes_.try_emplace(std::string{server}).first;
    }
    lane& in = found->second;
    in.waiting.push_back({++count_, std::move(job)});
    return {&in, std::prev(in.waiting.end())};
}

template <class Job>
std::optional<Job> waiting_line<Job>::next() {
    lane* first = nullptr;
    for (auto& [server, in] : lanes_) {
        const bool may = !in.waiting.empty() && (in.shares || in.carried < most_of_server_);
        if (may && (first == nullptr || in.waiting.front().number < first->waiting.front().number)) {
            first = &in;
        }
    }
    if (first == nullptr || carried_ >= most_) {
        return std::nullopt;
    }
    std::optional<Job> gone{std::move(first->waiting.front().job)};
    first->waiting.pop_front();
    ++first->carried;
    ++carried_;
    return gone;
}

template <class Job>
void waiting_line<Job>::ended(const place& where, std::optional<bool> shares) noexcept {
    --where.server_->carried;
    --carried_;
    where.server_->shares = shares.value_or(where.server_->shares);
}

}  // namespace detail
}  // namespace http
}  // namespace v1
}  // namespace smdebug
