// What an archive's directory says: its members by name, where each lies, and what is wrong.
#pragma once

#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/problem.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// How a member's bytes lie in the archive.
enum class packing : std::uint8_t {
    stored,    ///< as they are
    deflated,  ///< zip's method 8
    zstd,      ///< zip's method 93
    refused,   ///< in a way that is not read: `why` says which
    nowhere,   ///< it is a link to what is not there: `why` says what
};

/// A regular file of an archive.
struct member {
    byte_range where = {};   ///< of its bytes, packed; in a zip, of all from its own head on
    std::uint64_t size = 0;  ///< unpacked
    packing how = packing::stored;
    std::uint32_t sum = 0;         ///< zip: CRC-32 of its bytes
    bool behind_own_head = false;  ///< zip: a head stands before the bytes, whose length it tells itself
    std::string why = {};
};

/// A damaged place of an archive.
struct damaged_place {
    std::uint64_t offset = 0;  ///< in the archive, inflated
    std::string what = {};
};

struct directory {
    std::map<std::string, member, std::less<>> members = {};
    std::vector<damaged_place> damage = {};  ///< the first few of them
    std::vector<problem> problems = {};      ///< what else is not read; its place behind the archive's path: "!/member"
    std::uint64_t more_problems = 0;         ///< see add_problem()
    /// Members that are no files of a run: links to folders, devices; 0 where a kept index was read.
    std::uint64_t passed_over = 0;
};

/// A path without ".", "x/.." and empty parts; empty where it leaves the archive.
[[nodiscard]] std::string without_dots(std::string_view path);

/// A member's name as the key of an object: without "./" or '/' before it; empty for what would leave the archive ("../x").
[[nodiscard]] std::string key_of(std::string_view name);

/// What is said of a member without a key.
[[nodiscard]] problem problem_of_name(std::string_view name);

/// Keeps the first 16 damaged places.
void add_damage(directory& to, std::uint64_t offset, std::string what);

/// Keeps the first 16 problems; behind them one says how many more there are.
void add_problem(directory& to, problem one);

/// Where runs lie: the folders that have collections, an index or events, "" for the archive's own root; in order.
[[nodiscard]] std::vector<std::string> runs_in(const directory& of);

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/directory/impl/member.ipp>
#endif
