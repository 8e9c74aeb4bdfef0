// The runs that need not be scanned again: a table of 128-bit hashes, so that a million runs take 16 to 32 MB.
// Open addressing with linear probing; among a million runs the chance of a collision is 1 in 10^26.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::detail::sqlite {

/// The hash of a run, its version and its question.
struct run_hash {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    friend constexpr bool operator==(const run_hash&, const run_hash&) = default;
};

/// Never {0, 0}.  Cost: a pass over the texts.
[[nodiscard]] run_hash hash_of_run(std::string_view path, std::string_view version, std::string_view question);

/// A set of them.  Const calls may run at once.
class done_runs {
public:
    /// Reserves room for so many.
    void reserve(std::size_t count);
    /// Room for one more, so that the next insert() does not throw.
    void make_room();
    void insert(run_hash run);
    void erase(run_hash run) noexcept;
    [[nodiscard]] bool contains(run_hash run) const noexcept { return !slots_.empty() && slots_[place_of(run)] == run; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return slots_.capacity() * sizeof(run_hash); }

private:
    /// The slot where a probe begins.
    [[nodiscard]] std::size_t home_of(run_hash run) const noexcept {
        return static_cast<std::size_t>(run.high % slots_.size());
    }
    [[nodiscard]] std::size_t after(std::size_t place) const noexcept {
        return place + 1 == slots_.size() ? 0 : place + 1;
    }
    /// Its slot, or the free one where it would go.
    [[nodiscard]] std::size_t place_of(run_hash run) const noexcept;
    void resize(std::size_t slots);

    std::vector<run_hash> slots_;  // {0, 0}: free; some always are
    std::size_t size_ = 0;
};

}  // namespace smdebug::inline v1::detail::sqlite
