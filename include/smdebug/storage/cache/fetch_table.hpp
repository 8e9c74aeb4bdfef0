// Single flight: of many threads that want the same object, one fetches it, and the others wait for that.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The fetches that are under way, a thread each: few.
/// Threads: everything may be called at once.
class fetch_table {
public:
    /// Who fetches: a reader, or a prefetch.
    enum class by : std::uint8_t { reader, ahead };

    /// Gives what fetch() gives on this thread; where the same fetch is under way on another thread, a reader waits for
    /// what that gives, and a prefetch gets nothing.
    /// keep(bytes) is called before the fetch is over for others, unless the key was forgotten meanwhile; under a lock:
    /// it does nothing that takes time.
    /// Errors: what fetch() throws, to all that waited for a reader's fetch; a reader that waited for a prefetch
    /// fetches again itself.
    template <class Fetch, class Keep>
    [[nodiscard]] std::optional<byte_buffer> get(std::string_view key, std::string_view version, by who, Fetch&& fetch,
                                                 Keep&& keep) {
        std::unique_lock lock{guard_};
        while (const auto other = find(key, version)) {
            if (who == by::ahead) {
                return std::nullopt;
            }
            over_.wait(lock, [&] { return other->over; });
            if (other->bytes) {
                return other->bytes;
            }
            if (other->why) {
                lock.unlock();
                std::rethrow_exception(other->why);
            }
        }
        const auto mine = std::make_shared<fetching>();
        mine->key = key;
        mine->version = version;
        under_way_.push_back(mine);
        lock.unlock();
        std::optional<byte_buffer> bytes;
        try {
            bytes = fetch();
        } catch (...) {
            lock.lock();
            mine->why = who == by::reader ? std::current_exception() : nullptr;
            end(mine);
            throw;
        }
        lock.lock();
        mine->bytes = bytes;
        try {
            if (!mine->forgotten) {
                keep(*bytes);
            }
        } catch (...) {
            // No memory to keep it in: it is read all the same.
        }
        end(mine);
        return bytes;
    }

    /// What a fetch that is under way gives when it is over; nothing where there is none, or where it fails.
    [[nodiscard]] std::optional<byte_buffer> wait(std::string_view key, std::string_view version);
    [[nodiscard]] bool is_under_way(std::string_view key, std::string_view version) const;

    /// The object may have been replaced: what is under way goes to those that wait for it already, and is not kept.
    void forget(std::string_view key);
    void forget();

private:
    struct fetching {
        std::string key;
        std::string version;
        bool over = false;
        bool forgotten = false;
        std::optional<byte_buffer> bytes;
        std::exception_ptr why;  // for those who waited
    };

    [[nodiscard]] std::shared_ptr<fetching> find(std::string_view key, std::string_view version) const;

    void end(const std::shared_ptr<fetching>& mine);

    void forget_if(function_ref<bool(const fetching&)> which);

    mutable std::mutex guard_;
    std::condition_variable over_;
    std::vector<std::shared_ptr<fetching>> under_way_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/fetch_table.ipp>
#endif
