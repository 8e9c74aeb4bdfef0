// A user's program that reduces with the kernel for the running CPU, whatever it is compiled for.
#include <smdebug/reduce/dispatched_kernel.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <span>

int main() {
    const std::array<float, 3> values{1, 2, 3};
    const std::array<std::size_t, 1> shape{values.size()};
    const smdebug::tensor_view tensor{smdebug::dtype::float32, shape, std::as_bytes(std::span{values}), {}};
    const smdebug::dispatched_kernel kernel;
    const auto answer = kernel.reduce(tensor, smdebug::reduction::sum);
    const double sum = answer ? (*answer)(smdebug::reduction::sum) : 0;
    std::printf("%s: the sum is %g\n", kernel.name().c_str(), sum);
    return sum == 6 ? 0 : 1;
}
