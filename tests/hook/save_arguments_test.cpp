#include <smdebug/hook/save_arguments.hpp>

#include "hook/hook_fixture.hpp"

#include "support/test.hpp"

#include <smdebug/hook/hook.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

#include <deque>

namespace smd = smdebug;
using namespace std::literals;

namespace {

using texts = std::vector<std::string>;
using smdebug_test::hooks::memory_hook;

// As Eigen's matrices are: elements by columns, beginning and end of the memory, signed numbers of rows.
template <bool IsVector>
struct by_columns {
    using Scalar = float;
    enum : int { IsRowMajor = 0, IsVectorAtCompileTime = IsVector ? 1 : 0 };
    std::ptrdiff_t rows_;
    std::ptrdiff_t columns_;
    std::vector<float> elements;

    [[nodiscard]] std::ptrdiff_t rows() const { return rows_; }
    [[nodiscard]] std::ptrdiff_t cols() const { return columns_; }
    [[nodiscard]] std::ptrdiff_t size() const { return rows_ * columns_; }
    [[nodiscard]] const float* data() const { return elements.data(); }
    [[nodiscard]] const float* begin() const { return elements.data(); }
    [[nodiscard]] const float* end() const { return elements.data() + elements.size(); }
    float operator()(std::ptrdiff_t row, std::ptrdiff_t column) const {
        return elements[static_cast<std::size_t>(column * rows_ + row)];
    }
};
using matrix = by_columns<false>;
using column = by_columns<true>;

static_assert(smd::element_matrix<matrix> && !smd::element_range<matrix>);
static_assert(smd::text_range<texts> && smd::text_range<std::array<const char*, 2>> && !smd::text_range<std::string> &&
              !smd::text_range<std::vector<char>>);
static_assert(smd::bit_range<std::vector<bool>> && !smd::bit_range<std::vector<char>> &&
              !smd::bit_range<std::deque<bool>>);

// What a trial reads after a hook that saves everything was handed to a training.
template <class Train>
smd::basic_trial<smd::memory_storage> run_of(const Train& train) {
    smd::memory_storage store;
    memory_hook hook{store, smdebug_test::hooks::everything()};
    train(hook);
    hook.close();
    return smd::basic_trial{store};
}

template <class T>
std::vector<T> values_of(const smd::basic_trial<smd::memory_storage>& run, const char* name) {
    const auto values = run.tensor(name).value<T>(0);
    return std::vector<T>(values.begin(), values.end());
}

}  // namespace

TEST_CASE("save_tensor: integers are saved by their size and sign, whatever they are called") {
    const auto run = run_of([](memory_hook& hook) {
        CHECK(hook.save_tensor("signed", std::vector<long long>{-1, std::numeric_limits<long long>::min()}));
        CHECK(hook.save_tensor("unsigned", std::vector<unsigned long long>{1, ~0ULL}, {2, 1}));
        hook.save_scalar("count", 7LL);
    });
    CHECK(values_of<std::int64_t>(run, "signed") ==
          std::vector<std::int64_t>{-1, std::numeric_limits<std::int64_t>::min()});
    CHECK(values_of<std::uint64_t>(run, "unsigned") == std::vector<std::uint64_t>{1, ~std::uint64_t{0}});
    CHECK(values_of<std::int64_t>(run, "scalar/count") == std::vector<std::int64_t>{7});
}

