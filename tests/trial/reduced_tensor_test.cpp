#include <smdebug/trial/scanned_tensor.hpp>

#include <smdebug/record/framing.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include "support/test.hpp"

#include <variant>

using namespace smdebug;

namespace {

/// A kernel that notes what it has to compute.
struct noting_kernel {
    reduction_set* asked;
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted) const {
        *asked = *asked | wanted;
        return scalar_kernel{}.reduce(tensor, wanted);
    }
    [[nodiscard]] std::string name() const { return "noting"; }
};

struct three_and_four {
    std::array<float, 2> numbers{3, 4};
    decoded_tensor values;
    smdebug::detail::scanned_tensor tensor;

    three_and_four() {
        values.type = dtype::float32;
        values.shape = {1, 2};
        values.bytes = std::as_bytes(std::span{numbers});
        tensor.step = 7;
        tensor.worker = "w";
        tensor.name = "n";
        tensor.content = smdebug::detail::scanned_values{.tensor = &values};
    }
    void save(reduction_key key, double value) {
        tensor.saved = tensor.saved | key;
        tensor.saved_value[key.index()] = value;
    }
};

}  // namespace

TEST_CASE("reduced: reductions that were not saved are computed, and `saved` names the others") {
    three_and_four of;
    of.save({reduction::std}, 0.7);  // with n - 1
    reduction_set asked;
    const reduced_tensor found = reduced(of.tensor, reduction_set::all(), noting_kernel{&asked});
    CHECK(found.step == 7);
    CHECK(found.worker == "w");
    CHECK(found.name == "n");
    CHECK(found.type == dtype::float32);
    CHECK(*found.shape == shape_type{1, 2});
    CHECK(found.reductions(reduction::l2) == 5);
    CHECK(found.reductions(reduction::std) == 0.7);
    CHECK(found.reductions(reduction::variance) == 0.25);
    CHECK(found.reductions.count == 2);
    CHECK(found.saved == reduction_set{reduction::std});
    CHECK_FALSE(asked.contains(reduction::std));
    CHECK(found.reductions.computed == reduction_set::all());
}

TEST_CASE("reduce_into: previous contents are overwritten") {
    using smdebug::detail::any_kernel;
    const any_kernel kernel{scalar_kernel{}};
    three_and_four full;
    full.save({reduction::std}, 0.7);
    full.tensor.saved_failures.push_back({{reduction::max}, {.why = lookup_failure_kind::damaged}});
    three_and_four failed;
    const lookup_error why{.why = lookup_failure_kind::damaged};
    failed.tensor.content = smdebug::detail::unread_values{.why = &why, .whole_file = true};
    three_and_four texts;
    texts.values.type = dtype::string;
    texts.values.bytes = {};
    three_and_four nothing;
    nothing.tensor.content = std::monostate{};
    three_and_four plain;
    const std::array all{&full.tensor, &failed.tensor, &texts.tensor, &nothing.tensor, &plain.tensor};
    for (const auto* before : all) {
        for (const auto* now : all) {
            reduced_tensor found;
            smdebug::detail::reduce_into(*before, reduction_set::all(), kernel, found);
            smdebug::detail::reduce_into(*now, reduction_set::all(), kernel, found);
            const reduced_tensor fresh = reduced(*now, reduction_set::all(), kernel);
            CHECK(found.type == fresh.type);
            CHECK(found.shape == fresh.shape);
            CHECK(found.saved == fresh.saved);
            CHECK((found.failure == nullptr) == (fresh.failure == nullptr));
            CHECK(found.file_failed == fresh.file_failed);
            CHECK(found.saved_failures.size() == fresh.saved_failures.size());
            CHECK(found.reductions.count == fresh.reductions.count);
            CHECK(found.reductions.computed == fresh.reductions.computed);
            for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
                const double value = found.reductions.value[i];
                CHECK((value == fresh.reductions.value[i] ||
                       (std::isnan(value) && std::isnan(fresh.reductions.value[i]))));
            }
        }
    }
}

