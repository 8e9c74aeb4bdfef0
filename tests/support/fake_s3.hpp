// A server without a network, as a transport: a script answers, or a small S3 in memory where the script does not.  Tests can
// inspect its requests, and lose, delay or reorder its answers.
#pragma once

#include <smdebug/http/message.hpp>
#include <smdebug/http/transport.hpp>
#include <smdebug/s3/credentials.hpp>
#include <smdebug/s3/options.hpp>

#include "support/fake_s3_server.hpp"
#include "support/standard.hpp"

namespace smdebug_test {

/// Options of a storage that has this server, and the bucket in the path: nothing waits for long.
[[nodiscard]] inline smdebug::s3_options quick_options() {
    using std::chrono::milliseconds;
    smdebug::s3_options options;
    options.endpoint = "http://s3.test:8080";
    options.region = "us-east-1";
    options.retry.first_pause = milliseconds{1};
    options.retry.longest_pause = milliseconds{2};
    return options;
}

/// What a server lists that comes to no end, and makes each page look as if it did.
enum class endless { same_key, no_keys, two_tokens, same_token, new_keys };

/// A page of such a listing, the one of that number.
[[nodiscard]] inline smdebug::http::response endless_page(endless which, std::size_t number,
                                                          const std::string& before = {}) {
    const bool has_keys = which != endless::no_keys;
    const std::string key = which == endless::new_keys ? std::to_string(1'000'000'000 + number) : "1";
    const std::size_t token = which == endless::two_tokens ? number % 2 : which == endless::same_token ? 0 : number;
    return answer(
        200, {},
        "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>token" + std::to_string(token) +
            "</NextContinuationToken>" +
            (has_keys ? "<Contents><Key>" + before + key + "</Key><Size>1</Size><ETag>\"e\"</ETag></Contents>" : "") +
            "</ListBucketResult>");
}

/// Answers to some requests.  Called with each request and its number, from 0 on; one at a time, outside the lock that
/// requests() takes.
using answer_script = std::function<std::optional<smdebug::http::response>(const smdebug::http::request&, std::size_t)>;

/// The same answer to each request.
[[nodiscard]] inline answer_script always_answer(smdebug::http::response how) {
    return [how = std::move(how)](const auto&, std::size_t) { return std::optional{how}; };
}

/// The same answer to the first `times` requests.
[[nodiscard]] inline answer_script answer_first(std::size_t times, smdebug::http::response how) {
    return [times, how = std::move(how)](const auto&, std::size_t number) {
        return number < times ? std::optional{how} : std::nullopt;
    };
}

/// The same answer to the requests that `is_it`, given one, and to no others.
template <class Predicate>
[[nodiscard]] answer_script answer_where(Predicate is_it, smdebug::http::response how) {
    return [is_it = std::move(is_it), how = std::move(how)](const smdebug::http::request& ask, std::size_t) {
        return is_it(ask) ? std::optional{how} : std::nullopt;
    };
}

/// These answers in turn; the last one again and again.
[[nodiscard]] inline answer_script answer_in_turn(std::vector<smdebug::http::response> all) {
    return [all = std::move(all)](const auto&, std::size_t number) {
        return std::optional{all[std::min(number, all.size() - 1)]};
    };
}

/// Requests that no answer comes to.
[[nodiscard]] inline answer_script no_answers() {
    return [](const auto&, std::size_t) { return std::optional<smdebug::http::response>{}; };
}

/// Copies are handles to one server.  Threads: all calls may run at once.
class scripted_server final : public smdebug::http_transport {
public:
    /// Whether the answer to an executed request is lost.  Called like a script.
    using loss = std::function<bool(const smdebug::http::request&, std::size_t)>;
    /// May give another version of the object that a GET asks for, which is there before it is answered.  Called with
    /// the key and the number of the GET among those of this key, from 0 on; one at a time.
    using replacement = std::function<std::optional<std::string>(const std::string&, std::size_t)>;

    using record = fake_request;

    /// A server that is nothing but a script: requests that it does not answer get no answer.
    template <class Script>
        requires std::invocable<Script&, const smdebug::http::request&, std::size_t>
    explicit scripted_server(Script how) : scripted_server() {
        state_->how_it_fails = std::move(how);
        state_->is_scripted = true;
    }
    explicit scripted_server(fake_s3_options how = {}) : state_(std::make_shared<state>(std::move(how))) {
        if (state_->how == delivery::later) {
            state_->deliverer = std::jthread{[at = state_.get()](const std::stop_token& stop) { at->work(stop); }};
        }
    }

    /// A handle to the same server, as a storage takes it.
    operator std::shared_ptr<const smdebug::http_transport>() const {  // NOLINT: implicit
        return std::make_shared<scripted_server>(*this);
    }

    [[nodiscard]] std::unique_ptr<exchange> start(smdebug::http::request ask, smdebug::http::completion_queue& to,
                                                  std::size_t ticket) const override {
        std::size_t number = 0;
        std::uint64_t id = 0;
        record seen;
        {
            const std::lock_guard lock{state_->guard};
            seen = state_->is_scripted ? plain_request(ask) : state_->server.read(ask);
            number = state_->seen.size();
            state_->seen.push_back(seen);
            id = ++state_->last_id;
            state_->most_under_way = std::max(state_->most_under_way, ++state_->under_way);
        }
        auto held = std::make_unique<in_flight>(state_, id);
        std::optional<smdebug::http::response> made;
        {
            const std::lock_guard lock{state_->one_at_a_time};
            if (state_->how_it_fails) {
                made = state_->how_it_fails(ask, number);
            }
        }
        if (!made && state_->is_scripted) {
            return held;
        }
        if (!made) {
            const std::lock_guard lock{state_->guard};
            state_->replace(seen);
            made = state_->server.handle(seen, ask);
        }
        {
            const std::lock_guard lock{state_->one_at_a_time};
            if (state_->what_is_lost && state_->what_is_lost(ask, number)) {
                made = no_answer(smdebug::http::outcome::interrupted);
            }
        }
        if (state_->how == delivery::at_once) {
            to.put({ticket, *std::move(made)});
        } else {
            const std::lock_guard lock{state_->guard};
            state_->waiting.push_back({id, &to, {ticket, *std::move(made)}});
            state_->something_waits.notify_one();
        }
        return held;
    }

    // --- what the server holds -----------------------------------------------------------------------------------

    void put(const std::string& key, std::string content) const {
        const std::lock_guard lock{state_->guard};
        state_->server.put(key, std::move(content));
    }
    void erase(const std::string& key) const {
        const std::lock_guard lock{state_->guard};
        state_->server.erase(key);
    }
    /// The object; nothing if there is none.
    [[nodiscard]] std::optional<std::string> content(const std::string& key) const {
        const std::lock_guard lock{state_->guard};
        return state_->server.content(key);
    }
    [[nodiscard]] std::vector<std::string> keys() const {
        const std::lock_guard lock{state_->guard};
        return state_->server.keys();
    }
    /// Uploads that were begun, and neither completed nor aborted.
    [[nodiscard]] std::size_t open_uploads() const {
        const std::lock_guard lock{state_->guard};
        return state_->server.open_uploads();
    }
    /// Sets the keys accepted from now on.
    void accept(std::optional<smdebug::s3::access_keys> keys) const {
        const std::lock_guard lock{state_->guard};
        state_->server.how.keys = std::move(keys);
    }

    // --- faults and delivery -------------------------------------------------------------------------------------

    /// The script may change what the server holds.
    void fail_by(answer_script how) const {
        const std::lock_guard lock{state_->one_at_a_time};
        state_->how_it_fails = std::move(how);
    }
    void lose(loss which) const {
        const std::lock_guard lock{state_->one_at_a_time};
        state_->what_is_lost = std::move(which);
    }
    void replace_by(replacement how) const {
        const std::lock_guard lock{state_->guard};
        state_->how_it_is_replaced = std::move(how);
        state_->gets.clear();
    }
    /// Delivers the answer that waits at that place; by_hand only.
    void deliver(std::size_t place) const {
        const std::lock_guard lock{state_->guard};
        state_->deliver(place);
    }
    /// How many answers wait.
    [[nodiscard]] std::size_t waiting() const {
        const std::lock_guard lock{state_->guard};
        return state_->waiting.size();
    }

    // --- what was asked ------------------------------------------------------------------------------------------

    [[nodiscard]] std::vector<record> requests() const {
        const std::lock_guard lock{state_->guard};
        return state_->seen;
    }
    [[nodiscard]] std::size_t count() const {
        const std::lock_guard lock{state_->guard};
        return state_->seen.size();
    }
    [[nodiscard]] std::size_t count(asks_for what) const {
        const std::lock_guard lock{state_->guard};
        return static_cast<std::size_t>(std::count_if(state_->seen.begin(), state_->seen.end(),
                                                      [&](const record& held) { return held.what == what; }));
    }
    void forget_requests() const {
        const std::lock_guard lock{state_->guard};
        state_->seen.clear();
        state_->most_under_way = state_->under_way;
    }
    /// The most requests in flight at once: sent, and the exchange still held.
    [[nodiscard]] std::size_t most_under_way() const {
        const std::lock_guard lock{state_->guard};
        return state_->most_under_way;
    }
    /// Requests with a wrong signature: none if the library works, in any test.
    [[nodiscard]] std::size_t wrong_signatures() const {
        const std::lock_guard lock{state_->guard};
        return state_->server.wrong_signatures;
    }

private:
    struct waiting_answer {
        std::uint64_t id = 0;
        smdebug::http::completion_queue* to = nullptr;
        smdebug::http::arrival what = {};
    };

    struct state {
        explicit state(fake_s3_options set_up) : how(set_up.how), server(std::move(set_up)) {}
        state(const state&) = delete;
        state& operator=(const state&) = delete;
        ~state() {
            deliverer.request_stop();
            something_waits.notify_all();
        }

        void replace(const record& made) {
            if (how_it_is_replaced && made.what == asks_for::get) {
                if (auto other = how_it_is_replaced(made.key, gets[made.key]++)) {
                    server.put(made.key, *std::move(other));
                }
            }
        }

        // --- delivery --------------------------------------------------------------------------------------------

        void end(std::uint64_t id) noexcept {
            const std::lock_guard lock{guard};
            --under_way;
            std::erase_if(waiting, [&](const waiting_answer& held) { return held.id == id; });
        }
        void deliver(std::size_t place) {
            waiting_answer next = std::move(waiting.at(place));
            waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(place));
            next.to->put(std::move(next.what));  // under the lock: end() waits until it is done
        }
        void work(const std::stop_token& stop) {
            std::minstd_rand random{1};
            while (!stop.stop_requested()) {
                {
                    std::unique_lock lock{guard};
                    if (!something_waits.wait(lock, stop, [&] { return !waiting.empty(); })) {
                        return;
                    }
                }
                // Others may arrive meanwhile, so that there is an order to change.
                std::this_thread::sleep_for(std::chrono::microseconds{50});
                const std::lock_guard lock{guard};
                if (!waiting.empty()) {
                    deliver(random() % waiting.size());
                }
            }
        }

        const delivery how;
        bool is_scripted = false;  // from the beginning
        std::mutex one_at_a_time;
        answer_script how_it_fails;
        loss what_is_lost;

        std::mutex guard;  // all below
        fake_s3_server server;
        replacement how_it_is_replaced;
        std::map<std::string, std::size_t> gets;  // by key, since it is set
        std::vector<record> seen;
        std::uint64_t last_id = 0;
        std::size_t under_way = 0;
        std::size_t most_under_way = 0;
        std::vector<waiting_answer> waiting;
        std::condition_variable_any something_waits;
        std::jthread deliverer;  // the last: it ends before what it uses
    };

    /// The request is in flight while it lives.
    class in_flight final : public exchange {
    public:
        in_flight(std::shared_ptr<state> at, std::uint64_t id) : at_(std::move(at)), id_(id) {}
        in_flight(const in_flight&) = delete;
        in_flight& operator=(const in_flight&) = delete;
        ~in_flight() override { at_->end(id_); }

    private:
        std::shared_ptr<state> at_;
        std::uint64_t id_;
    };

    std::shared_ptr<state> state_;
};

using fake_s3 = scripted_server;

}  // namespace smdebug_test
