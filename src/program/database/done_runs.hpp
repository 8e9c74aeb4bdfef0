// Which runs need not be looked at again: a table of 128-bit hashes, so that a million runs take 16 to 32 MB.
// Open addressing with linear probing; two different runs share a hash by a chance of 1 in 10^26 for a million of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace sqlite {

/// What stands for a run at a version, asked a question.
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
    /// Room for so many without growing.
    void reserve(std::size_t count);
    /// Room for one more, so that the next insert() does not throw.
    void make_room();
    void insert(run_hash run);
    void erase(run_hash run) noexcept;
    [[nodiscard]] bool contains(run_hash run) const noexcept { return !slots_.empty() && slots_[place_of(run)] == run; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return slots_.capacity() * sizeof(run_hash); }

private:
    /// Where a probe for it begins.
    [[nodiscard]] std::size_t home_of(run_hash run) const noexcept {
        return static_cast<std::size_t>(run.high % slots_.size());
    }
    [[nodiscard]] std::size_t after(std::size_t place) const noexcept {
        return place + 1 == slots_.size() ? 0 : place + 1;
    }
    /// Its place, or the free one where it would go.
    [[nodiscard]] std::size_t place_of(run_hash run) const noexcept;
    void resize(std::size_t slots);

    std::vector<run_hash> slots_;  // {0, 0}: free; some always are
    std::size_t size_ = 0;
};

}  // namespace sqlite
}  // namespace detail
}  // namespace v1
}  // namespace smdebug
