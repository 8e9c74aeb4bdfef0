// Putting together the tensors of several index files: each name once, sorted, with no memory but the result's.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/trial/catalog/name_list.hpp>
#include <smdebug/trial/catalog/name_table.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A small memory of answers about lists of names: files that follow one another mostly share theirs.
template <class Answer>
class list_memory {
public:
    /// What `ask()` says of a list, asked again only when the list has been forgotten.
    template <class Ask>
    [[nodiscard]] Answer& answer(const name_list& list, Ask&& ask) {
        slot& remembered = slots_[(reinterpret_cast<std::uintptr_t>(&list) >> 5U) % slots_.size()];
        if (remembered.list != &list) {
            remembered = {&list, ask()};
        }
        return remembered.answer;
    }

private:
    struct slot {
        const name_list* list = nullptr;
        Answer answer{};
    };
    std::array<slot, 32> slots_{};
};

/// The tensors of all lists that for_each_list(visit) calls visit(list) with, sorted by text, each once.
/// Cost: a pass over the lists, or as many as there are 32,768 names in the table; then a sort, where there are several
/// lists.  Allocates its result and nothing else.
[[nodiscard]] std::vector<std::string> names_found(
    const name_table& names, function_ref<void(function_ref<void(const name_list&)> visit)> for_each_list);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/catalog/impl/names_found.ipp>
#endif
