// The directory of a tar archive: ustar, pax, and GNU's long names, large sizes and links.
#pragma once

#include <smdebug/archive/directory/member.hpp>
#include <smdebug/archive/options.hpp>
#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/text_number.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace smdebug::inline v1::archive::detail {

/// Whether 512 bytes are the head of a tar member, judged by their checksum.
[[nodiscard]] bool is_tar_head(byte_view block) noexcept;

/// Reads only the heads, front to back.  If a member occurs twice, the later one counts; hard links, and symbolic links
/// that stay inside the archive, have the content of their target, and are `nowhere` if it does not exist.  After a
/// damaged head the next valid one is searched for; after the archive's end, another archive.  Damage is reported in
/// the directory, not thrown.
/// Errors: those of the source, except corrupt_data; unsupported for more members than options allow.
/// Calls passed(key, member) for each file after its head, when its bytes come next.
[[nodiscard]] directory read_tar(const byte_source& from, const archive_options& options,
                                 function_ref<void(std::string_view, const member&)> passed);

namespace tar {

inline constexpr std::uint64_t block_bytes = 512;
// A path has at most 4 KiB; a pax head has some of them, and texts that are ignored.
inline constexpr std::uint64_t most_head_bytes = std::uint64_t{1} << 20U;
inline constexpr int most_links = 40;

/// A field of a head up to its NUL.
[[nodiscard]] inline std::string_view text(byte_view head, std::size_t begin, std::size_t length) {
    const std::string_view whole = as_text(head.subspan(begin, length));
    return whole.substr(0, std::min(whole.find('\0'), whole.size()));
}

/// A number: octal digits, or base-256 where the first bit is set.  Nothing where it is neither, or negative.
[[nodiscard]] inline std::optional<std::uint64_t> number(byte_view head, std::size_t begin, std::size_t length) {
    const auto first = std::to_integer<unsigned>(head[begin]);
    if ((first & 0x80U) != 0) {
        if (first != 0x80U) {
            return std::nullopt;  // negative, or beyond 2^88
        }
        std::uint64_t value = 0;
        for (std::size_t i = begin + 1; i < begin + length; ++i) {
            if (value >> 56U != 0) {
                return std::nullopt;
            }
            value = value << 8U | std::to_integer<std::uint64_t>(head[i]);
        }
        return value;
    }
    const std::string_view digits = smdebug::detail::trimmed(text(head, begin, length), " ");
    return digits.empty() ? std::optional<std::uint64_t>{0} : smdebug::detail::number_of_text<std::uint64_t>(digits, 8);
}

[[nodiscard]] inline std::uint64_t padded(std::uint64_t size) noexcept {
    return (size + block_bytes - 1) / block_bytes * block_bytes;
}

/// The settings of pax heads for the next member, or for all.
using keywords = std::map<std::string, std::string, std::less<>>;

/// Adds "LENGTH KEY=VALUE\n" records; false where they are damaged.
[[nodiscard]] inline bool read_keywords(std::string_view records, keywords& to) {
    while (!records.empty() && records.front() != '\0') {
        std::size_t length = 0;
        const auto [behind, wrong] = std::from_chars(records.data(), records.data() + records.size(), length);
        const auto digits = static_cast<std::size_t>(behind - records.data());
        if (wrong != std::errc{} || length > records.size() || length < digits + 3 || records[digits] != ' ' ||
            records[length - 1] != '\n') {
            return false;
        }
        const std::string_view record = records.substr(digits + 1, length - digits - 2);
        const std::size_t equals = record.find('=');
        if (equals == std::string_view::npos) {
            return false;
        }
        to.insert_or_assign(std::string{record.substr(0, equals)}, std::string{record.substr(equals + 1)});
        records.remove_prefix(length);
    }
    return true;
}

class walk {
public:
    walk(const byte_source& from, const archive_options& options,
         function_ref<void(std::string_view, const member&)> passed)
        : from_(from), options_(options), passed_(passed) {}