TEST_CASE("reduced: if everything was saved nothing is computed, with values or without") {
    three_and_four of;
    of.save({reduction::max}, 9);
    reduction_set asked;
    for (const decoded_tensor* values : {of.tensor.values(), static_cast<const decoded_tensor*>(nullptr)}) {
        if (values == nullptr) {
            of.tensor.content = std::monostate{};
        }
        const reduced_tensor found = reduced(of.tensor, reduction::max, noting_kernel{&asked});
        CHECK(found.reductions(reduction::max) == 9);
        CHECK(found.reductions.computed == reduction_set{reduction::max});
        CHECK(found.reductions.count == (values != nullptr ? 2 : 0));
        CHECK(found.type == (values != nullptr ? dtype::float32 : dtype::invalid));
    }
    CHECK(asked.empty());
}

TEST_CASE("reduced: a saved reduction that cannot be read is not replaced by a computed one") {
    three_and_four of;
    of.tensor.saved_failures.push_back({{reduction::max, false}, {.why = lookup_failure_kind::damaged}});
    reduction_set asked;
    const reduced_tensor found =
        reduced(of.tensor, reduction_set{reduction::max} | reduction::min, noting_kernel{&asked});
    CHECK(found.reductions.computed.contains(reduction::min));
    CHECK_FALSE(found.reductions.computed.contains(reduction::max));
    CHECK(found.saved_failures.size() == 1);
}

TEST_CASE("reduced: remaining checks are made, by kernels that show the bytes and by others") {
    std::vector<std::byte> framed;
    const std::vector<float> numbers(10'000, 2.0F);
    record::append_record(framed, std::as_bytes(std::span{numbers}), record::footer_kind::checksum);
    for (const bool damaged : {false, true}) {
        framed[record::header_size + 8] ^= std::byte{damaged};
        const byte_view payload = byte_view{framed}.subspan(record::header_size, 40'000);
        decoded_tensor values;
        values.type = dtype::float32;
        values.shape = {10'000};
        values.bytes = payload;
        const shape_type saved{1};
        smdebug::detail::scanned_tensor tensor;
        tensor.content = smdebug::detail::scanned_values{.tensor = &values, .check = record::payload_check{payload}};
        tensor.saved_shape = &saved;
        tensor.event_file = "events/x";
        tensor.offset = 77;
        reduction_set asked;
        for (const reduced_tensor& found :
             {reduced(tensor, reduction::sum, scalar_kernel{}), reduced(tensor, reduction::sum, noting_kernel{&asked}),
              reduced(tensor, reduction_set{}, scalar_kernel{})}) {
            CHECK((found.failure != nullptr) == damaged);
            if (damaged) {
                CHECK(found.failure->damage == status::bad_payload_checksum);
                CHECK(found.failure->where == "events/x");
                CHECK(found.failure->offset == 77);
                CHECK(found.type == dtype::invalid);
                CHECK(found.shape == &saved);
                CHECK(found.reductions.computed.empty());
            } else {
                CHECK(found.type == dtype::float32);
                CHECK(found.shape == &values.shape);
            }
        }
    }
}

TEST_CASE("reduced: strings have no reductions; a failure stays one") {
    three_and_four of;
    const std::vector<std::string_view> words{"a", "b", "c"};
    of.values.type = dtype::string;
    of.values.bytes = {};
    of.values.strings = words;
    const reduced_tensor found = reduced(of.tensor, reduction_set::all(), scalar_kernel{});
    CHECK(found.reductions.computed.empty());
    CHECK(found.reductions.count == 3);
    CHECK(std::isnan(found.reductions(reduction::sum)));
    smdebug::detail::scanned_tensor broken;
    const smdebug::lookup_error why{.why = lookup_failure_kind::damaged};
    broken.content = smdebug::detail::unread_values{.why = &why, .whole_file = true};
    const reduced_tensor nothing = reduced(broken, reduction_set::all(), scalar_kernel{});
    REQUIRE(nothing.failure);
    CHECK(nothing.failure->why == lookup_failure_kind::damaged);
    CHECK(nothing.file_failed);
    CHECK(nothing.shape == nullptr);
    CHECK(nothing.reductions.computed.empty());
}
