// Shared by fuzz targets: splitting an input, checks that end the program, allowed errors, records with right
// checksums.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>

#include "support/standard.hpp"

namespace smdebug_fuzz {

/// Ends the program, so that libFuzzer keeps the input, unless `holds`.
inline void demand(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "does not hold: %s\n", what);
        std::abort();
    }
}

/// Checks the promises of every thrown error: its name, a sentence, nothing that controls a terminal.
inline void check_error(const smdebug::error& thrown) {
    const std::string_view what = thrown.what();
    demand(what.starts_with(std::string{thrown.python_name()} + ": "), "an error begins with its name");
    demand(!thrown.message().empty(), "an error has a sentence");
    demand(smdebug::is_utf8(what) && smdebug::printable(what) == what, "an error may be shown as it is");
}

/// Runs it; only the library's own exceptions are allowed.  Returns whether there was none.
template <class Run>
bool only_errors(Run&& run) {
    try {
        run();
        return true;
    } catch (const smdebug::error& thrown) {
        check_error(thrown);
        return false;
    }
}

/// An input, consumed from the front piece by piece; missing data are 0, or empty.
class input {
public:
    input(const std::uint8_t* data, std::size_t size) : rest_(std::as_bytes(std::span{data, size})) {}

    [[nodiscard]] std::uint8_t take_byte() { return take<std::uint8_t>(); }
    template <class T>
    [[nodiscard]] T take() {
        T value{};
        const std::size_t size = std::min(sizeof(T), rest_.size());
        if (size > 0) {
            std::memcpy(&value, rest_.data(), size);
        }
        rest_ = rest_.subspan(size);
        return value;
    }
    [[nodiscard]] smdebug::byte_view take_bytes(std::size_t most) {
        const smdebug::byte_view bytes = rest_.first(std::min(most, rest_.size()));
        rest_ = rest_.subspan(bytes.size());
        return bytes;
    }
    /// Up to a separator, which is consumed, too.
    [[nodiscard]] std::string take_text(char separator) {
        const std::string_view text = smdebug::as_text(rest_);
        const std::size_t length = std::min(text.find(separator), text.size());
        const std::string piece{text.substr(0, length)};
        rest_ = rest_.subspan(std::min(length + 1, rest_.size()));
        return piece;
    }
    [[nodiscard]] smdebug::byte_view rest() const { return rest_; }
    [[nodiscard]] bool empty() const { return rest_.empty(); }

private:
    smdebug::byte_view rest_;
};

/// A copy in memory of exactly its size, so that reading beyond either end is seen.
class exact_copy {
public:
    explicit exact_copy(smdebug::byte_view bytes) : bytes_(new std::byte[bytes.size()]), size_(bytes.size()) {
        std::copy(bytes.begin(), bytes.end(), bytes_.get());
    }
    [[nodiscard]] smdebug::byte_view view() const { return {bytes_.get(), size_}; }

private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t size_;
};

/// Touches every byte, like a user that trusts what was read.
inline unsigned sum_of(smdebug::byte_view bytes) {
    unsigned sum = 0;
    for (const std::byte one : bytes) {
        sum += static_cast<unsigned>(one);
    }
    return sum;
}

inline bool equal(smdebug::byte_view a, smdebug::byte_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace smdebug_fuzz
