// The bodies of <smdebug/http/curl_transport.hpp>.
#pragma once

#include <smdebug/http/curl_engine.hpp>
#include <smdebug/http/curl_transport.hpp>

#include <atomic>
#include <exception>
#include <string>
#include <utility>

namespace smdebug::inline v1 {

/// The engine of all copies.  No locks: another thread might have held one when this process was forked.
class curl_transport::shared {
public:
    explicit shared(curl_options options) : options_(std::move(options)) {}
    shared(const shared&) = delete;
    shared& operator=(const shared&) = delete;
    ~shared() { delete running(); }

    /// Null if there is none yet, or if it is the parent's, which is left alone: its thread is not in this process.
    [[nodiscard]] http::detail::curl_engine* running() const noexcept {
        http::detail::curl_engine* current = engine_.load();
        return current != nullptr && current->is_here() ? current : nullptr;
    }

    [[nodiscard]] http::detail::curl_engine& engine() {
        http::detail::curl_engine* current = engine_.load();
        if (current != nullptr && current->is_here()) {
            return *current;
        }
        auto made = std::make_unique<http::detail::curl_engine>(options_);
        // Another thread may have been quicker: then `current` is its engine.
        return engine_.compare_exchange_strong(current, made.get()) ? *made.release() : *current;
    }

private:
    curl_options options_;
    std::atomic<http::detail::curl_engine*> engine_ = nullptr;
};

class curl_transport::carried final : public http_transport::exchange {
public:
    carried(std::shared_ptr<shared> home, http::detail::curl_engine& engine, http::request ask,
            http::completion_queue& to, std::size_t ticket)
        : home_(std::move(home)),
          engine_(engine),
          job_(std::make_shared<http::detail::curl_engine::job>(std::move(ask), to, ticket)) {
        engine_.start(job_);
    }
    carried(const carried&) = delete;
    carried& operator=(const carried&) = delete;
    ~carried() override {
        if (engine_.is_here()) {
            engine_.cancel(*job_);
        }
    }

private:
    std::shared_ptr<shared> home_;  // keeps the engine alive
    http::detail::curl_engine& engine_;
    std::shared_ptr<http::detail::curl_engine::job> job_;
};

SMDEBUG_INLINE curl_transport::curl_transport(curl_options options)
    : shared_(std::make_shared<shared>(std::move(options))) {}

SMDEBUG_INLINE std::unique_ptr<http_transport::exchange> curl_transport::start(http::request ask,
                                                                               http::completion_queue& to,
                                                                               std::size_t ticket) const {
    http::detail::curl_engine* engine = nullptr;
    try {
        engine = &shared_->engine();
    } catch (const std::exception& thrown) {
        to.put({ticket, http::detail::not_answered(
                            http::outcome::unreachable,
                            "The thread that carries requests cannot be started: " + std::string{thrown.what()})});
        return nullptr;
    }
    return std::make_unique<carried>(shared_, *engine, std::move(ask), to, ticket);
}

SMDEBUG_INLINE http::curl_counters curl_transport::counters() const {
    http::detail::curl_engine* const running = shared_->running();
    return running == nullptr ? http::curl_counters{} : running->counters();
}

}  // namespace smdebug::inline v1
