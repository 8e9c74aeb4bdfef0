// Reading objects while their bytes go by: what is compressed as a whole is inflated from its front to its end before anyone
// knows what lies where; who looks at each object then need not have it inflated a second time.
#pragma once

#include <smdebug/storage/opened_object.hpp>

#include <memory>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// Threads: one call at a time.
class passing_reader {
public:
    passing_reader() = default;
    passing_reader(const passing_reader&) = delete;
    passing_reader& operator=(const passing_reader&) = delete;
    virtual ~passing_reader() = default;

    /// Called once for each object, by its key in the archive, in the order in which they lie.  What is to be remembered of
    /// it is returned, and is there later by opened_object::notes(); null: nothing.
    /// `object` is there during the call.  Cost: its bytes read by ascending offsets, none beyond inflating; others may have
    ///           to be inflated again.
    /// Errors: what reading throws may be thrown on: nothing is then remembered, and reading the object again tells.
    [[nodiscard]] virtual std::shared_ptr<const detail::object_notes> pass(std::string_view key,
                                                                           const detail::opened_object& object) = 0;
};

}  // namespace v1
}  // namespace smdebug
