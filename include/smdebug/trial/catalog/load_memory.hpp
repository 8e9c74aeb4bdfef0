// What one load of index files leaves behind for the next: payloads and lists of names to recognise, and the parser.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/trial/catalog/name_list.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The payloads seen last, with the layouts that they were parsed to.
/// Memory: 8 payloads and 2 more for each worker, in all no more than 16 MiB where that is 8 payloads or more.
class payload_memory {
public:
    /// The layout of a payload with these very bytes.  A worker mostly writes what it wrote last.
    [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t worker, byte_view bytes);

    void remember(std::uint32_t worker, byte_view bytes, std::uint32_t layout);

    void forget() { *this = {}; }

private:
    static constexpr std::size_t most_bytes = std::size_t{16} << 20U;
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    struct payload {
        std::vector<std::byte> bytes;
        std::uint32_t layout = 0;  ///< place in the catalog's layouts
        std::uint64_t used = 0;
    };

    // Places grow from entry to entry, so that payloads which differ at all mostly differ at their ends.
    [[nodiscard]] static bool matches(const payload& known, byte_view bytes) noexcept;
    [[nodiscard]] std::uint32_t use(std::uint32_t place, std::uint32_t worker);

    std::vector<payload> payloads_;
    std::vector<std::uint32_t> last_of_;  // place in payloads_, by worker
    std::size_t workers_ = 0;
    std::size_t bytes_ = 0;
    std::uint64_t clock_ = 0;
};

/// The lists of names seen last, the most recent first.
class list_of_lists {
public:
    /// The list with these items and shapes.
    [[nodiscard]] std::shared_ptr<const name_list> find(std::span<const recorded_item> items,
                                                        std::span<const name_id> shapes);
    void remember(std::shared_ptr<const name_list> list);
    /// The lists of which the next file probably has one: the last few, the most recent first.
    [[nodiscard]] std::span<const std::shared_ptr<const name_list>> recent() const noexcept {
        return std::span{lists_}.first(std::min<std::size_t>(lists_.size(), 4));
    }
    void forget() noexcept { lists_.clear(); }

private:
    static constexpr std::size_t most = 32;
    std::vector<std::shared_ptr<const name_list>> lists_;
};

/// All of it.  Its numbers are those of one catalog: forget() it when that one is dropped.
struct load_memory {
    payload_memory payloads;
    list_of_lists lists;
    std::unordered_map<std::string, std::uint32_t> workers;  ///< a worker's number, by its part of a file's name
    json::document parser;

    void forget();
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/catalog/impl/load_memory.ipp>
#endif
