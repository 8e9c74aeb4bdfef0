// Which files of a scan the system was asked to read before a walk comes to them: enough to keep a disk busy, however
// few threads walk.
#pragma once

#include <smdebug/core/form.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Places in a list of files, up to which all are asked for.  Threads: any number, which walk parts of one list.
class files_ahead {
public:
    /// The files to ask for while one of `bytes` is read, that one included.
    [[nodiscard]] static constexpr std::size_t window(std::uint64_t bytes) noexcept {
        constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20U;
        return static_cast<std::size_t>(
            std::clamp<std::uint64_t>(most_bytes / std::max<std::uint64_t>(bytes, 1), 2, widest));
    }

    /// The most files that window() says.
    static constexpr std::size_t widest = 16;

    /// Whether a place, and with it all before it, is taken or passed over.
    [[nodiscard]] bool is_taken(std::size_t place) const noexcept {
        return place < end_.load(std::memory_order_relaxed);
    }

    /// Takes the first place from `begin` on, before `end`, that nobody has taken; nothing where there is none.
    [[nodiscard]] std::optional<std::size_t> take(std::size_t begin, std::size_t end) noexcept;

    /// What was taken was there already, or not: where it was, so are the files behind it, mostly, and some of them are
    /// not asked for.
    void tell(std::size_t place, bool was_there) noexcept;

private:
    static constexpr std::size_t passed_at_most = 32;

    void pass(std::size_t end) noexcept;

    std::atomic<std::size_t> end_{0};
    std::atomic<std::size_t> passed_{0};  // files that are passed over behind one that is there
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/files_ahead.ipp>
#endif
