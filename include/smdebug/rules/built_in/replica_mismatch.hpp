// The built-in rule replica_mismatch: data-parallel workers that do not hold the same.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/element_walks.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/closeness.hpp>
#include <smdebug/rules/judge/history.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

/// Fires for each tensor at the first step at which its workers do not hold the same, and again after they did.
/// Compared are the values, or the digests if more workers saved one: a save named digest/<tensor> of one int64 or
/// uint64, which stands for the tensor, and is looked at where either is selected.  Other saves under digest/ are left
/// out.
/// Workers hold the same if dtype, shape and all bytes are equal; with rtol or atol, values may also differ by |x - y|
/// <= atol + rtol * |y|, and NaN equals NaN.  The reference y is the worker that the most fit; of several the first by
/// name.
/// Edge cases: with fewer than two workers to compare, a tensor is not looked at.  If only reductions were saved of
/// what would have been compared, that is a note, as kernels may sum in any order.  An unreadable save is a note, too,
/// and the others are compared.  Text, complex numbers and empty tensors are skipped.
/// It begins with the first step that it is called with: use a new rule for a new walk.
/// Cost: one read and pass for each worker; where they differ, their values are read again, to say where.
/// Memory: a hash for each worker of one tensor; with a tolerance also values, up to 256 MiB, while they differ.
struct replica_mismatch {
    text_list collection_names =
        {};  ///< with tensor_regex the union; by default the collection "weights", and every digest
    text_list tensor_regex = {};
    double rtol = 0;
    double atol = 0;
    /// Leaves out tensors that differ where they are first compared, as shards do, and says how many.
    bool only_alike_at_first = false;

    /// What was seen of each tensor.
    class history {
        friend replica_mismatch;
        struct state {
            bool differs = false;
            bool left_out = false;
        };
        std::map<std::string, state, std::less<>> by_tensor_;
    };
    history so_far = {};  ///< state between steps, kept by the rule

    [[nodiscard]] static constexpr std::string_view name() noexcept { return "replica_mismatch"; }
    [[nodiscard]] static constexpr std::string_view summary() noexcept {
        return "data-parallel workers do not hold the same";
    }
    template <class Rule = replica_mismatch>
    [[nodiscard]] static constexpr auto settings() {
        return std::tuple{
            setting{"collection_names", &Rule::collection_names,
                    "collections to look at; with tensor_regex: both; neither: \"weights\", and every digest"},
            setting{"tensor_regex", &Rule::tensor_regex, tensor_regex_meaning, setting_kind::regexes},
            setting{"rtol", &Rule::rtol, "tolerance, as a part of the reference's value ..."},
            setting{"atol", &Rule::atol, "... plus this much; both 0: every byte must be the same"},
            setting{"only_alike_at_first", &Rule::only_alike_at_first,
                    "leave out tensors that differ where they are first compared, as shards do"}};
    }

    void check() const;

    [[nodiscard]] std::vector<finding> operator()(const std::derived_from<trial> auto& run, step_number step) {
        std::vector<finding> findings;
        std::vector<std::string> left_out;
        for (const chosen& each : chosen_at(run, step)) {
            held_by_workers held = held_at(run, step, each, findings);
            if (held.workers.size() < 2) {
                continue;
            }
            const auto found = so_far.by_tensor_.try_emplace(each.tensor);
            history::state& state = found.first->second;
            if (state.left_out) {
                continue;
            }
            const verdict said = compare(run, step, held, !state.differs);
            if (said.alike) {
                state.differs = false;
            } else if (found.second && only_alike_at_first) {
                state.left_out = true;
                left_out.push_back(each.tensor);
            } else if (!std::exchange(state.differs, true)) {
                findings.push_back(met(run, step, held, said));
            }
        }
        if (!left_out.empty()) {
            findings.push_back(note_about_left_out(left_out));
        }
        return findings;
    }

private:
    static constexpr std::size_t most_bytes = std::size_t{256} << 20U;

