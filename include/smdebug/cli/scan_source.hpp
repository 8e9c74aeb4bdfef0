// The runs of a scan: arguments and lists, searched for runs; those of another shard, and archives that are done, left out.
#pragma once

#include <smdebug/batch/find_runs.hpp>
#include <smdebug/batch/results_database.hpp>
#include <smdebug/batch/run_list.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/batch/run_version.hpp>
#include <smdebug/batch/search/name_pattern.hpp>
#include <smdebug/batch/search/seen_paths.hpp>
#include <smdebug/batch/search/written_path.hpp>
#include <smdebug/batch/shard.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/cli/scan_arguments.hpp>
#include <smdebug/storage/uri.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// Where a scan was asked to look, and what it came upon there: of the runs that a database has there the others are gone.
/// Threads: calls may run at once.
class asked_places {
public:
    /// Each line that stands for runs.
    void ask(const std::string& line) {
        try {
            const std::string plain = smdebug::detail::plain_path_of(line);
            const std::lock_guard lock{guard_};
            if (smdebug::detail::first_wildcard(plain) == std::string::npos) {
                asked_.push_back({.root = plain});
            } else if (!smdebug::detail::split_at_archive(plain)) {
                auto [root, prefix, pattern] = smdebug::detail::split_at_wildcard(plain);
                asked_.push_back({std::move(root), smdebug::detail::path_pattern{pattern}});
            }
        } catch (const error&) {
            // no path: nothing can be there
        }
    }
    /// A run that is there.
    void see(const std::string& path) {
        const std::string key = smdebug::detail::run_key_of(path);
        const std::lock_guard lock{guard_};
        seen_.insert(key);
    }
    /// A place that could not be searched to its end, or need not be: what was there stays.
    void keep(const std::string& path) {
        std::string key = smdebug::detail::run_key_of(path);
        const std::lock_guard lock{guard_};
        kept_.insert(std::move(key));
    }
    /// A result, whatever it is: where a run of an archive breaks, others behind it may not have been found.
    void take(const run_result& result) {
        see(result.run.path);
        const bool is_well = result.state == run_state::ended || result.state == run_state::growing ||
                             result.state == run_state::unchanged || result.state == run_state::gone;
        if (!is_well) {
            const auto inside = smdebug::detail::split_at_archive(result.run.path);
            keep(inside ? inside->archive : result.run.path);
        }
    }
    /// When all was looked at.  Returns how many runs are gone since the last time.
    std::size_t mark_gone(results_database& base) {
        const std::lock_guard lock{guard_};
        std::size_t all = 0;
        for (const place& each : asked_) {
            const std::string root = smdebug::detail::run_key_of(each.root);
            all += base.mark_gone(root, "it is no longer there", [&](std::string_view behind) {
                return (!each.pattern || is_match(*each.pattern, behind)) && !is_kept(root + std::string{behind}) &&
                       seen_.insert(root + std::string{behind});
            });
        }
        return all;
    }

private:
    struct place {
        std::string root = {};
        std::optional<smdebug::detail::path_pattern> pattern = {};  ///< of what lies below
    };

    [[nodiscard]] static bool is_match(const smdebug::detail::path_pattern& pattern, std::string_view behind) {
        const auto inside = smdebug::detail::split_at_archive(behind);
        const std::string outer = inside ? inside->archive : std::string{behind};
        return pattern.covers(std::string_view{outer}.substr(outer.starts_with('/') ? 1 : 0));
    }
    [[nodiscard]] bool is_kept(std::string key) const {
        while (!kept_.empty() && !kept_.contains(key)) {
            const std::size_t end = key.find_last_of("/!");
            if (end == std::string::npos) {
                return false;
            }
            key.resize(end);
        }
        return !kept_.empty();
    }

    std::mutex guard_;
    std::vector<place> asked_;
    smdebug::detail::seen_paths seen_;
    std::set<std::string> kept_;
};

/// What was done before, as a database of results knows it; all may be empty.  Called by the thread that asks for runs.
struct known_results {
    /// The version at which a run is done.
    std::function<std::optional<std::string>(const std::string& path)> version_of = {};
    /// Path and version of the runs of an archive that are done.
    std::function<std::vector<std::pair<std::string, std::string>>(const std::string& archive)> in_archive = {};
    /// Is told of the runs of an archive for which nothing is to be done.
    std::function<void(const std::vector<std::string>&)> unchanged = {};
    asked_places* asked = nullptr;
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
            if (known_.asked != nullptr) {
                found->run.error.empty() ? known_.asked->see(found->run.path) : known_.asked->keep(found->run.path);
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
                keep(found->run.path);
                continue;
            }
            if (is_done(found->run)) {
                continue;
            }
            return std::move(found->run);
        }
    }

    /// Behind the last: whether there was a list, and no path in it.
    [[nodiscard]] bool list_is_empty() const noexcept { return list_ && listed_ == 0; }
    /// "3 .pt, 1 .tar.bz2": files that the search has come upon, and that are not read; empty: none.
    [[nodiscard]] std::string left_out() const {
        std::string text;
        for (const auto& [ending, count] : finder_->left_out()) {
            text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + ending;
        }
        return text;
    }

private:
    [[nodiscard]] std::optional<std::string> next_line() {
        std::optional<std::string> line;
        if (next_argument_ < args_.check.runs.size()) {
            line = args_.check.runs[next_argument_++];
        } else if (list_) {
            line = list_->next();
            listed_ += line ? 1U : 0U;
        }
        if (line && known_.asked != nullptr) {
            known_.asked->ask(*line);
        }
        return line;
    }

    void keep(const std::string& path) {
        if (known_.asked != nullptr) {
            known_.asked->keep(path);
        }
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
        if (done.empty()) {
            return false;
        }
        std::vector<std::string> paths;
        for (const auto& [path, version] : done) {
            paths.push_back(path);
        }
        known_.unchanged(paths);
        keep(run.path);
        return true;
    }

    const scan_arguments& args_;
    known_results known_;
    std::optional<run_list> list_;
    std::optional<run_finder> finder_;
    std::optional<run_finder> inner_;  // the runs of an archive
    std::size_t next_argument_ = 0;
    std::size_t listed_ = 0;  // lines of the list
    std::uint64_t place_ = 0;
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
