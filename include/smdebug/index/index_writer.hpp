// The text of one index file, byte for byte as the Python package writes it.
// Apart from index_file.hpp, which reads it, so that a writer needs no JSON parser.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/index/index_meta.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Gathers the entries of an index file, in the order in which they are added, and makes its text.
/// Names are UTF-8 (the caller has checked: is_utf8); other bytes become U+FFFD.
/// Cost:    some ten nanoseconds an entry; no allocation once it has made a file of that size.
/// Threads: one object, one thread at a time.
class index_writer {
public:
    /// Adds where a tensor's record lies in the event file.
    /// Cost: a comparison where the file before had the same entry at this place, as it is in training.
    void add_tensor(std::string_view name, byte_range record);

    /// Adds a tensor's shape.  `original_name` is what the framework calls the tensor; often the same name.
    void add_shape(std::string_view name, std::string_view original_name, std::span<const std::size_t> extents);

    /// Whether nothing was added: such a file would make no step.
    [[nodiscard]] bool empty() const noexcept { return count_ == 0 && shapes_.empty(); }

    /// The whole file.  Borrowed until the next call of anything.
    [[nodiscard]] std::string_view text(const detail::index_file::meta& head);

    /// Forgets the entries, keeps the memory.
    void clear() noexcept;

private:
    struct entry {
        std::string name;
        byte_range record;
        std::size_t end = 0;  // of its text
    };

    // Removes the last file's entries behind those of this one.
    void cut();

    static void begin_entry(std::string& list, std::string_view name);

    std::vector<entry> entries_;  // of this file; while they equal the last file's, behind them the rest of those
    std::size_t count_ = 0;       // entries of this file
    bool as_before_ = true;       // whether they equal the first entries of the last file
    std::string tensors_;         // the entries' text, without the brackets
    std::string shapes_;
    std::string text_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/index/impl/index_writer.ipp>
#endif