    [[nodiscard]] directory run() {
        try {
            while (step()) {
            }
            resolve_links();
            // The rest of a stream has its checksum.
            static_cast<void>(from_.size());
        } catch (const corrupt_data& why) {
            damage(place_, std::string{why.message()});
            resolve_links();
        }
        return std::move(made_);
    }

private:
    struct link {
        std::string to;    // a key; empty where it leads out of the archive
        std::string told;  // as written in the archive
    };

    // A piece of the archive, read ahead for small members.
    [[nodiscard]] byte_view bytes(std::uint64_t offset, std::uint64_t length) {
        if (offset < piece_begin_ || offset + length > piece_begin_ + piece_.size()) {
            if (offset >= end_) {
                return {};
            }
            const bool is_near = offset - piece_begin_ < near_bytes;
            const std::uint64_t more = std::max(length, is_near ? near_bytes : block_bytes * 2);
            try {
                piece_ = from_.read({offset, more});
                end_ = piece_.size() < more ? offset + piece_.size() : end_;
            } catch (const corrupt_data&) {  // the damage may lie after the wanted bytes
                piece_ = from_.read({offset, length});
            }
            piece_begin_ = offset;
        }
        return piece_.slice({offset - piece_begin_, length}).view();
    }

    // Reads one head; false at the end.
    bool step() {
        const byte_view head = bytes(place_, block_bytes);
        if (head.empty()) {
            if (!ended_ && !made_.members.empty()) {
                damage(place_, "it ends without the two empty blocks that tar writes: it may be cut");
            }
            return false;
        }
        if (head.size() < block_bytes) {
            damage(place_, "it ends inside of a head: it is cut");
            return false;
        }
        if (std::all_of(head.begin(), head.end(), [](std::byte one) { return one == std::byte{0}; })) {
            place_ += block_bytes;
            return !std::exchange(ended_, true) || find_next_archive();
        }
        ended_ = false;
        if (!is_tar_head(head)) {
            return search();
        }
        lost_ = false;
        const std::optional<std::uint64_t> size = size_of(head);
        if (!size || *size > UINT64_MAX / 2 - place_) {
            damage(place_, "a head has no valid size");
            place_ += block_bytes;
            forget_next();
            return true;
        }
        take(head, *size);
        return true;
    }

    // After the end: whether another archive follows, as `cat a.tar b.tar` and `tar -A` leave it.
    bool find_next_archive() {
        for (;; place_ += block_bytes) {
            const byte_view block = bytes(place_, block_bytes);
            if (std::any_of(block.begin(), block.end(), [](std::byte one) { return one != std::byte{0}; })) {
                ended_ = !is_tar_head(block);
                if (ended_) {
                    add_problem(made_, {problem_kind::left_out, ", byte " + std::to_string(place_),
                                        "other bytes lie behind the end of the archive, which are not read"});
                }
                return !ended_;
            }
            if (block.size() < block_bytes) {
                return false;
            }
        }
    }

    [[nodiscard]] std::optional<std::uint64_t> size_of(byte_view head) const {
        const char kind = std::to_integer<char>(head[156]);
        const std::string* const told = keyword("size");
        return told == nullptr || is_about_next(kind) ? number(head, 124, 12)
                                                      : smdebug::detail::number_of_text<std::uint64_t>(*told);
    }

    [[nodiscard]] static bool is_about_next(char kind) noexcept {
        return kind == 'x' || kind == 'g' || kind == 'L' || kind == 'K' || kind == 'X';
    }

    void take(byte_view head, std::uint64_t size) {
        const char kind = std::to_integer<char>(head[156]);
        const std::uint64_t content = place_ + block_bytes;
        if (is_about_next(kind)) {
            read_about_next(kind, content, size);
            place_ = content + padded(size);
            return;
        }
        const bool is_link = kind == '1' || kind == '2';
        // A link's size is that of its target; no data follows its head.
        const std::uint64_t inside = is_link || (kind >= '3' && kind <= '6') ? 0 : size;
        std::string name = name_of(head);
        const bool is_folder = kind == '5' || name.ends_with('/');
        if (is_link) {
            add_link(name, kind == '1', link_of(head));
        } else if (kind == 'S' || is_sparse()) {
            if (const std::string* const real = keyword("GNU.sparse.name")) {
                name = *real;
            }
            std::uint64_t skipped = 0;
            if (kind == 'S') {
                skipped = more_sparse_heads(head, content);
            }
            add(name, {.where = {content + skipped, inside},
                       .size = inside,
                       .how = packing::refused,
                       .why = "it was stored as a sparse file; pack the run again without tar's --sparse"});
            place_ = content + skipped + padded(inside);
            forget_next();
            return;
        } else if (kind == '0' || kind == '\0' || kind == '7') {
            if (!is_folder) {
                add(name, {.where = {content, inside}, .size = inside});
            }
        } else if (!is_folder) {
            ++made_.passed_over;
        }
        place_ = content + padded(inside);
        forget_next();
    }

