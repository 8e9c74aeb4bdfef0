#include <c/handle.hpp>

#include <smdebug/formats.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/rules/rule_result.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::c {
namespace {

class run_handle final : public handle_of<handle_kind::run, trial> {
public:
    // What texts that calls have returned point to.
    std::vector<std::string> names;
    std::vector<rule_result> results;
};

template <class T>
const T& item(const std::vector<T>& list, std::size_t index, const char* what, const char* listed_by) {
    if (index >= list.size()) {
        throw value_error("there is no " + std::string{what} + " " + std::to_string(index) + ": " + listed_by +
                          " has " + std::to_string(list.size()) + ", counted from 0");
    }
    return list[index];
}

// Stores a count, and copies so many elements by copy() where there is a buffer.
template <class Copy>
void fill(std::size_t needed, const void* buffer, std::size_t capacity, std::size_t* count, const char* what,
          Copy&& copy) {
    place(count, "the place of the count") = needed;
    if (buffer == nullptr) {
        return;
    }
    if (capacity < needed) {
        throw buffer_too_small("the buffer has room for " + std::to_string(capacity) + " " + what + ", and there are " +
                               std::to_string(needed) + ": nothing was copied");
    }
    copy();
}

// Where a tensor is read: the options of one of the reading calls.
template <class Options>
Options at(smd_mode mode, const char* worker) {
    Options where;
    where.mode = mode_of(mode);
    if (worker != nullptr) {
        where.worker = worker;
    }
    return where;
}

tensor_value converted_to(dtype wanted, const tensor_value& value, std::string_view name) {
    std::optional<tensor_value> other;
    visit_dtype(wanted, [&]<class T>() {
        if (auto made = converted<T>(value); made.ok()) {
            other = *std::move(made);
        }
    });
    if (!other) {
        throw unsupported(error_code::wrong_dtype,
                          "the tensor \"" + std::string{name} + "\" holds " + std::string{name_of(value.type())} +
                              ", and not every element can be a " + std::string{name_of(wanted)} +
                              ": read it as it is, see smd_run_tensor()");
    }
    return *std::move(other);
}

using registry_type = rule_registry<trial>;

std::vector<any_rule<trial>> rules_from(std::string_view given, const registry_type& registry, const trial& run) {
    const std::vector<rule_request> requests =
        is_json(given) ? parse_rules_json(given, "rules") : std::vector{rule_request{.rule = std::string{given}}};
    std::vector<any_rule<trial>> rules;
    for (const rule_request& each : requests) {
        registry_type::other_runs others;
        for (const std::string& path : each.other_trials) {
            others.push_back(std::make_shared<const trial>(create_trial(path)));
        }
        rules.push_back(registry.make(each.rule, each.parameters, others));
        rules.back().limit(
            smdebug::detail::catalog_of(run)->global_range({.begin = each.start_step, .end = each.end_step}));
    }
    return rules;
}

std::vector<rule_result> check(const trial& run, const char* given) {
    const auto registry = registry_type::built_in();
    const auto rules = given != nullptr ? rules_from(given, registry, run) : applicable_rules(registry, run);
    // The steps that exist now: a running job may write them faster than rules judge them.
    const std::vector<step_number> steps = run.steps({.show_incomplete_steps = true});
    const auto end = run.loaded_all_steps() ? std::nullopt : std::optional{steps.empty() ? 0 : steps.back() + 1};
    auto results = invoke_rules(run, rules, {.common = {.end_step = end, .timeout = std::chrono::milliseconds{0}}});
    for (rule_result& each : results) {
        each.status = end && each.status == rule_status::no_issues_found ? rule_status::in_progress : each.status;
    }
    return results;
}

static_assert(SMD_IN_PROGRESS == static_cast<int>(rule_status::in_progress) &&
              SMD_NOT_APPLICABLE == static_cast<int>(rule_status::not_applicable));

}  // namespace
}  // namespace smdebug::inline v1::c

using namespace smdebug;
using namespace smdebug::c;

smd_status smd_run_open(const char* path, smd_run** run) {
    return handle::make<run_handle>(run, __func__,
                                    [&](run_handle& made) { made.opened.emplace(create_trial(text(path, "path"))); });
}

smd_status smd_run_names(smd_run* run, const char* collection, const char* regex, size_t* count) {
    return handle::guard<run_handle>(run, __func__, [&](run_handle& held) {
        std::size_t& listed = place(count, "count");
        tensor_names_options which;
        if (collection != nullptr) {
            which.collection = collection;
        }
        if (regex != nullptr) {
            which.regex = regex;
        }
        held.names = held.get().tensor_names(which);
        listed = held.names.size();
    });
}