TEST_CASE("save_tensor: a number, numbers in braces, and bits") {
    const auto run = run_of([](memory_hook& hook) {
        CHECK(hook.save_tensor("number", 3.0));
        CHECK(hook.save_tensor("named", 3, "mine"));
        CHECK(hook.save_tensor("braces", {1.5F, 2.5F}));
        CHECK(hook.save_tensor("square", {1, 2, 3, 4}, {2, 2}, {"mine"}));
        CHECK(hook.save_tensor("bits", std::vector<bool>{true, false, true}));
        CHECK(hook.save_tensor("column of bits", std::vector<bool>{true, false}, {2, 1}));
        CHECK_THROWS_AS(hook.save_tensor("bits", std::vector<bool>{true, false}, {3}), smd::value_error);
    });
    CHECK(values_of<double>(run, "number") == std::vector<double>{3});
    CHECK(run.tensor("number").shape(0) == smd::shape_type{1});
    CHECK(values_of<std::int32_t>(run, "named") == std::vector<std::int32_t>{3});
    CHECK(values_of<float>(run, "braces") == std::vector<float>{1.5F, 2.5F});
    CHECK(run.tensor("square").shape(0) == smd::shape_type{2, 2});
    CHECK(values_of<bool>(run, "bits") == std::vector<bool>{true, false, true});
    CHECK(run.tensor("column of bits").shape(0) == smd::shape_type{2, 1});
    CHECK(run.tensor_names({.collection = "mine"}) == texts{"named", "square"});
}

TEST_CASE("save_tensor: texts, shapes and collections that are known only when the program runs") {
    const texts words{"a", "bc", "def"};
    const std::vector<int> shape{3, 1};
    texts collections{"mine"};
    collections.emplace_back("yours");
    const int rows = 3;
    const auto run = run_of([&](memory_hook& hook) {
        CHECK(hook.save_tensor("words", words));
        CHECK(hook.save_tensor("literals", {"x", "y"}));
        CHECK(hook.save_tensor("shaped", words, shape, collections));
        CHECK(hook.should_save("numbers", collections));
        CHECK(hook.save_tensor("numbers", std::vector<float>{1, 2, 3}, {rows, 1}, collections));
        CHECK_THROWS_AS(hook.save_tensor("words", words, {2}), smd::value_error);
    });
    CHECK(run.tensor("shaped").shape(0) == smd::shape_type{3, 1});
    CHECK(run.tensor("numbers").shape(0) == smd::shape_type{3, 1});
    CHECK(run.tensor("words").shape(0) == smd::shape_type{3});
    CHECK(run.tensor("literals").shape(0) == smd::shape_type{2});
    CHECK(run.tensor_names({.collection = "yours"}) == texts{"numbers", "shaped"});
}

TEST_CASE("save_tensor: a matrix that lies by columns is saved by rows") {
    const matrix by_columns{2, 3, {1, 4, 2, 5, 3, 6}};
    const auto run = run_of([&](memory_hook& hook) {
        CHECK(hook.save_tensor("matrix", by_columns));
        CHECK(hook.save_tensor("reshaped", by_columns, {3, 2}));
        CHECK(hook.save_tensor("column", column{3, 1, {1, 2, 3}}, {"mine"}));
        CHECK_THROWS_AS(hook.save_tensor("matrix", by_columns, {7}), smd::value_error);
    });
    CHECK(run.tensor("matrix").value<float>(0)(1, 0) == 4);
    CHECK(values_of<float>(run, "matrix") == std::vector<float>{1, 2, 3, 4, 5, 6});
    CHECK(run.tensor("matrix").shape(0) == smd::shape_type{2, 3});
    CHECK(run.tensor("reshaped").shape(0) == smd::shape_type{3, 2});
    CHECK(run.tensor("column").shape(0) == smd::shape_type{3});
}

TEST_CASE("save_tensor: a value that needs a copy is not copied if it is not wanted") {
    struct counting : matrix {
        int* asked;
        float operator()(std::ptrdiff_t row, std::ptrdiff_t column) const {
            ++*asked;
            return matrix::operator()(row, column);
        }
    };
    int asked = 0;
    const counting values{{1, 2, {1, 2}}, &asked};
    memory_hook hook{smd::memory_storage{}, {.on_note = [](const std::string&) {}}};
    CHECK_FALSE(hook.save_tensor("x", values));
    CHECK(asked == 0);
    CHECK(hook.save_tensor("x", values, {"mine"}));
    CHECK(asked == 2);
}