    /// A tensor of a step: whether its values are looked at, and whether its digest is.
    struct chosen {
        std::string tensor;
        bool values = false;
        bool digest = false;
        friend auto operator<=>(const chosen&, const chosen&) = default;
    };
    /// What the workers to compare hold of a tensor, by name.
    struct held_by_workers {
        std::string tensor = {};
        bool are_digests = false;
        std::vector<std::string> workers = {};
        std::vector<reduce::detail::tensor_hash> contents = {};  ///< a digest is in `low`
    };
    struct verdict {
        bool alike = true;
        std::size_t reference = 0;             ///< a worker's place
        std::vector<std::size_t> others = {};  ///< the places of the workers that do not fit it
    };

    [[nodiscard]] bool has_tolerance() const noexcept { return rtol > 0 || atol > 0; }

    /// The names that the settings select, saved or not.
    [[nodiscard]] static std::vector<std::string> selected_among(const auto& run, const std::vector<std::string>& names,
                                                                 const detail::tensor_choice& which) {
        std::vector<std::string> found;
        const auto take = [&](const tensor_names_options& asked) {
            const std::vector<std::string> some = run.names_among(names, asked);
            found.insert(found.end(), some.begin(), some.end());
        };
        for (const std::string& group : which.collection_names.texts()) {
            take({.collection = group});
        }
        if (!which.tensor_regex.empty()) {
            take({.regex = which.tensor_regex});
        }
        std::sort(found.begin(), found.end());
        return found;
    }

    [[nodiscard]] std::vector<chosen> chosen_at(const auto& run, step_number step) const {
        const detail::tensor_choice which = detail::choice_or(collection_names, tensor_regex, "weights");
        std::vector<std::string> selected = tensors_to_check(run, step, which);
        std::vector<std::string> digests;
        std::vector<std::string> stand_for;  // the tensors of these
        for (const std::string& each : run.tensor_names({.step = step})) {
            if (is_digest(each)) {
                digests.push_back(each);
                stand_for.emplace_back(tensor_of_digest(each));
            }
        }
        std::vector<std::string> selected_too;
        if (!digests.empty()) {
            if (collection_names.empty() && tensor_regex.empty()) {
                selected_too = stand_for;  // digests are saved to be compared
            } else {
                // Asked for apart: the names that other rules check lack a hook's digests.
                selected_too = selected_among(run, stand_for, which);
                for (const std::string& each : selected_among(run, digests, which)) {
                    selected_too.emplace_back(tensor_of_digest(each));
                }
            }
            std::sort(selected_too.begin(), selected_too.end());
        }
        return chosen_from(std::move(selected), stand_for, selected_too);
    }
    [[nodiscard]] static std::vector<chosen> chosen_from(std::vector<std::string> selected,
                                                         const std::vector<std::string>& stand_for,
                                                         const std::vector<std::string>& selected_too);