smd_status smd_run_name(smd_run* run, size_t index, const char** name) {
    return handle::guard<run_handle>(run, __func__, [&](run_handle& held) {
        place(name, "name") = item(held.names, index, "name", "the last smd_run_names()").c_str();
    });
}

smd_status smd_run_steps(smd_run* run, const char* name, smd_mode mode, int64_t* steps, size_t capacity,
                         size_t* count) {
    return handle::guard<run_handle>(run, __func__, [&](run_handle& held) {
        const steps_options which{.mode = mode_of(mode)};
        const std::vector<step_number> all =
            name == nullptr ? held.get().steps(which) : held.get().tensor(name).steps(which);
        fill(all.size(), steps, capacity, count, "steps", [&] { std::copy(all.begin(), all.end(), steps); });
    });
}

smd_status smd_run_tensor(smd_run* run, const char* name, smd_mode mode, int64_t step, const char* worker,
                          smd_dtype* dtype, int64_t* shape, size_t capacity, size_t* rank) {
    return handle::guard<run_handle>(run, __func__, [&](run_handle& held) {
        const tensor_handle tensor = held.get().tensor(text(name, "name"));
        const auto found = tensor.find_value(step, at<value_options>(mode, worker));
        if (!found && found.error().why != lookup_failure_kind::tensor_not_saved) {
            throw_failure(found.error());
        }
        const shape_type extents = found ? found->shape() : tensor.shape(step, at<read_options>(mode, worker));
        fill(extents.size(), shape, capacity, rank, "extents", [&] {
            std::transform(extents.begin(), extents.end(), shape,
                           [](std::size_t each) { return static_cast<std::int64_t>(each); });
        });
        store(found ? static_cast<smd_dtype>(found->type()) : 0, dtype);
    });
}

smd_status smd_run_values(smd_run* run, const char* name, smd_mode mode, int64_t step, const char* worker,
                          smd_dtype dtype, void* values, size_t capacity, size_t* count) {
    return handle::guard<run_handle>(run, __func__, [&](run_handle& held) {
        const smdebug::dtype wanted = dtype_of(dtype);
        const std::string_view called = text(name, "name");
        const tensor_value value =
            converted_to(wanted, held.get().tensor(called).value(step, at<value_options>(mode, worker)), called);
        fill(value.size(), values, capacity, count, "elements",
             [&] { std::copy(value.bytes().begin(), value.bytes().end(), static_cast<std::byte*>(values)); });
    });
}

smd_status smd_run_reduction(smd_run* run, const char* name, smd_mode mode, int64_t step, const char* worker,
                             const char* reduction, double* value) {
    return handle::guard<run_handle>(run, __func__, [&](run_handle& held) {
        const tensor_handle tensor = held.get().tensor(text(name, "name"));
        place(value, "value") =
            tensor.reduction_value(step, text(reduction, "reduction"), at<reduction_options>(mode, worker));
    });
}

smd_status smd_run_digest(smd_run* run, const char* name, smd_mode mode, int64_t step, const char* worker,
                          int64_t* digest) {
    return handle::guard<run_handle>(run, __func__, [&](run_handle& held) {
        const tensor_handle tensor = held.get().tensor(text(name, "name"));
        place(digest, "digest") = tensor.digest(step, at<read_options>(mode, worker));
    });
}

smd_status smd_run_check(smd_run* run, const char* rules, size_t* count) {
    return handle::guard<run_handle>(run, __func__, [&](run_handle& held) {
        std::size_t& listed = place(count, "count");
        held.results = check(held.get(), rules);
        listed = held.results.size();
    });
}

smd_status smd_run_result(smd_run* run, size_t index, smd_result* result) {
    return handle::guard<run_handle>(run, __func__, [&](run_handle& held) {
        const rule_result& from = item(held.results, index, "result", "the last smd_run_check()");
        const rule_outcome& all = from.outcome;
        const std::string& details = from.failure.empty() ? from.details : from.failure;
        const auto verdict = static_cast<smd_verdict>(from.status);
        place(result, "result") = {from.name.c_str(), details.c_str(), verdict,   all.findings.size(),
                                   all.evaluated,     all.tensors,     all.unread};
    });
}

smd_status smd_run_finding(smd_run* run, size_t result, size_t index, smd_finding* finding) {
    return handle::guard<run_handle>(run, __func__, [&](run_handle& held) {
        const rule_result& of = item(held.results, result, "result", "the last smd_run_check()");
        const smdebug::finding& from = item(of.outcome.findings, index, "finding", "this result");
        place(finding, "finding") = {from.tensor.c_str(), from.worker.c_str(), from.message.c_str(),
                                     from.step,           from.mode_step,      static_cast<smd_mode>(from.mode),
                                     from.value,          from.threshold};
    });
}
