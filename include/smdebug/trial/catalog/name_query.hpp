// Answering tensor_names(...): by step, mode, regex and collection, on a catalog.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/near_names.hpp>
#include <smdebug/index/regex.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/options.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A choice of names: those that match any of some regexes, or stand in a list.
class name_filter {
public:
    /// Errors: value_error for a bad regex.
    name_filter(const std::vector<std::string>& patterns, std::vector<std::string> sorted_names);
    [[nodiscard]] bool accepts(const std::string& name) const;

private:
    std::vector<regex> patterns_;
    std::vector<std::string> names_;
};

/// The error for a collection that a run does not have, with those that may have been meant, or else all.
template <class Collections>
[[nodiscard]] collection_unavailable no_such_collection(std::string_view wanted, const Collections& collections) {
    std::vector<std::string> names;
    for (const auto& [name, group] : collections) {
        names.push_back(name);
    }
    return collection_unavailable(std::string{wanted}, near_or_all(wanted, names));
}

/// tensor_names(which) on the catalog that `fresh()` gives.  Errors: value_error, before `fresh` is called.
[[nodiscard]] std::vector<std::string> query_names(const tensor_names_options& which,
                                                   function_ref<std::shared_ptr<const catalog>()> fresh);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/catalog/impl/name_query.ipp>
#endif
