#include <smdebug/xtensor.hpp>

#include "support/test.hpp"

// The parts are named as the library names them: an xtensor that keeps them elsewhere does not compile here.
TEST_CASE("xtensor_adapter: adaptors over memory of others, row by row") {
    const auto memory = std::make_shared<const std::array<float, 6>>(std::array<float, 6>{1, 2, 3, 4, 5, 6});
    using buffer = xt::xbuffer_adaptor<const float*, xt::smart_ownership, std::shared_ptr<const void>>;
    const xt::xarray_adaptor<buffer, xt::layout_type::row_major> found(buffer(memory->data(), memory->size(), memory),
                                                                       std::vector<std::size_t>{2, 3});
    CHECK(found(1, 0) == 4.F);
    CHECK(found.data() == memory->data());
    CHECK(xt::xarray<float>(found + found)(1, 2) == 12.F);
}
