// A trial for tests of rules: tensors are lists of doubles in a map.  It models readable_trial and nothing more.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/trial/concepts.hpp>

#include "support/standard.hpp"

namespace smdebug_test {

class fake_tensor {
public:
    using values_by_step = std::map<smdebug::step_number, std::vector<double>>;

    fake_tensor(std::string name, values_by_step values) : name_(std::move(name)), values_(std::move(values)) {}

    [[nodiscard]] std::string name() const { return name_; }
    [[nodiscard]] std::vector<smdebug::step_number> steps(const smdebug::steps_options& /*which*/ = {}) const {
        std::vector<smdebug::step_number> found;
        for (const auto& held : values_) {
            found.push_back(held.first);
        }
        return found;
    }
    [[nodiscard]] std::vector<std::string> workers(smdebug::step_number /*step*/,
                                                   const smdebug::read_options& /*where*/ = {}) const {
        return {"worker_0"};
    }
    [[nodiscard]] smdebug::lookup<double> find_reduction(smdebug::step_number step, smdebug::reduction what,
                                                         const smdebug::reduction_options& how = {}) const {
        const auto held = values_.find(step);
        if (held == values_.end()) {
            return smdebug::lookup_failure_kind::tensor_not_saved;
        }
        const std::vector<std::size_t> shape{held->second.size()};
        const smdebug::tensor_view view{.type = smdebug::dtype::float64,
                                        .shape = shape,
                                        .bytes = std::as_bytes(std::span{held->second}),
                                        .strings = {}};
        return (*smdebug::scalar_kernel{}.reduce(view, smdebug::reduction_set{what, how.abs}))(what, how.abs);
    }
    [[nodiscard]] double reduction_value(smdebug::step_number step, smdebug::reduction what,
                                         const smdebug::reduction_options& how = {}) const {
        const auto found = find_reduction(step, what, how);
        if (!found) {
            smdebug::throw_failure(found.error(), name_, step, smdebug::mode::global);
        }
        return *found;
    }

private:
    std::string name_;
    values_by_step values_;
};

class fake_trial {
public:
    fake_trial() = default;
    explicit fake_trial(std::map<std::string, fake_tensor::values_by_step> tensors) : tensors_(std::move(tensors)) {}

    /// Tensors that the collection of this name holds.
    std::map<std::string, std::set<std::string>> groups;

    [[nodiscard]] std::string name() const { return "fake"; }
    [[nodiscard]] std::vector<smdebug::step_number> steps(const smdebug::steps_options& /*which*/) const {
        std::set<smdebug::step_number> found;
        for (const auto& tensor : tensors_) {
            for (const auto& held : tensor.second) {
                found.insert(held.first);
            }
        }
        return {found.begin(), found.end()};
    }
    [[nodiscard]] std::optional<smdebug::mode> mode(smdebug::step_number /*step*/) const {
        return smdebug::mode::train;
    }
    [[nodiscard]] std::optional<smdebug::step_number> mode_step(smdebug::step_number step) const { return step; }
    [[nodiscard]] std::vector<std::string> tensor_names(const smdebug::tensor_names_options& which) const {
        std::vector<std::string> found;
        for (const auto& tensor : tensors_) {
            const bool saved = !which.step || tensor.second.contains(*which.step);
            const auto group = which.collection ? groups.find(which.collection->name()) : groups.end();
            const bool wanted = !which.collection || (group != groups.end() && group->second.contains(tensor.first));
            if (saved && wanted) {
                found.push_back(tensor.first);
            }
        }
        return found;
    }
    [[nodiscard]] bool has_tensor(std::string_view name) const { return tensors_.contains(std::string{name}); }
    [[nodiscard]] fake_tensor tensor(std::string_view name) const {
        const auto found = tensors_.find(std::string{name});
        if (found == tensors_.end()) {
            throw smdebug::tensor_unavailable(std::string{name});
        }
        return {found->first, found->second};
    }

private:
    std::map<std::string, fake_tensor::values_by_step> tensors_;
};

}  // namespace smdebug_test
