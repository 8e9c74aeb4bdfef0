// Calls under way at once, each tried again until it is answered, cannot be, or is out of time.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/concepts.hpp>
#include <smdebug/http/inbox.hpp>
#include <smdebug/http/message.hpp>
#include <smdebug/s3/call/back_off.hpp>
#include <smdebug/s3/call/call.hpp>
#include <smdebug/s3/call/client.hpp>
#include <smdebug/s3/call/content_range.hpp>
#include <smdebug/s3/call/digest.hpp>
#include <smdebug/s3/call/error_answer.hpp>
#include <smdebug/s3/call/signature.hpp>
#include <smdebug/s3/call/verdict.hpp>
#include <smdebug/s3/credentials/keys.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// How a call ended.
struct call_result {
    http::response answer = {};  ///< of the last attempt
    error_answer said = {};      ///< what it says of an error
    call asked = {};             ///< without its body
    std::string sent_to = {};    ///< the server to which this one sends its requests, which was not asked
    bool good = false;           ///< whether the answer is the one that was asked for
    bool is_signed = false;      ///< whether there were keys for it
    unsigned attempts = 0;
    std::chrono::milliseconds taken{0};

    /// Whether there is no such object, where the bucket is there.
    [[nodiscard]] bool is_missing() const noexcept;
};

/// The calls of one thread.  Destroying it ends what is under way.
/// Borrows: the client, and the bodies of calls until they are over.
template <class Client>
class call_window {
public:
    explicit call_window(const Client& asked) : client_(asked), pauses_(asked.options().retry) {}
    call_window(const call_window&) = delete;
    call_window& operator=(const call_window&) = delete;
    ~call_window() = default;

    [[nodiscard]] bool idle() const noexcept { return flights_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return flights_.size(); }

    /// Ends all that is under way.
    void abandon() noexcept { flights_.clear(); }
    /// Ends the call of that number, where it is under way.  A number that was ended so is not used again.
    void abandon(std::size_t ticket) noexcept { flights_.erase(ticket); }

    /// Begins a call under a number that no other one under way has.
    /// Errors: what the credentials throw; the call is not begun then.
    void start(std::size_t ticket, call what);

    /// Waits until one of the calls is over, whichever it is: there is one under way.
    /// Errors: what the credentials throw.
    [[nodiscard]] std::pair<std::size_t, call_result> next();

private:
    using clock = http::request::clock;
    using exchange = decltype(std::declval<const typename Client::transport_type&>().start(
        std::declval<http::request>(), std::declval<http::detail::inbox&>(), 0));

    // A call that is made in between, to learn whether a doubted answer is true.
    struct detour {
        call what;
        http::response doubted;
    };

    struct flight {
        call what;
        clock::time_point began;
        clock::time_point deadline;
        std::string payload_hash = std::string{empty_payload_hash};
        std::optional<exchange> going = {};  // none: it pauses
        clock::time_point again_at = {};
        http::response last = {};
        error_answer said = {};
        std::string sent_to = {};
        std::uint64_t knowledge = 0;
        unsigned attempts = 0;
        unsigned put_right = 0;                // how often something was learnt
        std::optional<access_keys> keys = {};  // that it is signed with
        bool reached = false;                  // whether the server has ever answered
        clock::time_point seeks_since = {};    // where it has not: since when it is tried
        std::optional<detour> aside = {};      // the call that is made instead, for now
        bool good = false;

        [[nodiscard]] const call& asked() const noexcept { return aside ? aside->what : what; }
    };

    void launch(std::size_t ticket, flight& current);

    // Time to connect that even the last attempt gets, at a server that has never answered.
    static constexpr std::chrono::milliseconds least_to_connect{500};
    [[nodiscard]] clock::time_point reach_until(const flight& current) const {
        return current.seeks_since + std::min(client_.options().retry.reach_within, client_.time_for({}));
    }

    // Returns when the next one will be due.
    clock::time_point launch_what_is_due();

    // For texts from outside: a server's name, or words of libcurl, which may quote a certificate.
    static void hide_keys_of(const flight& current, std::string& text);

    // Looks at the answer.  Returns whether the call is over; else it goes on.
    bool settle(std::size_t ticket, flight& current);

    // Asks how long the object is: the same version of it.
    static void ask_size(flight& current);

    // Takes the answer to ask_size().  Returns whether the object ends before the wanted range: the answer then says
    // where it ends.  Else the doubted answer is put back.
    static bool take_size(flight& current);

    // Returns whether there is time, and sense, for another attempt.
    bool pause(flight& current, std::optional<std::chrono::seconds> at_least);

    // Tells the client whether a read was answered in time.  A cut or refused one says nothing about that.
    void note_read(const flight& current) const noexcept;

    [[nodiscard]] static call_result result_of(flight& current);

    const Client& client_;
    back_off pauses_;
    http::detail::inbox answers_;            // before the exchanges that put into it
    std::map<std::size_t, flight> flights_;  // addresses stay
};

/// One call from start to end.
template <class Client>
[[nodiscard]] call_result perform_call(const Client& asked, call what) {
    call_window<Client> window{asked};
    window.start(0, std::move(what));
    return window.next().second;
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/call_window.ipp>
#endif

#include <smdebug/s3/call/impl/call_window.tpp>