TEST_CASE("collection_names: one, several, none") {
    const auto names = [](const smd::collection_names& given) { return texts{given.get().begin(), given.get().end()}; };
    CHECK(names({}).empty());
    CHECK(names("mine") == texts{"mine"});
    CHECK(names("mine"s) == texts{"mine"});
    CHECK(names({"mine", "yours"s}) == texts{"mine", "yours"});
    CHECK(names(texts{"mine", "yours"}) == texts{"mine", "yours"});
    CHECK(names(texts{}).empty());
}

TEST_CASE("save_arguments: braces behind a view are its collections, also where they are empty") {
    const std::array<float, 2> values{1, 2};
    const std::array<std::size_t, 2> shape{1, 2};
    const auto run = run_of([&](auto& hook) {
        const smd::tensor_view view{smd::dtype::float32, shape, std::as_bytes(std::span{values}), {}};
        CHECK(hook.save_tensor("v", view, {}));
        CHECK(hook.save_tensor("w", view, {"mine"}));
        hook.end_step();
    });
    CHECK(run.tensor("v").shape(0) == smd::shape_type{1, 2});
    CHECK(run.tensor_names({.collection = "mine"}) == texts{"w"});
}

namespace {

std::vector<std::size_t> extents_of(smd::extents_view extents) { return {extents.get().begin(), extents.get().end()}; }

struct point {
    float x;
};

static_assert(smd::element_range<std::vector<float>> && smd::element_range<std::span<const std::int8_t>> &&
              smd::element_range<std::array<std::complex<double>, 3>> && smd::element_range<double[4]> &&
              smd::element_range<std::vector<long long>>);
// Near misses: no elements of a dtype, not contiguous, not elements but bits.
static_assert(!smd::element_range<std::vector<long double>> && !smd::element_range<std::vector<point>> &&
              !smd::element_range<std::vector<bool>> && !smd::element_range<float> &&
              !smd::element_range<std::vector<char>>);

}  // namespace

TEST_CASE("extents_view: takes what a training loop has") {
    CHECK(extents_of({2, 3}) == std::vector<std::size_t>{2, 3});
    CHECK(extents_of({}).empty());
    CHECK(extents_of(smd::shape_type{4}) == std::vector<std::size_t>{4});
    const std::vector<std::int64_t> signed_ones{5, 6};  // as frameworks have them
    CHECK(extents_of(signed_ones) == std::vector<std::size_t>{5, 6});
    CHECK(extents_of(std::vector<int>{2, 3}) == std::vector<std::size_t>{2, 3});
    CHECK(extents_of(std::vector<unsigned short>(9, 2)) == std::vector<std::size_t>(9, 2));
    const int rows = 4;
    CHECK(extents_of({rows, rows}) == std::vector<std::size_t>{4, 4});
    const std::array<std::size_t, 1> fixed{7};
    CHECK(extents_of(std::span{fixed}) == std::vector<std::size_t>{7});
}

TEST_CASE("view_of: borrows elements and shape, with the dtype of the element type") {
    const std::vector<double> values{1, 2, 3, 4, 5, 6};
    const std::array<std::size_t, 2> shape{2, 3};
    const smd::tensor_view view = smd::view_of(values, shape, "x");
    CHECK(view.type == smd::dtype::float64);
    CHECK(view.count() == 6);
    CHECK(static_cast<const void*>(view.bytes.data()) == values.data());
    CHECK(view.shape.data() == shape.data());
    const bool truth[2] = {true, false};
    const std::array<std::size_t, 1> two{2};
    CHECK(smd::view_of(truth, two, "b").type == smd::dtype::boolean);
    const std::vector<float> none;
    const std::array<std::size_t, 2> empty{0, 9};
    CHECK(smd::view_of(none, empty, "e").count() == 0);
}