    // Further blocks of a sparse file's map stand between the head and the data.
    [[nodiscard]] std::uint64_t more_sparse_heads(byte_view head, std::uint64_t content) {
        std::uint64_t length = 0;
        bool more = head[482] != std::byte{0};
        while (more && length < most_head_bytes) {
            const byte_view block = bytes(content + length, block_bytes);
            more = block.size() == block_bytes && block[504] != std::byte{0};
            length += block_bytes;
        }
        return length;
    }

    void read_about_next(char kind, std::uint64_t content, std::uint64_t size) {
        if (size > most_head_bytes) {
            damage(place_, "a head about the next member has " + std::to_string(size) + " bytes");
            return;
        }
        const byte_view text = bytes(content, size);
        const std::string_view whole = as_text(text);
        const std::string_view value = whole.substr(0, std::min(whole.find('\0'), whole.size()));
        if (text.size() < size) {
            damage(content, "it ends inside of a head: it is cut");
        } else if (kind == 'L') {
            next_["path"] = value;
        } else if (kind == 'K') {
            next_["linkpath"] = value;
        } else if (!read_keywords(whole, kind == 'g' ? all_ : next_)) {
            damage(content, "a head of pax is damaged");
        }
    }

    // Any form of pax sparse file: 0.0, 0.1 and 1.0 have different keywords.
    [[nodiscard]] bool is_sparse() const {
        constexpr std::string_view begin = "GNU.sparse.";
        const auto has_any = [&](const keywords& of) {
            const auto first = of.lower_bound(begin);
            return first != of.end() && first->first.starts_with(begin);
        };
        return has_any(next_) || has_any(all_);
    }

    // For the next member, else for all; nothing if neither is set.
    [[nodiscard]] const std::string* keyword(std::string_view name) const {
        for (const keywords* const of : {&next_, &all_}) {
            if (const auto entry = of->find(name); entry != of->end() && !entry->second.empty()) {
                return &entry->second;
            }
        }
        return nullptr;
    }

    [[nodiscard]] std::string name_of(byte_view head) const {
        if (const std::string* const name = keyword("path")) {
            return *name;
        }
        std::string name{text(head, 0, 100)};
        if (as_text(head.subspan(257, 6)) == std::string_view{"ustar\0", 6}) {  // GNU has other fields there
            if (const std::string_view prefix = text(head, 345, 155); !prefix.empty()) {
                name = std::string{prefix} + "/" + name;
            }
        }
        return name;
    }
    [[nodiscard]] std::string link_of(byte_view head) const {
        const std::string* const name = keyword("linkpath");
        return name != nullptr ? *name : std::string{text(head, 157, 100)};
    }

