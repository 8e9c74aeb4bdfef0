// The bodies of <smdebug/batch/ranks/messages.hpp>.
#pragma once

#include <smdebug/batch/ranks/messages.hpp>

#include <type_traits>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::string message_bytes(const rank_message& message) {
    byte_writer writer;
    writer.small(static_cast<std::uint8_t>(message.index()));
    std::visit(
        [&](const auto& content) {
            using kind = std::remove_cvref_t<decltype(content)>;
            if constexpr (std::is_same_v<kind, rank_ready>) {
                writer.number(content.slots);
                writer.text(content.machine);
            } else if constexpr (std::is_same_v<kind, batch_run>) {
                writer.run(content);
            } else if constexpr (std::is_same_v<kind, run_result>) {
                writer.result(content);
            } else if constexpr (std::is_same_v<kind, result_rows>) {
                writer.number(content.place);
                writer.number(content.number);
                writer.text(content.rows);
            } else if constexpr (std::is_same_v<kind, all_done>) {
                writer.number(content.lost);
            } else if constexpr (std::is_same_v<kind, rank_ended>) {
                writer.text(content.failure);
            } else if constexpr (std::is_same_v<kind, runs_back>) {
                writer.number(content.places.size());
                for (const std::uint64_t place : content.places) {
                    writer.number(place);
                }
            } else {
                static_assert(std::is_empty_v<kind>, "a message with contents is to be written");
            }
        },
        message);
    return writer.take();
}

template <std::size_t Index = 0>
[[nodiscard]] rank_message read_message(std::size_t kind, byte_reader& reader) {
    if constexpr (Index + 1 < std::variant_size_v<rank_message>) {
        if (kind != Index) {
            return read_message<Index + 1>(kind, reader);
        }
    }
    using content = std::variant_alternative_t<Index, rank_message>;
    if constexpr (std::is_same_v<content, rank_ready>) {
        rank_ready value;
        value.slots = reader.number();
        value.machine = reader.text();
        return value;
    } else if constexpr (std::is_same_v<content, batch_run>) {
        return reader.run();
    } else if constexpr (std::is_same_v<content, run_result>) {
        return reader.result();
    } else if constexpr (std::is_same_v<content, result_rows>) {
        result_rows value;
        value.place = reader.number();
        value.number = reader.number();
        value.rows = reader.text();
        return value;
    } else if constexpr (std::is_same_v<content, all_done>) {
        return all_done{.lost = reader.number()};
    } else if constexpr (std::is_same_v<content, rank_ended>) {
        return rank_ended{.failure = reader.text()};
    } else if constexpr (std::is_same_v<content, runs_back>) {
        runs_back value;
        value.places.resize(reader.count(sizeof(std::uint64_t)));
        for (std::uint64_t& place : value.places) {
            place = reader.number();
        }
        return value;
    } else {
        return content{};
    }
}

SMDEBUG_INLINE rank_message message_from_bytes(std::string_view bytes) {
    byte_reader reader{bytes};
    const std::size_t kind = reader.small(std::variant_size_v<rank_message> - 1);
    rank_message message = read_message(kind, reader);
    reader.end();
    return message;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
