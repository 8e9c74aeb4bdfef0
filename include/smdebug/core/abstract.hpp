// The base of abstract classes.
#pragma once

namespace smdebug::inline v1::detail {

/// Destroyed by pointer, and not copied.
class abstract {
public:
    abstract() = default;
    abstract(const abstract&) = delete;
    abstract& operator=(const abstract&) = delete;
    virtual ~abstract() = default;
};

}  // namespace smdebug::inline v1::detail
