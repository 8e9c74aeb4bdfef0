// Who counts what one run of a batch allocates.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace smdebug {
inline namespace v1 {

/// What the threads that work on one run may allocate.
class run_memory {
public:
    run_memory() = default;
    run_memory(const run_memory&) = delete;
    run_memory& operator=(const run_memory&) = delete;
    virtual ~run_memory() = default;

    /// What the calling thread allocates from now on is for this run; std::bad_alloc is thrown where that is too much.
    virtual void enter() noexcept = 0;
    /// Not any more.
    virtual void leave() noexcept = 0;
    /// Whether anything was refused.
    [[nodiscard]] virtual bool refused() const noexcept = 0;
    /// How much a run may have, in words: "the 2048 MiB that one run may have".
    [[nodiscard]] virtual std::string words() const = 0;
};

/// Counts what the threads of a run allocate by operator new and have not freed; std::bad_alloc is thrown where that is
/// more than `most` bytes.  Not there (counts_memory() tells) where no file of the program includes <smdebug/batch/counted_memory.hpp>, which has it.
/// Not counted: files that are mapped, what threads of others allocate for the run (S3 connections, caches).
[[nodiscard, gnu::weak]] std::unique_ptr<run_memory> counted_memory(std::uint64_t most);

/// Whether the program has it.
[[nodiscard]] inline bool counts_memory() noexcept { return &counted_memory != nullptr; }

}  // namespace v1
}  // namespace smdebug
