// Unusual runs, with tensors of all the names and collections that built-in rules look for.
#pragma once

#include <support/run_builder.hpp>
#include <support/small_run.hpp>
#include "support/standard.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/trial/basic_trial.hpp>

namespace smdebug_test {

struct odd_run {
    std::string name;
    smdebug::memory_trial trial;
};

namespace odd {

using smdebug::dtype;
using smdebug::mode;
using smdebug::step_number;

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double inf = std::numeric_limits<double>::infinity();

/// The tensors that rules look for, by name or by collection.
inline const std::vector<std::string>& names() {
    static const std::vector<std::string> all{"gradient",
                                              "weight",
                                              "loss",
                                              "dense_relu_input",
                                              "dense_relu_output",
                                              "dense_tanh_input",
                                              "dense_sigmoid_input",
                                              "labels",
                                              "predictions",
                                              "hybridsequential0_input_0",
                                              "embedding0_input_0",
                                              "trees/0/Node",
                                              "feature_importance/weight/f0",
                                              "feature_importance/weight/f1",
                                              "train-rmse",
                                              "validation-rmse"};
    return all;
}

inline const std::map<std::string, std::vector<std::string>>& collections() {
    static const std::map<std::string, std::vector<std::string>> all{
        {"gradients", {"gradient"}},
        {"weights", {"weight"}},
        {"losses", {"loss"}},
        {"labels", {"labels"}},
        {"predictions", {"predictions"}},
        {"metrics", {"train-rmse", "validation-rmse"}},
        {"trees", {"trees/0/Node"}},
        {"feature_importance", {"feature_importance/weight/f0", "feature_importance/weight/f1"}}};
    return all;
}

/// A value as an element; integers are clamped to their range.
template <class T>
T element_of(double value) {
    if constexpr (std::same_as<T, bool>) {
        return value != 0;
    } else if constexpr (std::integral<T>) {
        if (!(value > static_cast<double>(std::numeric_limits<T>::min()))) {
            return std::numeric_limits<T>::min();
        }
        return value < static_cast<double>(std::numeric_limits<T>::max()) ? static_cast<T>(value)
                                                                          : std::numeric_limits<T>::max();
    } else if constexpr (requires { typename T::value_type; }) {  // complex
        return T(static_cast<typename T::value_type>(value), typename T::value_type{1});
    } else if constexpr (std::same_as<T, double>) {
        return value;
    } else {
        return T(static_cast<float>(value));
    }
}

inline written_tensor tensor(const std::string& name, dtype type, const smdebug::shape_type& shape,
                             const std::vector<double>& values) {
    written_tensor made{.name = name, .type = type, .shape = shape, .content = {}};
    if (type == dtype::string) {
        made.strings.assign(values.size(), "a text");
        return made;
    }
    smdebug::visit_dtype(type, [&]<class T>() {
        for (const double value : values) {
            const T element = element_of<T>(value);
            const auto bytes = std::as_bytes(std::span{&element, 1});
            made.content.insert(made.content.end(), bytes.begin(), bytes.end());
        }
    });
    return made;
}

/// Fills a shape by repeating the given values.
inline written_tensor filled(const std::string& name, dtype type, const smdebug::shape_type& shape,
                             const std::vector<double>& values) {
    const std::size_t count =
        std::accumulate(shape.begin(), shape.end(), std::size_t{1}, [](std::size_t a, std::size_t b) { return a * b; });
    std::vector<double> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        all[i] = values[i % values.size()];
    }
    return tensor(name, type, shape, all);
}

/// Whether a name is for scalars, which some rules require.
inline bool is_scalar(const std::string& name) {
    return name == "loss" || name.ends_with("-rmse") || name.starts_with("feature_importance");
}

/// Plausible training data: small numbers that change, scalars where expected.
inline written_tensor usual(const std::string& name, step_number step) {
    const double at = static_cast<double>(step);
    if (is_scalar(name)) {
        const double size = name.ends_with("f1") ? 0.01 : 0.5;  // one feature counts for most
        return tensor(name, dtype::float32, {1}, {size * (1 + 0.2 * std::sin(at))});
    }
    if (name == "labels" || name == "predictions") {
        return tensor(name, dtype::int64, {4}, {0, at, 1, name == "labels" ? 1.0 : 0.0});
    }
    return filled(name, dtype::float32, {4, 3}, {0.1 * at, -1, 2, 0, 0.25, -0.5, at + 1});
}

using content = std::function<std::optional<written_tensor>(const std::string& name, step_number step)>;

/// A step of a worker: each name's content, where it has one.
inline written_step step_of(step_number step, const content& what, mode in = mode::train, step_number mode_step = -1,
                            const std::string& worker = "worker_0") {
    written_step made{.step = step, .mode = in, .mode_step = mode_step, .worker = worker};
    for (const std::string& name : names()) {
        if (auto one = what(name, step)) {
            made.tensors.push_back(*std::move(one));
        }
    }
    return made;
}

/// A run of `steps`, which one worker wrote.
inline odd_run simple(const std::string& name, const std::vector<step_number>& steps, const content& what) {
    smdebug::memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, collections());
    for (const step_number step : steps) {
        build.step(step_of(step, what));
    }
    build.end();
    return {name, smdebug::memory_trial{store}};
}

