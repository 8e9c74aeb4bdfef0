// Makes a catalog's next snapshot: the last one and the index files that have come since.
// Layouts are shared by comparing payload bytes: a file whose payload was seen before is not parsed again.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/index_file.hpp>
#include <smdebug/index/index_meta.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/catalog/load_memory.hpp>
#include <smdebug/trial/catalog/name_list.hpp>
#include <smdebug/trial/catalog/name_table.hpp>
#include <smdebug/trial/catalog/stored_form.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

class run_contents;

namespace detail {

/// Collects index files, or what a catalog_source has found, and then makes a catalog of them and the one before.
/// Borrows: the memory, whose places are those of the catalog that finish() makes: forget() it when that one is
/// dropped.
class catalog_builder {
public:
    catalog_builder(const catalog& last, load_memory& memory) : next_(last), names_(last.names), memory_(memory) {}

    /// Global steps are made of modes and their steps, see storage_abilities::own_steps: only files whose mode step is in
    /// the range are taken.  Before the first file.
    void select_mode_steps(const step_range& range) { mode_steps_ = range; }

    /// Takes in one index file.  Returns what is wrong with it, if anything: it then counts as not there.
    /// The files of one load come in ascending order of step and worker, which decides whose a mode step is.
    [[nodiscard]] std::optional<index_file::damage> add(step_number step, std::string_view worker_part,
                                                        byte_view bytes);

    /// Takes in all that a source has found, of the steps in a range (of mode steps after select_mode_steps()).
    /// Returns how many entries were left out, by object, as their step has a tensor of that name already.
    [[nodiscard]] std::map<std::uint32_t, std::size_t> add(const run_contents& found, const step_range& range);

    /// What is known of the job by now.
    void set_job(catalog::job_description job) {
        next_.job = std::make_shared<const catalog::job_description>(std::move(job));
    }

    /// Whether add has taken anything that makes a step.
    [[nodiscard]] bool changed() const noexcept { return !added_.empty(); }

    /// The new snapshot.  `window` is the incomplete-step window; `ended` whether the end-of-job mark was there before
    /// the files were listed, so that nothing more will come.
    [[nodiscard]] catalog finish(int window, bool ended) &&;

private:
    // Two names can stand for one worker (.json and .csv): the first counts, or the step would look complete.
    [[nodiscard]] bool is_repeated(step_number step, worker_id worker) const;

    // `made` stays empty for a file that names nothing.  `parts`: those of a file that could be split.
    [[nodiscard]] std::optional<index_file::damage> parse(worker_id worker, byte_view bytes,
                                                          const std::optional<index_file::split>& parts,
                                                          index_file::meta& head, std::optional<std::uint32_t>& made);

    void add_item(const index_file::location& place);

    // What a source has found of one step, worker and object: its runs, and the shapes that begin with theirs.
    // Returns how many entries were left out.
    [[nodiscard]] std::size_t add_found(const run_contents& found, std::span<const std::size_t> runs);
    [[nodiscard]] bool has_already(step_number step, worker_id worker, const recorded_item& item) const;
    // Of the last snapshot, or of this one.
    [[nodiscard]] const layout& layout_at(std::size_t number) const {
        const std::size_t known = next_.layouts.size();
        return number < known ? *next_.layouts[number] : *layouts_[number - known];
    }
    // The list of the forms of the items at hand; null where all of them are records.
    [[nodiscard]] std::shared_ptr<const form_list> forms_of(const run_contents& found);
    [[nodiscard]] std::uint32_t number_of_key(const std::string& key);

    // Files mostly name the same tensors in the same order: a glance at the last lists saves most look-ups.
    [[nodiscard]] name_id id_of(std::string_view name, std::size_t place);

    [[nodiscard]] std::shared_ptr<const name_list> list_of(const std::vector<layout::shape_entry>& shapes);

    // The layout of the items at hand: one of the last few, which say the same where training repeats itself, or a new one.
    [[nodiscard]] std::uint32_t layout_of(std::shared_ptr<const name_list> names,
                                          std::vector<layout::shape_entry> shapes,
                                          std::shared_ptr<const form_list> forms);

    void sort_by_text(std::vector<name_id>& names) const;
    // The same by ranks_.
    void sort_by_rank(std::vector<name_id>& names) const;
    // Sets ranks_ right where enough lists were made without them to be worth it.
    [[nodiscard]] bool have_ranks(std::size_t list_size);

    [[nodiscard]] worker_id worker_of(std::string_view part);
    [[nodiscard]] worker_id worker_named(const std::string& name);

    // The usual name is "events/<step>/<step>_<worker part>.tfevents" and need not be kept.
    [[nodiscard]] std::uint32_t event_file(step_number step, std::string_view worker_part, std::string_view name);

    static constexpr recorded_item not_asked_for{.name = 0, .kind = 0xff};

    catalog next_;
    std::optional<step_range> mode_steps_;
    name_table_builder names_;
    std::vector<catalog::file> added_;
    std::vector<std::shared_ptr<const layout>> layouts_;
    std::vector<std::shared_ptr<const name_list>> lists_;
    std::vector<std::string> event_files_;
    std::vector<timed_number> numbers_;
    load_memory& memory_;
    std::vector<recorded_item> items_;  // of the file at hand, as are the places
    std::vector<index_file::location> locations_;
    std::vector<byte_range> places_;
    std::vector<const stored_form*> forms_;
    std::shared_ptr<const form_list> last_forms_;
    std::vector<recorded_item> found_names_;  // by their numbers in what was found; or not_asked_for
    std::vector<worker_id> found_workers_;    // the same
    std::vector<std::uint32_t> ranks_;        // by name_id: the place in the order of the texts, of the names so far
    std::size_t sorted_names_ = 0;            // in lists that were made without the ranks
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/catalog/impl/catalog_builder.ipp>
#endif
