// Numbers that remember what they were computed of, so that gradients can be walked back: enough to train small networks
// in plain C++.  It does not use smdebug.
#pragma once

#include <mlp.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace zoo {

using edge = std::pair<std::uint32_t, float>;  // a number, and the slope by it

/// Everything that one step computes.
struct tape {
    std::vector<float> values = {};
    std::vector<float> slopes = {};
    std::vector<edge> edges = {};
    std::vector<std::size_t> ends = {};  // of the edges of each number

    void walk_back(std::uint32_t from) {
        slopes.assign(values.size(), 0);
        slopes[from] = 1;
        for (std::size_t i = from + 1; i-- > 0;) {
            for (std::size_t at = i == 0 ? 0 : ends[i - 1]; slopes[i] != 0 && at < ends[i]; ++at) {
                slopes[edges[at].first] += edges[at].second * slopes[i];
            }
        }
    }
};
inline tape now;

struct var {
    std::uint32_t at = 0;
    var() = default;
    var(float value, std::initializer_list<edge> of = {}) : at(static_cast<std::uint32_t>(now.values.size())) {
        now.values.push_back(value);
        now.edges.insert(now.edges.end(), of);
        now.ends.push_back(now.edges.size());
    }
    [[nodiscard]] float value() const { return now.values[at]; }
};
using vars = std::vector<var>;

inline var operator+(var a, var b) { return {a.value() + b.value(), {{a.at, 1.0F}, {b.at, 1.0F}}}; }
inline var operator*(var a, var b) { return {a.value() * b.value(), {{a.at, b.value()}, {b.at, a.value()}}}; }
inline var exp(var a) { return {std::exp(a.value()), {{a.at, std::exp(a.value())}}}; }
inline var log(var a) { return {std::log(a.value()), {{a.at, 1 / a.value()}}}; }
inline var power(var a, float e) { return {std::pow(a.value(), e), {{a.at, e * std::pow(a.value(), e - 1)}}}; }
inline var relu(var a) { return {std::max(a.value(), 0.0F), {{a.at, a.value() > 0 ? 1.0F : 0.0F}}}; }
inline var tanh(var a) { return {std::tanh(a.value()), {{a.at, 1 - std::tanh(a.value()) * std::tanh(a.value())}}}; }

/// The sum of a[i] b[i], each so many numbers apart.
inline var dot(const var* a, std::size_t a_step, const var* b, std::size_t b_step, std::size_t count) {
    float sum = 0;
    for (std::size_t i = 0; i < count; ++i, a += a_step, b += b_step) {
        sum += a->value() * b->value();
        now.edges.insert(now.edges.end(), {{a->at, b->value()}, {b->at, a->value()}});
    }
    return {sum};
}
inline var sum(const vars& all) {
    float sum = 0;
    for (const var& each : all) {
        sum += each.value();
        now.edges.emplace_back(each.at, 1.0F);
    }
    return {sum};
}

struct matrix {
    std::size_t cols = 0;
    vars v = {};

    [[nodiscard]] std::size_t rows() const { return v.size() / cols; }
    [[nodiscard]] mlp::numbers values() const {
        mlp::numbers all;
        std::transform(v.begin(), v.end(), std::back_inserter(all), [](var each) { return each.value(); });
        return all;
    }
    /// f of each row, which may change the number of columns.
    template <class F>
    [[nodiscard]] matrix each_row(F&& f) const {
        matrix made;
        for (std::size_t r = 0; r < rows(); ++r) {
            const vars row = f(vars(v.begin() + static_cast<std::ptrdiff_t>(r * cols),
                                    v.begin() + static_cast<std::ptrdiff_t>((r + 1) * cols)));
            made.cols = row.size();
            made.v.insert(made.v.end(), row.begin(), row.end());
        }
        return made;
    }
    template <class F>
    [[nodiscard]] matrix each(F&& f) const {
        matrix made{cols};
        std::transform(v.begin(), v.end(), std::back_inserter(made.v), f);
        return made;
    }
};

