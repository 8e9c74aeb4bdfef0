#include <program/diff_story.hpp>

#include <program/rows.hpp>
#include <program/table.hpp>
#include <program/text.hpp>
#include <smdebug/core/json_text.hpp>

#include <algorithm>
#include <string_view>

namespace smdebug::inline v1::cli::detail {

std::string place_text(std::size_t place, std::span<const std::size_t> extents) {
    std::string text;
    for (std::size_t axis = extents.size(); axis-- > 0;) {
        const std::size_t extent = std::max<std::size_t>(extents[axis], 1);
        text = (axis == 0 ? "[" : ", ") + std::to_string(place % extent) + text;
        place /= extent;
    }
    return text.empty() ? text : text + "]";
}

std::string to_message(const run_difference& each) {
    if (each.kind != run_difference_kind::values || each.elements == 0) {  // without elements it is of digests
        return each.what;
    }
    std::string text = grouped(each.differing) + " of " + grouped(each.elements) +
                       (each.elements == 1 ? " element differs" : " elements differ");
    const auto& shown = each.farthest ? each.farthest : each.first;
    const std::string place = each.shape != nullptr ? place_text(shown->place, *each.shape) : std::string{};
    text += each.farthest ? ", the largest difference is " + short_text(each.largest) : ", the first";
    return text + (place.empty() ? "" : " at " + place) + " (" + shown->first + " and " + shown->second + ")";
}

namespace {

// "step 40 (TRAIN 20)".
std::string step_text(step_number step, mode in, step_number mode_step) {
    return "step " + std::to_string(step) + " (" + std::string{name_of(in)} + " " + std::to_string(mode_step) + ")";
}

}  // namespace

void diff_story::add(const run_difference& each) {
    switch (each.kind) {
        case run_difference_kind::unreadable:
            return;
        case run_difference_kind::step:
            alone_[each.run - 1][by_mode_ ? each.mode : mode::global].push_back(each.step);
            return;
        case run_difference_kind::collection:
            break;
        default:
            if (parted_.empty()) {
                parted_ = step_text(each.step, each.mode, each.mode_step);
                parted_ += each.worker == "worker_0" || each.worker.empty() ? "" : " of " + std::string{each.worker};
                parted_ += ": " + (each.tensor.empty() ? "" : "tensor " + std::string{each.tensor} + ": ");
                parted_ += to_message(each);
            }
            break;
    }
    if (each.kind != run_difference_kind::values && each.kind != run_difference_kind::reduction) {
        other& kept = others_[{each.kind, each.run, std::string{each.tensor}}];
        if (kept.times++ == 0) {
            kept.step = each.step;
            kept.what = each.what;
        }
    }
}

void diff_story::add(const compared_step& step) {
    if (step.differing > 0 || !steps_.empty()) {
        steps_.push_back(step);
    }
}

std::string diff_story::title(const diff_summary& all) const {
    if (all.steps == 0) {
        return "The runs are not comparable";
    }
    if (all.differences > 0) {
        return "Where the runs part";
    }
    return are_same(all) ? "The runs are the same" : "What can be read of both runs is the same";
}

std::string diff_story::sentence(const diff_summary& all, const std::optional<double>& rtol,
                                 const std::optional<double>& atol) const {
    const std::string_view which = unread_[0] ? (unread_[1] ? "either run" : "the first run") : "the second run";
    const bool unread = unread_[0] || unread_[1];
    return what_came(all, rtol, atol) +
           (unread ? "; not all of " + std::string{which} + " could be read" : std::string{});
}

void diff_story::print_others(console& to) const {
    for (const std::size_t run : {0U, 1U}) {
        for (const auto& [in, steps] : alone_[run]) {
            to.print("only the " + std::string{smdebug::detail::name_of_run(static_cast<unsigned>(run) + 1)} +
                     " run has " + counted(steps.size(), "step") + ": " +
                     (in == mode::global ? "" : std::string{name_of(in)} + " ") + compact_steps(steps) + "\n");
        }
    }
    if (others_.empty()) {
        return;
    }
    row_sink rows{to,
                  output_format::table,
                  {{"kind"}, {"name"}, {"from step", true}, {"times", true}, text_column("what", shortened::at_end)}};
    row_buffer row = rows.buffer();
    for (const auto& [key, kept] : others_) {
        const auto& [kind, run, name] = key;
        row.text(name_of(kind));
        name.empty() ? row.empty() : row.text(name);
        kept.step < 0 ? row.empty() : row.integer(kept.step);
        row.integer(kept.times);
        row.text(kept.what);
        row.end_row();
    }
    rows.take(row);
    to.print("\n");
    rows.finish("");
}

void diff_story::print_steps(console& to) const {
    if (steps_.empty()) {
        return;
    }
    row_sink rows{to,
                  output_format::table,
                  {{"step", true},
                   {.name = "mode", .gives_way = 2},
                   {.name = "mode_step", .right = true, .gives_way = 3},
                   {.name = "tensors", .right = true, .gives_way = 1},
                   {"differ", true},
                   {"largest", true},
                   {"relative", true},
                   {"tensor"}}};
    row_buffer row = rows.buffer();
    const std::size_t left = steps_.size() > most_rows ? most_rows - first_rows : 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        if (left > 0 && i >= first_rows) {  // the rest evenly, with the last
            const std::size_t all = steps_.size() - first_rows;
            const std::size_t place = i - first_rows + 1;
            if (place * left / all == (place - 1) * left / all) {
                continue;
            }
        }
        const compared_step& step = steps_[i];
        row.integer(step.step);
        row.text(name_of(step.mode));
        row.integer(step.mode_step);
        row.integer(step.tensors);
        row.integer(step.differing);
        const bool was_measured = step.differing == 0 || !step.farthest_tensor.empty();
        was_measured ? row.number(step.largest) : row.empty();
        was_measured ? row.number(step.largest_relative) : row.empty();
        step.farthest_tensor.empty() ? row.empty() : row.text(step.farthest_tensor);
        row.end_row();
    }
    rows.take(row);
    to.print("\n");
    rows.finish("");
    if (left > 0) {
        to.print("\n" + std::to_string(steps_.size() - most_rows) + " of " + counted(steps_.size(), "step") +
                 " left out; --all shows every difference\n");
    }
}

std::string diff_story::what_came(const diff_summary& all, const std::optional<double>& rtol,
                                  const std::optional<double>& atol) const {
    if (!parted_.empty()) {
        return "the runs part at " + parted_;
    }
    if (all.steps == 0) {
        return "the runs are not comparable: no step is in both of them";
    }
    const std::string compared = counted(all.steps, "step") + ", " + counted(all.tensors, "tensor") + ", " +
                                 size_text(all.bytes) + " compared" +
                                 (all.by_digest == 0 ? std::string{} : ", " + grouped(all.by_digest) + " by digest");
    std::string within;
    if (rtol || atol) {
        within = " within rtol " + short_text(rtol.value_or(0)) + " and atol " + short_text(atol.value_or(0));
    }
    if (are_same(all)) {
        return "the runs are the same" + within + ": " + compared;
    }
    if (all.differences == 0) {
        return "what can be read of both runs is the same" + within + ": " + compared;
    }
    return "where both runs have a step they are the same" + within + ", but for what is below: " + compared;
}

}  // namespace smdebug::inline v1::cli::detail
