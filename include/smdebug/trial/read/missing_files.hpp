// The event files that were not there when they were asked for last.
// Of a run whose event files are gone, each is asked for by every tensor at its step; being told by an exception takes
// ten times as long as asking.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/guarded.hpp>
#include <smdebug/core/text_hash.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Remembers keys of missing files, and when each was asked for.  That a file was missing does not say that it is: who
/// finds it here asks again, in the way that is cheap for one that is not there.
/// Memory: some hundred bytes a file, 65,536 files at most; further ones are not remembered.
/// Threads: everything may be called at once.  Cost: nothing worth mentioning while no file is missing.
class missing_files {
public:
    using clock = std::chrono::steady_clock;
    static constexpr std::size_t most = std::size_t{1} << 16U;

    /// How many are missing, as far as is known.
    [[nodiscard]] std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

    [[nodiscard]] bool contains(std::string_view key) const { return count() > 0 && is_known(key); }
    /// Whether it was asked for, and was missing, less than an interval ago.
    [[nodiscard]] bool asked_within(std::string_view key, std::chrono::milliseconds interval) const;

    /// Notes that it is not there now.
    void note(const std::string& key);
    /// It is there now.
    void forget(const std::string& key);

private:
    [[nodiscard]] bool is_known(std::string_view key) const;

    using times = std::unordered_map<std::string, clock::time_point, text_hash, std::equal_to<>>;

    mutable guarded<times> asked_;
    std::atomic<std::size_t> count_{0};
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/missing_files.ipp>
#endif