inline matrix constant(std::size_t cols, const mlp::numbers& values) {
    return {cols, vars(values.begin(), values.end())};
}
/// a b, or a times the transpose of b.
inline matrix product(const matrix& a, const matrix& b, bool transposed = false) {
    const std::size_t cols = transposed ? b.rows() : b.cols;
    return a.each_row([&](const vars& row) {
        vars made;
        for (std::size_t c = 0; c < cols; ++c) {
            made.push_back(
                dot(row.data(), 1, b.v.data() + (transposed ? c * b.cols : c), transposed ? 1 : b.cols, a.cols));
        }
        return made;
    });
}
/// f of the elements of two matrices; b may be a single row.
template <class F>
matrix combined(const matrix& a, const matrix& b, F&& f) {
    matrix made{a.cols};
    for (std::size_t i = 0; i < a.v.size(); ++i) {
        made.v.push_back(f(a.v[i], b.v[i % b.v.size()]));
    }
    return made;
}
inline matrix operator+(const matrix& a, const matrix& b) {
    return combined(a, b, [](var x, var y) { return x + y; });
}

inline vars softmax(const vars& row) {
    const float most =
        std::max_element(row.begin(), row.end(), [](var a, var b) { return a.value() < b.value(); })->value();
    vars made;
    std::transform(row.begin(), row.end(), std::back_inserter(made), [&](var each) { return exp(each + var{-most}); });
    const var scale = power(sum(made), -1);
    std::transform(made.begin(), made.end(), made.begin(), [&](var each) { return each * scale; });
    return made;
}
/// The mean of -log of each row's probability of its label; labels beyond the columns do not count.
inline var cross_entropy(const matrix& scores, const std::vector<std::size_t>& labels) {
    vars all;
    std::size_t row = 0;
    static_cast<void>(scores.each_row([&](const vars& of) {
        if (labels[row] < scores.cols) {
            all.push_back(log(softmax(of)[labels[row]] + var{1e-30F}));
        }
        ++row;
        return of;
    }));
    return sum(all) * var{-1.0F / static_cast<float>(std::max<std::size_t>(all.size(), 1))};
}

/// The parameters of a network, and the two usual ways to train them.
struct network {
    struct parameter {
        std::string name;
        std::size_t cols;
        mlp::numbers value;
        mlp::numbers slope;
        mlp::numbers mean;  ///< momentum, or Adam's first moment
        mlp::numbers square;
        matrix used = {};
    };
    std::deque<parameter> all = {};
    float steps = 0;

    parameter& add(const std::string& name, std::size_t rows, std::size_t cols, float width,
                   mlp::random_numbers& random) {
        const mlp::numbers zeros(rows * cols);
        parameter& made = all.emplace_back(parameter{name, cols, zeros, zeros, zeros, zeros});
        std::generate(made.value.begin(), made.value.end(), [&] { return width * random(); });
        return made;
    }
    /// Begins a step of all `networks`.
    static void begin(std::initializer_list<network*> networks) {
        for (auto* const each : {&now.values, &now.slopes}) {
            each->clear();
        }
        now.edges.clear();
        now.ends.clear();
        for (network* const each : networks) {
            for (parameter& one : each->all) {
                one.used = constant(one.cols, one.value);
            }
        }
    }
    /// The gradients of a loss.
    void walk_back(var loss) {
        now.walk_back(loss.at);
        for (parameter& each : all) {
            std::transform(each.used.v.begin(), each.used.v.end(), each.slope.begin(),
                           [](var x) { return now.slopes[x.at]; });
        }
    }
    void descend(float rate, bool adam = false) {
        ++steps;
        for (parameter& each : all) {
            for (std::size_t i = 0; i < each.value.size(); ++i) {
                const float slope = each.slope[i];
                each.mean[i] += adam ? 0.1F * (slope - each.mean[i]) : slope - 0.1F * each.mean[i];
                each.square[i] += 0.01F * (slope * slope - each.square[i]);
                const float width = std::sqrt(each.square[i] / (1 - std::pow(0.99F, steps))) + 1e-8F;
                each.value[i] -= rate * each.mean[i] / (adam ? width * (1 - std::pow(0.9F, steps)) : 1);
            }
        }
    }
};

}  // namespace zoo
