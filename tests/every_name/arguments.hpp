// What every_name.cpp passes to the library: a catalog_source, a matrix, an observer, two measures.
#pragma once

#include <smdebug/smdebug.hpp>
#include <smdebug/trial/run_contents.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace every_name {

namespace smd = smdebug;

// A catalog_source that finds nothing.
struct no_source {
    [[nodiscard]] static bool update(smd::run_contents& /*contents*/) { return false; }
};

// As Eigen's matrices are.
struct matrix {
    using Scalar = float;
    std::array<float, 4> elements = {1, 2, 3, 4};
    [[nodiscard]] static int rows() { return 2; }
    [[nodiscard]] static int cols() { return 2; }
    [[nodiscard]] float operator()(int row, int column) const {
        return elements[static_cast<std::size_t>(row + 2 * column)];
    }
    [[nodiscard]] const float* data() const { return elements.data(); }
};

struct observer final : smd::hook_observer {
    [[nodiscard]] bool wants(const smd::hook_step& /*step*/) override { return true; }
    [[nodiscard]] bool wants(std::string_view /*tensor*/) override { return true; }
    void see(std::string_view /*name*/, const smd::tensor_view& /*tensor*/,
             std::span<const std::string_view> /*collections*/) override {}
    void end_step(const smd::hook_step& /*step*/) override {}
};

struct measure {
    [[nodiscard]] double operator()(const smd::tensor_view& tensor) const {
        return static_cast<double>(tensor.count());
    }
    [[nodiscard]] bool operator==(const measure&) const = default;
};

struct comparison {
    [[nodiscard]] bool operator()(const smd::tensor_view& earlier, const smd::tensor_view& now) const {
        return earlier.count() == now.count();
    }
    [[nodiscard]] bool operator==(const comparison&) const = default;
};

}  // namespace every_name
