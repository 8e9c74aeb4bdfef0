// The collections files of a run, compared with each other and with the names that the index files have.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/trial/difference.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Tells of renamed and repeated keys in one object.  `where` begins each sentence.
void check_keys(std::vector<difference>& found, std::string_view file, const std::string& where,
                const std::optional<json::value>& object, std::span<const std::string_view> known);

/// Takes in the files one after another, then the names that were seen.
class collections_check {
public:
    /// One file.  Errors: corrupt_data where it cannot be understood.
    void add(const std::string& key, byte_view bytes, json::document& parser, std::vector<difference>& found);

    /// How many workers the job has; nothing before a file was added.
    [[nodiscard]] std::optional<std::size_t> num_workers() const {
        return key_.empty() ? std::nullopt : std::optional{static_cast<std::size_t>(first_.num_workers)};
    }
    /// The first file.
    [[nodiscard]] const std::string& key() const noexcept { return key_; }

    /// Collections may list tensors that were never saved, and tensors need not be in any.  But a listed name that no
    /// tensor has, one character away from a tensor that no collection lists, is that name, damaged.
    void compare_names(const std::set<std::string, std::less<>>& seen, std::vector<difference>& found) const;

private:
    static void check_all_keys(const std::string& key, json::value root, std::vector<difference>& found);

    static void check_group(const std::string& key, std::string_view name, json::value group,
                            std::vector<difference>& found);

    // Names of tensors may differ: each worker writes those that it has seen.
    void compare(const std::string& key, collections_file& one, std::vector<difference>& found) const;

    [[nodiscard]] static bool is_near(std::string_view a, std::string_view b) noexcept;

    std::string key_;
    collections_file first_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/load/impl/collections_check.ipp>
#endif
