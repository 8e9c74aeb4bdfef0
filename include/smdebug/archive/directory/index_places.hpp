// Where the index of an archive lies: in a folder of this machine, and beside the archive, wherever that is.
#pragma once

#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

inline constexpr std::string_view index_extension = ".smdx";

/// Errors: none, of any of these: an index spares time, and what fails is as if there were none.
/// Trust: who can write to one of the places can change what is read.  Threads: everything may be called at once.
class index_places {
public:
    /// `folder`: of this machine; empty: none.
    index_places(std::shared_ptr<const byte_source> archive, const std::string& folder);

    static constexpr std::size_t count = 2;
    /// What lies in one of them, the nearest first; null: nothing.
    [[nodiscard]] std::shared_ptr<const byte_source> find(std::size_t place) const;

    /// Whether keep() does anything.
    [[nodiscard]] bool keeps() const noexcept { return !path_.empty(); }
    /// Puts an index into the folder, whole or not at all; for its owner alone.
    void keep(byte_view index) const noexcept;

    /// Takes away one that turned out wrong, where that is in the folder; what is to be done then, to end a sentence.
    [[nodiscard]] std::string drop(std::size_t place) const;

private:
    std::shared_ptr<const byte_source> archive_;
    std::string path_;  // of the file in the folder
};

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/directory/impl/index_places.ipp>
#endif
