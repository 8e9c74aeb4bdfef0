#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/allclose.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::reduce::detail;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

template <class T = double>
tensor_value tensor_of(const std::vector<T>& values) {
    return tensor_value::copy_of<T>({values.size()}, std::span<const T>{values});
}

}  // namespace

TEST_CASE("difference_norms: norms and means, over more values than a block") {
    std::vector<double> a(1234);
    std::vector<double> b(1234);
    std::mt19937 random{9};
    double squares = 0;
    double difference_squares = 0;
    double sum = 0;
    double difference_sum = 0;
    double ratios = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = std::uniform_real_distribution<double>{-1, 1}(random);
        b[i] = a[i] + std::uniform_real_distribution<double>{-0.1, 0.1}(random);
        const double difference = std::abs(b[i] - a[i]);
        squares += a[i] * a[i];
        difference_squares += difference * difference;
        sum += std::abs(a[i]);
        difference_sum += difference;
        ratios += difference / (std::abs(a[i]) + 0.5);
    }
    const difference_norms l2 = l2_of_difference(tensor_of(a), tensor_of(b));
    CHECK(l2.difference == doctest::Approx(std::sqrt(difference_squares)));
    CHECK(l2.first == doctest::Approx(std::sqrt(squares)));
    const difference_norms mean = mean_abs_of_difference(tensor_of(a), tensor_of(b));
    CHECK(mean.difference == doctest::Approx(difference_sum / 1234));
    CHECK(mean.first == doctest::Approx(sum / 1234));
    CHECK(mean_relative_difference(tensor_of(a), tensor_of(b), 0.5) == doctest::Approx(ratios / 1234));
}

TEST_CASE("difference_norms: squares that no double can hold are no infinities and no zeros; NaN and infinity stay") {
    const auto l2 = [](double a, double b) { return l2_of_difference(tensor_of({a}), tensor_of({b})); };
    CHECK(l2(1e200, 3e200).difference == doctest::Approx(2e200));
    CHECK(l2(1e200, 3e200).first == doctest::Approx(1e200));
    CHECK(l2(1e-200, 3e-200).difference == doctest::Approx(2e-200));
    CHECK(l2(1e-200, 3e-200).first == doctest::Approx(1e-200));
    CHECK(l2(3, 3).difference == 0);
    CHECK(l2(1, -inf).difference == inf);
    CHECK(l2(1, -inf).first == 1);
    CHECK(smdebug::is_nan(l2(not_a_number, 1).difference));
    CHECK(l2_of_difference(tensor_of<float>({3, 4}), tensor_of<double>({3, 4.5})).difference == 0.5);
    CHECK(l2_of_difference(tensor_of<float>({3, 4}), tensor_of<double>({3, 4.5})).first == 5);
}

TEST_CASE("difference_norms: floats give what they give as doubles, wherever they lie") {
    std::mt19937 random{3};
    for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{512}, std::size_t{1235}}) {
        std::vector<float> a(count);
        std::vector<float> b(count);
        for (std::size_t i = 0; i < count; ++i) {
            a[i] = std::uniform_real_distribution<float>{-1, 1}(random);
            b[i] = a[i] + std::uniform_real_distribution<float>{-0.1F, 0.1F}(random);
        }
        const difference_norms wide = l2_of_difference(tensor_of(std::vector<double>(a.begin(), a.end())),
                                                       tensor_of(std::vector<double>(b.begin(), b.end())));
        std::vector<std::byte> bytes(1 + count * sizeof(float));
        std::memcpy(bytes.data() + 1, b.data(), count * sizeof(float));
        const std::vector<std::size_t> shape{count};
        const tensor_view unaligned{dtype::float32, shape, std::span{bytes}.subspan(1), {}};
        for (const difference_norms& narrow :
             {l2_of_difference(tensor_of(a), tensor_of(b)), l2_of_difference(tensor_of(a), unaligned)}) {
            CHECK(narrow.difference == wide.difference);
            CHECK(narrow.first == wide.first);
        }
    }
}
