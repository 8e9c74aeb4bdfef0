// The bodies of <smdebug/batch/row_spool.hpp>.
#pragma once

#include <smdebug/batch/row_spool.hpp>
#include <smdebug/core/error.hpp>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

namespace smdebug::inline v1 {
namespace detail {

// The layout of rows in a spool: their length in 4 bytes, numbers as in memory, texts after their lengths.
template <class Value>
void append_raw(std::string& to, const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    const std::size_t place = to.size();
    to.resize(place + sizeof value);
    std::memcpy(to.data() + place, &value, sizeof value);
}

/// Reads values from the front of bytes that a spool has written.
class raw_reader {
public:
    explicit raw_reader(std::string_view bytes) : bytes_(bytes) {}
    template <class Value>
    [[nodiscard]] Value take() {
        Value value;
        std::memcpy(&value, piece(sizeof value).data(), sizeof value);
        return value;
    }
    [[nodiscard]] std::string_view text() { return piece(take<std::uint32_t>()); }
    [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }

private:
    [[nodiscard]] std::string_view piece(std::size_t size) {
        const std::string_view front = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return front;
    }

    std::string_view bytes_;
};

SMDEBUG_INLINE void append_row(std::string& to, const reduction_row& row) {
    std::string made;
    append_raw(made, row.step);
    append_raw(made, row.mode_step);
    append_raw(made, static_cast<std::uint8_t>(row.mode));
    append_raw(made, static_cast<std::uint8_t>(row.shape.has_value()));
    const std::string none;
    for (const std::string* each : {&row.worker, &row.name, &row.dtype, row.shape ? &*row.shape : &none}) {
        append_raw(made, static_cast<std::uint32_t>(each->size()));
        made += *each;
    }
    append_raw(made, row.reductions);
    append_raw(to, static_cast<std::uint32_t>(made.size()));
    to += made;
}

SMDEBUG_INLINE void read_row(std::string_view bytes, reduction_row& row) {
    raw_reader from{bytes};
    row.step = from.take<step_number>();
    row.mode_step = from.take<step_number>();
    row.mode = static_cast<mode>(from.take<std::uint8_t>());
    const bool has_shape = from.take<std::uint8_t>() != 0;
    row.worker = from.text();
    row.name = from.text();
    row.dtype = from.text();
    const std::string_view shape = from.text();
    row.shape = has_shape ? std::optional<std::string>{shape} : std::nullopt;
    row.reductions = from.take<reduction_values>();
}

}  // namespace detail

SMDEBUG_INLINE void row_spool::fail(const char* what) {
    throw unavailable(std::string{what} + ": " + std::generic_category().message(errno) +
                      "; free some space in the folder for temporary files, or request fewer reductions at once");
}

SMDEBUG_INLINE void row_spool::make_room() {
    if (bytes_.size() <= most_) {
        return;
    }
    if (!file_) {
        file_.reset(std::tmpfile());
        if (!file_) {
            fail("a temporary file cannot be made");
        }
    }
    if (std::fwrite(bytes_.data(), 1, bytes_.size(), file_.get()) != bytes_.size() || std::fflush(file_.get()) != 0) {
        fail("a temporary file cannot be written");
    }
    in_file_ += bytes_.size();
    bytes_.clear();
}

SMDEBUG_INLINE void row_spool::add(const reduction_row& row) {
    detail::append_row(bytes_, row);
    ++rows_;
    make_room();
}

SMDEBUG_INLINE void row_spool::for_each_piece(function_ref<void(std::string_view)> take) {
    if (file_) {
        std::rewind(file_.get());
        std::string piece;
        for (std::uint64_t left = in_file_; left > 0;) {
            const auto next = [&](std::size_t size) {
                const std::size_t before = piece.size();
                piece.resize(before + size);
                if (std::fread(piece.data() + before, 1, size, file_.get()) != size) {
                    fail("a temporary file cannot be read");
                }
                left -= size;
            };
            const std::size_t begin = piece.size();
            next(sizeof(std::uint32_t));
            std::uint32_t size = 0;
            std::memcpy(&size, piece.data() + begin, sizeof size);
            next(size);
            if (piece.size() >= std::size_t{1} << 20U || left == 0) {
                take(piece);
                piece.clear();
            }
        }
        static_cast<void>(std::fseek(file_.get(), 0, SEEK_END));
    }
    if (!bytes_.empty()) {
        take(bytes_);
    }
}

SMDEBUG_INLINE void row_spool::for_each(function_ref<void(const reduction_row&)> take) {
    reduction_row row;
    for_each_piece([&](std::string_view rows) {
        for (detail::raw_reader from{rows}; !from.empty();) {
            detail::read_row(from.text(), row);
            take(row);
        }
    });
}

}  // namespace smdebug::inline v1
