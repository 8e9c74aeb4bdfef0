// Rows that wait for their turn: in memory as far as they are few, else in a file that nobody sees.
#pragma once

#include <smdebug/batch/reduction_row.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// The reductions of one run, from the thread that computes them to the one that writes them.
/// Memory: `most_in_memory` bytes; what is more goes into a temporary file, which ends with the process.
/// Threads: one at a time.
class row_spool {
public:
    explicit row_spool(std::size_t most_in_memory = std::size_t{16} << 20U) : most_(most_in_memory) {}

    /// Errors: unavailable: no temporary file can be made, or it has no room.
    void add(const reduction_row& row);
    /// How many there are.
    [[nodiscard]] std::uint64_t size() const noexcept { return rows_; }

    /// All rows, in the order in which they were added.  Errors: unavailable: the temporary file cannot be read; what
    /// `take` throws.
    void for_each(function_ref<void(const reduction_row&)> take);

private:
    struct closed {
        void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
    };

    void for_each_piece(function_ref<void(std::string_view)> take);
    void make_room();
    [[noreturn]] static void fail(const char* what);

    std::size_t most_;
    std::uint64_t rows_ = 0;
    std::string bytes_;  // behind those in the file
    std::unique_ptr<std::FILE, closed> file_;
    std::uint64_t in_file_ = 0;
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/impl/row_spool.ipp>
#endif
