// The bodies of <smdebug/trial/catalog/names_found.hpp>.
#pragma once

#include <smdebug/trial/catalog/names_found.hpp>

#include <algorithm>
#include <bit>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::vector<std::string> names_found(
    const name_table& names, function_ref<void(function_ref<void(const name_list&)> visit)> for_each_list) {
    constexpr std::size_t window = 32'768;  // names looked at in one pass: 4 KiB of bits
    std::vector<std::string> found;
    const name_list* only = nullptr;
    bool several = false;
    for_each_list([&](const name_list& list) {
        several = several || (only != nullptr && only != &list);
        only = &list;
    });
    if (only == nullptr) {
        return found;
    }
    if (!several) {
        found.reserve(only->tensors().size());
        for (const name_id id : only->tensors()) {
            found.push_back(names[id]);
        }
        return found;
    }
    std::array<std::uint64_t, window / 64> seen;
    for (std::size_t begin = 0; begin < names.size(); begin += window) {
        seen.fill(0);
        list_memory<bool> marked;
        for_each_list([&](const name_list& list) {
            static_cast<void>(marked.answer(list, [&] {
                for (const name_id id : list.tensors()) {
                    if (id - begin < window) {
                        seen[(id - begin) / 64] |= std::uint64_t{1} << (id % 64);
                    }
                }
                return true;
            }));
        });
        std::size_t count = found.size();
        for (const std::uint64_t bits : seen) {
            count += static_cast<std::size_t>(std::popcount(bits));
        }
        found.reserve(names.size() <= window ? count : std::max(count, names.size()));
        for (std::size_t word = 0; word < seen.size(); ++word) {
            for (std::uint64_t bits = seen[word]; bits != 0; bits &= bits - 1) {
                found.push_back(
                    names[static_cast<name_id>(begin + word * 64 + static_cast<std::size_t>(std::countr_zero(bits)))]);
            }
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
