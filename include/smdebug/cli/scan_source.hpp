// The runs of a scan: arguments and lists, searched for runs; those of another shard, and archives that are done, left out.
#pragma once

#include <smdebug/batch/find_runs.hpp>
#include <smdebug/batch/run_list.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/batch/run_version.hpp>
#include <smdebug/batch/shard.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/cli/scan_arguments.hpp>
#include <smdebug/storage/uri.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// What was done before, as a database of results knows it; all may be empty.  Called by the thread that asks for runs.
struct known_results {
    /// The version at which a run is done.
    std::function<std::optional<std::string>(const std::string& path)> version_of = {};
    /// Path and version of the runs of an archive that are done.
    std::function<std::vector<std::pair<std::string, std::string>>(const std::string& archive)> in_archive = {};
    /// Is told of so many runs for which nothing is to be done.
    std::function<void(std::size_t)> unchanged = {};
};

/// Whether an archive must be read to its end to know what is in it: then it is looked at as a whole, in one pass.
[[nodiscard]] inline bool is_one_stream(std::string_view path) {
    const std::string_view extension = smdebug::detail::archive_extension_of(path);
    return extension != ".tar" && extension != ".zip";
}

/// The version of a run of an archive that is looked at as a whole: with how many runs are in it, so that it is known
/// whether all of them are done.
[[nodiscard]] inline std::string version_in_archive(const std::string& path, std::size_t runs,
                                                    const storage_options& storage) {
    const auto files = run_version_at(path, storage);
    return files ? files->version + "/" + std::to_string(runs) : std::string{};
}

/// Gives the runs that are to be looked at.  One thread at a time.
class scan_source {
public:
    /// `list`: a stream of further lines, or null.  Borrows arguments and stream.
    scan_source(const scan_arguments& args, std::istream* list, known_results known = {})
        : args_(args), known_(std::move(known)) {
        if (list != nullptr) {
            list_.emplace(*list, "--list " + args.list.value_or("-"));
        }
        finder_.emplace(run_finder::line_source{[this] { return next_line(); }},
                        run_finder::settings{.storage = args.check.how.storage, .open_archives = false});
    }

    /// The next one; nothing behind the last.
    [[nodiscard]] std::optional<batch_run> next() {
        while (true) {
            auto found = inner_ ? inner_->next() : finder_->next();
            if (!found && inner_) {
                inner_.reset();
                continue;
            }
            if (!found) {
                return std::nullopt;
            }
            if (!found->run.error.empty()) {
                if (found->is_damage && args_.check.how.skip_damaged) {
                    continue;  // what opens its runs notes it
                }
                found->run.place = place_++;
                return std::move(found->run);
            }
            if (!inner_ && is_whole_archive(found->run.path) && !is_one_stream(found->run.path)) {
                inner_.emplace(std::vector<std::string>{found->run.path},
                               run_finder::settings{.storage = args_.check.how.storage});
                continue;
            }
            found->run.place = place_++;  // in the whole list, whatever is left out of it
            if (args_.shard && !args_.shard->has(found->run.path)) {
                continue;
            }
            if (is_done(found->run)) {
                continue;
            }
            return std::move(found->run);
        }
    }

private:
    [[nodiscard]] std::optional<std::string> next_line() {
        if (next_argument_ < args_.check.runs.size()) {
            return args_.check.runs[next_argument_++];
        }
        return list_ ? list_->next() : std::nullopt;
    }

    [[nodiscard]] static bool is_whole_archive(const std::string& path) {
        const auto archived = smdebug::detail::archive_in(path);
        return archived && archived->inside.empty();
    }

    // Fills in the version at which a run is done: whether it has changed is looked at by who works on it.  Of an archive
    // that is looked at as a whole that is done here.
    [[nodiscard]] bool is_done(batch_run& run) {
        if (!known_.version_of) {
            return false;
        }
        if (!is_whole_archive(run.path)) {
            run.version = known_.version_of(run.path).value_or("");
            return false;
        }
        const auto done = known_.in_archive(run.path);
        for (const auto& [path, version] : done) {
            if (version_in_archive(path, done.size(), args_.check.how.storage) != version) {
                return false;
            }
        }
        if (!done.empty()) {
            known_.unchanged(done.size());
        }
        return !done.empty();
    }

    const scan_arguments& args_;
    known_results known_;
    std::optional<run_list> list_;
    std::optional<run_finder> finder_;
    std::optional<run_finder> inner_;  // the runs of an archive
    std::size_t next_argument_ = 0;
    std::uint64_t place_ = 0;
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
