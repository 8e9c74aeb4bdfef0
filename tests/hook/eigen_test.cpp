// Matrices of the real Eigen: what save_tensor takes of them, and what it refuses.  Built where CMake finds Eigen.
#include <smdebug/hook/hook.hpp>
#include <smdebug/hook/save_arguments.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include "hook/hook_fixture.hpp"

#include "support/test.hpp"

#include <Eigen/Core>

namespace smd = smdebug;

namespace {

using smdebug_test::hooks::memory_hook;

template <class T>
struct saved_values {
    smd::shape_type shape;
    std::vector<T> elements;  // row by row
    bool operator==(const saved_values&) const = default;
};

// What a trial reads after a matrix was saved.
template <class Matrix>
auto saved(const Matrix& matrix) {
    using element = typename Matrix::Scalar;
    smd::memory_storage store;
    memory_hook hook{store, smdebug_test::hooks::everything()};
    CHECK(hook.save_tensor("x", matrix));
    hook.close();
    const auto value = smd::basic_trial<smd::memory_storage>{store}.tensor("x").value(0);
    const auto elements = value.template elements<element>();
    return saved_values<element>{value.shape(), {elements.begin(), elements.end()}};
}

// The same, by Eigen's own indices.
template <class Matrix>
auto expected(const Matrix& matrix) {
    saved_values<typename Matrix::Scalar> all;
    const auto rows = static_cast<std::size_t>(matrix.rows());
    const auto columns = static_cast<std::size_t>(matrix.cols());
    all.shape = Matrix::IsVectorAtCompileTime ? smd::shape_type{rows * columns} : smd::shape_type{rows, columns};
    for (Eigen::Index row = 0; row < matrix.rows(); ++row) {
        for (Eigen::Index column = 0; column < matrix.cols(); ++column) {
            all.elements.push_back(matrix(row, column));
        }
    }
    return all;
}

template <class T>
Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> counted(Eigen::Index rows, Eigen::Index columns) {
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> matrix(rows, columns);
    for (Eigen::Index i = 0; i < matrix.size(); ++i) {
        matrix.data()[i] = static_cast<T>(static_cast<float>(i));
    }
    return matrix;
}

}  // namespace

TEST_CASE("Eigen: matrices, vectors and arrays of either order are saved row by row") {
    const auto check = [](const auto& matrix) { CHECK(saved(matrix) == expected(matrix)); };
    check(counted<float>(3, 4));
    check(counted<double>(2, 5));
    check(counted<std::int32_t>(4, 1));
    check(counted<std::int64_t>(1, 3));
    check(counted<std::complex<float>>(2, 2));
    check(Eigen::Matrix<float, 2, 3, Eigen::RowMajor>{counted<float>(2, 3)});
    check(Eigen::VectorXf{counted<float>(5, 1)});
    check(Eigen::RowVector3d{1, 2, 3});
    check(Eigen::ArrayXXf{counted<float>(3, 2)});
    check(Eigen::MatrixXf{0, 3});
}

TEST_CASE("Eigen: maps, blocks and strides are saved as the elements that they show") {
    std::vector<float> memory(48);
    for (std::size_t i = 0; i < memory.size(); ++i) {
        memory[i] = static_cast<float>(i);
    }
    const auto check = [](const auto& matrix) { CHECK(saved(matrix) == expected(matrix)); };
    check(Eigen::Map<const Eigen::MatrixXf>{memory.data(), 3, 4});
    check(Eigen::Map<const Eigen::MatrixXf, 0, Eigen::OuterStride<>>{memory.data(), 3, 4, Eigen::OuterStride<>{6}});
    check(Eigen::Map<const Eigen::VectorXf, 0, Eigen::InnerStride<>>{memory.data(), 7, Eigen::InnerStride<>{3}});
    check(Eigen::Map<const Eigen::MatrixXf, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>{
        memory.data(), 3, 4, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>{10, 2}});
    const Eigen::MatrixXf matrix = counted<float>(5, 6);
    check(matrix.block(1, 2, 3, 3));
    check(matrix.row(2));
    check(matrix.col(4));
    check(matrix.transpose());
    check(matrix.topRows(2));
}
