// Makes a catalog's next snapshot from the last one and the index files, or a catalog_source's findings, that are new;
// caches what the loads of one run share: payloads and lists of names that may come again, and the parser.
// Layouts are shared by comparing payload bytes: a file whose payload was seen before is not parsed again.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

/// The payloads seen last, with the layouts parsed from them.
/// Memory: at most 8 payloads and 2 more for each worker, and 16 MiB in all; the last 8 are kept whatever their size.
class payload_cache {
public:
    /// The layout of a payload with exactly these bytes.  A worker mostly writes the same payload again.
    [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t worker, byte_view bytes);

    void remember(std::uint32_t worker, byte_view bytes, std::uint32_t layout);

    void forget() { *this = {}; }

private:
    static constexpr std::size_t most_bytes = std::size_t{16} << 20U;
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    struct payload {
        std::vector<std::byte> bytes;
        std::uint32_t layout = 0;  ///< place in the catalog's layouts
        std::uint64_t used = 0;
    };

    // Offsets grow from entry to entry, so payloads that differ mostly differ at their ends.
    [[nodiscard]] static bool matches(const payload& known, byte_view bytes) noexcept;
    [[nodiscard]] std::uint32_t use(std::uint32_t place, std::uint32_t worker);

    std::vector<payload> payloads_;
    std::vector<std::uint32_t> last_of_;  // place in payloads_, by worker
    std::size_t workers_ = 0;
    std::size_t bytes_ = 0;
    std::uint64_t clock_ = 0;
};

/// The lists of names seen last, the most recent first.
class recent_name_lists {
public:
    /// The list with these items and shapes.
    [[nodiscard]] std::shared_ptr<const name_list> find(std::span<const recorded_item> items,
                                                        std::span<const name_id> shapes);
    void remember(std::shared_ptr<const name_list> list);
    /// The lists of which the next file probably has one: the last few, the most recent first.
    [[nodiscard]] std::span<const std::shared_ptr<const name_list>> recent() const noexcept {
        return std::span{lists_}.first(std::min<std::size_t>(lists_.size(), 4));
    }
    void forget() noexcept { lists_.clear(); }

private:
    static constexpr std::size_t most = 32;
    std::vector<std::shared_ptr<const name_list>> lists_;
};

/// Everything that loads share.  Its indices belong to one catalog: forget() it if that catalog is dropped.
struct loader_cache {
    payload_cache payloads;
    recent_name_lists lists;
    std::unordered_map<std::string, std::uint32_t> workers;  ///< a worker's number, by its part of a file's name
    json::document parser;

    void forget();
};

}  // namespace detail

class run_contents;

namespace detail {

/// Collects index files, or what a catalog_source has found, and makes the next catalog from them and the previous one.
/// Borrows: the cache, whose indices are those of the catalog that finish() makes: forget() it if that catalog is
///          dropped.
class catalog_builder {
public:
    catalog_builder(const catalog& last, loader_cache& cache) : next_(last), names_(last.names), cache_(cache) {
        ++next_.load;
    }

    /// Global steps are generated from modes and their steps, see catalog_source (own_steps): only files whose mode
    /// step is in the range are taken.  Call before adding files.
    void select_mode_steps(const step_range& range) { mode_steps_ = range; }

    /// Adds one index file.  Returns what is wrong with it, if anything: the file is then ignored.
    /// The files of one load must come in ascending order of step and worker, which decides which step claims a mode
    /// step.  `stamp`: see catalog::file.
    [[nodiscard]] std::optional<index_file::damage> add(step_number step, std::string_view worker_part, byte_view bytes,
                                                        std::uint64_t stamp = catalog::no_stamp);

    /// Adds everything that a source has found, for the steps in a range (of mode steps after select_mode_steps()).
    /// Returns how many entries were left out, by object, because their step already has a tensor of that name.
    [[nodiscard]] std::map<std::uint32_t, std::size_t> add(const run_contents& found, const step_range& range);

    /// Sets what is currently known of the job.
    void set_job(catalog::job_description job) {
        next_.job = std::make_shared<const catalog::job_description>(std::move(job));
    }

