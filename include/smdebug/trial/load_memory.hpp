// What one load of index files leaves behind for the next: payloads and lists of names to recognise, and the parser.
// Used by: trial/catalog_builder.hpp, trial/loader.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/trial/name_list.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// The payloads seen last, with the layouts that they were parsed to.
/// Memory: 8 payloads and 2 more for each worker, in all no more than 16 MiB where that is 8 payloads or more.
class payload_memory {
public:
    /// The layout of a payload with these very bytes.  A worker mostly writes what it wrote last.
    [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t worker, byte_view bytes) {
        if (worker < last_of_.size() && last_of_[worker] < held_.size() && matches(held_[last_of_[worker]], bytes)) {
            return use(last_of_[worker], worker);
        }
        for (std::uint32_t i = 0; i < held_.size(); ++i) {
            if (matches(held_[i], bytes)) {
                return use(i, worker);
            }
        }
        return std::nullopt;
    }

    void remember(std::uint32_t worker, byte_view bytes, std::uint32_t layout) {
        workers_ = std::max<std::size_t>(workers_, worker + std::size_t{1});
        while (held_.size() >= 8 && (held_.size() >= 8 + 2 * workers_ || bytes_ + bytes.size() > most_bytes)) {
            const auto oldest = std::min_element(held_.begin(), held_.end(),
                                                 [](const payload& a, const payload& b) { return a.used < b.used; });
            bytes_ -= oldest->bytes.size();
            std::swap(*oldest, held_.back());  // last_of_ is a guess, which find() confirms
            held_.pop_back();
        }
        payload& slot = held_.emplace_back();
        bytes_ += bytes.size();
        slot.bytes.assign(bytes.begin(), bytes.end());
        slot.layout = layout;
        static_cast<void>(use(static_cast<std::uint32_t>(&slot - held_.data()), worker));
    }

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
    [[nodiscard]] static bool matches(const payload& held, byte_view bytes) noexcept {
        constexpr std::size_t tail = 64;
        const std::size_t size = bytes.size();
        return held.bytes.size() == size &&
               (size < tail || std::memcmp(held.bytes.data() + size - tail, bytes.data() + size - tail, tail) == 0) &&
               (size == 0 || std::memcmp(held.bytes.data(), bytes.data(), size) == 0);
    }
    [[nodiscard]] std::uint32_t use(std::uint32_t place, std::uint32_t worker) {
        if (worker >= last_of_.size()) {
            last_of_.resize(worker + std::size_t{1}, none);
        }
        last_of_[worker] = place;
        held_[place].used = ++clock_;
        return held_[place].layout;
    }

    std::vector<payload> held_;
    std::vector<std::uint32_t> last_of_;  // place in held_, by worker
    std::size_t workers_ = 0;
    std::size_t bytes_ = 0;
    std::uint64_t clock_ = 0;
};

/// The lists of names seen last, the most recent first.
class list_of_lists {
public:
    /// The list with these items and shapes.
    [[nodiscard]] std::shared_ptr<const name_list> find(std::span<const recorded_item> items,
                                                        std::span<const name_id> shapes) {
        for (std::size_t i = 0; i < held_.size(); ++i) {
            if (held_[i]->equals(items, shapes)) {
                const auto at = held_.begin() + static_cast<std::ptrdiff_t>(i);
                std::rotate(held_.begin(), at, at + 1);
                return held_.front();
            }
        }
        return nullptr;
    }
    void remember(std::shared_ptr<const name_list> list) {
        if (held_.size() == most) {
            held_.pop_back();
        }
        held_.insert(held_.begin(), std::move(list));
    }
    /// What the next file probably says.  Null when there is none.
    [[nodiscard]] const name_list* latest() const noexcept { return held_.empty() ? nullptr : held_.front().get(); }
    void forget() noexcept { held_.clear(); }

private:
    static constexpr std::size_t most = 32;
    std::vector<std::shared_ptr<const name_list>> held_;
};

/// All of it.  Its numbers are those of one catalog: forget() it when that one is dropped.
struct load_memory {
    payload_memory payloads;
    list_of_lists lists;
    std::unordered_map<std::string, std::uint32_t> workers;  ///< a worker's number, by its part of a file's name
    json::document parser;

    void forget() {
        payloads.forget();
        lists.forget();
        workers.clear();
    }
};

}  // namespace v1
}  // namespace smdebug
