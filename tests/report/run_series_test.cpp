#include <smdebug/report/run_series.hpp>

#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace report::detail;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr auto least_mean = static_cast<std::size_t>(series_column::least_mean);
constexpr auto most_mean = static_cast<std::size_t>(series_column::most_mean);
constexpr auto most_nan = static_cast<std::size_t>(series_column::most_nan);

reduction_values reduced(const std::vector<float>& values) {
    const std::vector<std::size_t> shape{values.size()};
    return *scalar_kernel{}.reduce(
        {.type = dtype::float32, .shape = shape, .bytes = std::as_bytes(std::span{values}), .strings = {}},
        numbers_of_reports());
}

series_row mean_of(double value) {
    reduction_values values;
    values.value[reduction_key{reduction::mean, false}.index()] = value;
    values.computed = reduction_set{reduction::mean};
    return row_of(values);
}

}  // namespace

TEST_CASE("row_of: the numbers of a tensor, and those that are not there") {
    const series_row row = row_of(reduced({1, -3, 0, 0}));
    CHECK(row[static_cast<std::size_t>(series_column::least_min)] == -3);
    CHECK(row[static_cast<std::size_t>(series_column::most_max)] == 1);
    CHECK(row[least_mean] == -0.5F);
    CHECK(row[most_mean] == -0.5F);
    CHECK(row[static_cast<std::size_t>(series_column::most_abs_mean)] == 1);
    CHECK(row[static_cast<std::size_t>(series_column::most_l2)] == std::sqrt(10.0));
    CHECK(row[static_cast<std::size_t>(series_column::most_zeros)] == 0.5F);
    CHECK(row[most_nan] == 0);
    const series_row few = mean_of(2);
    CHECK(few[least_mean] == 2);
    CHECK(is_absent(few[most_nan]));
    CHECK(is_absent(few[0]));
    CHECK_FALSE(is_absent(std::numeric_limits<double>::quiet_NaN()));
}

TEST_CASE("row_of: a tensor without elements has no least, largest or mean: they are absent, not NaN") {
    const series_row row = row_of(reduced({}));
    for (const std::size_t column : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
        CAPTURE(column);
        CHECK(is_absent(row[column]));
    }
    CHECK(row[10] == 0);
    CHECK(row[11] == 0);
}

TEST_CASE("row_of: what no float holds stays, as do infinity and NaN") {
    for (const double value : {1e300, -1e300, 1e-310, 5e-324}) {
        CHECK(mean_of(value)[most_mean] == value);
    }
    CHECK(std::isinf(mean_of(std::numeric_limits<double>::infinity())[most_mean]));
    CHECK(std::isnan(mean_of(not_a_number)[most_mean]));
}

TEST_CASE("series_book: a bucket of several steps keeps the smallest and the largest value, and a NaN") {
    series_book book;
    const axis_place first{.axis = 0, .bucket = 2};
    book.add("a", "worker_0", first, mean_of(3), 4);
    book.add("a", "worker_0", first, mean_of(-1), 4);
    tensor_series* const one = book.add("a", "worker_0", first, mean_of(2), 4);
    REQUIRE(one != nullptr);
    CHECK(one->rows.size() == 3);
    CHECK(one->there == std::vector<bool>{false, false, true});
    CHECK(one->rows[2][least_mean] == -1);
    CHECK(one->rows[2][most_mean] == 3);
    CHECK_FALSE(one->scalar);
    book.add("a", "worker_0", first, mean_of(not_a_number), 4);
    CHECK(std::isnan(one->rows[2][most_mean]));
    CHECK(one->rows[2][least_mean] == -1);
    book.add("a", "worker_0", first, mean_of(9), 4);
    CHECK(std::isnan(one->rows[2][most_mean]));
    const axis_place second{.axis = 0, .bucket = 3};
    book.add("a", "worker_0", second, mean_of(not_a_number), 4);
    CHECK(book.add("a", "worker_0", second, mean_of(5), 4)->rows[3][least_mean] == 5);
}

TEST_CASE("series_book: a number that only some steps of a bucket have is theirs, be it NaN") {
    constexpr auto least_min = static_cast<std::size_t>(series_column::least_min);
    constexpr auto most_max = static_cast<std::size_t>(series_column::most_max);
    series_book book;
    const axis_place where{.axis = 0, .bucket = 0};
    const tensor_series* const one = book.add("a", "worker_0", where, mean_of(3), 4);
    REQUIRE(one != nullptr);
    CHECK(is_absent(one->rows[0][least_min]));
    CHECK(is_absent(one->rows[0][most_nan]));
    book.add("a", "worker_0", where, row_of(reduced({1, -3, 0, 0})), 4);
    CHECK(one->rows[0][least_min] == -3);
    CHECK(one->rows[0][most_max] == 1);
    CHECK(one->rows[0][most_nan] == 0);
    CHECK(one->rows[0][least_mean] == -0.5F);
    CHECK(one->rows[0][most_mean] == 3);
    book.add("a", "worker_0", where, mean_of(1), 4);  // which leaves the others as they are
    CHECK(one->rows[0][least_min] == -3);
    CHECK(one->rows[0][most_mean] == 3);
    reduction_values lost;
    lost.value[reduction_key{reduction::std, false}.index()] = not_a_number;
    lost.computed = reduction_set{reduction::std};
    const tensor_series* const other = book.add("b", "worker_0", where, mean_of(3), 4);
    book.add("b", "worker_0", where, row_of(lost), 4);
    const double spread = other->rows[0][static_cast<std::size_t>(series_column::most_std)];
    CHECK(std::isnan(spread));
    CHECK_FALSE(is_absent(spread));
}

TEST_CASE("series_book: tensors, workers and modes apart, whatever the order they come in") {
    series_book book;
    for (std::uint32_t step = 0; step < 4; ++step) {
        for (const char* const worker : {"worker_0", "worker_1"}) {
            double value = step;
            for (const char* const name : {"a", "b", "c"}) {
                value += 10;
                if (step == 2 && name[0] == 'b') {
                    continue;
                }
                const axis_place where{.axis = step % 2, .bucket = step};
                const tensor_series* const one = book.add(name, worker, where, mean_of(value), 1);
                REQUIRE(one != nullptr);
                CHECK(book.tensors()[one->tensor] == name);
                CHECK(book.workers()[one->worker] == worker);
                CHECK(one->axis == step % 2);
                CHECK(one->rows[step][most_mean] == value);
                CHECK(one->scalar);
            }
        }
    }
    CHECK(book.all().size() == 3 * 2 * 2);
    CHECK(book.tensor_place("c") == 2);
    CHECK(book.tensor_place("d") == 3);
    CHECK(book.worker_place("worker_1") == 1);
    CHECK(book.worker_place("worker_7") == 2);
}

TEST_CASE("series_book: workers together, and more tensors than there is room for") {
    series_book book{true, 2};
    const axis_place where{};
    CHECK(book.add("a", "worker_0", where, mean_of(1), 2) == book.add("a", "worker_1", where, mean_of(5), 2));
    CHECK(book.all()[0].rows[0][least_mean] == 1);
    CHECK(book.all()[0].rows[0][most_mean] == 5);
    CHECK(book.workers() == std::vector<std::string>{"all workers"});
    CHECK(book.worker_place("worker_1") == 0);
    CHECK(book.add("b", "worker_0", where, mean_of(1), 2) != nullptr);
    CHECK(book.add("c", "worker_0", where, mean_of(1), 2) == nullptr);
    CHECK(book.add("c", "worker_1", where, mean_of(1), 2) == nullptr);
    CHECK(book.left_out() == 1);
}
