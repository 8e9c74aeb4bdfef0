// What components add to opening by path: the functions that <smdebug/s3.hpp>, <smdebug/archive.hpp> and
// <smdebug/formats.hpp> bring into a program.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

struct storage_options;

namespace detail {

struct s3_openers {
    any_storage (*open_storage)(std::string_view path, const storage_options& options);
    any_storage (*open_place)(std::string_view path, const s3_options& options);
};

struct archive_openers {
    /// The run at `inside` in an archive, or the only one that it has.  Nothing where that is no archive.
    std::optional<any_storage> (*open_run)(const any_storage& folder, const std::string& key, std::string_view inside,
                                           const archive_options& options);
    /// The files of an archive, whatever they are; of a zip whose names are texts, a name that comes twice is a problem.
    /// Errors: those of archive_storage; corrupt_data where it is damaged, unless options say that this is to be skipped, and
    ///         for a zip of which members share bytes.
    any_storage (*open_files)(const any_storage& folder, const std::string& key, const archive_options& options,
                              archive::detail::member_names names);
};

struct format_openers {
    /// What lies at a path, as a run: see open_data().
    any_storage (*open_run)(std::string_view path, const storage_options& options);
};

/// Null: no file of the program includes the component's header.
struct path_openers {
    std::atomic<const s3_openers*> s3 = nullptr;
    std::atomic<const archive_openers*> archives = nullptr;
    std::atomic<const format_openers*> formats = nullptr;
};

/// Those of this program.  The library's only state: it is written by the objects in the components' headers, before main()
/// or when a shared library is loaded, and always with the same values.
[[nodiscard]] path_openers& known_openers() noexcept;

/// Makes a component known: each component's header has one.
struct known_component {
    explicit known_component(const s3_openers& given) noexcept { known_openers().s3 = &given; }
    explicit known_component(const archive_openers& given) noexcept { known_openers().archives = &given; }
    explicit known_component(const format_openers& given) noexcept { known_openers().formats = &given; }
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/path_openers.ipp>
#endif