    void add(const std::string& name, member file) {
        std::string key = key_of(name);
        if (key.empty()) {
            pass_over(name);
            return;
        }
        links_.erase(key);
        const auto entry = made_.members.insert_or_assign(std::move(key), std::move(file)).first;
        check_count();
        passed_(entry->first, entry->second);
    }
    void add_link(const std::string& name, bool is_hard, const std::string& to) {
        const std::string key = key_of(name);
        if (key.empty()) {
            pass_over(name);
            return;
        }
        std::string target;
        if (is_hard) {
            target = key_of(to);
        } else if (!to.starts_with('/')) {  // relative to its own folder
            const std::size_t folder = key.rfind('/');
            target = without_dots(folder == std::string::npos ? to : key.substr(0, folder + 1) + to);
        }
        if (is_hard) {  // refers to an earlier member, even if that is replaced later
            if (const auto file = made_.members.find(target); file != made_.members.end()) {
                links_.erase(key);
                made_.members.insert_or_assign(key, member{file->second});
                check_count();
                return;
            }
        }
        made_.members.erase(key);
        links_.insert_or_assign(key, link{.to = std::move(target), .told = to});
        check_count();
    }
    void check_count() const {
        if (made_.members.size() + links_.size() > options_.most_members) {
            throw unsupported("the archive " + from_.name() + " has more than " +
                                  std::to_string(options_.most_members) +
                                  " members, which archive_options do not allow",
                              {.where = from_.name(), .offset = place_});
        }
    }

    void pass_over(const std::string& name) { add_problem(made_, problem_of_name(name)); }

    // Links to folders are skipped: the files there are found under their own names.
    void resolve_links() {
        for (const auto& [key, first] : links_) {
            const link* last = &first;
            auto file = made_.members.end();
            for (int i = 0; i < most_links && last != nullptr; ++i) {
                file = made_.members.find(last->to);
                const auto further = links_.find(last->to);
                if (file != made_.members.end() || further == links_.end()) {
                    break;
                }
                last = i + 1 == most_links ? nullptr : &further->second;
            }
            if (file != made_.members.end() && file->second.how != packing::nowhere) {
                made_.members.insert_or_assign(key, member{file->second});
            } else if (last != nullptr && is_folder(last->to)) {
                ++made_.passed_over;
            } else {
                made_.members.insert_or_assign(
                    key, member{.how = packing::nowhere,
                                .why = "it is a link to " + first.told + ", which the archive does not have"});
            }
        }
        links_.clear();
    }

    [[nodiscard]] bool is_folder(const std::string& key) const {
        const auto below = made_.members.lower_bound(key + "/");
        return !key.empty() && below != made_.members.end() && below->first.starts_with(key + "/");
    }

    // After a damaged head: block by block, up to the next valid head.
    bool search() {
        if (!lost_) {
            damage(place_, made_.members.empty() && place_ == 0 ? "it begins with no head" : "a head is damaged");
            lost_ = true;
            forget_next();
        }
        place_ += block_bytes;
        return true;
    }

    void forget_next() { next_.clear(); }
    void damage(std::uint64_t offset, std::string what) { add_damage(made_, offset, std::move(what)); }

    static constexpr std::uint64_t near_bytes = std::uint64_t{64} << 10U;

    const byte_source& from_;
    const archive_options& options_;
    function_ref<void(std::string_view, const member&)> passed_;
    directory made_;
    std::map<std::string, link, std::less<>> links_;  // by key
    keywords next_;
    keywords all_;
    byte_buffer piece_;
    std::uint64_t piece_begin_ = 0;
    std::uint64_t end_ = UINT64_MAX;  // the archive's end, once it is reached
    std::uint64_t place_ = 0;
    bool ended_ = false;  // an empty block was read
    bool lost_ = false;   // after a damaged head
};

}  // namespace tar

inline bool is_tar_head(byte_view block) noexcept {
    if (block.size() < tar::block_bytes) {
        return false;
    }
    std::uint64_t sum = 0;
    std::int64_t signed_sum = 0;  // as old tars computed it
    for (std::size_t i = 0; i < tar::block_bytes; ++i) {
        const bool in_sum = i >= 148 && i < 156;
        const auto value = in_sum ? static_cast<unsigned>(' ') : std::to_integer<unsigned>(block[i]);
        sum += value;
        signed_sum += static_cast<signed char>(value);
    }
    const std::optional<std::uint64_t> told = tar::number(block, 148, 8);
    return told && *told != 0 && (*told == sum || static_cast<std::int64_t>(*told) == signed_sum);
}

inline directory read_tar(const byte_source& from, const archive_options& options,
                          function_ref<void(std::string_view, const member&)> passed) {
    return tar::walk{from, options, passed}.run();
}

}  // namespace smdebug::inline v1::archive::detail