inline odd_run without_collections() {
    smdebug::memory_storage store;
    run_builder build{store};
    build.collections();
    for (const step_number step : {0, 1, 2}) {
        build.step(step_of(step, usual));
    }
    build.end();
    return {"no collections", smdebug::memory_trial{store}};
}

inline odd_run several_workers() {
    smdebug::memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1", "worker_2"}, collections());
    for (step_number step = 0; step < 8; ++step) {
        for (std::size_t worker = 0; worker < 3; ++worker) {
            // Each tensor is missing from another worker at another step; shapes and values are of the worker.
            build.step(step_of(
                step,
                [&](const std::string& name, step_number at) -> std::optional<written_tensor> {
                    if ((name.size() + static_cast<std::size_t>(at)) % 3 == worker) {
                        return std::nullopt;
                    }
                    return is_scalar(name) ? usual(name, at + static_cast<step_number>(worker))
                                           : filled(name, dtype::float32, {worker + 1, 3},
                                                    {static_cast<double>(worker), 0, worker == 2 ? nan : 1});
                },
                mode::train, -1, "worker_" + std::to_string(worker)));
        }
    }
    build.end();
    return {"workers that miss tensors", smdebug::memory_trial{store}};
}

inline odd_run all_modes(const std::string& name, const std::vector<mode>& modes) {
    smdebug::memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, collections());
    std::map<mode, step_number> counts;
    for (step_number step = 0; step < 24; ++step) {
        const mode in = modes[static_cast<std::size_t>(step) % modes.size()];
        build.step(step_of(
            step,
            [&](const std::string& tensor_name, step_number at) {
                // Losses that rise where they are evaluated.
                return is_scalar(tensor_name) ? tensor(tensor_name, dtype::float32, {1},
                                                       {in == mode::eval ? 1 + 0.2 * static_cast<double>(at)
                                                                         : 1 / (1 + static_cast<double>(at))})
                                              : usual(tensor_name, at);
            },
            in, counts[in]++));
    }
    build.end();
    return {name, smdebug::memory_trial{store}};
}

inline odd_run reductions_only() {
    // Each name has other reductions; some have one that is not finite.
    static const std::vector<std::vector<std::string>> kept{
        {"abs_mean"}, {"min", "max"}, {"abs_max"}, {"mean", "std"}, {"variance", "l2", "sum"}, {"l1"}, {}};
    return simple("reductions only", {0, 1, 2, 5}, [](const std::string& name, step_number step) {
        const std::size_t which = (name.size() + static_cast<std::size_t>(step)) % kept.size();
        const std::string what =
            kept[which].empty() ? "prod" : kept[which][static_cast<std::size_t>(step) % kept[which].size()];
        return std::optional{tensor("smdebug/reductions/" + what + "/" + name, dtype::float32, {1},
                                    {step == 2   ? inf
                                     : step == 5 ? 0
                                                 : -0.5})};
    });
}