TEST_CASE("view_of: elements that the shape does not fit are a value_error that says both") {
    const std::vector<float> values{1, 2, 3};
    const std::vector<float> none;
    const std::array<std::size_t, 2> square{2, 2};
    const smd::value_error error =
        smdebug_test::caught<smd::value_error>([&] { return smd::view_of(values, square, "layer.weight"); });
    CHECK(error.message() == "the tensor \"layer.weight\" has 3 elements, which the shape (2, 2) does not fit");
    CHECK(error.tensor() == "layer.weight");
    const std::vector<std::int64_t> negative{-1, -3};
    CHECK_THROWS_AS(static_cast<void>(smd::view_of(values, smd::extents_view{negative}.get(), "n")), smd::value_error);
    const std::vector<std::int64_t> hidden{0, -1};  // no elements, and an extent that no file can hold
    CHECK_THROWS_AS(static_cast<void>(smd::view_of(none, smd::extents_view{hidden}.get(), "n")), smd::value_error);
    CHECK_THROWS_AS(smd::check({smd::dtype::float32, smd::extents_view{hidden}.get(), {}, {}}, "n"), smd::value_error);
    // A product that overflows is no small one.
    const std::array<std::size_t, 2> huge{std::numeric_limits<std::size_t>::max(), 3};
    CHECK_THROWS_AS(static_cast<void>(smd::view_of(values, huge, "h")), smd::value_error);
    const std::array texts{"a"sv, "b"sv};
    const std::array<std::size_t, 1> two{2};
    CHECK(smd::view_of(std::span<const std::string_view>{texts}, two, "t").strings.size() == 2);
    CHECK_THROWS_AS(static_cast<void>(smd::view_of(std::span<const std::string_view>{texts}, {}, "t")),
                    smd::value_error);
}

TEST_CASE("check: a view whose parts do not belong together is a value_error") {
    const std::array<std::size_t, 1> two{2};
    const std::array<std::byte, 9> bytes{};
    const std::array texts{"a"sv, "b"sv};
    const smd::byte_view all{bytes};
    CHECK_NOTHROW(smd::check({smd::dtype::float32, two, all.first(8), {}}, "good"));
    CHECK_NOTHROW(smd::check({smd::dtype::string, two, {}, texts}, "texts"));
    CHECK_THROWS_AS(smd::check({smd::dtype::float32, two, all, {}}, "a byte too many"), smd::value_error);
    CHECK_THROWS_AS(smd::check({smd::dtype::float32, two, all.first(4), {}}, "too short"), smd::value_error);
    CHECK_THROWS_AS(smd::check({smd::dtype::invalid, two, all.first(8), {}}, "no type"), smd::value_error);
    CHECK_THROWS_AS(smd::check({smd::dtype::string, two, all.first(8), {}}, "bytes of strings"), smd::value_error);
    CHECK_THROWS_AS(smd::check({smd::dtype::float32, two, all.first(8), texts}, "both"), smd::value_error);
}

namespace {

std::string wrong_with(std::string_view name) {
    return smdebug_test::message_of<smd::value_error>([&] { smd::detail::check_tensor_name(name); });
}

}  // namespace

TEST_CASE("check_tensor_name: accepts every name that readers cannot mistake for a reduction") {
    for (const char* good : {"w", "a/b:0", "smdebug/reductions", "my-smdebug/reduction/mean/w", "w\xC3\xA4", " "}) {
        CAPTURE(good);
        CHECK(wrong_with(good).empty());
    }
}

TEST_CASE("check_tensor_name: refuses what no run can hold, and says why") {
    CHECK(wrong_with("") == "a tensor's name is empty");
    CHECK(wrong_with("w\xFF").find("not valid UTF-8") != std::string::npos);
    for (const char* reserved : {"smdebug/reductions/", "smdebug/reductions/mean/w", "smdebug/reductions/nonsense",
                                 "scalar/smdebug/reductions/mean/w", "my-smdebug/reductions/mean/w"}) {
        CAPTURE(reserved);
        CHECK(wrong_with(reserved).find("for the reductions that a hook saves") != std::string::npos);
    }
}
