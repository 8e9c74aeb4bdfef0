#include <program/scan_source.hpp>

#include <smdebug/batch/run_version.hpp>
#include <smdebug/batch/search/name_pattern.hpp>
#include <smdebug/storage/uri.hpp>

#include <filesystem>
#include <system_error>
#include <utility>

namespace smdebug::inline v1::cli::detail {

void asked_places::ask(const std::string& line) {
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

void asked_places::see(const std::string& path) {
    const std::string key = smdebug::detail::run_key_of(path);
    auto inside = smdebug::detail::split_at_archive(key);
    const std::lock_guard lock{guard_};
    seen_.insert(key);
    if (inside) {
        archives_.insert(std::move(inside->archive));
    }
}

void asked_places::keep(const std::string& path) {
    std::string key = smdebug::detail::run_key_of(path);
    const std::lock_guard lock{guard_};
    kept_.insert(std::move(key));
}

void asked_places::take(const run_result& result) {
    see(result.run.path);
    const bool is_well = result.state == run_state::ended || result.state == run_state::growing ||
                         result.state == run_state::unchanged || result.state == run_state::gone;
    if (!is_well) {
        const auto inside = smdebug::detail::split_at_archive(result.run.path);
        keep(inside ? inside->archive : result.run.path);
    }
}

std::size_t asked_places::mark_gone(results_database& base, std::string_view question) {
    const std::lock_guard lock{guard_};
    std::size_t all = 0;
    std::vector<std::string> archives;
    for (const place& each : asked_) {
        const std::string root = smdebug::detail::run_key_of(each.root);
        all += base.mark_gone(root, "it is no longer there", [&](std::string_view behind) {
            const std::string key = root + std::string{behind};
            const bool is_past =
                (!each.pattern || is_match(*each.pattern, behind)) && !is_kept(key) && seen_.insert(key);
            if (is_past && archives_.contains(key)) {
                archives.push_back(key);
            }
            return is_past && !archives_.contains(key);
        });
    }
    for (const std::string& each : archives) {
        const auto known = base.find(each);
        if (!known || known->state != run_state::ended || !is_no_run(*known)) {
            base.write({.run = {.path = each}, .state = run_state::ended}, question);
        }
    }
    return all;
}

bool asked_places::is_match(const smdebug::detail::path_pattern& pattern, std::string_view behind) {
    const auto inside = smdebug::detail::split_at_archive(behind);
    const std::string outer = inside ? inside->archive : std::string{behind};
    return pattern.covers(std::string_view{outer}.substr(outer.starts_with('/') ? 1 : 0));
}

bool asked_places::is_kept(std::string key) const {
    while (!kept_.empty() && !kept_.contains(key)) {
        const std::size_t end = key.find_last_of("/!");
        if (end == std::string::npos) {
            return false;
        }
        key.resize(end);
    }
    return !kept_.empty();
}

namespace {

// The place that decides a run's shard: the same for all spellings, and through links.
std::string place_on_disk(const std::string& path) {
    const std::string key = smdebug::detail::run_key_of(path);
    std::error_code failed;
    const auto place = std::filesystem::weakly_canonical(key, failed);
    return failed || !key.starts_with('/') ? key : place.string();
}

// Whether an archive must be read to its end to list its members: then it is scanned as a whole, in one pass.
bool is_one_stream(std::string_view path) {
    const std::string_view extension = smdebug::detail::archive_extension_of(path);
    return extension != ".tar" && extension != ".zip";
}

}  // namespace

std::string version_in_archive(const std::string& path, std::size_t runs, const storage_options& storage) {
    const auto files = run_version_at(path, storage);
    return files ? files->version + "/" + std::to_string(runs) : std::string{};
}

scan_source::scan_source(const scan_arguments& args, std::istream* list, known_results known)
    : args_(args), known_(std::move(known)) {
    known_.asked = known_.asked != nullptr ? known_.asked : &asked_;
    if (list != nullptr) {
        list_.emplace(*list, "--list " + args.list.value_or("-"));
    }
    finder_.emplace(run_finder::line_source{[this] { return next_line(); }},
                    run_finder::settings{.storage = args.check.how.storage, .open_archives = false});
}

std::optional<batch_run> scan_source::next() {
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
            known_.asked->keep(found->run.path);
            if (found->is_damage && args_.check.how.skip_damaged) {
                continue;  // noted when its runs are opened
            }
            found->run.place = place_++;
            return std::move(found->run);
        }
        if (!inner_ && is_whole_archive(found->run.path) && !is_one_stream(found->run.path)) {
            is_beside_ = found->run.is_beside;
            inner_.emplace(std::vector<std::string>{found->run.path},
                           run_finder::settings{.storage = args_.check.how.storage});
            continue;
        }
        if (const bool is_whole = is_whole_archive(found->run.path); inner_ || !is_whole) {  // of others, runs are seen
            found->run.is_beside = is_whole && is_beside_;
            known_.asked->see(found->run.path);
        }
        found->run.place = place_++;  // in the whole list, whatever is left out of it
        if (args_.shard && !args_.shard->has(place_on_disk(found->run.path))) {
            known_.asked->keep(found->run.path);
            continue;
        }
        if (is_done(found->run)) {
            continue;
        }
        return std::move(found->run);
    }
}

std::optional<std::string> scan_source::next_line() {
    std::optional<std::string> line;
    if (next_argument_ < args_.check.runs.size()) {
        line = args_.check.runs[next_argument_++];
    } else if (list_) {
        line = list_->next();
        listed_ += line ? 1U : 0U;
    }
    if (line) {
        known_.asked->ask(*line);
    }
    return line;
}

bool scan_source::is_whole_archive(const std::string& path) {
    const auto archived = smdebug::detail::archive_in(path);
    return archived && archived->inside.empty();
}

bool scan_source::is_done(batch_run& run) {
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
        known_.asked->see(path);
    }
    known_.unchanged(paths);
    return true;
}

}  // namespace smdebug::inline v1::cli::detail
