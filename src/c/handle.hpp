// The border between C and C++: what is behind a handle, and the one place where exceptions become statuses.
#pragma once

#include <smdebug/smdebug.h>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>

#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace smdebug::inline v1::c {

enum class handle_kind : bool { hook, run };

/// Throws the value_error for a handle of the other kind, and for one whose making failed.
[[noreturn]] void refuse(handle_kind wanted);
[[noreturn]] void refuse_unopened();

/// What an smd_hook* or smd_run* points to.  A derived class has its kind as `own_kind`.
class handle {
public:
    explicit handle(handle_kind kind) noexcept : kind_(kind) {}
    handle(const handle&) = delete;
    handle& operator=(const handle&) = delete;
    virtual ~handle() = default;

    [[nodiscard]] const char* message() const noexcept { return message_; }

    /// The body of every call on a handle: call(Held&), whose exceptions end here.
    template <class Held, class Call>
    static smd_status guard(void* given, const char* function, Call&& call) noexcept {
        if (given == nullptr) {
            return SMD_VALUE_ERROR;  // smd_message() has the words
        }
        handle& held = *static_cast<handle*>(given);
        held.message_ = "";
        try {
            held.kind_ == Held::own_kind ? call(static_cast<Held&>(held)) : refuse(Held::own_kind);
            return SMD_OK;
        } catch (...) {
            return held.fail(function);
        }
    }

    /// The body of a call that makes a handle, which exists even if open(Held&) throws.
    template <class Held, class Given, class Open>
    static smd_status make(Given** made, const char* function, Open&& open) noexcept {
        if (made == nullptr) {
            return SMD_VALUE_ERROR;
        }
        handle* const held = new (std::nothrow) Held;
        *made = static_cast<Given*>(static_cast<void*>(held));
        return held == nullptr ? SMD_OUT_OF_MEMORY : guard<Held>(held, function, open);
    }

private:
    // The status of the exception that is being handled, whose words are kept.
    smd_status fail(const char* function) noexcept;

    handle_kind kind_;
    std::string words_;
    const char* message_ = "";  // the words, or a literal where there is no memory for them
};

/// A handle that holds a T once it is open.
template <handle_kind Kind, class T>
class handle_of : public handle {
public:
    static constexpr handle_kind own_kind = Kind;

    handle_of() noexcept : handle(Kind) {}

    /// Errors: value_error if it is not open.
    [[nodiscard]] T& get() { return opened ? *opened : (refuse_unopened(), *opened); }

    std::optional<T> opened;
};

/// The count that is needed is larger than the caller's buffer.
struct buffer_too_small : value_error {
    using value_error::value_error;
};

/// What an argument points to, or what a handle has opened.  Errors: value_error for null.
template <class T>
[[nodiscard]] T& place(T* given, const char* name) {
    if (given == nullptr) {
        throw value_error(std::string{name} + " is null: it must point to a variable for the result");
    }
    return *given;
}
/// Stores a result whose place may be null.
template <class T>
void store(std::type_identity_t<T> result, T* to) noexcept {
    to != nullptr ? static_cast<void>(*to = result) : void();
}
[[nodiscard]] std::string_view text(const char* given, const char* name);

/// Errors: value_error for a number that stands for none.
[[nodiscard]] mode mode_of(smd_mode given);
[[nodiscard]] dtype dtype_of(smd_dtype given);

/// Whether a text is JSON, and not a name.
[[nodiscard]] bool is_json(std::string_view given) noexcept;

}  // namespace smdebug::inline v1::c