inline odd_run all_reductions(bool also_shapes) {
    smdebug::memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, collections());
    for (const step_number step : {0, 1, 2}) {
        written_step made{.step = step};
        for (const std::string& name : names()) {
            for (const std::string what : {"min", "max", "mean", "std", "variance", "sum", "prod", "l1", "l2"}) {
                for (const std::string abs : {"", "abs_"}) {
                    made.tensors.push_back(tensor("smdebug/reductions/" + abs + what + "/" + name, dtype::float32, {1},
                                                  {step == 0   ? 1.0
                                                   : step == 1 ? 0.0
                                                               : nan}));
                }
            }
            if (also_shapes) {
                made.shapes.push_back({name, name, {4, 3}});
            }
        }
        build.step(made);
    }
    build.end();
    return {also_shapes ? "reductions and shapes" : "all reductions", smdebug::memory_trial{store}};
}

/// Reductions of odd values.
inline odd_run reduced_odd_values() {
    const std::vector<double> values[] = {{1, 2}, {0, 0, 0}, {nan, 1}, {inf}, {}, {-5e-324}, {1e308, 1e308}, {3}};
    small_tensors tensors;
    for (const std::string& name : names()) {
        for (step_number step = 0; step < 12; ++step) {
            if ((name.size() + static_cast<std::size_t>(step)) % 5 != 0) {
                tensors[name][step] = values[static_cast<std::size_t>(step) % 8];
            }
        }
    }
    return {"reductions of odd values", reduced_run(tensors, collections())};
}

inline odd_run shapes_only() {
    smdebug::memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, collections());
    for (const step_number step : {0, 1, 2}) {
        written_step made{.step = step};
        for (const std::string& name : names()) {
            made.shapes.push_back({name, name, {2, static_cast<std::size_t>(step)}});
        }
        build.step(made);
    }
    build.end();
    return {"shapes only", smdebug::memory_trial{store}};
}

inline odd_run damaged_files() {
    smdebug::memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, collections());
    for (const step_number step : {0, 1, 2, 3}) {
        build.step(step_of(step, usual));
    }
    build.put(smdebug::detail::locations::event_key(1, "worker_0"), "");
    build.put(smdebug::detail::locations::event_key(2, "worker_0"), std::string(4000, 'x'));
    build.end();
    return {"event files that are damaged", smdebug::memory_trial{store}};
}

}  // namespace odd