    [[nodiscard]] held_by_workers held_at(const auto& run, step_number step, const chosen& which,
                                          std::vector<finding>& notes) const {
        held_by_workers digests{.tensor = digest_of_tensor(which.tensor), .are_digests = true};
        if (which.digest) {
            const auto handle = run.tensor(digests.tensor);
            for (const std::string& worker : handle.workers(step, read_options{})) {
                const detail::saved_tensor save{handle, digests.tensor, step, worker};
                const auto values = save.values();
                if (!values && values.error().why != lookup_failure_kind::tensor_not_saved) {
                    detail::add_if_said(notes, save.note(values.error()));
                } else if (const auto digest = values ? digest_in(*values) : std::nullopt) {
                    digests.workers.push_back(worker);
                    digests.contents.push_back({*digest, 0});
                }
            }
        }
        held_by_workers values{.tensor = which.tensor};
        if (which.values) {
            const auto handle = run.tensor(which.tensor);
            const std::vector<std::string> workers = handle.workers(step, read_options{});
            if (digests.workers.size() > workers.size()) {
                return digests;
            }
            std::size_t without_values = 0;
            for (const std::string& worker : workers) {
                const detail::saved_tensor save{handle, which.tensor, step, worker};
                const auto content = save.measured(detail::content_measure{});
                if (content && content->comparable) {
                    values.workers.push_back(worker);
                    values.contents.push_back(content->hash);
                } else if (!content && content.error().why == lookup_failure_kind::tensor_not_saved) {
                    ++without_values;
                } else if (!content) {
                    detail::add_if_said(notes, save.note(content.error()));
                }
            }
            if (values.workers.size() + without_values >= 2 && values.workers.size() < 2 &&
                digests.workers.size() < 2) {
                notes.push_back({.tensor = which.tensor,
                                 .message =
                                     "its values were not saved, and reductions are not compared: a digest would "
                                     "be"});
            }
        }
        return digests.workers.size() > values.workers.size() ? digests : values;
    }
    /// Nothing unless it is one int64 or uint64.
    [[nodiscard]] static std::optional<std::uint64_t> digest_in(const tensor_value& values);

    /// Whether a worker's values fit those of a reference.
    using fitting = std::function<bool(std::size_t worker, std::size_t reference)>;

    [[nodiscard]] verdict compare(const auto& run, step_number step, const held_by_workers& held,
                                  bool needs_reference) const {
        if (held.are_digests || !has_tolerance()) {
            return verdict_of(held, nullptr, needs_reference);
        }
        const auto handle = run.tensor(held.tensor);
        std::map<std::size_t, tensor_value> known;  // by worker
        std::size_t bytes = 0;
        const auto values_of = [&](std::size_t worker) -> std::optional<tensor_value> {
            if (const auto kept = known.find(worker); kept != known.end()) {
                return kept->second;
            }
            auto read = detail::saved_tensor{handle, held.tensor, step, held.workers[worker]}.values();
            if (!read) {
                return std::nullopt;
            }
            if (bytes + read->bytes().size() <= most_bytes) {
                bytes += read->bytes().size();
                known.emplace(worker, *read);
            }
            return std::move(*read);
        };
        const fitting fits = [&](std::size_t worker, std::size_t reference) {
            const auto value = values_of(worker);
            const auto wanted = value ? values_of(reference) : value;
            return value && wanted && are_close(*value, *wanted);
        };
        return verdict_of(held, fits, needs_reference);
    }
    /// `fits`: null if only the same contents fit.  Without `needs_reference` only `alike` is found.
    [[nodiscard]] static verdict verdict_of(const held_by_workers& held, const fitting& fits, bool needs_reference);
    [[nodiscard]] bool are_close(const tensor_value& value, const tensor_value& reference) const;

    [[nodiscard]] finding met(const auto& run, step_number step, const held_by_workers& held,
                              const verdict& said) const {
        std::string where;
        if (held.are_digests) {
            where = digests_text(held, said);
        } else {
            const auto handle = run.tensor(held.tensor);
            const auto read = [&](std::size_t worker) {
                return detail::saved_tensor{handle, held.tensor, step, held.workers[worker]}.values();
            };
            const auto value = read(said.others.front());
            const auto reference = read(said.reference);
            where = value && reference ? difference_text(*value, *reference) : "they can no longer be read";
        }
        return finding_of(held, said, where);
    }
    [[nodiscard]] static std::string digests_text(const held_by_workers& held, const verdict& said);
    [[nodiscard]] std::string difference_text(const tensor_value& value, const tensor_value& reference) const;
    [[nodiscard]] static finding finding_of(const held_by_workers& held, const verdict& said, const std::string& where);
    [[nodiscard]] static finding note_about_left_out(const std::vector<std::string>& tensors);
};

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/built_in/impl/replica_mismatch.ipp>
#endif