    /// Whether any added file makes a step.
    [[nodiscard]] bool changed() const noexcept { return !added_.empty(); }

    /// The new snapshot.  `window` is the incomplete-step window; `ended`: the end-of-job mark existed before the files
    /// were listed, so nothing more will come.
    [[nodiscard]] catalog finish(int window, bool ended) &&;

private:
    // Two names can stand for one worker (.json and .csv): only the first counts, or the step would look complete.
    [[nodiscard]] bool is_repeated(step_number step, worker_id worker) const;

    // `made` stays empty for a file that names nothing.  `parts`: the parts of a file that could be split.
    [[nodiscard]] std::optional<index_file::damage> parse(worker_id worker, byte_view bytes,
                                                          const std::optional<index_file::split>& parts,
                                                          index_file::meta& head, std::optional<std::uint32_t>& made);

    void add_item(const index_file::location& place);

    // Adds what a source has found of one step, worker and object: in these stretches, with the shapes found in them.
    // Returns how many entries were left out.
    [[nodiscard]] std::size_t add_found(const run_contents& found, std::span<const std::size_t> stretches);
    [[nodiscard]] bool has_already(step_number step, worker_id worker, const recorded_item& item) const;
    // From the last snapshot or from this one.
    [[nodiscard]] const layout& layout_at(std::size_t number) const {
        const std::size_t known = next_.layouts.size();
        return number < known ? *next_.layouts[number] : *layouts_[number - known];
    }
    // The list of the forms of the current items; null where all of them are records.
    [[nodiscard]] std::shared_ptr<const form_list> forms_of(const run_contents& found);
    [[nodiscard]] std::uint32_t number_of_key(const std::string& key);

    // Files mostly name the same tensors in the same order: comparing with the last lists saves most look-ups.
    [[nodiscard]] name_id id_of(std::string_view name, std::size_t place);

    [[nodiscard]] std::shared_ptr<const name_list> list_of(const std::vector<layout::shape_entry>& shapes);

    // The layout of the current items: one of the last few, if equal, as when training repeats itself, or a new one.
    [[nodiscard]] std::uint32_t layout_of(std::shared_ptr<const name_list> names,
                                          std::vector<layout::shape_entry> shapes,
                                          std::shared_ptr<const form_list> forms);

    void sort_by_text(std::vector<name_id>& names) const;
    // Sorts by ranks_.
    void sort_by_rank(std::vector<name_id>& names) const;
    // Updates ranks_ if enough lists were made without them to make it worthwhile.
    [[nodiscard]] bool have_ranks(std::size_t list_size);

    [[nodiscard]] worker_id worker_of(std::string_view part);
    [[nodiscard]] worker_id worker_named(const std::string& name);

    // The usual name is "events/<step>/<step>_<worker part>.tfevents" and need not be stored.
    [[nodiscard]] std::uint32_t event_file(step_number step, std::string_view worker_part, std::string_view name);

    static constexpr recorded_item not_looked_up{.name = 0, .kind = 0xff};

    catalog next_;
    std::optional<step_range> mode_steps_;
    name_table_builder names_;
    std::vector<catalog::file> added_;
    std::vector<std::shared_ptr<const layout>> layouts_;
    std::vector<std::shared_ptr<const name_list>> lists_;
    std::vector<std::string> event_files_;
    std::vector<timed_number> numbers_;
    loader_cache& cache_;
    std::vector<recorded_item> items_;  // of the current file, as are the places
    std::vector<index_file::location> locations_;
    std::vector<byte_range> places_;
    std::vector<const stored_form*> forms_;
    std::shared_ptr<const form_list> last_forms_;
    std::vector<recorded_item> found_names_;  // by their numbers in the source's contents; or not_looked_up
    std::vector<worker_id> found_workers_;    // the same
    std::vector<std::uint32_t> ranks_;        // by name_id: the rank in the order of the texts, for the names so far
    std::size_t sorted_names_ = 0;            // in lists that were made without the ranks
};

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/catalog/impl/catalog_builder.ipp>
#endif
