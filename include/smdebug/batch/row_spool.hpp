// A queue of rows: in memory while they are few, else in an unnamed temporary file.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

/// The reductions of one tensor, as one worker saved it at one step.  Owns its texts, so that one thread may fill in
/// rows that another one writes.
struct reduction_row {
    step_number step = 0;       ///< as displayed: see trial::shown_step()
    step_number mode_step = 0;  ///< the same step, counted in its mode
    smdebug::mode mode = smdebug::mode::global;
    std::string worker = {};
    std::string name = {};
    std::string dtype = {};                 ///< numpy's name, as name_of(); empty without values
    std::optional<std::string> shape = {};  ///< "2x3", as shape_text(); "" of a 0-d tensor; nothing if unknown
    /// `computed` says which reductions are set; `count` is valid if dtype is not empty.
    reduction_values reductions = {};
};

/// The reductions of one run, on the way from the thread that computes them to the one that writes them.
/// Memory: `most_in_memory` bytes; further rows go into a temporary file, which disappears with the process.
/// Threads: one at a time.
class row_spool {
public:
    explicit row_spool(std::size_t most_in_memory = std::size_t{16} << 20U) : most_(most_in_memory) {}

    /// Errors: unavailable: no temporary file can be created, or it is full.
    void add(const reduction_row& row);
    /// The number of rows.
    [[nodiscard]] std::uint64_t size() const noexcept { return rows_; }

    /// Passes all rows to `take`, in the order in which they were added.  Errors: unavailable: the temporary file
    /// cannot be read; what `take` throws.
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
    std::string bytes_;  // rows that are not in the file
    std::unique_ptr<std::FILE, closed> file_;
    std::uint64_t in_file_ = 0;
};

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/impl/row_spool.ipp>
#endif
