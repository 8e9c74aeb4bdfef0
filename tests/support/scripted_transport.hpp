// A transport without a network: a function answers, and requests are recorded.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/http/transport.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug_test {

/// An answer with a body of text.
[[nodiscard]] inline smdebug::http::response answer(int status, std::vector<smdebug::http::header> headers = {},
                                                    std::string body = {}) {
    smdebug::http::response made;
    made.status = status;
    made.headers = std::move(headers);
    made.body = smdebug::byte_buffer::take(std::move(body));
    return made;
}

/// A failure, with a reason.
[[nodiscard]] inline smdebug::http::response no_answer(smdebug::http::outcome why, std::string words = "scripted") {
    smdebug::http::response made;
    made.outcome = why;
    made.failure = std::move(words);
    return made;
}

/// An error as an S3 server writes it.
[[nodiscard]] inline smdebug::http::response s3_error(int status, const std::string& code,
                                                      const std::string& message = "scripted") {
    return answer(status, {{"content-type", "application/xml"}},
                  R"(<?xml version="1.0" encoding="UTF-8"?><Error><Code>)" + code + "</Code><Message>" + message +
                      "</Message><RequestId>tx000001</RequestId></Error>");
}

/// Answers at once, within start().  Copies share the script and the recorded requests.
/// Threads: any; the script runs for one request at a time, outside the lock that requests() takes.
class scripted_transport final : public smdebug::http_transport {
public:
    /// Called with each request and its number, from 0 on.  If it returns nothing, that request is never answered.
    using script = std::function<std::optional<smdebug::http::response>(const smdebug::http::request&, std::size_t)>;

    /// A request as it was; `ask.body` looks at `body`, and lives as long.
    struct record {
        smdebug::http::request ask;
        std::shared_ptr<const std::string> body;

        [[nodiscard]] std::string header(std::string_view name) const {
            for (const smdebug::http::header& held : ask.headers) {
                if (held.name == name) {
                    return held.value;
                }
            }
            return {};
        }
    };

    explicit scripted_transport(script how) : shared_(std::make_shared<state>()) { shared_->how = std::move(how); }

    /// A handle that shares the script and the recorded requests, as a storage takes it.
    operator std::shared_ptr<const smdebug::http_transport>() const {  // NOLINT: implicit
        return std::make_shared<scripted_transport>(*this);
    }

    [[nodiscard]] std::unique_ptr<exchange> start(smdebug::http::request ask, smdebug::http::completion_queue& to,
                                                  std::size_t ticket) const override {
        std::size_t number = 0;
        {
            const std::lock_guard lock{shared_->guard};
            number = shared_->asked.size();
            auto body = std::make_shared<const std::string>(smdebug::as_text(ask.body));
            shared_->asked.push_back({ask, body});
            shared_->asked.back().ask.body = smdebug::as_bytes(*body);
        }
        std::optional<smdebug::http::response> made;
        {
            const std::lock_guard lock{shared_->one_at_a_time};
            made = shared_->how(ask, number);
        }
        if (made) {
            to.put({ticket, *std::move(made)});
        }
        return nullptr;
    }

    /// The requests so far, in order.
    [[nodiscard]] std::vector<record> requests() const {
        const std::lock_guard lock{shared_->guard};
        return shared_->asked;
    }
    [[nodiscard]] std::size_t count() const {
        const std::lock_guard lock{shared_->guard};
        return shared_->asked.size();
    }

private:
    struct state {
        script how;
        std::mutex one_at_a_time;
        mutable std::mutex guard;
        std::vector<record> asked;
    };
    std::shared_ptr<state> shared_;
};

}  // namespace smdebug_test