/// The runs; all have ended.
inline const std::vector<odd_run>& odd_runs() {
    using namespace odd;
    static const std::vector<odd_run> runs = [] {
        const std::vector<step_number> few{0, 1, 2, 3, 4, 5};
        std::vector<odd_run> all;
        all.push_back(simple("no steps", {}, usual));
        all.push_back(simple("the first step alone", {0}, usual));
        all.push_back(simple("missing steps", {0, 3, 4, 11, 12, 500}, usual));
        all.push_back(simple("missing tensors", few, [](const std::string& name, step_number step) {
            return (name.size() + static_cast<std::size_t>(step)) % 2 == 0 ? std::optional{usual(name, step)}
                                                                           : std::nullopt;
        }));
        all.push_back(without_collections());
        all.push_back(simple("nothing changes", few, [](const std::string& name, step_number) {
            return filled(name, dtype::float32, is_scalar(name) ? smdebug::shape_type{1} : smdebug::shape_type{4, 3},
                          {1, 2, 3});
        }));
        all.push_back(simple("zeros", few, [](const std::string& name, step_number) {
            return filled(name, dtype::float32, is_scalar(name) ? smdebug::shape_type{1} : smdebug::shape_type{4, 3},
                          {0});
        }));
        for (const dtype type : {dtype::float32, dtype::float16, dtype::bfloat16, dtype::float64, dtype::float8_e5m2}) {
            all.push_back(simple("not finite, dtype " + std::to_string(static_cast<int>(type)), few,
                                 [type](const std::string& name, step_number step) {
                                     const std::vector<double> values[] = {{1, 2},    {nan},       {inf},
                                                                           {1, -inf}, {nan, 1, 0}, {inf, -inf, nan}};
                                     return filled(name, type,
                                                   is_scalar(name) ? smdebug::shape_type{1} : smdebug::shape_type{3, 2},
                                                   values[static_cast<std::size_t>(step) % 6]);
                                 }));
        }
        all.push_back(
            simple("integers and truths", {0, 1, 2, 3, 4, 5, 6, 7, 8}, [](const std::string& name, step_number step) {
                constexpr dtype types[] = {dtype::boolean, dtype::int8,   dtype::int16,  dtype::int32, dtype::int64,
                                           dtype::uint8,   dtype::uint16, dtype::uint32, dtype::uint64};
                return filled(name, types[(name.size() + static_cast<std::size_t>(step)) % 9], {3, 2},
                              {0, 1, 1e300, -1e300, 7, -3});
            }));
        all.push_back(simple("huge and tiny values", few, [](const std::string& name, step_number step) {
            const double size = step % 2 == 0 ? 1e308 : 5e-324;
            return filled(name, dtype::float64, is_scalar(name) ? smdebug::shape_type{1} : smdebug::shape_type{4, 3},
                          {size, -size, size});
        }));
        all.push_back(simple("empty tensors", few, [](const std::string& name, step_number step) {
            const smdebug::shape_type shapes[] = {{0}, {0, 3}, {2, 0}, {2, 0, 3}};
            return tensor(name, dtype::float32, shapes[static_cast<std::size_t>(step) % 4], {});
        }));
        all.push_back(simple("scalars", few, [](const std::string& name, step_number step) {
            return tensor(name, step % 2 == 0 ? dtype::float32 : dtype::int32, {}, {static_cast<double>(step)});
        }));
        all.push_back(
            simple("shapes that change", {0, 1, 2, 3, 4, 5, 6, 7}, [](const std::string& name, step_number step) {
                const smdebug::shape_type shapes[] = {{2, 3}, {6}, {3, 2}, {1}, {0}, {2, 3, 4}, {}, {1, 1, 2, 3}};
                return filled(name, dtype::float32, shapes[static_cast<std::size_t>(step) % 8], {0.5, 2, -1});
            }));
        all.push_back(simple("dtypes that change", few, [](const std::string& name, step_number step) {
            constexpr dtype types[] = {dtype::float32, dtype::string,  dtype::int64,
                                       dtype::float64, dtype::boolean, dtype::complex64};
            return filled(name, types[static_cast<std::size_t>(step) % 6], {2, 3}, {1, 0, 2});
        }));
        all.push_back(simple("strings and complex numbers", few, [](const std::string& name, step_number step) {
            constexpr dtype types[] = {dtype::string, dtype::complex64, dtype::complex128};
            return filled(name, types[static_cast<std::size_t>(step) % 3], {2, 3}, {1, nan});
        }));
        all.push_back(several_workers());
        all.push_back(all_modes("TRAIN, EVAL and PREDICT", {mode::train, mode::train, mode::eval, mode::predict}));
        all.push_back(all_modes("GLOBAL alone", {mode::global}));
        all.push_back(reductions_only());
        all.push_back(all_reductions(false));
        all.push_back(all_reductions(true));
        all.push_back(reduced_odd_values());
        all.push_back(shapes_only());
        all.push_back(damaged_files());
        return all;
    }();
    return runs;
}

}  // namespace smdebug_test
