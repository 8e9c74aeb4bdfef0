// The bodies of <smdebug/http/curl_transport.hpp>.
#pragma once

#include <smdebug/http/curl_transport.hpp>

#include <exception>
#include <string>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE curl_transport::exchange& curl_transport::exchange::operator=(exchange&& other) noexcept {
    std::swap(home_, other.home_);
    std::swap(engine_, other.engine_);
    std::swap(job_, other.job_);
    return *this;
}

SMDEBUG_INLINE curl_transport::exchange::~exchange() {
    if (job_ && engine_->is_here()) {
        engine_->cancel(*job_);
    }
}

SMDEBUG_INLINE curl_transport::exchange curl_transport::start(http::request ask, http::detail::inbox& to,
                                                              std::size_t ticket) const {
    exchange made;
    try {
        made.engine_ = &shared_->engine();
    } catch (const std::exception& thrown) {
        to.put({ticket, http::detail::not_answered(
                            http::outcome::unreachable,
                            "The thread that carries requests cannot be started: " + std::string{thrown.what()})});
        return made;
    }
    made.home_ = shared_;
    made.job_ = std::make_shared<http::detail::curl_engine::job>(std::move(ask), to, ticket);
    made.engine_->start(made.job_);
    return made;
}

SMDEBUG_INLINE curl_counters curl_transport::counters() const {
    http::detail::curl_engine* running = shared_->running();
    return running == nullptr ? curl_counters{} : running->counters();
}

SMDEBUG_INLINE http::detail::curl_engine* curl_transport::shared::running() const noexcept {
    http::detail::curl_engine* current = engine_.load();
    return current != nullptr && current->is_here() ? current : nullptr;
}

SMDEBUG_INLINE http::detail::curl_engine& curl_transport::shared::engine() {
    http::detail::curl_engine* current = engine_.load();
    if (current != nullptr && current->is_here()) {
        return *current;
    }
    auto made = std::make_unique<http::detail::curl_engine>(options_);
    // Another thread may have been quicker: then `current` is that one's.
    return engine_.compare_exchange_strong(current, made.get()) ? *made.release() : *current;
}

}  // namespace v1
}  // namespace smdebug
