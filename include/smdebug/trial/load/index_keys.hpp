// The keys of index files that a catalog does not know yet, in the order in which they are read.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/trial/catalog/catalog.hpp>

#include <compare>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The key of an index file, taken apart.
class parsed_index_key {
public:
    /// Nothing when the name is not of the form <step>_<worker>; the key then stays where it is.
    [[nodiscard]] static std::optional<parsed_index_key> parse(std::string&& key);

    [[nodiscard]] const std::string& text() const noexcept { return key_; }
    [[nodiscard]] step_number step() const noexcept { return step_; }
    /// locations::worker_from_file_part makes the worker's name of it.  Borrowed.
    [[nodiscard]] std::string_view worker_part() const noexcept {
        return std::string_view{key_}.substr(worker_begin_, worker_size_);
    }

    [[nodiscard]] friend bool operator==(const parsed_index_key& a, const parsed_index_key& b) noexcept {
        return a.key_ == b.key_;
    }
    /// By step, then by worker: who claims a mode step, and which of two files of one worker counts.
    [[nodiscard]] friend std::strong_ordering operator<=>(const parsed_index_key& a,
                                                          const parsed_index_key& b) noexcept {
        if (const auto by_step = a.step_ <=> b.step_; by_step != 0) {
            return by_step;
        }
        const auto by_worker = a.worker_part() <=> b.worker_part();
        return by_worker != 0 ? by_worker : a.key_ <=> b.key_;
    }

private:
    parsed_index_key() = default;
    std::string key_;
    step_number step_ = 0;
    std::size_t worker_begin_ = 0;
    std::size_t worker_size_ = 0;
};

/// Tells which files a catalog knows.  Borrows the catalog.  Cost: next to nothing for keys that come in order.
class known_files {
public:
    explicit known_files(const catalog& of) : of_(of) {}

    [[nodiscard]] bool contains(const parsed_index_key& key);

private:
    [[nodiscard]] static bool is_worker(std::string_view name, std::string_view part) {
        return name == part || (part.starts_with('_') && name == locations::worker_from_file_part(part));
    }

    const catalog& of_;
    const catalog::step_entry* at_ = nullptr;
    std::size_t place_ = 0;  // the file that comes next, when keys come in order
};

/// Puts keys into order, each once.
void put_in_order(std::vector<parsed_index_key>& keys);

/// Whether keys, in order, hold a later step of the key's worker.
[[nodiscard]] bool fills_gap(const std::vector<parsed_index_key>& keys, const parsed_index_key& key);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/load/impl/index_keys.ipp>
#endif
